package robots_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crawler/fetcher/robots"
)

// readCases reads a file of JSON lines from the folder of third-party cases, which lies beside the repository where present.
func readCases[T any](t *testing.T, name string) []T {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Skip("no go.mod above the package")
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "..", "shared", "cases", name))
	if os.IsNotExist(err) {
		t.Skip("the third-party cases are not here: ", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var c T
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// pathOf cuts path and query out of a URL as the suites write it, which may be no URL at all.
func pathOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	i := strings.IndexAny(rest, "/?")
	if i < 0 {
		return "/"
	}
	rest, _, _ = strings.Cut(rest[i:], "#")
	return rest
}

func TestGoogleCases(t *testing.T) {
	// missed has the cases, by line, where the suite is not followed.
	missed := map[int]string{
		64: "RFC 9309 2.2.2: non-ASCII is compared percent-encoded; the suite leaves that to its caller",
		66: "RFC 9309 2.2.2: non-ASCII is compared percent-encoded; the suite leaves that to its caller",
		67: "RFC 9309 2.2.2: escapes of unreserved characters are compared decoded",
		79: "index.html is not its directory: an extra of Google's that RFC 9309 does not have",
	}
	for i, c := range readCases[struct {
		Robots    string `json:"robots"`
		RobotsB64 []byte `json:"robots_b64"`
		Agent     string `json:"agent"`
		URL       string `json:"url"`
		Allowed   bool   `json:"allowed"`
		Kind      string `json:"kind"`
	}](t, "robots/google_robots_test.jsonl") {
		t.Run(fmt.Sprintf("line %d %s", i+1, c.Kind), func(t *testing.T) {
			file := []byte(c.Robots)
			if len(c.RobotsB64) > 0 {
				file = c.RobotsB64
			}
			got := robots.Parse(file).Group(c.Agent).Check(pathOf(c.URL))
			reason, miss := missed[i+1]
			switch {
			case miss && got.Allowed == c.Allowed:
				t.Error("the case is listed as missed, but agrees")
			case miss:
				t.Skip(reason)
			case got.Allowed != c.Allowed:
				t.Errorf("%s for %s: got %+v, want allowed %t, with\n%.500s", c.URL, c.Agent, got, c.Allowed, file)
			}
		})
	}
}
