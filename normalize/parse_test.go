package normalize_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"crawler/normalize"
)

func mustParse(t testing.TB, raw string) normalize.URL {
	t.Helper()
	u, err := normalize.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"scheme and host are lower-cased, the path is not", "HTTPS://WWW.H.Example/A", "https://www.h.example/A"},
		{"an empty path becomes a slash", "http://h.example", "http://h.example/"},
		{"an empty path before a query becomes a slash", "http://h.example?q", "http://h.example/?q"},
		{"controls and spaces at the ends are cut", "\x00\x1f http://h.example/a \t\n", "http://h.example/a"},
		{"tabs and newlines vanish everywhere", "ht\ntp://h\t.example/a\r\nb?c\nd", "http://h.example/ab?cd"},
		{"the fragment is dropped", "http://h.example/a?b#c?d#e", "http://h.example/a?b"},
		{"spaces before a dropped fragment are kept", "http://h.example/a #f", "http://h.example/a%20"},
		{"an empty query is kept", "http://h.example/a?", "http://h.example/a?"},
		{"userinfo is dropped up to the last at sign", "http://u:p@x@h.example/", "http://h.example/"},
		{"an at sign in the path is no userinfo", "http://h.example/@a", "http://h.example/@a"},
		{"backslashes are slashes, except in the query", `http:\\h.example\a\..\b?c\d`, `http://h.example/b?c\d`},
		{"any number of slashes leads to the host", "https:h.example/", "https://h.example/"},
		{"many slashes lead to the host", `http:///\//h.example/`, "http://h.example/"},

		{"the default port is dropped", "http://h.example:80/", "http://h.example/"},
		{"the other scheme's default port is kept", "http://h.example:443/", "http://h.example:443/"},
		{"an empty port is dropped", "https://h.example:/", "https://h.example/"},
		{"zeros before a port are dropped", "http://h.example:0008080/", "http://h.example:8080/"},
		{"port zero is kept", "http://h.example:00/", "http://h.example:0/"},
		{"the greatest port", "http://h.example:65535/", "http://h.example:65535/"},

		{"dot segments are resolved", "http://h.example/a/./b/../../c/..", "http://h.example/"},
		{"nothing is above the root", "http://h.example/../../a", "http://h.example/a"},
		{"escaped dots are dots in dot segments", "http://h.example/a/%2e/b/.%2E/c", "http://h.example/a/c"},
		{"escaped dots elsewhere are kept", "http://h.example/%2ea/b%2e/%2e%2e%2e", "http://h.example/%2ea/b%2e/%2e%2e%2e"},
		{"three dots are a name", "http://h.example/.../a", "http://h.example/.../a"},
		{"empty segments are segments", "http://h.example//a//../b", "http://h.example//a/b"},
		{"an empty segment has a parent", "http://h.example//../a", "http://h.example/a"},
		{"dots in the query stay", "http://h.example/?a/../b", "http://h.example/?a/../b"},

		{"escapes are not escaped twice", "http://h.example/a%E2%84%A2b%2f", "http://h.example/a%E2%84%A2b%2f"},
		{"a stray percent sign stays", "http://h.example/%u0041/m%yAdp/%", "http://h.example/%u0041/m%yAdp/%"},
		{"the path escapes its set", "http://h.example/ \"<>^`{}|[]'\x7f", "http://h.example/%20%22%3C%3E%5E%60%7B%7D|[]'%7F"},
		{"the query escapes its set", "http://h.example/? \"<>^`{}|[]'\x7f", "http://h.example/?%20%22%3C%3E^`{}|[]%27%7F"},
		{"UTF-8 is escaped byte by byte", "http://h.example/é?é", "http://h.example/%C3%A9?%C3%A9"},
		{"bytes that are not UTF-8 are kept", "http://h.example/\xd8\xa7\xff?\xe9", "http://h.example/%D8%A7%FF?%E9"},

		{"an underscore is legal in a host", "http://my_host_1.h.example/", "http://my_host_1.h.example/"},
		{"hyphens are legal anywhere in a host", "http://-r3---sn-.h.example/", "http://-r3---sn-.h.example/"},
		{"a trailing dot is kept", "http://h.example./", "http://h.example./"},
		{"a host may be escaped", "https://example%2Ecom/", "https://example.com/"},
		{"an escaped host may be international", "https://www.0251-sachverst%c3%a4ndiger.de/", "https://www.xn--0251-sachverstndiger-ozb.de/"},
		{"a host is mapped as UTS 46 says", "http://BÜCHER。Example/", "http://xn--bcher-kva.example/"},
		{"sharp s is not ss", "http://faß.example/", "http://xn--fa-hia.example/"},
		{"a character that UTS 46 ignores vanishes", "http://a\u00adb.example/", "http://ab.example/"},
		{"an underscore is legal in an international host", "http://a_é.example/", "http://xn--a_-cja.example/"},
		{"hyphens are legal anywhere in an international host", "http://-é--.example/", "http://xn------bma.example/"},
		{"an ASCII host with broken Punycode is kept", "http://XN--a.example/", "http://xn--a.example/"},
		{"a label over 63 bytes is kept", "http://" + strings.Repeat("a", 70) + ".example/", "http://" + strings.Repeat("a", 70) + ".example/"},

		{"IPv4 in hexadecimal", "http://0x7F.1/", "http://127.0.0.1/"},
		{"IPv4 in octal", "http://0300.0250.0.01/", "http://192.168.0.1/"},
		{"IPv4 as one number", "http://3232235521/", "http://192.168.0.1/"},
		{"IPv4 with a trailing dot", "http://1.2.3.4./", "http://1.2.3.4/"},
		{"IPv4 in full-width digits", "http://１.２.３.４/", "http://1.2.3.4/"},
		{"an empty hexadecimal number is zero", "http://0x/", "http://0.0.0.0/"},
		{"a number before a name is a name", "http://1.2.3.4.h/", "http://1.2.3.4.h/"},
		{"IPv6 is compressed and lower-cased", "http://[2001:DB8:0:0:1:0:0:1]:81/", "http://[2001:db8::1:0:0:1]:81/"},
		{"IPv6 with an IPv4 tail", "http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/"},
		{"the first of equal zero runs is compressed", "http://[1:0:0:2:0:0:3:4]/", "http://[1::2:0:0:3:4]/"},
		{"a single zero is not compressed", "http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := normalize.Parse(c.raw)
			if err != nil || got.String() != c.want {
				t.Errorf("Parse(%q) = %q, %v, want %q", c.raw, got, err, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      error
	}{
		{"nothing", "", normalize.ErrRelative},
		{"a host alone", "h.example", normalize.ErrRelative},
		{"a path", "/a", normalize.ErrRelative},
		{"a reference without scheme", "//h.example/", normalize.ErrRelative},
		{"a scheme that starts with a digit", "1http://h.example/", normalize.ErrRelative},
		{"mail", "mailto:a@h.example", normalize.ErrScheme},
		{"scripts", "javascript:void(0)", normalize.ErrScheme},
		{"a scheme that only starts with http", "http+unix://h.example/", normalize.ErrScheme},
		{"a host that reads like a scheme", "localhost:8080", normalize.ErrScheme},
		{"no host", "http://", normalize.ErrHost},
		{"no host before the path", "http:///?a", normalize.ErrHost},
		{"no host after userinfo", "http://u:p@/a", normalize.ErrHost},
		{"no host before the port", "http://:80/", normalize.ErrHost},
		{"a space in the host", "http://h ost/", normalize.ErrHost},
		{"an escaped slash in the host", "http://h%2Fost/", normalize.ErrHost},
		{"a stray percent sign in the host", "http://h%zz/", normalize.ErrHost},
		{"a host that is escaped twice", "http://h%2541/", normalize.ErrHost},
		{"a full-width percent sign in the host", "http://％41.example/", normalize.ErrHost},
		{"a control in the host", "http://a\x01b/", normalize.ErrHost},
		{"a host that is not UTF-8", "http://h\xff.example/", normalize.ErrHost},
		{"a host that is ignored whole", "http://\u00ad/", normalize.ErrHost},
		{"an international host with broken Punycode", "http://xn--a.é/", normalize.ErrHost},
		{"a host that breaks the bidi rule", "http://אa.example/", normalize.ErrHost},
		{"an endless international host", "http://" + strings.Repeat("é", 513) + "/", normalize.ErrHost},
		{"an IPv4 number over 255", "http://1.2.3.256/", normalize.ErrHost},
		{"an IPv4 address over 32 bits", "http://0x100000000/", normalize.ErrHost},
		{"a last part too great for its bytes", "http://1.2.65536/", normalize.ErrHost},
		{"five IPv4 numbers", "http://1.2.3.4.5/", normalize.ErrHost},
		{"five IPv4 numbers that end in zero", "http://1.2.3.4.0/", normalize.ErrHost},
		{"a name that ends in a number", "http://foo.0x4/", normalize.ErrHost},
		{"an octal number with an 8", "http://1.2.3.08/", normalize.ErrHost},
		{"an empty IPv4 part", "http://1..2/", normalize.ErrHost},
		{"an open bracket", "http://[::1/", normalize.ErrHost},
		{"text after the bracket", "http://[::1]a/", normalize.ErrHost},
		{"an IPv6 zone", "http://[fe80::1%25eth0]/", normalize.ErrHost},
		{"an IPv6 zone that is not escaped", "http://[fe80::1%eth0]/", normalize.ErrHost},
		{"IPv4 in brackets", "http://[1.2.3.4]/", normalize.ErrHost},
		{"nine IPv6 pieces", "http://[1:2:3:4:5:6:7:8:9]/", normalize.ErrHost},
		{"a port over 65535", "http://h.example:65536/", normalize.ErrPort},
		{"a port over 64 bits", "http://h.example:18446744073709551696/", normalize.ErrPort},
		{"a port that is no number", "http://h.example:8a/", normalize.ErrPort},
		{"a negative port", "http://h.example:-80/", normalize.ErrPort},
		{"a second port", "http://h.example:80:80/", normalize.ErrPort},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := normalize.Parse(c.raw)
			if !errors.Is(err, c.want) || !got.IsZero() {
				t.Errorf("Parse(%q) = %q, %v, want %v", c.raw, got, err, c.want)
			}
		})
	}
}

