package robots_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"crawler/fetcher/robots"
)

func TestCheck(t *testing.T) {
	const closed = "User-agent: *\nDisallow: /\n"
	tests := []struct {
		name  string
		file  string
		agent string // default examplebot
		uri   string
		want  bool
	}{
		// Lines (section 2.2).
		{name: "an empty file allows everything", file: "", uri: "/a", want: true},
		{name: "a byte order mark is no part of the first key", file: "\ufeff" + closed, uri: "/a"},
		{name: "CR alone ends a line", file: "User-agent: *\rDisallow: /a\rDisallow: /b", uri: "/b"},
		{name: "CRLF ends a line", file: "User-agent: *\r\nDisallow: /a\r\n", uri: "/a"},
		{name: "an LF after CRLF is an empty line and ends no group", file: "User-agent: *\r\n\nDisallow: /a", uri: "/a"},
		{name: "spaces and tabs around key, colon and value are dropped", file: "\t User-agent \t:\t * \n Disallow\t:  /a \t", uri: "/a"},
		{name: "keys have no case", file: "USER-AGENT: *\ndISALLOW: /a", uri: "/a"},
		{name: "what follows # is a comment", file: "User-agent: * # all\nDisallow: /a # here\n#Disallow: /b", uri: "/a"},
		{name: "a rule in a comment is none", file: "User-agent: *\n#Disallow: /b", uri: "/b", want: true},
		{name: "a colon may be left out between two words", file: "User-agent *\nDisallow /a", uri: "/a"},
		{name: "three words without a colon are no rule", file: "User-agent: *\nDisallow /a /b", uri: "/a", want: true},
		{name: "ASCII in UTF-16 is understood", file: "\xff\xfeU\x00s\x00e\x00r\x00-\x00a\x00g\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00a\x00", uri: "/a"},
		{name: "invalid UTF-8 spoils its own line only", file: "\xff\xc0\nUser-agent: *\nDisallow: /\xff\nDisallow: /a", uri: "/a"},
		{name: "invalid UTF-8 in a rule is matched escaped", file: "User-agent: *\nDisallow: /\xe9", uri: "/%E9"},
		{name: "a page of HTML allows everything", file: "<!DOCTYPE html><html><body><p>not found</p>", uri: "/a", want: true},
		{name: "markup after a Disallow is dropped", file: "User-agent: *\nDisallow: /<br>", uri: "/a"},

		// Common errors of authors.
		{name: "user agent is User-agent", file: "user agent: *\nDisallow: /a", uri: "/a"},
		{name: "useragent is User-agent", file: "useragent: *\nDisallow: /a", uri: "/a"},
		{name: "dissallow is Disallow", file: "User-agent: *\ndissallow: /a", uri: "/a"},
		{name: "dissalow is Disallow", file: "User-agent: *\ndissalow: /a", uri: "/a"},
		{name: "disalow is Disallow", file: "User-agent: *\ndisalow: /a", uri: "/a"},
		{name: "diasllow is Disallow", file: "User-agent: *\ndiasllow: /a", uri: "/a"},
		{name: "disallaw is Disallow", file: "User-agent: *\ndisallaw: /a", uri: "/a"},
		{name: "alow is not Allow", file: closed + "Alow: /a", uri: "/a"},
		{name: "allowed is not Allow", file: closed + "Allowed: /a", uri: "/a"},
		{name: "a Disallow without its first slash gets one", file: "User-agent: *\nDisallow: a/", uri: "/a/b"},
		{name: "an Allow without its first slash matches nothing", file: closed + "Allow: a/", uri: "/a/b"},

		// Groups (section 2.2.1).
		{name: "rules before any User-agent are nobody's", file: "Disallow: /\n", uri: "/a", want: true},
		{name: "the own group excludes that of *", file: closed + "User-agent: examplebot\nDisallow: /b", uri: "/a", want: true},
		{name: "the own group counts wherever it stands", file: "User-agent: examplebot\nDisallow: /b\n" + closed, uri: "/a", want: true},
		{name: "without an own group that of * counts", file: "User-agent: other\nAllow: /\n" + closed, uri: "/a"},
		{name: "an own group without rules allows everything", file: closed + "User-agent: examplebot\nDisallow:\n", uri: "/a", want: true},
		{name: "tokens have no case", file: "User-agent: ExampleBOT\nDisallow: /a", uri: "/a"},
		{name: "a shorter token does not match", file: "User-agent: bot\nDisallow: /", agent: "mybot", uri: "/a", want: true},
		{name: "a longer token does not match", file: "User-agent: examplebot-news\nDisallow: /", uri: "/a", want: true},
		{name: "a version after the token is ignored", file: "User-agent: examplebot/2.0\nDisallow: /a", uri: "/a"},
		{name: "a star after the token is ignored", file: "User-agent: examplebot*\nDisallow: /a", uri: "/a"},
		{name: "a word after * is ignored", file: "User-agent: * all\nDisallow: /a", uri: "/a"},
		{name: "an empty token names nobody", file: "User-agent:\nDisallow: /", agent: "", uri: "/a", want: true},
		{name: "groups that name the same token merge", file: "User-agent: examplebot\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: examplebot\nDisallow: /c", uri: "/c"},
		{name: "merged groups keep their first rules", file: "User-agent: examplebot\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: examplebot\nDisallow: /c", uri: "/a"},
		{name: "rules of a group between merged ones do not count", file: "User-agent: examplebot\nDisallow: /a\nUser-agent: other\nDisallow: /b\nUser-agent: examplebot\nDisallow: /c", uri: "/b", want: true},
		{name: "the first of several User-agent lines gets the rules", file: "User-agent: examplebot\nUser-agent: other\nDisallow: /a", uri: "/a"},
		{name: "the last of several User-agent lines gets the rules", file: "User-agent: other\n\nUser-agent: examplebot\nDisallow: /a", uri: "/a"},
		{name: "an empty Disallow ends a run of User-agent lines", file: "User-agent: examplebot\nDisallow:\nUser-agent: *\nDisallow: /", uri: "/a", want: true},
		{name: "a Sitemap does not end a run of User-agent lines", file: "User-agent: examplebot\nSitemap: https://e.example/s\nUser-agent: *\nDisallow: /", uri: "/a"},
		{name: "an unknown line does not end a run of User-agent lines", file: "User-agent: examplebot\nNoindex: /\nUser-agent: *\nDisallow: /", uri: "/a"},
		{name: "a Crawl-delay does not end a run of User-agent lines", file: "User-agent: examplebot\nCrawl-delay: 5\nUser-agent: *\nDisallow: /", uri: "/a"},

		// Matching (section 2.2.2).
		{name: "the longest pattern wins, an Allow", file: "User-agent: *\nDisallow: /a\nAllow: /a/b", uri: "/a/b", want: true},
		{name: "the longest pattern wins, a Disallow", file: "User-agent: *\nAllow: /a\nDisallow: /a/b", uri: "/a/b"},
		{name: "Allow wins a tie", file: "User-agent: *\nDisallow: /a\nAllow: /a", uri: "/a", want: true},
		{name: "equal rules tie however they are escaped", file: "User-agent: *\nDisallow: /%61%62\nAllow: /ab", uri: "/ab", want: true},
		{name: "a star counts as an octet", file: "User-agent: *\nAllow: /\nDisallow: /*", uri: "/a"},
		{name: "a pattern is a prefix", file: "User-agent: *\nDisallow: /fish", uri: "/fisheries/x"},
		{name: "a pattern begins at the root", file: "User-agent: *\nDisallow: /fish", uri: "/cat/fish", want: true},
		{name: "paths have case", file: "User-agent: *\nDisallow: /Fish", uri: "/fish", want: true},
		{name: "the query is matched", file: "User-agent: *\nDisallow: /hide?", uri: "/hide?id=1"},
		{name: "a question mark is matched", file: "User-agent: *\nDisallow: /hide?", uri: "/hide", want: true},
		{name: "an empty Disallow matches nothing", file: "User-agent: *\nDisallow:", uri: "/a", want: true},
		{name: "an empty Allow matches nothing", file: closed + "Allow:", uri: "/a"},
		{name: "an empty path is the root", file: "User-agent: *\nDisallow: /$", uri: ""},
		{name: "robots.txt is always allowed", file: closed, uri: "/robots.txt", want: true},
		{name: "robots.txt with a query is another URL", file: closed, uri: "/robots.txt?a"},

		// Special characters (section 2.2.3).
		{name: "a star matches any run", file: "User-agent: *\nDisallow: /*/b", uri: "/a/x/b/c"},
		{name: "a star matches nothing at all", file: "User-agent: *\nDisallow: /a*b", uri: "/ab"},
		{name: "a pattern may begin with a star", file: "User-agent: *\nDisallow: *.pdf", uri: "/a/b.pdf?x"},
		{name: "$ is the end", file: "User-agent: *\nDisallow: /a$", uri: "/a"},
		{name: "$ allows no more", file: "User-agent: *\nDisallow: /a$", uri: "/ab", want: true},
		{name: "$ after a star means nothing", file: "User-agent: *\nDisallow: /a*$", uri: "/abc"},
		{name: "an anchored part is found at the end, not before", file: "User-agent: *\nDisallow: /*.php$", uri: "/a.php/b.php"},
		{name: "an anchored part does not overlap the one before", file: "User-agent: *\nDisallow: /*aba*ab$", uri: "/abab", want: true},
		{name: "$ inside a pattern is itself", file: "User-agent: *\nDisallow: /a$b", uri: "/a$b"},
		{name: "%2A is a star of the URL", file: "User-agent: *\nDisallow: /a%2a", uri: "/a*"},
		{name: "%2A is no wildcard", file: "User-agent: *\nDisallow: /a%2Ab", uri: "/axb", want: true},
		{name: "%24 is a dollar of the URL", file: "User-agent: *\nDisallow: /a%24", uri: "/a$b"},

		// Percent-encoding (section 2.2.2).
		{name: "an escaped letter of the rule is decoded", file: "User-agent: *\nDisallow: /%62%61%7A", uri: "/baz"},
		{name: "an escaped letter of the URL is decoded", file: "User-agent: *\nDisallow: /baz", uri: "/%62a%7a"},
		{name: "case of escapes does not matter", file: "User-agent: *\nDisallow: /%e3%83%84", uri: "/%E3%83%84"},
		{name: "non-ASCII of the rule is encoded", file: "User-agent: *\nDisallow: /ツ", uri: "/%E3%83%84"},
		{name: "non-ASCII of the URL is encoded", file: "User-agent: *\nDisallow: /%E3%83%84", uri: "/ツ"},
		{name: "an escaped slash is no slash", file: "User-agent: *\nDisallow: /a/b", uri: "/a%2Fb", want: true},
		{name: "a space of the rule is encoded", file: "User-agent: *\nDisallow: /a b", uri: "/a%20b"},
		{name: "a brace of the URL is encoded", file: "User-agent: *\nDisallow: /a%7B", uri: "/a{b"},
		{name: "a percent sign that begins no escape is itself", file: "User-agent: *\nDisallow: /%u0041%", uri: "/%u0041%"},
		{name: "nothing is decoded twice", file: "User-agent: *\nDisallow: /%2541", uri: "/A", want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			agent := tt.agent
			if agent == "" && !strings.Contains(tt.name, "empty token") {
				agent = "examplebot"
			}
			got := robots.Parse([]byte(tt.file)).Group(agent).Check(tt.uri)
			if got.Allowed != tt.want {
				t.Errorf("Check(%q) with\n%s\ngot %+v, want allowed %t", tt.uri, tt.file, got, tt.want)
			}
		})
	}
}

