package extract

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseRefresh reads the content of a meta element with http-equiv=refresh, or a Refresh header: "5; url='next.html'" is
// next.html after five seconds. An empty url stands for the document itself. It is trimmed, but tabs and newlines within it are
// left to the URL parser. The result is not ok where a browser would do nothing (HTML 4.2.5.3, shared declarative refresh steps).
func ParseRefresh(content string) (delay time.Duration, url string, ok bool) {
	const digits = "0123456789"
	s := strings.TrimLeft(content, space)
	rest := strings.TrimLeft(s, digits)
	whole := s[:len(s)-len(rest)]
	if whole == "" && !strings.HasPrefix(rest, ".") {
		return 0, "", false
	}
	delay = seconds(whole)

	s = strings.TrimLeft(rest, digits+".") // the fraction counts for nothing
	if s != "" && !strings.ContainsAny(s[:1], space+";,") {
		return 0, "", false
	}
	s = strings.TrimLeft(s, space)
	if s != "" && (s[0] == ';' || s[0] == ',') {
		s = strings.TrimLeft(s[1:], space)
	}
	s = trimURLEquals(s)
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		s, _, _ = strings.Cut(s[1:], s[:1])
	}
	return delay, strings.Trim(s, space), true
}

// trimURLEquals cuts "url =" off the front. Anything less is the beginning of a relative reference.
func trimURLEquals(s string) string {
	const name = "url"
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return s
	}
	after, found := strings.CutPrefix(strings.TrimLeft(s[len(name):], space), "=")
	if !found {
		return s
	}
	return strings.TrimLeft(after, space)
}

// seconds converts a string of decimal digits, to the longest duration there is if need be.
func seconds(digits string) time.Duration {
	n, _ := strconv.ParseInt(digits, 10, 64) // 0 for none, the largest int64 out of range
	return time.Duration(min(n, int64(math.MaxInt64/time.Second))) * time.Second
}
