package robots

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// MaxSize is the number of bytes of a file that are read; the rest is ignored (RFC 9309 section 2.5).
const MaxSize = 500 << 10

// maxLine is the number of bytes of a line that are read. It is the figure of Google's parser, so that both understand
// an overlong line alike.
const maxLine = 2083*8 - 1

// maxDelay caps a Crawl-delay: a longer one means "hardly ever", and must not overflow a sum.
const maxDelay = 24 * time.Hour

// File is a parsed robots.txt. The zero value has no rules.
type File struct {
	records  []record
	sitemaps []string
}

// record is a line that means something to a group, in the order of the file.
type record struct {
	kind  kind
	line  int    // 1-based
	text  string // the whole line, trimmed
	value string // a product token or "*" where kind is userAgent, else what follows the colon
}

type kind uint8

const (
	other kind = iota
	userAgent
	allow
	disallow
	crawlDelay
	sitemap
)

// Parse reads a robots.txt of any content. Lines end in CR, LF or CRLF. A byte order mark and NUL bytes are dropped, so
// that ASCII in UTF-16 is understood too.
func Parse(body []byte) *File {
	f := new(File)
	body = body[:min(len(body), MaxSize)]
	for _, bom := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		body = bytes.TrimPrefix(body, []byte(bom))
	}
	body = bytes.ReplaceAll(body, []byte{0}, nil)
	for n := 1; len(body) > 0; n++ {
		end := bytes.IndexAny(body, "\r\n")
		if end < 0 {
			end = len(body)
		}
		f.add(n, string(bytes.TrimSpace(body[:min(end, maxLine)])))
		body = body[end:]
		if bytes.HasPrefix(body, []byte("\r\n")) {
			body = body[2:]
		} else if len(body) > 0 {
			body = body[1:]
		}
	}
	return f
}

// add appends the meaning of one line, if it has any.
func (f *File) add(n int, text string) {
	k, value := field(text)
	switch k {
	case other:
		return
	case sitemap:
		if value != "" {
			f.sitemaps = append(f.sitemaps, value)
		}
		return
	case userAgent:
		value = ProductToken(value)
	}
	f.records = append(f.records, record{kind: k, line: n, text: text, value: value})
}

// field splits a line into the meaning of its key and its value. Without a colon it must be exactly two words.
func field(text string) (kind, string) {
	text, _, _ = strings.Cut(text, "#")
	key, value, found := strings.Cut(text, ":")
	if !found {
		words := strings.Fields(text)
		if len(words) != 2 {
			return other, ""
		}
		key, value = words[0], words[1]
	}
	return kindOf(strings.TrimSpace(key)), strings.TrimSpace(value)
}

// kindOf names a key's meaning. A misspelt Disallow is a Disallow; Allow must be exact.
func kindOf(key string) kind {
	switch {
	case strings.EqualFold(key, "allow"):
		return allow
	case hasPrefixFold(key, "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
		return disallow
	case hasPrefixFold(key, "user-agent", "useragent", "user agent"):
		return userAgent
	case hasPrefixFold(key, "crawl-delay", "crawldelay", "crawl delay"):
		return crawlDelay
	case hasPrefixFold(key, "sitemap", "site-map"):
		return sitemap
	}
	return other
}

func hasPrefixFold(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if len(s) >= len(p) && strings.EqualFold(s[:len(p)], p) {
			return true
		}
	}
	return false
}

// ProductToken returns the name by which robots.txt files call the sender of a User-Agent field: "examplebot" of
// "examplebot/1.0 (+https://example.org/bot)". Of the browser form "Mozilla/5.0 (compatible; examplebot/1.0)" it is the
// name after "compatible;". Digits and dots count as part of a token, beyond RFC 9309 section 2.2.1, for there are bots named so.
// It is "*" for "*", and empty if there is none.
func ProductToken(userAgent string) string {
	userAgent = strings.TrimSpace(userAgent)
	if userAgent == "*" || strings.HasPrefix(userAgent, "* ") || strings.HasPrefix(userAgent, "*\t") {
		return "*"
	}
	token := leadingToken(userAgent)
	if strings.EqualFold(token, "mozilla") {
		if _, rest, ok := strings.Cut(userAgent, "(compatible;"); ok {
			if named := leadingToken(strings.TrimSpace(rest)); named != "" {
				return named
			}
		}
	}
	return token
}

func leadingToken(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' || r == '.')
	})
	if end < 0 {
		return s
	}
	return s[:end]
}

// Sitemaps returns the values of the Sitemap lines as written, whichever group they stand in.
func (f *File) Sitemaps() []string { return f.sitemaps }

// Group returns the rules of all groups that name agent, a product token compared whole and in any case; if none does, those
// of the groups for "*"; else no rules (RFC 9309 section 2.2.1).
//
// A group is a run of User-agent lines and the Allow and Disallow lines up to the next such run. Other lines do not end a
// run (section 2.2.4), but a Crawl-delay counts only for the agents named above it.
func (f *File) Group(agent string) *Rules {
	var own, star Rules
	named := false                // some line names agent
	inOwn, inStar := false, false // the current group is for agent, for "*"
	inRules := false              // a rule has ended the run of User-agent lines
	for _, r := range f.records {
		switch r.kind {
		case userAgent:
			if inRules {
				inOwn, inStar, inRules = false, false, false
			}
			if r.value == "*" {
				inStar = true
			}
			if r.value != "" && strings.EqualFold(r.value, agent) {
				inOwn, named = true, true
			}
			continue
		case allow, disallow:
			inRules = true
		}
		if inOwn {
			own.add(r)
		}
		if inStar {
			star.add(r)
		}
	}
	rules := &star
	if named {
		rules = &own
	}
	rules.sort()
	return rules
}

// parseDelay reads a Crawl-delay in seconds, with a fraction or without.
func parseDelay(value string) (time.Duration, bool) {
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}
	s, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return 0, false
	}
	return time.Duration(min(s, maxDelay.Seconds()) * float64(time.Second)), true
}
