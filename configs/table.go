package configs

import (
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"

	"crawler/crawl"
	"crawler/frontier"
)

// MaxConcurrency is the most that concurrency may be.
const MaxConcurrency = 100_000

// keys is the table of all that a configuration file may hold.
func keys() []key[Config] {
	return []key[Config]{
		value("user_agent", "Sent with every request and matched against robots.txt: say who you are and where you can be reached,\n"+
			"such as \"examplebot/1.0 (+https://example.org/bot)\". Empty: crawler and its version.",
			headerValue(), func(c *Config) *string { return &c.Crawl.Fetch.UserAgent }),
		value("headers", "Header fields sent with every request, such as {Accept-Language: \"en, de;q=0.5\"}.",
			headers(), func(c *Config) *http.Header { return &c.Crawl.Fetch.Header }),
		section("scope", "Which URLs belong to the crawl.", within(func(c *Config) *crawl.Scope { return &c.Crawl.Scope }, []key[crawl.Scope]{
			value("default", "How far from its seed a URL may lie: page (the seed alone), prefix (up to the seed's last slash), host,\n"+
				"domain (the registrable domain and its subdomains) or any.",
				reach(), func(s *crawl.Scope) *crawl.Reach { return &s.Reach }),
			value("max_depth", "Links from a seed; -1 is no limit, 0 the seeds alone.",
				depth(), func(s *crawl.Scope) **int { return &s.MaxDepth }),
			value("include", "Regular expressions (RE2), matched anywhere in the URL. Where there are any, a URL has to match one, seeds\n"+
				"excepted.",
				list(pattern()), func(s *crawl.Scope) *[]*regexp.Regexp { return &s.Include }),
			value("exclude", "Regular expressions; a URL that matches one is left out, seeds excepted.",
				list(pattern()), func(s *crawl.Scope) *[]*regexp.Regexp { return &s.Exclude }),
		})...),
		section("limits", "What ends the crawl, or keeps URLs out of it. 0 is no limit, where it is allowed.",
			value("max_pages", "Pages fetched in all, exactly. The crawl can be resumed with a higher limit.",
				count(0), func(c *Config) *int { return &c.Crawl.Limits.MaxPages }),
			value("max_time", "Time that one run may take.",
				duration(), func(c *Config) *time.Duration { return &c.Crawl.Limits.MaxTime }),
			value("max_body", "What is kept of one page; the rest is cut off. Units: kB, MB, GB decimal; KiB, MiB, GiB or k, m, g binary.",
				ranged(size(), "1B or more", func(n int64) bool { return n > 0 }, nil), func(c *Config) *int64 { return &c.Crawl.Fetch.MaxBody }),
			value("max_urls_per_host", "URLs admitted of one host.",
				count(0), func(c *Config) *int { return &c.Crawl.Limits.MaxURLsPerHost }),
			value("min_free_disk", "The crawl stops, and can be resumed, when less than this is free on the disk of its data.",
				size(), func(c *Config) *int64 { return &c.Crawl.Limits.MinFreeDisk }),
		),
		value("concurrency", fmt.Sprintf("Fetches in flight in all, %d at most.", MaxConcurrency),
			ranged(integer(), fmt.Sprintf("1 to %d", MaxConcurrency), func(n int) bool { return n >= 1 && n <= MaxConcurrency },
				schema{"minimum": 1, "maximum": MaxConcurrency}), func(c *Config) *int { return &c.Crawl.Concurrency }),
		section("retry", "How a failed fetch is tried again.", within(func(c *Config) *frontier.Retry { return &c.Crawl.Retry }, []key[frontier.Retry]{
			value("tries", "Fetches of one URL before it is given up.",
				count(1), func(r *frontier.Retry) *int { return &r.Tries }),
			value("delay", "Wait before the second try; each further wait is four times as long.",
				positive(), func(r *frontier.Retry) *time.Duration { return &r.Delay }),
		})...),
		section("network", "How servers are reached.",
			value("allow", "Networks that may be fetched from although they are loopback, private or link-local,\n"+
				"such as [127.0.0.0/8, 10.0.0.7].",
				list(network()), func(c *Config) *[]netip.Prefix { return &c.Crawl.Fetch.Allow }),
			value("resolver", "DNS server to ask, as IP:PORT. Empty: that of the system.",
				server(), func(c *Config) *string { return &c.Crawl.Fetch.Resolver }),
			value("resolve", "Fixed addresses of hosts, such as {www.example.org: 192.0.2.1}.",
				dictionary(address(), hostName), func(c *Config) *map[string]netip.Addr { return &c.Crawl.Fetch.Resolve }),
			value("timeout", "Time that one fetch may take, from the connection to the end of the body.",
				positive(), func(c *Config) *time.Duration { return &c.Crawl.Fetch.Timeout }),
			value("http2", "Whether HTTP/2 is spoken with servers that offer it.",
				converted(boolean(), not, not), func(c *Config) *bool { return &c.Crawl.Fetch.DisableHTTP2 }),
			value("proxy", "URL of an http, https or socks5 proxy. Empty: that of the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).",
				proxy(), func(c *Config) *string { return &c.Crawl.Fetch.Proxy }),
		),
		section("politeness", "How hosts are treated. Changes take effect while the crawl runs.",
			section("default", "What holds for every host.",
				within(func(c *Config) *frontier.Politeness { return &c.Crawl.Politeness.Default }, politeness())...),
			domains(),
		),
		section("seen", "The filter in front of the store of URLs already seen.",
			reserved[Config]("filter", "Kind of the filter.", text(), "blocked", "only the blocked filter is part of this version"),
			value("target_fpr", "False-positive rate the filter is sized for. A false positive costs a lookup, never a page.",
				ranged(decimal(), "more than 0 and at most 0.5", func(f float64) bool { return f > 0 && f <= 0.5 }, schema{"exclusiveMinimum": 0, "maximum": 0.5}),
				func(c *Config) *float64 { return &c.Crawl.Seen.TargetFPR }),
			value("headroom", "Capacity of a new filter, as a multiple of the URLs known when it is made.",
				ranged(decimal(), "1 to 100", func(f float64) bool { return f >= 1 && f <= 100 }, schema{"minimum": 1, "maximum": 100}),
				func(c *Config) *float64 { return &c.Crawl.Seen.Headroom }),
			value("rebuild_at", "The filter is rebuilt when its false-positive rate passes this multiple of target_fpr.",
				ranged(decimal(), "more than 1 and at most 100", func(f float64) bool { return f > 1 && f <= 100 }, schema{"exclusiveMinimum": 1, "maximum": 100}),
				func(c *Config) *float64 { return &c.Crawl.Seen.RebuildAt }),
		),
		section("log", "What is logged, to standard error.", within(func(c *Config) *Log { return &c.Log }, []key[Log]{
			value("level", "Least level that is logged: debug, info, warn or error.",
				level(), func(l *Log) *slog.Level { return &l.Level }),
			value("format", "text or json.",
				choice(option[string]{"text", "text"}, option[string]{"json", "json"}), func(l *Log) *string { return &l.Format }),
		})...),
		section("archive", "Keeping pages as WARC files.",
			reserved[Config]("warc", "Not part of this version: off.",
				onOff(), false, "WARC output is not part of this version"),
			reserved[Config]("dir", "Directory of the files, relative to the crawl's data.", localPath(), "archive", ""),
			reserved[Config]("max_size", "Size at which a new file is begun.",
				ranged(size(), "1B or more", func(n int64) bool { return n > 0 }, nil), 1<<30, ""),
		),
		section("recrawl", "Fetching pages again.",
			reserved[Config]("after", "Not part of this version: 0s, never.", duration(), 0, "fetching pages again is not part of this version"),
		),
		section("http", "Status page, JSON and metrics.",
			reserved[Config]("listen", "Not part of this version: empty.", text(), "", "the dashboard is not part of this version"),
		),
		section("cluster", "Several nodes on one crawl.",
			reserved[Config]("nats", "Not part of this version: empty.", text(), "", "clusters are not part of this version"),
			reserved[Config]("partitions", "Parts into which hosts are divided among the nodes.", count(1), 64, ""),
			reserved[Config]("replicas", "Servers that keep each part.",
				ranged(integer(), "1 to 5", func(n int) bool { return n >= 1 && n <= 5 }, schema{"minimum": 1, "maximum": 5}), 3, ""),
		),
	}
}

