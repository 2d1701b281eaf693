package normalize

import "strings"

// Parse parses an absolute URL (WHATWG URL Standard section 4.4, without base).
// The errors are ErrRelative, ErrScheme, ErrHost, ErrPort and ErrTooLong.
//
// Bytes that are not UTF-8 are percent-encoded as they are, where the standard
// would first replace them by U+FFFD: the server sees the bytes its page holds.
func Parse(raw string) (URL, error) { return URL{}.Resolve(raw) }

// Resolve parses ref against the base u (WHATWG URL Standard section 4.4). If u
// is the zero value there is no base, and ref must be absolute.
//
// The result says that it DroppedUserinfo only if ref itself carried some.
func (u URL) Resolve(ref string) (URL, error) {
	v, err := u.resolve(ref)
	if err != nil {
		return URL{}, &inputError{ref, err}
	}
	return v, nil
}

// resolve is the standard's state machine, unrolled. With special schemes only,
// and with userinfo and fragment dropped, every state but that of the path is a
// cut at the next delimiter. In all of them "#" starts the fragment and "?" the
// query, so these two are cut off first.
func (u URL) resolve(ref string) (URL, error) {
	u.dropped = false // it tells about the text of u, not about ref
	ref, _, _ = cut(trimControls(ref), '#')
	ref, query, hasQuery := cut(stripNewlines(ref), '?')

	scheme, rest, err := u.cutScheme(ref)
	if err != nil {
		return URL{}, err
	}
	var (
		v URL
		b = make([]byte, 0, 256) // stays on the stack; longer URLs move to the heap
	)
	// A scheme equal to the base's counts as absent: "http:x" is "x".
	switch slashes := leadingSlashes(rest); {
	case scheme != u.Scheme() || slashes >= 2:
		authority, path := cutAuthority(rest[slashes:])
		if v, b, err = appendAuthority(b, scheme, authority); err != nil {
			return URL{}, err
		}
		b = appendPath(append(b, '/'), len(b), path)
	case slashes == 1:
		v = u
		b = append(b, u.Origin()...)
		b = appendPath(append(b, '/'), len(b), rest[1:])
	case rest != "":
		v = u
		b = append(b, u.Origin()...)
		path := u.Path()
		dir := path[:strings.LastIndexByte(path, '/')+1]
		b = appendPath(append(b, dir...), len(b), rest)
	case hasQuery:
		v = u
		b = append(b, u.href[:u.pathEnd]...)
	default:
		return u, nil
	}
	pathEnd := len(b)
	if hasQuery {
		b = appendEscaped(append(b, '?'), query, &escapeInQuery)
	}
	if len(b) > MaxLength {
		return URL{}, ErrTooLong
	}
	v.href = string(b)
	v.pathEnd = uint16(pathEnd)
	return v, nil
}

// cut is strings.Cut with a separator of one byte, which is faster.
func cut(s string, sep byte) (before, after string, found bool) {
	if i := strings.IndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// trimControls cuts C0 controls and spaces from both ends.
func trimControls(s string) string {
	for s != "" && s[0] <= ' ' {
		s = s[1:]
	}
	for s != "" && s[len(s)-1] <= ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// stripNewlines removes tabs, line feeds and carriage returns wherever they are.
func stripNewlines(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\t') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c != '\t' && c != '\n' && c != '\r' {
			b = append(b, c)
		}
	}
	return string(b)
}

// cutScheme returns the scheme of ref, or of the base u if ref has none, and
// what follows it.
func (u URL) cutScheme(ref string) (scheme, rest string, err error) {
	name := ref[:schemeLen(ref)]
	switch {
	case name == "" && u.IsZero():
		return "", "", ErrRelative
	case name == "":
		return u.Scheme(), ref, nil
	case strings.EqualFold(name, "https"):
		return "https", ref[len("https:"):], nil
	case strings.EqualFold(name, "http"):
		return "http", ref[len("http:"):], nil
	default:
		return "", "", ErrScheme
	}
}

// schemeLen returns the length of the scheme before the colon, or 0 if ref does
// not start with a scheme.
func schemeLen(ref string) int {
	for i := range len(ref) {
		switch c := ref[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':':
			return i
		default:
			return 0
		}
	}
	return 0
}

// isSlash reports whether c separates path segments: in special schemes a
// backslash is a slash.
func isSlash(c byte) bool { return c == '/' || c == '\\' }

func leadingSlashes(s string) int {
	n := 0
	for n < len(s) && isSlash(s[n]) {
		n++
	}
	return n
}

// segmentLen returns the length of s up to its first slash.
func segmentLen(s string) int {
	n := 0
	for n < len(s) && !isSlash(s[n]) {
		n++
	}
	return n
}

