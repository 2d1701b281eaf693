package configs

import (
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"net/textproto"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/idna"

	"crawler/frontier"
)

func text() kind[string] {
	return checkedText(func(string) error { return nil })
}

// checkedText is the kind of texts for which check finds nothing wrong.
func checkedText(check func(string) error) kind[string] {
	return parsedText("a text", func(s string) (string, error) { return s, check(s) })
}

// parsedText is the kind of texts that parse brings into one form.
func parsedText(want string, parse func(string) (string, error)) kind[string] {
	return scalarKind(want, texts, parse, func(s string) any { return s }, schema{"type": "string"})
}

func boolean() kind[bool] {
	words := choice(
		option[bool]{"true", true}, option[bool]{"false", false},
		option[bool]{"on", true}, option[bool]{"off", false},
		option[bool]{"yes", true}, option[bool]{"no", false},
	)
	words.plain = func(v bool) any { return v }
	words.schema = schema{"enum": []any{true, false, "on", "off", "yes", "no"}}
	return words
}

// onOff is a truth value that is shown as on or off.
func onOff() kind[bool] {
	k := boolean()
	k.plain = func(v bool) any {
		if v {
			return "on"
		}
		return "off"
	}
	return k
}

func integer() kind[int] {
	parse := func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err == nil {
			return n, nil
		}
		if other, err := strconv.ParseInt(s, 0, strconv.IntSize); err == nil {
			return 0, wrong(fmt.Sprintf("write %d", other), "%s is not a plain decimal number", s)
		}
		return 0, wrong("write a whole number", "%s is not a whole number that can be counted with", s)
	}
	return scalarKind("a whole number", numbers, parse, func(n int) any { return n }, schema{"type": "integer"})
}

// count is a whole number of at least least.
func count(least int) kind[int] {
	return ranged(integer(), fmt.Sprintf("%d or more", least), func(n int) bool { return n >= least }, schema{"minimum": least})
}

func decimal() kind[float64] {
	parse := func(s string) (float64, error) {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return 0, wrong("write a decimal number such as 1.5", "%s is not a number that can be counted with", s)
		}
		return f, nil
	}
	return scalarKind("a number", numbers, parse, func(f float64) any { return f }, schema{"type": "number"})
}

// duration is a time in the notation of time.ParseDuration, not negative.
func duration() kind[time.Duration] {
	return scalarKind("a duration such as 250ms, 5s or 1m", anyText, parseDuration, plainDuration,
		schema{"type": "string", "pattern": `^\+?([0-9]*\.?[0-9]+|[0-9]+\.)(ns|us|µs|μs|ms|s|m|h)`})
}

// positive is a duration of more than nothing.
func positive() kind[time.Duration] {
	return ranged(duration(), "more than 0s", func(d time.Duration) bool { return d > 0 }, nil)
}

func parseDuration(s string) (time.Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, wrong("write "+s+"s", "%s has no unit", s)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		if days, ok := strings.CutSuffix(s, "d"); ok {
			if n, err := strconv.Atoi(days); err == nil && n > 0 && n < math.MaxInt/24 {
				return 0, wrong(fmt.Sprintf("write %dh", 24*n), "%q is in days, which are not a unit here", s)
			}
		}
		return 0, wrong("write one such as 250ms, 5s or 1m", "%q is not a duration", s)
	}
	if d < 0 {
		return 0, wrong("write 0s or more", "%s is negative", s)
	}
	return d, nil
}