func TestVerdictNamesTheDecidingLine(t *testing.T) {
	const file = "# ours\r\nUser-agent: *\r\rDisallow: /a # private\n\nAllow: /a/b\nDisallow: /a"
	rules := robots.Parse([]byte(file)).Group("examplebot")
	tests := []struct {
		uri  string
		want robots.Verdict
	}{
		{"/a", robots.Verdict{Allowed: false, Line: 4, Rule: "Disallow: /a # private"}},
		{"/a/b", robots.Verdict{Allowed: true, Line: 6, Rule: "Allow: /a/b"}},
		{"/c", robots.Verdict{Allowed: true}},
		{"/robots.txt", robots.Verdict{Allowed: true}},
	}
	for _, tt := range tests {
		if got := rules.Check(tt.uri); got != tt.want {
			t.Errorf("Check(%q) = %+v, want %+v", tt.uri, got, tt.want)
		}
	}
}

func TestNoRules(t *testing.T) {
	var none *robots.Rules
	if got := none.Check("/a"); got != (robots.Verdict{Allowed: true}) {
		t.Errorf("nil Rules: got %+v, want allowed", got)
	}
	if d, ok := none.CrawlDelay(); ok {
		t.Errorf("nil Rules: got a delay of %v", d)
	}
}

func TestSizeLimit(t *testing.T) {
	head := "User-agent: *\nDisallow: /kept\n"
	pad := strings.Repeat("#\n", (robots.MaxSize-len(head))/2)
	rules := robots.Parse([]byte(head + pad + "\nDisallow: /lost\n")).Group("examplebot")
	if rules.Check("/kept").Allowed {
		t.Error("a rule within MaxSize is ignored")
	}
	if !rules.Check("/lost").Allowed {
		t.Error("a rule beyond MaxSize is obeyed")
	}
}

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		name   string
		file   string
		want   time.Duration
		wantOK bool
	}{
		{"whole seconds", "User-agent: *\nCrawl-delay: 10", 10 * time.Second, true},
		{"a fraction", "User-agent: *\nCrawl-delay: 0.25", 250 * time.Millisecond, true},
		{"zero is a delay", "User-agent: *\nCrawl-delay: 0", 0, true},
		{"of the own group", "User-agent: *\nDisallow:\nCrawl-delay: 9\nUser-agent: examplebot\nDisallow:\nCrawl-delay: 2", 2 * time.Second, true},
		{"another agent's does not count", "User-agent: other\nCrawl-delay: 9\nUser-agent: *\nDisallow:", 0, false},
		{"above an agent of the same run does not count", "User-agent: other\nCrawl-delay: 9\nUser-agent: examplebot\nDisallow:", 0, false},
		{"an own group without one does not take that of *", "User-agent: *\nCrawl-delay: 9\nAllow: /\nUser-agent: examplebot\nDisallow:", 0, false},
		{"the longest of several counts", "User-agent: *\nCrawl-delay: 1\nCrawl-delay: 7\nCrawl-delay: 3", 7 * time.Second, true},
		{"a huge one is capped", "User-agent: *\nCrawl-delay: 99999999999999999999", 24 * time.Hour, true},
		{"a negative one is ignored", "User-agent: *\nCrawl-delay: -1", 0, false},
		{"a word is ignored", "User-agent: *\nCrawl-delay: soon", 0, false},
		{"inf is ignored", "User-agent: *\nCrawl-delay: inf", 0, false},
		{"a lone dot is ignored", "User-agent: *\nCrawl-delay: .", 0, false},
		{"a unit is ignored", "User-agent: *\nCrawl-delay: 10s", 0, false},
		{"an empty one is ignored", "User-agent: *\nCrawl-delay:", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := robots.Parse([]byte(tt.file)).Group("examplebot").CrawlDelay()
			if got != tt.want || ok != tt.wantOK {
				t.Errorf("got %v, %t, want %v, %t", got, ok, tt.want, tt.wantOK)
			}
		})
	}
}