// politeness lists the keys of politeness.default, which are also those of a domain.
func politeness() []key[frontier.Politeness] {
	type rule = frontier.Politeness
	return []key[rule]{
		value("delay", "Least time between the end of one request to a host and the start of the next.",
			duration(), func(p *rule) *time.Duration { return &p.Delay }),
		value("connections", "Requests to one host that may be in flight at once.",
			count(1), func(p *rule) *int { return &p.Connections }),
		value("robots", "obey or ignore robots.txt. Ignore it only on sites of your own.",
			choice(option[bool]{"obey", true}, option[bool]{"ignore", false}), func(p *rule) *bool { return &p.ObeyRobots }),
		value("crawl_delay", "honour or ignore the Crawl-delay of robots.txt; it lengthens the delay, never shortens it.",
			choice(option[bool]{"honour", true}, option[bool]{"ignore", false}), func(p *rule) *bool { return &p.HonourCrawlDelay }),
		value("max_crawl_delay", "The most that a Crawl-delay can ask for.",
			duration(), func(p *rule) *time.Duration { return &p.MaxCrawlDelay }),
		value("adaptive", "Whether the delay grows to the time that a slow host takes to answer.",
			boolean(), func(p *rule) *bool { return &p.Adaptive }),
		value("hours", "Time of day in which a host may be visited, such as \"22:00-06:00 UTC\" or \"22:00-06:00 Europe/Berlin\".\n"+
			"Empty: always.",
			hours(), func(p *rule) *frontier.Hours { return &p.Hours }),
	}
}