func plainDuration(d time.Duration) any {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// unit is a unit of sizes, in lower case.
type unit struct {
	name  string
	bytes int64
}

// units lists the units of sizes: binary, decimal, and single letters, which are binary as in dd and wget.
func units() []unit {
	list := []unit{{"b", 1}}
	binary, decimal := int64(1), int64(1)
	for _, letter := range []string{"k", "m", "g", "t"} {
		binary, decimal = binary*1024, decimal*1000
		list = append(list, unit{letter + "ib", binary}, unit{letter + "b", decimal}, unit{letter, binary})
	}
	return list
}

// size is a number of bytes.
func size() kind[int64] {
	return scalarKind("a size such as 512k, 10MiB or 1GB", anyText, parseSize, plainSize,
		schema{"type": "string", "pattern": `^([0-9]+\.?[0-9]*|\.[0-9]+) *([bB]|[kKmMgGtT]([iI]?[bB])?)$`})
}

func parseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ ")
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Trim(digits, "0123456789.") != "" {
		return 0, wrong("write one such as 512k, 10MiB or 1GB", "%q is not a size", s)
	}
	name := strings.ToLower(strings.TrimSpace(s[len(digits):]))
	if name == "" {
		return 0, wrong(fmt.Sprintf("write %sB or %sMiB", s, s), "%s has no unit", s)
	}
	for _, u := range units() {
		if u.name == name {
			if n >= math.MaxInt64/float64(u.bytes) {
				return 0, wrong("", "%s is too large", s)
			}
			return int64(n * float64(u.bytes)), nil
		}
	}
	return 0, wrong("the units are B, kB, MB, GB, TB (decimal) and KiB, MiB, GiB, TiB (binary)", "%q has an unknown unit", s)
}

func plainSize(n int64) any {
	for i, letter := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if shift := 40 - 10*i; n > 0 && n%(1<<shift) == 0 {
			return fmt.Sprintf("%d%s", n>>shift, letter)
		}
	}
	return fmt.Sprintf("%dB", n)
}

func network() kind[netip.Prefix] {
	return scalarKind("a network such as 10.0.0.0/8", texts, ParseNetwork, func(p netip.Prefix) any { return p.String() }, schema{"type": "string"})
}

// ParseNetwork reads a network in CIDR notation or an address, which stands for itself alone. IPv4 addresses mapped
// to IPv6 are taken for IPv4. The error is a *Fault without a place.
func ParseNetwork(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, wrong("write one such as 10.0.0.0/8, fd00::/8 or 127.0.0.1", "%q is not a network", s)
	}
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	if p != p.Masked() {
		return p, wrong(fmt.Sprintf("write %s for the network or %s for the address", p.Masked(), p.Addr()),
			"%q has bits set beyond its prefix", s)
	}
	return p, nil
}

func address() kind[netip.Addr] {
	parse := func(s string) (netip.Addr, error) {
		a, err := netip.ParseAddr(s)
		if err != nil {
			return a, wrong("write one such as 192.0.2.1 or 2001:db8::1", "%q is not an IP address", s)
		}
		return a.Unmap(), nil
	}
	return scalarKind("an IP address", texts, parse, func(a netip.Addr) any { return a.String() }, schema{"type": "string"})
}

// server is the IP:PORT of a server, or nothing.
func server() kind[string] {
	return checkedText(func(s string) error {
		if s == "" {
			return nil
		}
		if a, err := netip.ParseAddr(s); err == nil {
			return wrong(fmt.Sprintf("write %q", netip.AddrPortFrom(a, 53)), "%q has no port", s)
		}
		if a, err := netip.ParseAddrPort(s); err != nil || a.Port() == 0 {
			return wrong(`write an IP address and a port, such as "9.9.9.9:53"`, "%q is not a server address", s)
		}
		return nil
	})
}

// proxy is the URL of a proxy, or nothing.
func proxy() kind[string] {
	return checkedText(func(s string) error {
		if s == "" {
			return nil
		}
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"http", "https", "socks5"}, u.Scheme) {
			return wrong("write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT", "%q is not the URL of a proxy", s)
		}
		return nil
	})
}