func TestSitemaps(t *testing.T) {
	const file = "Sitemap: https://e.example/1.xml\nUser-agent: other\nsite-map: https://e.example/2.xml # two\nSitemap:\n"
	got := robots.Parse([]byte(file)).Sitemaps()
	want := []string{"https://e.example/1.xml", "https://e.example/2.xml"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProductToken(t *testing.T) {
	tests := []struct{ userAgent, want string }{
		{"examplebot/1.0 (+https://example.org/bot)", "examplebot"},
		{"examplebot", "examplebot"},
		{" Example-Bot_x 1.0", "Example-Bot_x"},
		{"archive.org_bot", "archive.org_bot"},
		{"MJ12bot/v1.4", "MJ12bot"},
		{"Mozilla/5.0 (compatible; examplebot/1.0; +https://example.org/bot)", "examplebot"},
		{"Mozilla/5.0 (X11; Linux)", "Mozilla"},
		{"Mozilla/5.0 (compatible;)", "Mozilla"},
		{"*", "*"},
		{"* x", "*"},
		{"*bot", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := robots.ProductToken(tt.userAgent); got != tt.want {
			t.Errorf("ProductToken(%q) = %q, want %q", tt.userAgent, got, tt.want)
		}
	}
}

// FuzzParse holds what is true of any file: the same verdict twice, a verdict that names a line of the file, and nobody
// kept from /robots.txt.
func FuzzParse(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /*a*b$\nAllow: /%41\nCrawl-delay: 1.5\nSitemap: x"), "examplebot", "/xayb")
	f.Add([]byte("\xef\xbb\xbfuser agent examplebot\r\rdisalow /\xff\x00#"), "examplebot", "/%ff")
	f.Fuzz(func(t *testing.T, body []byte, agent, uri string) {
		rules := robots.Parse(body).Group(agent)
		v := rules.Check(uri)
		if again := robots.Parse(body).Group(agent).Check(uri); again != v {
			t.Fatalf("got %+v, then %+v", v, again)
		}
		if (v.Line == 0) != (v.Rule == "") || v.Line == 0 && !v.Allowed {
			t.Fatalf("got %+v: refused by no rule", v)
		}
		if !bytes.Contains(bytes.ReplaceAll(body, []byte{0}, nil), []byte(v.Rule)) {
			t.Fatalf("rule %q is not in the file", v.Rule)
		}
		if lines := 1 + bytes.Count(body, []byte("\n")) + bytes.Count(body, []byte("\r")); v.Line > lines {
			t.Fatalf("line %d of %d", v.Line, lines)
		}
		if !rules.Check("/robots.txt").Allowed {
			t.Fatal("/robots.txt is refused")
		}
		if d, ok := rules.CrawlDelay(); d < 0 || d > 24*time.Hour || !ok && d != 0 {
			t.Fatalf("got a delay of %v, %t", d, ok)
		}
	})
}

func Example() {
	file := robots.Parse([]byte(`
User-agent: *
Disallow: /private/
Allow: /private/*.html$
Crawl-delay: 0.5
Sitemap: https://example.org/sitemap.xml
`))
	rules := file.Group(robots.ProductToken("examplebot/1.0 (+https://example.org/bot)"))
	for _, uri := range []string{"/", "/private/notes", "/private/index.html"} {
		v := rules.Check(uri)
		fmt.Printf("%s: %t, line %d %q\n", uri, v.Allowed, v.Line, v.Rule)
	}
	fmt.Println(rules.CrawlDelay())
	fmt.Println(file.Sitemaps())
	// Output:
	// /: true, line 0 ""
	// /private/notes: false, line 3 "Disallow: /private/"
	// /private/index.html: true, line 4 "Allow: /private/*.html$"
	// 500ms true
	// [https://example.org/sitemap.xml]
}
