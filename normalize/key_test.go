package normalize_test

import (
	"testing"

	"crawler/normalize"
)

func TestKey(t *testing.T) {
	for _, c := range []struct{ name, raw, want string }{
		{"without escapes it is the URL", "http://h.example/a?b", "http://h.example/a?b"},
		{"escapes are upper-cased", "http://h.example/%3a%c3%A9?%2f", "http://h.example/%3A%C3%A9?%2F"},
		{"unreserved characters are decoded", "http://h.example/%7e%41%7A%30%2D%2e%5f?%61", "http://h.example/~Az0-._?a"},
		{"reserved characters stay escaped", "http://h.example/a%2Fb%3Fc%23d%5Ce%3A%40%25%20", "http://h.example/a%2Fb%3Fc%23d%5Ce%3A%40%25%20"},
		{"nothing is decoded twice", "http://h.example/%2541%252F", "http://h.example/%2541%252F"},
		{"a stray percent sign stays", "http://h.example/%u0041%", "http://h.example/%u0041%"},
		{"no escape is made of a stray percent sign and a digit", "http://h.example/%4%31", "http://h.example/%4%31"},
		{"no escape is made of a stray percent sign and two digits", "http://h.example/%%34%31", "http://h.example/%%341"},
		{"no dot segment is made of a stray percent sign", "http://h.example/a/%%32e", "http://h.example/a/%%32e"},
		{"no dot segment is made of a cut escape", "http://h.example/a/%2%65/b", "http://h.example/a/%2%65/b"},
		{"a digit kept escaped is upper-cased all the same", "http://h.example/%4%6a%4%4a%4%46", "http://h.example/%4j%4J%4%46"},
		{"what is no hexadecimal digit is decoded after a stray percent sign", "http://h.example/%%7e%4%7E", "http://h.example/%~%4~"},
		{"plus signs, case and order stay", "http://h.example/A?b+c&a=1&a=0&", "http://h.example/A?b+c&a=1&a=0&"},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := mustParse(t, c.raw)
			if got := u.Key(); string(got) != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
			if got := mustParse(t, c.want).Key(); string(got) != c.want {
				t.Errorf("the key's key is %q, want %q", got, c.want)
			}
		})
	}
}

func TestKeysDifferWherePagesMayDiffer(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"schemes", "http://h.example/", "https://h.example/"},
		{"ports", "http://h.example/", "http://h.example:8080/"},
		{"a trailing dot of the host", "http://h.example/", "http://h.example./"},
		{"www", "http://h.example/", "http://www.h.example/"},
		{"numbered hosts", "https://www.h.example/", "https://www2.h.example/"},
		{"a trailing slash", "http://h.example/dir", "http://h.example/dir/"},
		{"repeated slashes", "http://h.example/a//b", "http://h.example/a/b"},
		{"an index page", "http://h.example/", "http://h.example/index.html"},
		{"case of the path", "http://h.example/a", "http://h.example/A"},
		{"an escaped slash", "http://h.example/a%2Fb", "http://h.example/a/b"},
		{"an escaped percent sign", "http://h.example/%2541", "http://h.example/%41"},
		{"an empty query", "http://h.example/a", "http://h.example/a?"},
		{"order of the query", "http://h.example/?a&b", "http://h.example/?b&a"},
		{"plus and space", "http://h.example/?a+b", "http://h.example/?a%20b"},
		{"plus and its escape", "http://h.example/?a+b", "http://h.example/?a%2Bb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a, b := mustParse(t, c.a).Key(), mustParse(t, c.b).Key(); a == b {
				t.Errorf("%q and %q have the same key", c.a, c.b)
			}
		})
	}
}

func TestKeyAllocatesOnlyWhereItDiffers(t *testing.T) {
	u := mustParse(t, "http://h.example/%E4%B8%AD/%u%2%65?q=%20")
	var key normalize.Key
	if got := testing.AllocsPerRun(100, func() { key = u.Key() }); got != 0 {
		t.Errorf("Key allocates %v times, want 0", got)
	}
	if string(key) != u.String() {
		t.Errorf("got %q, want %q", key, u)
	}
}

func TestCommonLinksAllocateOnlyTheirText(t *testing.T) {
	base := mustParse(t, benchBase)
	for _, ref := range []string{benchLink, benchRef, "/a/b.html", "?page=2", "//cdn.example.com/x.js"} {
		got := testing.AllocsPerRun(100, func() {
			if _, err := base.Resolve(ref); err != nil {
				t.Fatal(err)
			}
		})
		if got != 1 {
			t.Errorf("Resolve(%q) allocates %v times, want 1", ref, got)
		}
	}
}
