package normalize_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nlnwa/whatwg-url/url"
	"pgregory.net/rapid"

	"crawler/normalize"
)

// fragments are what URLs are made of, and what goes wrong in them.
var fragments = []string{
	"http:", "https:", "HTTP:", "ftp:", "/", "//", `\`, ":", "@", "?", "#", "[", "]", ".", "..", "%2e", "%2E", "%", "%4", "%41", "%7e", "%e9",
	"%2f", "%5c", "a", "B", "h.example", "www.h.example", "_", "-", "~", "0", "1", "8", "0x", "0x7F", "080", "65535", "255", "256", "1.2.3.4", "::1",
	"2001:db8::", "::ffff:1.2.3.4", " ", "\t", "\n", "\x00", "\x7f", "é", "ß", "。", "％", "１", "\u00ad", "א", "\u200d", "xn--", "xn--9ca",
	"^", "'", "\"", "<", "`", "{", "|", "&", "=", "+", ";", "user:pass@",
}

func addSeeds(f *testing.F) {
	for _, s := range fragments {
		f.Add("http://h.example/a/b?c", s)
		f.Add("https://h.example:81/a/../b", "http://"+s+"/")
		f.Add("http://[::1]/"+s, s+s)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range fragments {
		f.Add(s)
		f.Add("http://h.example/" + s)
		f.Add("http://h.example/?" + s + s)
		f.Add("http://" + s + "/")
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := normalize.Parse(raw)
		if err == nil {
			checkURL(t, u)
		}
		checkOracle(t, "", raw, u, err)
	})
}

func FuzzResolve(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, raw, ref string) {
		base, err := normalize.Parse(raw)
		if err != nil {
			t.Skip()
		}
		u, err := base.Resolve(ref)
		if err == nil {
			checkURL(t, u)
			checkResolved(t, base, u)
		}
		checkOracle(t, base.String(), ref, u, err)
	})
}

func TestRandomReferences(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 10), func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(t *rapid.T) {
		base, err := normalize.Parse("http://h.example/" + text.Draw(t, "base"))
		if err != nil {
			t.Fatal(err)
		}
		ref := rapid.SampledFrom([]string{"", "/", "//", "http://", "https://h"}).Draw(t, "start") + text.Draw(t, "ref")
		u, err := base.Resolve(ref)
		if err == nil {
			checkURL(t, u)
			checkResolved(t, base, u)
		}
		checkOracle(t, base.String(), ref, u, err)
	})
}

// checkURL checks what holds of every URL.
func checkURL(t rapid.TB, u normalize.URL) {
	t.Helper()
	for _, c := range []byte(u.String()) {
		if c <= ' ' || '~' < c {
			t.Errorf("%q is not printable ASCII", u)
		}
	}
	if len(u.String()) > normalize.MaxLength {
		t.Errorf("%q is too long", u)
	}
	if got, err := normalize.Parse(u.String()); err != nil || got != kept(u) {
		t.Errorf("%q parses to %q, %v", u, got, err)
	}
	if got, err := normalize.Parse(roundabout(u)); err != nil || got != kept(u) {
		t.Errorf("%q parses to %q (%v), but %q does not", roundabout(u), got, err, u)
	}
	if got := u.Scheme() + "://" + u.Authority() + u.RequestURI(); got != u.String() {
		t.Errorf("the parts of %q make %q", u, got)
	}
	if u.Host() == "" || !strings.HasPrefix(u.Path(), "/") || u.Site() == "" {
		t.Errorf("%q has host %q, path %q, site %q", u, u.Host(), u.Path(), u.Site())
	}
	v, err := normalize.Parse(string(u.Key()))
	if err != nil || v.String() != string(u.Key()) || v.Key() != u.Key() {
		t.Errorf("key %q of %q parses to %q (%v), whose key is %q", u.Key(), u, v, err, v.Key())
	}
	if v.Authority() != u.Authority() || strings.Count(v.Path(), "/") != strings.Count(u.Path(), "/") {
		t.Errorf("key %q of %q is another resource", u.Key(), u)
	}
}

// roundabout returns a text for u of which nothing is canonical, so that no part
// of it is copied as it is.
func roundabout(u normalize.URL) string {
	host := u.Host()
	if !strings.HasPrefix(host, "[") {
		var b strings.Builder
		for _, c := range []byte(host) {
			fmt.Fprintf(&b, "%%%02x", c)
		}
		host = b.String()
	}
	port := strings.TrimPrefix(u.Authority(), u.Host())
	query := strings.TrimPrefix(u.RequestURI(), u.Path())
	return u.Scheme() + ":" + host + port + strings.ReplaceAll(u.Path(), "/", `\`) + query
}

// checkResolved checks what holds of u, which was resolved against base.
func checkResolved(t rapid.TB, base, u normalize.URL) {
	t.Helper()
	if got, err := base.Resolve(u.String()); err != nil || got != kept(u) {
		t.Errorf("%q resolved against %q is %q, %v", u, base, got, err)
	}
	if got, err := u.Resolve(""); err != nil || got != kept(u) {
		t.Errorf("the empty reference against %q is %q, %v", u, got, err)
	}
}

// kept returns u as if its text had held no userinfo.
func kept(u normalize.URL) normalize.URL {
	v, err := u.Resolve("#")
	if err != nil {
		panic(err) // a fragment alone always resolves
	}
	return v
}

// checkOracle compares the result of parsing ref against base with that of
// another implementation of the standard.
func checkOracle(t rapid.TB, base, ref string, got normalize.URL, gotErr error) {
	t.Helper()
	if !utf8.ValidString(ref) {
		return // the oracle replaces bytes that are not UTF-8
	}
	if len(ref) > 1000 || len(base) > 1000 {
		return // the limits are ours, and the oracle is slow
	}
	oracle := url.NewParser()
	want, err := oracle.Parse(base)
	switch {
	case base == "":
		want, err = oracle.Parse(ref)
	case err != nil:
		return // a known difference in the base
	default:
		want, err = want.Parse(ref)
	}
	refused := err != nil || want.Scheme() != "http" && want.Scheme() != "https"
	if refused && gotErr != nil {
		return
	}
	switch {
	case strings.Contains(got.Host(), "xn--") && strings.ContainsAny(base+ref, "-%"):
		return // the oracle checks the Punycode of ASCII hosts, which the standard only lower-cases
	case refused && !isASCII(ref) && strings.Trim(got.Host(), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "":
		return // the oracle lets international hosts have no ASCII but letters, digits and hyphens
	case almostNumber.MatchString(got.Host()), !refused && want.IsIPv4() && strings.ContainsAny(ref, "+-"):
		return // the oracle lets the numbers of an IPv4 address have signs, or letters after many digits
	case !refused && strings.Contains(ref, "[["):
		return // the oracle trims all brackets around an IPv6 address
	}
	if refused != (gotErr != nil) {
		t.Errorf("%q against %q is %q, %v, the oracle says %v, %v", ref, base, got, gotErr, want, err)
		return
	}
	href := want.Protocol() + "//" + want.Host()
	href += strings.ReplaceAll(want.Pathname(), "^", "%5E") // in the standard's path set since 2025
	if _, _, ok := strings.Cut(want.Href(true), "?"); ok {
		href += "?" + want.Query()
	}
	if got.String() != href {
		t.Errorf("%q against %q is %q, the oracle says %q", ref, base, got, href)
	}
}

// almostNumber matches a host whose last label is a number but for its sign, or
// starts with one of over 64 bits.
var almostNumber = regexp.MustCompile(`(^|\.)(0x?)?([+-][0-9a-f]+|[0-9a-f]{16,}[^.]*)\.?$`)

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