// domains is the key of the exceptions from politeness.default. What a domain leaves open is filled in from there, so
// the list is read after everything else.
func domains() key[Config] {
	type rule = frontier.DomainRule
	keys := append(
		[]key[rule]{value("match", "example.org: the host and its subdomains; \"*.example.org\": the subdomains only.",
			domainMatch(), func(d *rule) *string { return &d.Match })},
		within(func(d *rule) *frontier.Politeness { return &d.Politeness }, politeness())...)
	return key[Config]{
		name: "domains",
		read: func(r *reader, path string, n *yaml.Node, c *Config) {
			items, _ := r.items(path, n)
			r.deferred = append(r.deferred, func() {
				lines := make(map[string]int)
				for i, item := range items {
					d := rule{Politeness: c.Crawl.Politeness.Default}
					itemPath := fmt.Sprintf("%s[%d]", path, i)
					readMapping(r, itemPath, item, &d, keys)
					match := valueOf(item, "match")
					if match == nil && item.Kind == yaml.MappingNode {
						r.fault(item, itemPath, itemPath+": there is no match", "say which hosts are meant, as in match: example.org")
					}
					if line, twice := lines[d.Match]; twice {
						r.fault(match, itemPath+".match", fmt.Sprintf("%s.match: %q is already matched on line %d", itemPath, d.Match, line), "keep one")
					} else if d.Match != "" {
						lines[d.Match] = match.Line
					}
					c.Crawl.Politeness.Domains = append(c.Crawl.Politeness.Domains, d)
				}
			})
		},
		entry: func(c *Config) entry {
			item := object(entries(&rule{Politeness: c.Crawl.Politeness.Default}, keys), false)
			item["required"] = []string{"match"}
			return entry{
				name: "domains",
				doc: "Exceptions. The most specific match wins, wherever it stands; what an entry leaves open is as in default:\n" +
					"  - match: example.org        # the host and its subdomains\n" +
					"    delay: 250ms\n" +
					"    connections: 4\n" +
					"  - match: \"*.slow.example\"   # the subdomains only\n" +
					"    hours: \"22:00-06:00 UTC\"",
				schema: schema{"type": []string{"array", "null"}, "items": item},
				value:  []any{},
			}
		},
	}
}

// valueOf returns the value of a key of a mapping, nil if it has none of that name.
func valueOf(n *yaml.Node, name string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

func headers() kind[http.Header] {
	to := func(fields map[string]string) http.Header {
		if len(fields) == 0 {
			return nil
		}
		h := make(http.Header)
		for name, v := range fields {
			h.Set(name, v)
		}
		return h
	}
	from := func(h http.Header) map[string]string {
		fields := make(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(h)) {
			fields[name] = h.Get(name)
		}
		return fields
	}
	return converted(dictionary(headerValue(), headerName), to, from)
}

func reach() kind[crawl.Reach] {
	var options []option[crawl.Reach]
	for _, r := range crawl.Reaches() {
		options = append(options, option[crawl.Reach]{string(r), r})
	}
	return choice(options...)
}

// depth is a number of links, nil for no limit.
func depth() kind[*int] {
	number := ranged(integer(), "-1 for no limit, or 0 or more", func(n int) bool { return n >= -1 }, schema{"minimum": -1})
	to := func(n int) *int {
		if n < 0 {
			return nil
		}
		return &n
	}
	from := func(n *int) int {
		if n == nil {
			return -1
		}
		return *n
	}
	return converted(number, to, from)
}

func not(b bool) bool { return !b }