func TestResolve(t *testing.T) {
	const base = "http://h.example/a/b?q"
	for _, c := range []struct{ name, ref, want string }{
		{"nothing is the base", "", "http://h.example/a/b?q"},
		{"a fragment is the base", "#top", "http://h.example/a/b?q"},
		{"a query replaces the query", "?x=1", "http://h.example/a/b?x=1"},
		{"an empty query drops the base's and stays", "?", "http://h.example/a/b?"},
		{"a name replaces the last segment", "c", "http://h.example/a/c"},
		{"a name with a query", "c?x#y", "http://h.example/a/c?x"},
		{"a dot is the directory", ".", "http://h.example/a/"},
		{"two dots are the parent", "../c", "http://h.example/c"},
		{"more dots than directories", "../../../c", "http://h.example/c"},
		{"a path from the root", "/c", "http://h.example/c"},
		{"a backslash from the root", `\c`, "http://h.example/c"},
		{"another host", "//k.example/c", "http://k.example/c"},
		{"another host by backslashes", `\/k.example`, "http://k.example/"},
		{"another scheme", "https://k.example", "https://k.example/"},
		{"the base's scheme counts as absent", "http:c", "http://h.example/a/c"},
		{"the base's scheme before the root", "HTTP:/c", "http://h.example/c"},
		{"the base's scheme alone", "http:", "http://h.example/a/b?q"},
		{"another scheme is never relative", "https:c", "https://c/"},
		{"a colon first is a name", ":80", "http://h.example/a/:80"},
		{"a colon after a slash is a name", "./x:y", "http://h.example/a/x:y"},
		{"a newline in a name vanishes", " c\nd ", "http://h.example/a/cd"},
		{"a stray percent sign stays", "/%u0041", "http://h.example/%u0041"},
		{"a query may hold a URL", "/go?u=http://k.example/../x", "http://h.example/go?u=http://k.example/../x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mustParse(t, base).Resolve(c.ref)
			if err != nil || got.String() != c.want {
				t.Errorf("Resolve(%q) = %q, %v, want %q", c.ref, got, err, c.want)
			}
		})
	}

	t.Run("refuses other schemes", func(t *testing.T) {
		if got, err := mustParse(t, base).Resolve("data:,x"); !errors.Is(err, normalize.ErrScheme) {
			t.Errorf("got %q, %v, want ErrScheme", got, err)
		}
	})
	t.Run("keeps the base's port", func(t *testing.T) {
		got, err := mustParse(t, "https://h.example:8443/a").Resolve("/b")
		if err != nil || got.String() != "https://h.example:8443/b" || got.Port() != "8443" {
			t.Errorf("got %q, %v", got, err)
		}
	})
	t.Run("against no base is Parse", func(t *testing.T) {
		if got, err := (normalize.URL{}).Resolve("a"); !errors.Is(err, normalize.ErrRelative) {
			t.Errorf("got %q, %v, want ErrRelative", got, err)
		}
	})
}

