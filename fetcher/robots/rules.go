package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Rules are the rules of one product token. A nil or zero Rules has none and allows everything.
type Rules struct {
	rules    []rule // longest pattern first, Allow before Disallow
	delay    time.Duration
	hasDelay bool
}

type rule struct {
	pattern pattern
	allow   bool
	line    int
	text    string
}

// Verdict says whether a URL may be fetched, and why.
type Verdict struct {
	Allowed bool
	Line    int    // the deciding line, from 1; 0 if no rule matches
	Rule    string // the text of that line, trimmed, as the file has it
}

// add compiles a record into the rules. Most rules win by length, so their order does not matter here.
func (rs *Rules) add(r record) {
	if r.kind == crawlDelay {
		if d, ok := parseDelay(r.value); ok {
			rs.delay, rs.hasDelay = max(rs.delay, d), true
		}
		return
	}
	path := r.value
	if r.kind == disallow {
		// No URL holds a '<': it begins markup, of a file that is HTML or a placeholder.
		path, _, _ = strings.Cut(path, "<")
		if path != "" && path[0] != '/' && path[0] != '*' {
			path = "/" + path
		}
	}
	if path == "" {
		return // an empty rule matches nothing
	}
	rs.rules = append(rs.rules, rule{pattern: compile(path), allow: r.kind == allow, line: r.line, text: r.text})
}

func (rs *Rules) sort() {
	slices.SortStableFunc(rs.rules, func(a, b rule) int {
		if a.pattern.octets == b.pattern.octets && a.allow != b.allow {
			if a.allow {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.pattern.octets, a.pattern.octets)
	})
}

// Check judges a path with its query, as on a request line; an empty one means "/". The rule with the longest pattern
// decides, Allow before Disallow; without a match the URL is allowed. /robots.txt is always allowed (RFC 9309 section 2.2.2).
func (rs *Rules) Check(requestURI string) Verdict {
	if rs == nil || len(rs.rules) == 0 {
		return Verdict{Allowed: true}
	}
	uri := canonical(requestURI)
	if uri == "" {
		uri = "/"
	}
	if uri == "/robots.txt" {
		return Verdict{Allowed: true}
	}
	for i := range rs.rules {
		if r := &rs.rules[i]; r.pattern.match(uri) {
			return Verdict{Allowed: r.allow, Line: r.line, Rule: r.text}
		}
	}
	return Verdict{Allowed: true}
}

// CrawlDelay returns the longest Crawl-delay of the group, at most a day, and whether it has one. Values that are not a plain
// number of seconds are ignored. The field is no part of RFC 9309.
func (rs *Rules) CrawlDelay() (time.Duration, bool) {
	if rs == nil {
		return 0, false
	}
	return rs.delay, rs.hasDelay
}

// size estimates the bytes that the rules hold in memory.
func (rs *Rules) size() int64 {
	const perRule = 112 // a rule struct
	var n int
	if rs != nil {
		for i := range rs.rules {
			r := &rs.rules[i]
			n += perRule + len(r.text) + len(r.pattern.prefix)
			for _, part := range r.pattern.parts {
				n += 16 + len(part)
			}
		}
	}
	return int64(n)
}
