package normalize

import "strings"

// Key is the identity of a URL in the seen gate. It is itself the text of a URL,
// which is fetched as the same resource.
type Key string

// Key returns u's String with the percent-escapes of path and query evened out
// (RFC 3986 sections 6.2.2.1 and 6.2.2.2): upper-case digits, and unreserved
// characters (ALPHA DIGIT - . _ ~) decoded, once. Nothing else is merged.
//
// A hexadecimal digit that would complete a stray "%" stays escaped: "%4%31" is
// not "%41", which would be another character.
func (u URL) Key() Key {
	s := u.href
	i := strings.IndexByte(s, '%') // a host has none
	if i < 0 {
		return Key(s)
	}
	var (
		b     = make([]byte, 0, 256) // s[:done] evened out
		done  int
		guard int // where a decoded hexadecimal digit would complete a stray "%"
	)
	for i < len(s) {
		if s[i] != '%' {
			i++
			continue
		}
		c, ok := unescape(s[i:])
		if !ok {
			i++
			if guard = i; i < len(s) && isHex(s[i]) {
				guard++
			}
			continue
		}
		text := [...]byte{'%', upperHex[c>>4], upperHex[c&15]}
		even := text[:]
		if isUnreserved(c) && (i != guard || !isHex(c)) {
			text[0], even = c, text[:1]
		}
		if string(even) != s[i:i+3] {
			b = append(append(b, s[done:i]...), even...)
			done = i + 3
		}
		i += 3
	}
	if done == 0 {
		return Key(s)
	}
	return Key(append(b, s[done:]...))
}

// isUnreserved reports whether c is unreserved in RFC 3986 section 2.3.
func isUnreserved(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' ||
		c == '-' || c == '.' || c == '_' || c == '~'
}
