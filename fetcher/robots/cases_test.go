package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"crawler/fetcher/robots"
	"crawler/internal/cases"
)

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
	for i, c := range cases.Read[struct {
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
