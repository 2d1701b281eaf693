package normalize_test

import (
	"testing"

	"crawler/normalize"
)

func TestParts(t *testing.T) {
	type parts struct {
		scheme, host, port, authority, origin, path, query, requestURI string
	}
	for _, c := range []struct {
		raw  string
		want parts
	}{
		{"http://h.example", parts{
			scheme: "http", host: "h.example", authority: "h.example", origin: "http://h.example", path: "/", requestURI: "/",
		}},
		{"https://u@H.example:8443/a/b?c?d#e", parts{
			scheme: "https", host: "h.example", port: "8443", authority: "h.example:8443", origin: "https://h.example:8443",
			path: "/a/b", query: "c?d", requestURI: "/a/b?c?d",
		}},
		{"http://[::1]:80/?", parts{
			scheme: "http", host: "[::1]", authority: "[::1]", origin: "http://[::1]", path: "/", requestURI: "/?",
		}},
		{"http://[::1]:81/??", parts{
			scheme: "http", host: "[::1]", port: "81", authority: "[::1]:81", origin: "http://[::1]:81", path: "/", query: "?", requestURI: "/??",
		}},
		{"", parts{}}, // the zero value
	} {
		t.Run(c.raw, func(t *testing.T) {
			var u normalize.URL
			if c.raw != "" {
				u = mustParse(t, c.raw)
			}
			got := parts{u.Scheme(), u.Host(), u.Port(), u.Authority(), u.Origin(), u.Path(), u.Query(), u.RequestURI()}
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got, want := u.IsZero(), c.raw == ""; got != want {
				t.Errorf("IsZero is %v, want %v", got, want)
			}
		})
	}
}

func TestDroppedUserinfo(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      bool
	}{
		{"none", "http://h.example/@", false},
		{"an empty name", "http://@h.example/", false},
		{"an empty name and password", "http://:@h.example/", false},
		{"a name", "http://u@h.example/", true},
		{"a password", "http://:p@h.example/", true},
		{"an at sign", "http://@@h.example/", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustParse(t, c.raw).DroppedUserinfo(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}

	base := mustParse(t, "http://u:p@h.example/")
	for ref, want := range map[string]bool{"": false, "/a": false, "a": false, "?a": false, "//u@k.example/": true} {
		got, err := base.Resolve(ref)
		if err != nil || got.DroppedUserinfo() != want {
			t.Errorf("after Resolve(%q): got %v, %v, want %v", ref, got.DroppedUserinfo(), err, want)
		}
	}
}

func TestSite(t *testing.T) {
	for _, c := range []struct{ name, host, want string }{
		{"a domain", "example.com", "example.com"},
		{"a host of a domain", "a.b.example.com", "example.com"},
		{"a suffix of two labels", "a.b.example.co.uk", "example.co.uk"},
		{"a private suffix", "a.user.github.io", "user.github.io"},
		{"an international domain", "www.bücher.example", "xn--bcher-kva.example"},
		{"a trailing dot", "www.example.com.", "example.com"},
		{"a public suffix", "co.uk", "co.uk"},
		{"a private suffix itself", "github.io", "github.io"},
		{"a single label", "localhost", "localhost"},
		{"an IPv4 address", "192.168.0.1", "192.168.0.1"},
		{"an IPv6 address", "[::ffff:1.2.3.4]", "[::ffff:102:304]"},
		{"empty labels", "a..example.com", "a..example.com"},
		{"nothing but dots", "..", ".."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mustParse(t, "http://"+c.host+":81/").Site(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