func pattern() kind[*regexp.Regexp] {
	parse := func(s string) (*regexp.Regexp, error) {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, wrong("the syntax is that of RE2", "%q is not a regular expression: %s",
				s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		return re, nil
	}
	return scalarKind("a regular expression", texts, parse, func(re *regexp.Regexp) any { return re.String() },
		schema{"type": "string", "format": "regex"})
}

func hours() kind[frontier.Hours] {
	parse := func(s string) (frontier.Hours, error) {
		h, err := frontier.ParseHours(s)
		if err != nil {
			return h, wrong("", "%s", strings.TrimPrefix(err.Error(), "hours "))
		}
		return h, nil
	}
	return scalarKind(`a window such as "22:00-06:00 UTC"`, texts, parse, func(h frontier.Hours) any { return h.String() }, schema{"type": "string"})
}

func level() kind[slog.Level] {
	return choice(
		option[slog.Level]{"debug", slog.LevelDebug}, option[slog.Level]{"info", slog.LevelInfo},
		option[slog.Level]{"warn", slog.LevelWarn}, option[slog.Level]{"error", slog.LevelError},
	)
}

// headerValue is a text that can stand in a header field.
func headerValue() kind[string] {
	return checkedText(func(s string) error {
		if !httpguts.ValidHeaderFieldValue(s) {
			return wrong("keep it to one line of visible characters", "%q cannot be sent in a header field", s)
		}
		return nil
	})
}

// headerName returns the canonical form of the name of a header field that a request may be given.
func headerName(s string) (string, error) {
	name := textproto.CanonicalMIMEHeaderKey(s)
	switch {
	case !httpguts.ValidHeaderFieldName(s):
		return "", wrong("", "%q is not the name of a header field", s)
	case slices.Contains([]string{"Host", "Content-Length", "Transfer-Encoding", "Trailer", "Connection"}, name):
		return "", wrong("remove it", "%s is set by the HTTP client itself", name)
	}
	return name, nil
}

// localPath is the path of something inside the crawl's data directory.
func localPath() kind[string] {
	return checkedText(func(s string) error {
		if !filepath.IsLocal(s) {
			return wrong("write a relative path inside the data directory", "%q is not inside the data directory", s)
		}
		return nil
	})
}

// domainMatch is the kind of patterns for hosts: a host name, or "*." and one.
func domainMatch() kind[string] {
	return parsedText(`a host name or "*." and one`, func(s string) (string, error) {
		if s == "*" || s == "*." {
			return "", wrong("write what holds for every host in politeness.default", "%q matches every host", s)
		}
		name, wild := strings.CutPrefix(s, "*.")
		host, err := hostName(name)
		if err != nil {
			return "", err
		}
		if wild {
			if strings.HasPrefix(host, "[") || isIPv4(host) {
				return "", wrong(fmt.Sprintf("write %q", name), "%q: an address has no subdomains", s)
			}
			return "*." + host, nil
		}
		return host, nil
	})
}

// hostName returns the form that a host name or IP address has in a canonical URL: lower case, international names in
// Punycode (UTS 46, non-transitional), IPv6 addresses in brackets.
func hostName(s string) (string, error) {
	bad := func(remedy string) (string, error) { return "", wrong(remedy, "%q is not a host name", s) }
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil && a.Zone() == "" {
		if a.Is4() {
			return a.String(), nil
		}
		return "[" + a.String() + "]", nil
	}
	if u, err := url.Parse(s); err == nil && u.Hostname() != "" {
		return bad(fmt.Sprintf("write %q", u.Hostname()))
	}
	if host, _, ok := strings.Cut(s, ":"); ok && host != "" {
		return bad(fmt.Sprintf("write %q; it holds for every port", host))
	}
	host, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false)).ToASCII(s)
	host = strings.TrimSuffix(host, ".")
	if err != nil || host == "" || strings.ContainsAny(host, " \t\r\n#%/:<>?@[\\]^|*\"") || strings.Contains(host, "..") || strings.HasPrefix(host, ".") {
		return bad("write one such as example.org")
	}
	return host, nil
}

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}
