package normalize_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crawler/normalize"
)

// openCase is a case of the public suites: input against base is expected, or
// refused if expected is null.
type openCase struct {
	Input    string
	Base     *string
	Expected *string
}

// openCases reads a suite from the folder of third-party cases, which may be
// present beside the repository.
func openCases(t *testing.T, name string) []openCase {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
	f, err := os.Open(filepath.Join(dir, "..", "shared", "cases", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the third-party cases are not present")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []openCase
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c openCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s: no cases", name)
	}
	return cases
}

// resolve parses c.Input against c.Base.
func (c openCase) resolve(t *testing.T) (normalize.URL, error) {
	t.Helper()
	var base normalize.URL
	if c.Base != nil {
		var err error
		if base, err = normalize.Parse(*c.Base); err != nil {
			t.Fatalf("base: %v", err)
		}
	}
	return base.Resolve(c.Input)
}

// withoutDropped cuts what a URL does not keep, fragment and userinfo, from an
// href.
func withoutDropped(href string) string {
	href, _, _ = strings.Cut(href, "#")
	scheme, rest, _ := strings.Cut(href, "://")
	if at := strings.IndexByte(rest, '@'); at >= 0 && at < strings.IndexByte(rest, '/') {
		rest = rest[at+1:]
	}
	return scheme + "://" + rest
}

func TestWebPlatformTests(t *testing.T) {
	for _, c := range openCases(t, "url/wpt_urltestdata_http_only.jsonl") {
		got, err := c.resolve(t)
		switch {
		case c.Expected == nil && err == nil:
			t.Errorf("%q is %q, want an error", c.Input, got)
		case c.Expected != nil && err != nil:
			t.Errorf("%q: %v, want %q", c.Input, err, *c.Expected)
		case c.Expected != nil && got.String() != withoutDropped(*c.Expected):
			t.Errorf("%q is %q, want %q", c.Input, got, withoutDropped(*c.Expected))
		}
	}
}

func TestRFC3986Examples(t *testing.T) {
	// Where the standards differ, or where the RFC's result is not canonical.
	whatwg := map[string]string{
		"//g":      "http://g/",          // section 6.2.3: an empty path is "/"
		"http:g":   "http://a/b/c/g",     // section 5.2.2 lets a parser ignore the scheme
		"#s":       "http://a/b/c/d;p?q", // fragments are dropped
		"g#s":      "http://a/b/c/g",     //
		"g?y#s":    "http://a/b/c/g?y",   //
		"g;x?y#s":  "http://a/b/c/g;x?y", //
		"g#s/./x":  "http://a/b/c/g",     //
		"g#s/../x": "http://a/b/c/g",     //
	}
	otherScheme := map[string]bool{
		"g:h":                                true,
		"eXAMPLE://a/./b/../b/%63/%7bfoo%7d": true,
		"mailto:Joe@Example.COM":             true,
	}
	for _, c := range openCases(t, "url/rfc3986.jsonl") {
		got, err := c.resolve(t)
		if otherScheme[c.Input] {
			if !errors.Is(err, normalize.ErrScheme) {
				t.Errorf("%q: %v, want ErrScheme", c.Input, err)
			}
			continue
		}
		want, ok := whatwg[c.Input]
		if !ok {
			want = *c.Expected
		}
		if err != nil || string(got.Key()) != want {
			t.Errorf("%q has key %q (%v), want %q", c.Input, got.Key(), err, want)
		}
	}
}
