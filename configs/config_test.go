package configs_test

import (
	"errors"
	"flag"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"crawler/configs"
	"crawler/crawl"
	"crawler/frontier"
)

var update = flag.Bool("update", false, "rewrite the golden files and default.yaml")

// alike compares configurations: patterns, hours and networks by what they say.
var alike = cmp.Options{
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b frontier.Hours) bool { return a.String() == b.String() }),
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

func parse(t *testing.T, text string) *configs.Config {
	t.Helper()
	c, err := configs.Parse("crawl.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, text)
	}
	return c
}

func TestValues(t *testing.T) {
	type config = configs.Config
	three := 3
	tests := []struct {
		name, text string
		change     func(*config) // of the default
	}{
		{"an empty file is the default", "", func(*config) {}},
		{"a file of comments is the default", "# nothing\n", func(*config) {}},
		{"an empty document is the default", "---\n", func(*config) {}},
		{"empty sections and lists are the default", "scope: {include: }\nlimits:\nheaders:\npoliteness: {domains: }\n", func(*config) {}},
		{"a byte order mark is skipped", "\ufeffconcurrency: 3\n", func(c *config) { c.Crawl.Concurrency = 3 }},
		{"lines may end as on Windows", "concurrency: 3\r\nretry: {tries: 2}\r\n", func(c *config) { c.Crawl.Concurrency, c.Crawl.Retry.Tries = 3, 2 }},
		{"a user agent", `user_agent: "examplebot/1.0 (+https://example.org/bot)"`, func(c *config) {
			c.Crawl.Fetch.UserAgent = "examplebot/1.0 (+https://example.org/bot)"
		}},
		{"header names become canonical", "headers: {accept-language: en, X-Key: \"1\"}", func(c *config) {
			c.Crawl.Fetch.Header = http.Header{"Accept-Language": {"en"}, "X-Key": {"1"}}
		}},
		{"a scope", "scope: {default: domain, max_depth: 3, include: [^https], exclude: [\"[.]pdf$\"]}", func(c *config) {
			c.Crawl.Scope = crawl.Scope{
				Reach: crawl.ReachDomain, MaxDepth: &three,
				Include: []*regexp.Regexp{regexp.MustCompile("^https")}, Exclude: []*regexp.Regexp{regexp.MustCompile("[.]pdf$")},
			}
		}},
		{"a depth of -1 is no limit", "scope: {max_depth: -1}", func(*config) {}},
		{"limits", "limits: {max_pages: 100, max_time: 1h30m, max_body: 1GB, max_urls_per_host: 7, min_free_disk: 0B}", func(c *config) {
			c.Crawl.Limits = crawl.Limits{MaxPages: 100, MaxTime: 90 * time.Minute, MaxURLsPerHost: 7}
			c.Crawl.Fetch.MaxBody = 1_000_000_000
		}},
		{"the size 10MiB is binary", "limits: {max_body: 10MiB}", func(c *config) { c.Crawl.Fetch.MaxBody = 10 << 20 }},
		{"the size 512k is binary", "limits: {max_body: 512k}", func(c *config) { c.Crawl.Fetch.MaxBody = 512 << 10 }},
		{"the size 512kB is decimal", "limits: {max_body: 512kB}", func(c *config) { c.Crawl.Fetch.MaxBody = 512_000 }},
		{"a size may have a fraction and a space", "limits: {max_body: 1.5 gib}", func(c *config) { c.Crawl.Fetch.MaxBody = 3 << 29 }},
		{"the size of every unit", "limits: {min_free_disk: 2TiB}", func(c *config) { c.Crawl.Limits.MinFreeDisk = 2 << 40 }},
		{"retries", "retry: {tries: 1, delay: 250ms}", func(c *config) { c.Crawl.Retry = frontier.Retry{Tries: 1, Delay: 250 * time.Millisecond} }},
		{"networks and addresses may be allowed", "network: {allow: [10.0.0.0/8, 127.0.0.1, \"::1\", \"::ffff:192.0.2.0/120\"]}", func(c *config) {
			c.Crawl.Fetch.Allow = []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("127.0.0.1/32"),
				netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.0.2.0/24"),
			}
		}},
		{"the rest of network", "network: {resolver: \"9.9.9.9:53\", timeout: 5s, http2: off, proxy: \"socks5://127.0.0.1:1080\", resolve: {WWW.Example.org: 192.0.2.1}}", func(c *config) {
			f := &c.Crawl.Fetch
			f.Resolver, f.Timeout, f.DisableHTTP2, f.Proxy = "9.9.9.9:53", 5*time.Second, true, "socks5://127.0.0.1:1080"
			f.Resolve = map[string]netip.Addr{"www.example.org": netip.MustParseAddr("192.0.2.1")}
		}},
		{"the filter", "seen: {filter: blocked, target_fpr: 0.001, headroom: 2, rebuild_at: 4.0}", func(c *config) {
			c.Crawl.Seen.TargetFPR, c.Crawl.Seen.Headroom, c.Crawl.Seen.RebuildAt = 0.001, 2, 4
		}},
		{"the log", "log: {level: debug, format: json}", func(c *config) { c.Log = configs.Log{Level: slog.LevelDebug, Format: "json"} }},
		{"politeness", "politeness: {default: {delay: 0s, connections: 3, robots: ignore, crawl_delay: ignore, max_crawl_delay: 2m, adaptive: no, hours: \"22:00-06:00 UTC\"}}", func(c *config) {
			hours, _ := frontier.ParseHours("22:00-06:00 UTC")
			c.Crawl.Politeness.Default = frontier.Politeness{Connections: 3, MaxCrawlDelay: 2 * time.Minute, Hours: hours}
		}},
		{"features that are not in this version may be left off", "archive: {warc: off, dir: warcs, max_size: 1GB}\nrecrawl: {after: 0s}\nhttp: {listen: \"\"}\ncluster: {nats: \"\", partitions: 4, replicas: 1}", func(*config) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := configs.Default()
			tt.change(&want)
			if diff := cmp.Diff(&want, parse(t, tt.text), alike); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestBooleansAsYAML11AndYAML12WriteThem(t *testing.T) {
	for text, want := range map[string]bool{
		"true": true, "on": true, "yes": true, "True": true, "ON": true, "Yes": true, `"on"`: true,
		"false": false, "off": false, "no": false, "FALSE": false, "Off": false, "NO": false,
	} {
		if got := !parse(t, "network: {http2: "+text+"}").Crawl.Fetch.DisableHTTP2; got != want {
			t.Errorf("http2: %s is %t, want %t", text, got, want)
		}
	}
}

func TestWhatADomainLeavesOpenIsThatOfTheDefaultWhereverItStands(t *testing.T) {
	def := "  default: {delay: 3s, connections: 2, robots: ignore, adaptive: false}\n"
	domains := "  domains:\n    - {match: Bücher.example, delay: 250ms}\n    - {match: \"*.slow.example\", robots: obey, hours: \"\"}\n"
	for _, text := range []string{"politeness:\n" + def + domains, "politeness:\n" + domains + def} {
		first := frontier.Politeness{Delay: 250 * time.Millisecond, Connections: 2, HonourCrawlDelay: true, MaxCrawlDelay: time.Minute}
		second := frontier.Politeness{Delay: 3 * time.Second, Connections: 2, ObeyRobots: true, HonourCrawlDelay: true, MaxCrawlDelay: time.Minute}
		want := []frontier.DomainRule{{Match: "xn--bcher-kva.example", Politeness: first}, {Match: "*.slow.example", Politeness: second}}
		if diff := cmp.Diff(want, parse(t, text).Crawl.Politeness.Domains, alike); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, text)
		}
	}
}

