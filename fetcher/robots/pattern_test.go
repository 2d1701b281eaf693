package robots_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"crawler/fetcher/robots"
)

// globs tells by dynamic programming whether the pattern matches the start of s, or all of it after a '$' at the end.
func globs(pattern, s string) bool {
	pattern, anchored := strings.CutSuffix(pattern, "$")
	ends := map[int]bool{0: true} // where in s the pattern so far may end
	for _, c := range pattern {
		next := map[int]bool{}
		for at := range ends {
			if c == '*' {
				for i := at; i <= len(s); i++ {
					next[i] = true
				}
			} else if at < len(s) && rune(s[at]) == c {
				next[at+1] = true
			}
		}
		ends = next
	}
	return ends[len(s)] || !anchored && len(ends) > 0
}

func TestMatchAgreesWithDynamicProgramming(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := "/" + rapid.StringMatching(`[ab*]{0,8}\$?`).Draw(t, "pattern")
		uri := "/" + rapid.StringMatching(`[ab]{0,10}`).Draw(t, "uri")
		got := !robots.Parse([]byte("User-agent: *\nDisallow: " + pattern)).Group("x").Check(uri).Allowed
		if want := globs(pattern, uri); got != want {
			t.Errorf("%s against %s: got %t, want %t", pattern, uri, got, want)
		}
	})
}

// The longest matching rule decides, whatever the order of the lines.
func TestLongestRuleAgreesWithScan(t *testing.T) {
	type line struct {
		allow   bool
		pattern string
	}
	lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) line {
		return line{rapid.Bool().Draw(t, "allow"), "/" + rapid.StringMatching(`[ab*]{0,4}\$?`).Draw(t, "pattern")}
	}), 0, 8)
	rapid.Check(t, func(t *rapid.T) {
		uri := "/" + rapid.StringMatching(`[ab]{0,6}`).Draw(t, "uri")
		file, best, want := "User-agent: *\n", -1, true
		for _, l := range lines.Draw(t, "lines") {
			key := "Disallow"
			if l.allow {
				key = "Allow"
			}
			file += fmt.Sprintf("%s: %s\n", key, l.pattern)
			if n := len(l.pattern); globs(l.pattern, uri) && (n > best || n == best && l.allow) {
				best, want = n, l.allow
			}
		}
		if got := robots.Parse([]byte(file)).Group("x").Check(uri); got.Allowed != want {
			t.Errorf("%s with\n%s\ngot %+v, want allowed %t", uri, file, got, want)
		}
	})
}

// A pattern of many stars that almost matches is where a matcher with a way back never ends. The test ends or it does not.
func TestHostileFilesAreCheckedInLinearTime(t *testing.T) {
	tests := []struct{ name, file, uri string }{
		{"many stars", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 8000) + "b", "/" + strings.Repeat("a", 8000)},
		{"many agents over many rules", strings.Repeat("User-agent: x\n", 15_000) + strings.Repeat("Disallow: /a\n", 20_000), "/b"},
		{"many delays under many agents", strings.Repeat("User-agent: x\nCrawl-delay: 1\n", 15_000), "/b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := robots.Parse([]byte(tt.file)).Group("x").Check(tt.uri); got != (robots.Verdict{Allowed: true}) {
				t.Errorf("got %+v, want no rule to match", got)
			}
		})
	}
}

func BenchmarkParseAndGroup(b *testing.B) {
	body := []byte(strings.Repeat("User-agent: other\nDisallow: /a/b\n", 20) + "User-agent: *\n" + strings.Repeat("Disallow: /private/x?y=*&z\n", 50))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		robots.Parse(body).Group("examplebot")
	}
}

func BenchmarkCheck(b *testing.B) {
	rules := robots.Parse([]byte("User-agent: *\n" + strings.Repeat("Disallow: /private/x?y=*&z\nDisallow: /*.pdf$\n", 50))).Group("examplebot")
	b.ReportAllocs()
	for b.Loop() {
		rules.Check("/articles/2024/some-title-of-an-article?page=2")
	}
}

func BenchmarkCheckHostile(b *testing.B) {
	rules := robots.Parse([]byte("User-agent: *\n" + strings.Repeat("Disallow: *"+strings.Repeat("*a", 20)+"b\n", 9000))).Group("examplebot")
	uri := "/" + strings.Repeat("a", 2000)
	for b.Loop() {
		rules.Check(uri)
	}
}