func TestMaxLength(t *testing.T) {
	const prefix = "http://h.example/"
	room := normalize.MaxLength - len(prefix)
	for _, c := range []struct {
		name, raw string
		want      error
	}{
		{"the longest URL", prefix + strings.Repeat("a", room), nil},
		{"a byte more", prefix + strings.Repeat("a", room+1), normalize.ErrTooLong},
		{"a byte more in the query", prefix + "?" + strings.Repeat("a", room), normalize.ErrTooLong},
		{"escaping counts", prefix + strings.Repeat("\xff", room/3+1), normalize.ErrTooLong},
		{"a long host", "http://" + strings.Repeat("a.", 1<<16), normalize.ErrTooLong},
		{"what is dropped does not count", "http://" + strings.Repeat("u", 1<<16) + "@h.example/#" + strings.Repeat("f", 1<<16), nil},
		{"what dot segments cut does not count", prefix + strings.Repeat("a/../", 1<<14), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := normalize.Parse(c.raw)
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if err == nil && got.Host() != "h.example" {
				t.Errorf("got host %q, want %q", got.Host(), "h.example")
			}
		})
	}
}

func TestErrorQuotesAndShortensTheInput(t *testing.T) {
	_, err := normalize.Parse("http://h\x01\n" + strings.Repeat("a", 1000))
	want := fmt.Sprintf("parse %q...: %v", "http://h\x01\n"+strings.Repeat("a", 70), normalize.ErrHost)
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %v", err, want)
	}
}