func TestAnOverrideReachesTheDomainsThatLeaveTheValueOpen(t *testing.T) {
	text := "politeness:\n  default: {delay: 3s}\n  domains: [{match: a.example}, {match: b.example, delay: 9s}]\n"
	c, err := configs.Parse("crawl.yaml", []byte(text), func(c *configs.Config) { c.Crawl.Politeness.Default.Delay = time.Minute })
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]time.Duration{"other.example": time.Minute, "a.example": time.Minute, "b.example": 9 * time.Second} {
		if got := c.Crawl.Politeness.For(host).Delay; got != want {
			t.Errorf("delay of %s is %v, want %v", host, got, want)
		}
	}
}

func TestDomainMatches(t *testing.T) {
	for text, want := range map[string]string{
		"example.org": "example.org", "EXAMPLE.org.": "example.org", "*.example.org": "*.example.org", "my_host": "my_host",
		"faß.example": "xn--fa-hia.example",
		"192.0.2.1":   "192.0.2.1", `"::1"`: "[::1]", `"[2001:DB8::1]"`: "[2001:db8::1]", `"*.bücher.example"`: "*.xn--bcher-kva.example",
	} {
		if strings.HasPrefix(text, "*") {
			text = `"` + text + `"`
		}
		if got := parse(t, "politeness: {domains: [{match: "+text+"}]}").Crawl.Politeness.Domains[0].Match; got != want {
			t.Errorf("match: %s is %q, want %q", text, got, want)
		}
	}
}

func TestDefaultYAMLIsTheDefaultAndTheShippedFile(t *testing.T) {
	if *update {
		if err := os.WriteFile("default.yaml", configs.DefaultYAML(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := configs.Default()
	if diff := cmp.Diff(&want, parse(t, string(configs.DefaultYAML())), alike); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err := os.ReadFile("default.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(configs.DefaultYAML()), string(got)); diff != "" {
		t.Errorf("default.yaml is not DefaultYAML; run go generate ./configs (-want +got)\n%s", diff)
	}
	if err := want.Crawl.Validate(); err != nil {
		t.Errorf("the default is not valid: %v", err)
	}
}

func TestShippedFilesLoad(t *testing.T) {
	names, err := fs.Glob(configs.Shipped(), "*")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"archive.yaml", "default.yaml", "own-site.yaml"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, name := range names {
		text, err := fs.ReadFile(configs.Shipped(), name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := configs.Parse(name, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if err := c.Crawl.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLoadNamesTheFileThatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent.yaml")
	if _, err := configs.Load(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Load: %v, want that %s does not exist", err, path)
	}
}
