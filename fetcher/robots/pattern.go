package robots

import "strings"

// pattern is a path pattern cut at its stars. It matches a canonical URI that begins with prefix and then holds the
// parts in order; if anchored, the URI ends with the last of them.
type pattern struct {
	prefix   string
	parts    []string
	anchored bool
	octets   int // the length that decides which rule wins
}

// compile reads a path pattern in which '*' is any run of octets and a '$' at the end is the end of the URI
// (RFC 9309 section 2.2.3).
func compile(path string) pattern {
	path, anchored := strings.CutSuffix(path, "$")
	parts := strings.Split(path, "*")
	p := pattern{octets: len(parts) - 1}
	if anchored {
		p.octets++
	}
	for i, part := range parts {
		part = canonical(part)
		p.octets += len(part)
		if i == 0 {
			p.prefix = part
		} else if part != "" {
			p.parts = append(p.parts, part)
		}
	}
	// After a last star the end may be anywhere.
	p.anchored = anchored && (len(parts) == 1 || parts[len(parts)-1] != "")
	return p
}

// match takes the leftmost place for each part: where any choice matches, so does this one, and there is no way back.
func (p *pattern) match(uri string) bool {
	rest, ok := strings.CutPrefix(uri, p.prefix)
	if !ok {
		return false
	}
	if p.anchored && len(p.parts) == 0 {
		return rest == ""
	}
	for i, part := range p.parts {
		if p.anchored && i == len(p.parts)-1 {
			return strings.HasSuffix(rest, part)
		}
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return true
}

// canonical gives equal URIs equal octets (RFC 9309 section 2.2.2): escapes of unreserved characters are decoded, other escapes
// have upper-case digits, and octets that no URI may hold are escaped. So are '*' and '$', which leaves these two to
// mean something in a pattern and lets its "%2A" match a star.
func canonical(s string) string {
	i := 0
	for i < len(s) && class[s[i]] != encode && s[i] != '%' {
		i++
	}
	if i == len(s) {
		return s
	}
	b := make([]byte, i, len(s)+8)
	copy(b, s)
	for ; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			hi, ok1 := unhex(s[i+1])
			lo, ok2 := unhex(s[i+2])
			if ok1 && ok2 {
				i += 2
				if v := hi<<4 | lo; class[v] == unreserved {
					b = append(b, v)
				} else {
					b = append(b, '%', upperHex[hi], upperHex[lo])
				}
				continue
			}
		}
		if class[c] == encode {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

const upperHex = "0123456789ABCDEF"

func unhex(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

const (
	reserved   = iota // stands for itself, and so does its escape
	unreserved        // RFC 3986 section 2.3
	encode            // never stands for itself
)

// class sorts the octets of a URI.
var class = func() (t [256]byte) {
	for i := range t {
		switch c := byte(i); {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			t[i] = unreserved
		case c <= ' ', c >= 0x7f, strings.IndexByte("\"<>\\^`{|}*$", c) >= 0:
			t[i] = encode
		}
	}
	return t
}()
