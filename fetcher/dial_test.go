package fetcher_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"crawler/fetcher"
)

// serveDNS answers on a loopback port: 127.0.0.1 for good.example, a private address for inside.example, nothing but a failure
// for broken.example, and that there is no other name. It returns its address and the names that were asked for.
func serveDNS(t *testing.T) (addr string, asked func() []string) {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	var mu sync.Mutex // guards names
	var names []string
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			mu.Lock()
			names = append(names, q.Name.String())
			mu.Unlock()
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			answer := func(a [4]byte) {
				if q.Type == dnsmessage.TypeA {
					reply.Answers = append(reply.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 60},
						Body:   &dnsmessage.AResource{A: a},
					})
				}
			}
			switch q.Name.String() {
			case "good.example.":
				answer([4]byte{127, 0, 0, 1})
			case "inside.example.":
				answer([4]byte{10, 0, 0, 1})
			case "broken.example.":
				reply.RCode = dnsmessage.RCodeServerFailure
			default:
				reply.RCode = dnsmessage.RCodeNameError
			}
			out, err := reply.Pack()
			if err != nil {
				return
			}
			conn.WriteTo(out, from)
		}
	}()
	return conn.LocalAddr().String(), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return names
	}
}

func TestResolver(t *testing.T) {
	server, asked := serveDNS(t)
	base := listen(t, answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	port := base[strings.LastIndex(base, ":"):]
	f := newFetcher(t, fetcher.Config{Allow: loopback, Resolver: server, Resolve: map[string]netip.Addr{
		"fixed.example":   netip.MustParseAddr("127.0.0.1"),
		"private.example": netip.MustParseAddr("192.168.0.1"),
		"mapped.example":  netip.MustParseAddr("::ffff:127.0.0.1"),
	}})
	strict := newFetcher(t, fetcher.Config{Resolver: server})
	tests := []struct {
		name string
		f    *fetcher.Fetcher
		host string
		want fetcher.Kind // "" for a page
	}{
		{"a name is looked up at the server", f, "good.example", ""},
		{"a name with its dot too", f, "good.example.", ""},
		{"what a name resolves to is guarded", strict, "good.example", fetcher.KindBlocked},
		{"and only what is allowed passes", f, "inside.example", fetcher.KindBlocked},
		{"a fixed address needs no look-up", f, "fixed.example", ""},
		{"a fixed address is found in any case", f, "FIXED.example.", ""},
		{"a fixed address may be mapped", f, "mapped.example", ""},
		{"a fixed address is guarded", f, "private.example", fetcher.KindBlocked},
		{"an address is guarded", strict, "127.0.0.1", fetcher.KindBlocked},
		{"an address in another notation is guarded", strict, "0x7f.1", fetcher.KindBlocked},
		{"a mapped address is guarded", strict, "[::ffff:127.0.0.1]", fetcher.KindBlocked},
		{"the loopback name is guarded", strict, "localhost", fetcher.KindBlocked},
		{"no such name", f, "none.example", fetcher.KindNXDomain},
		{"a server that fails", f, "broken.example", fetcher.KindDNS},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page, err := tt.f.Fetch(context.Background(), parse(t, "http://"+tt.host+port+"/"))
			if tt.want == "" {
				if err != nil || string(page.Body) != "ok" {
					t.Fatalf("got error %v, want a page", err)
				}
				return
			}
			if err == nil {
				t.Fatal("got a page")
			}
			if got := kindOf(t, err); got != tt.want {
				t.Errorf("got kind %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	for _, name := range asked() {
		if strings.Count(name, ".") != 2 {
			t.Errorf("asked for %q: names are not to be tried in the machine's domains", name)
		}
	}
}

func TestRedirectedRobotsIsGuarded(t *testing.T) {
	var f *fetcher.Fetcher
	base := listen(t, answering("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"))
	f = newFetcher(t, fetcher.Config{Allow: loopback})
	got := f.Robots(context.Background(), parse(t, base), 0)
	if kindOf(t, got.Err) != fetcher.KindBlocked || got.Access != "unreachable" || got.Requests != 2 {
		t.Errorf("got %+v, want unreachable for a blocked second request", got)
	}
}

func TestHTTPProxy(t *testing.T) {
	origin := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "from origin") }))
	defer origin.Close()
	proxy := listen(t, func(conn net.Conn, req *http.Request) bool {
		if req.Method != http.MethodConnect {
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfrom proxy")
			return true
		}
		if req.Host != "example.com:443" {
			io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			return false
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		up, err := net.Dial("tcp", origin.Listener.Addr().String())
		if err != nil {
			return false
		}
		defer up.Close()
		go io.Copy(up, conn)
		io.Copy(conn, up)
		return false
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	down := "http://" + closed.Addr().String()
	garbled, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer garbled.Close()
	go func() {
		for {
			conn, err := garbled.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "HTTP/1.1 400 Bad\r\n\r\n")
			conn.Close()
		}
	}()

	tests := []struct {
		name, proxy, url string
		body             string
		want             fetcher.Kind
	}{
		{"a proxy may be at a private address", proxy, "http://e.example/", "from proxy", ""},
		{"https goes through it", proxy, "https://example.com/", "from origin", ""},
		{"a proxy that will not connect", proxy, "https://e.example/", "", fetcher.KindProxy},
		{"a proxy that is down", down, "http://e.example/", "", fetcher.KindProxy},
		{"a proxy that is down, for https", down, "https://e.example/", "", fetcher.KindProxy},
		{"a proxy that is no socks proxy", "socks5://" + garbled.Addr().String(), "http://e.example/", "", fetcher.KindProxy},
		{"a private address as host is guarded", proxy, "http://10.0.0.1/", "", fetcher.KindBlocked},
		{"a private IPv6 address as host is guarded", proxy, "http://[fd00::1]/", "", fetcher.KindBlocked},
		{"the proxy's address as host is guarded", proxy, proxy, "", fetcher.KindBlocked},
	}
	for _, tt := range tests {
		check := func(t *testing.T, f *fetcher.Fetcher) {
			page, err := f.Fetch(context.Background(), parse(t, tt.url))
			if tt.want == "" {
				if err != nil || string(page.Body) != tt.body {
					t.Fatalf("got page %+v and error %v, want %q", page, err, tt.body)
				}
				return
			}
			if err == nil {
				t.Fatalf("got a page of %q", page.Body)
			}
			if got := kindOf(t, err); got != tt.want {
				t.Errorf("got kind %q (%v), want %q", got, err, tt.want)
			}
		}
		t.Run(tt.name, func(t *testing.T) {
			check(t, newFetcher(t, fetcher.Config{Proxy: tt.proxy}))
		})
		t.Run(tt.name+", from the environment", func(t *testing.T) {
			t.Setenv("HTTP_PROXY", tt.proxy)
			t.Setenv("HTTPS_PROXY", tt.proxy)
			check(t, newFetcher(t, fetcher.Config{}))
		})
	}
}

func TestConfigDialDoesWithoutTheProxiesOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://proxy.example:3128")
	var dialled string
	down := errors.New("down")
	f := newFetcher(t, fetcher.Config{Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
		dialled = addr
		return nil, down
	}})
	if _, err := f.Fetch(context.Background(), parse(t, "http://10.0.0.1/")); !errors.Is(err, down) {
		t.Errorf("got error %v, want the dialler's", err)
	}
	if dialled != "10.0.0.1:80" {
		t.Errorf("dialled %s, want 10.0.0.1:80", dialled)
	}
}

func TestSOCKSProxy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wanted := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		head := make([]byte, 3) // RFC 1928: version, one method, no authentication
		io.ReadFull(in, head)
		conn.Write([]byte{5, 0})
		head = make([]byte, 5) // version, connect, reserved, domain name, its length
		io.ReadFull(in, head)
		name := make([]byte, head[4])
		io.ReadFull(in, name)
		io.ReadFull(in, head[:2])
		wanted <- string(name)
		conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+req.RequestURI)
	}()
	f := newFetcher(t, fetcher.Config{Proxy: "socks5://" + l.Addr().String()})
	page := fetch(t, f, "http://e.example/%41?b")
	if got := string(page.Body); got != "/%41?b" {
		t.Errorf("got target %q, want it in origin form", got)
	}
	if got := <-wanted; got != "e.example" {
		t.Errorf("the proxy was asked for %q, want the name", got)
	}
}
