package normalize

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxUnicodeDomain is the length, in bytes, above which a domain that is not ASCII
// is refused. It bounds Punycode, whose time grows with the square of the length.
// The 253 bytes of a DNS name encode fewer characters than fit here.
const maxUnicodeDomain = 1 << 10

// unicodeToASCII is Unicode ToASCII (UTS #46) with the parameters of WHATWG URL
// Standard section 3.3, for domains and not for registrars: hyphens, underscores
// and long labels are let through.
var unicodeToASCII = idna.New(
	idna.MapForLookup(),
	idna.Transitional(false),
	idna.StrictDomainName(false),
	idna.CheckHyphens(false),
	idna.CheckJoiners(true),
	idna.BidiRule(),
	idna.VerifyDNSLength(false),
)

// appendHost is the host parser (WHATWG URL Standard section 3.5) for special
// schemes. It appends the canonical host to b.
func appendHost(b []byte, host string) ([]byte, error) {
	if strings.HasPrefix(host, "[") {
		return appendIPv6(b, host)
	}
	domain := host
	if !isPlainDomain(host) {
		var err error
		if domain, err = toASCII(percentDecode(host)); err != nil {
			return nil, err
		}
	}
	if endsInNumber(domain) {
		return appendIPv4(b, domain)
	}
	return append(b, domain...), nil
}

// isPlainDomain reports whether domain is its own ASCII form, as most are.
func isPlainDomain(domain string) bool {
	for i := range len(domain) {
		if c := domain[i]; forbiddenInDomain[c] || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return domain != ""
}

// toASCII is domain to ASCII (WHATWG URL Standard section 3.3). An ASCII domain
// is only lower-cased, even where its Punycode is invalid.
func toASCII(domain string) (string, error) {
	if !isASCII(domain) {
		if len(domain) > maxUnicodeDomain || !utf8.ValidString(domain) {
			return "", ErrHost
		}
		var err error
		if domain, err = unicodeToASCII.ToASCII(domain); err != nil {
			return "", ErrHost
		}
	}
	domain = strings.ToLower(domain)
	if !isPlainDomain(domain) {
		return "", ErrHost
	}
	return domain, nil
}

// forbiddenInDomain has the forbidden domain code points of WHATWG URL Standard
// section 3.2, and the bytes that are not ASCII.
var forbiddenInDomain = newByteSet(" #/:<>?@[\\]^|%")

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// percentDecode decodes each valid percent-escape of s once.
func percentDecode(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c, ok := unescape(s[i:])
		if ok {
			i += 2
		} else {
			c = s[i]
		}
		b = append(b, c)
	}
	return string(b)
}

// unescape returns the byte that s starts with in percent-encoding, if it does.
func unescape(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' || !isHex(s[1]) || !isHex(s[2]) {
		return 0, false
	}
	return unhex(s[1])<<4 | unhex(s[2]), true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// appendIPv6 appends the address in brackets that host holds.
func appendIPv6(b []byte, host string) ([]byte, error) {
	inner, closed := strings.CutSuffix(host[1:], "]")
	addr, err := netip.ParseAddr(inner)
	if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
		return nil, ErrHost
	}
	b = append(b, '[')
	if addr.Is4In6() {
		// netip writes these with a dotted tail, the standard in hexadecimal.
		a := addr.As16()
		b = append(b, "::ffff:"...)
		b = strconv.AppendUint(b, uint64(a[12])<<8|uint64(a[13]), 16)
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(a[14])<<8|uint64(a[15]), 16)
	} else {
		b = addr.AppendTo(b)
	}
	return append(b, ']'), nil
}

// endsInNumber reports whether domain is to be read as an IPv4 address: its last
// label is a number, whether or not the number is a valid one.
func endsInNumber(domain string) bool {
	domain = strings.TrimSuffix(domain, ".")
	label := domain[strings.LastIndexByte(domain, '.')+1:]
	if label == "" || label[0] < '0' || '9' < label[0] {
		return false // the usual top-level domain
	}
	if hex, ok := cutHexPrefix(label); ok {
		return strings.Trim(hex, "0123456789abcdefABCDEF") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func cutHexPrefix(number string) (digits string, ok bool) {
	if len(number) >= 2 && number[0] == '0' && number[1]|0x20 == 'x' {
		return number[2:], true
	}
	return number, false
}

// appendIPv4 is the IPv4 parser: one to four numbers, of which the last fills all
// the bytes that are left.
func appendIPv4(b []byte, domain string) ([]byte, error) {
	parts := strings.Split(strings.TrimSuffix(domain, "."), ".")
	if len(parts) > 4 {
		return nil, ErrHost
	}
	var addr uint64
	for i, part := range parts {
		n, ok := ipv4Number(part)
		room := 8
		if i == len(parts)-1 {
			room = 8 * (4 - i)
		}
		if !ok || n>>room != 0 {
			return nil, ErrHost
		}
		addr = addr<<room | n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).AppendTo(b), nil
}

// ipv4Number is the IPv4 number parser: decimal, octal after 0, or hexadecimal
// after 0x. It refuses numbers that need more than 32 bits.
func ipv4Number(s string) (n uint64, ok bool) {
	base := 10
	if digits, ok := cutHexPrefix(s); ok {
		s, base = digits, 16
	} else if len(s) >= 2 && s[0] == '0' {
		s, base = s[1:], 8
	} else if s == "" {
		return 0, false
	}
	if s == "" {
		return 0, true // "0x"
	}
	n, err := strconv.ParseUint(s, base, 32)
	return n, err == nil
}