// cutAuthority cuts s at the first slash, which belongs to neither part.
func cutAuthority(s string) (authority, path string) {
	n := segmentLen(s)
	if n == len(s) {
		return s, ""
	}
	return s[:n], s[n+1:]
}

// appendAuthority appends scheme, host and port to b, which is empty, and
// returns a URL that knows where they end.
func appendAuthority(b []byte, scheme, authority string) (URL, []byte, error) {
	var v URL
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		userinfo := authority[:at]
		v.dropped = userinfo != "" && userinfo != ":"
		authority = authority[at+1:]
	}
	host, port := authority, ""
	bracket := 0 // the colons of an IPv6 address stand before its bracket
	if strings.HasPrefix(authority, "[") {
		bracket = strings.IndexByte(authority, ']') + 1
	}
	if colon := strings.IndexByte(authority[bracket:], ':'); colon >= 0 {
		host, port = authority[:bracket+colon], authority[bracket+colon+1:]
	}

	b = append(append(b, scheme...), "://"...)
	v.hostStart = uint8(len(b))
	b, err := appendHost(b, host)
	if err != nil {
		return URL{}, nil, err
	}
	v.hostEnd = uint16(len(b))
	if b, err = appendPort(b, scheme, port); err != nil {
		return URL{}, nil, err
	}
	v.pathStart = uint16(len(b))
	return v, b, nil
}

// appendPort appends ":port" to b, or nothing if the port is empty or the
// scheme's default.
func appendPort(b []byte, scheme, port string) ([]byte, error) {
	digits := strings.TrimLeft(port, "0")
	if digits == "" && port != "" {
		digits = "0"
	}
	n := 0
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || '9' < c {
			return nil, ErrPort
		}
		if n = 10*n + int(c-'0'); n > 65535 {
			return nil, ErrPort
		}
	}
	if digits == "" || scheme == "http" && n == 80 || scheme == "https" && n == 443 {
		return b, nil
	}
	return append(append(b, ':'), digits...), nil
}

// appendPath is the path state. It appends the segments of path to b, whose
// path so far starts at root and ends with a slash.
func appendPath(b []byte, root int, path string) []byte {
	for {
		plain := plainSegments(path)
		b = append(b, path[:plain]...)
		if path = path[plain:]; path == "" {
			return b
		}
		n := segmentLen(path)
		last := n == len(path)
		switch segment := path[:n]; dots(segment) {
		case 1:
		case 2:
			if parent := len(b) - 1; parent > root {
				for b[parent-1] != '/' {
					parent--
				}
				b = b[:parent]
			}
		default:
			b = appendEscaped(b, segment, &escapeInPath)
			if !last {
				b = append(b, '/')
			}
		}
		if last {
			return b
		}
		path = path[n+1:]
	}
}

// plainSegments returns the length of those segments at the start of path, each
// with its slash, that are canonical as they are. It is len(path) for most.
func plainSegments(path string) int {
	start := 0 // of the segment
	for i := range len(path) {
		switch c := path[i]; {
		case !notableInPath[c]:
		case c == '/':
			start = i + 1
		case c != '.' && c != '%' || i == start: // perhaps a dot segment
			return start
		}
	}
	return len(path)
}

// dots returns the number of dots that segment is made of, or 0 if it has
// anything else. One and two are the dot segments. A dot may be written %2e.
func dots(segment string) int {
	n := 0
	for ; segment != ""; n++ {
		switch {
		case segment[0] == '.':
			segment = segment[1:]
		case len(segment) >= 3 && segment[:2] == "%2" && segment[2]|0x20 == 'e':
			segment = segment[3:]
		default:
			return 0
		}
	}
	return n
}

// A byteSet tells which bytes are in it.
type byteSet [256]bool

// The percent-encode sets of WHATWG URL Standard section 1.3. Neither has "%":
// what is encoded stays so, and a stray "%" stays alone.
var (
	escapeInQuery = newByteSet(" \"#<>'")
	escapeInPath  = newByteSet(" \"#<>?^`{}")
)

// notableInPath has what path segments are made of or changed by.
var notableInPath = newByteSet(" \"#<>?^`{}" + `/\.%`)

// newByteSet returns the set of more and all that is not printable ASCII (the
// standard's C0 control percent-encode set).
func newByteSet(more string) byteSet {
	var set byteSet
	for c := range set {
		set[c] = c < 0x20 || c > 0x7e || strings.IndexByte(more, byte(c)) >= 0
	}
	return set
}

const upperHex = "0123456789ABCDEF"

// appendEscaped appends s to b and percent-encodes the bytes in set.
func appendEscaped(b []byte, s string, set *byteSet) []byte {
	done := 0
	for i := range len(s) {
		if c := s[i]; set[c] {
			b = append(b, s[done:i]...)
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			done = i + 1
		}
	}
	return append(b, s[done:]...)
}
