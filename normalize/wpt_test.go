package normalize_test

import (
	"errors"
	"strings"
	"testing"

	"crawler/internal/cases"
	"crawler/normalize"
)

// openCase is a case of the public suites: input against base is expected, or
// refused if expected is null.
type openCase struct {
	Input    string
	Base     *string
	Expected *string
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
	for _, c := range cases.Read[openCase](t, "url/wpt_urltestdata_http_only.jsonl") {
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
	for _, c := range cases.Read[openCase](t, "url/rfc3986.jsonl") {
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
