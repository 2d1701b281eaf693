package fetcher_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"crawler/fetcher"
	"crawler/normalize"
)

func TestConfigFaultsAreAllReported(t *testing.T) {
	_, err := fetcher.New(fetcher.Config{
		UserAgent:  "a\nb",
		Header:     http.Header{"Host": {"e.example"}, "A b": {"c"}, "X": {"a\rb"}},
		Timeout:    -1,
		MaxBody:    -1,
		Allow:      []netip.Prefix{{}},
		Resolver:   "dns.example:53",
		Resolve:    map[string]netip.Addr{"e.example": {}},
		Proxy:      "ftp://e.example",
		MaxPerHost: -1,
	})
	if err == nil {
		t.Fatal("got no error")
	}
	for _, want := range []string{"user agent", "Host", `"A b"`, `"X"`, "timeout", "max body", "allow", "resolver", "resolve:", "proxy", "max per host"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in: %v", want, err)
		}
	}
	if err := (fetcher.Config{}).Validate(); err != nil {
		t.Errorf("the zero value: got %v", err)
	}
}

func TestRequestLineHasTheBytesOfTheURL(t *testing.T) {
	lines := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, base := l.Addr().String(), "http://"+l.Addr().String()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			lines <- line
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			conn.Close()
		}
	}()
	f := newFetcher(t, fetcher.Config{Allow: loopback})
	proxied := newFetcher(t, fetcher.Config{Allow: loopback, Proxy: base})

	tests := []struct{ uri, want string }{
		{"/", "/"},
		{"/?", "/?"},
		{"/?q", "/?q"},
		{"/%u0041", "/%u0041"},
		{"/m%yAdp", "/m%yAdp"},
		{"/100%", "/100%"},
		{"/a%2fb%E2%84%A2", "/a%2fb%E2%84%A2"},
		{"/a|b^c[d]", "/a|b^c[d]"},
		{"/a//b", "/a//b"},
		{"/a?b=%zz|'\"&c=http://x/?", "/a?b=%zz|%27%22&c=http://x/?"},
		{"//a", "//a"},
		{"//a?", "//a?"},
		{"//a/%2F?q=%zz", "//a/%2F?q=%zz"},
		{"//a|b", "http://" + host + "//a|b"},
		{"//a/%u0041?q", "http://" + host + "//a/%u0041?q"},
	}
	for _, tt := range tests {
		t.Run(tt.uri, func(t *testing.T) {
			u := parse(t, base+tt.uri)
			want := tt.want
			if u.RequestURI() != tt.uri && strings.HasPrefix(want, "/") {
				want = u.RequestURI() // what is escaped is for normalize to say
			}
			fetch(t, f, u.String())
			if got := <-lines; got != "GET "+want+" HTTP/1.1\r\n" {
				t.Errorf("direct: got %q, want the target %q", got, want)
			}
			fetch(t, proxied, u.String())
			if got := <-lines; got != "GET "+u.String()+" HTTP/1.1\r\n" {
				t.Errorf("by proxy: got %q, want the target %q", got, u)
			}
		})
	}
}

func TestRequestHeader(t *testing.T) {
	requests := make(chan *http.Request, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
	}))
	defer srv.Close()
	ask := func(cfg fetcher.Config) *http.Request {
		cfg.Allow = loopback
		f := newFetcher(t, cfg)
		fetch(t, f, srv.URL)
		<-requests
		fetch(t, f, srv.URL)
		return <-requests
	}

	r := ask(fetcher.Config{})
	for name, want := range map[string]string{
		"User-Agent":      "crawler",
		"Accept":          "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
		"Accept-Encoding": "gzip",
		"Cookie":          "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if want := strings.TrimPrefix(srv.URL, "http://"); r.Host != want {
		t.Errorf("Host: got %q, want %q", r.Host, want)
	}

	r = ask(fetcher.Config{UserAgent: "examplebot/1.0", Header: http.Header{"accept": {"text/plain"}, "X-A": {"1", "2"}}})
	if got := r.Header["Accept"]; len(got) != 1 || got[0] != "text/plain" {
		t.Errorf("Accept replaced: got %q", got)
	}
	if got := r.Header["X-A"]; len(got) != 2 {
		t.Errorf("X-A: got %q, want two values", got)
	}
	r = ask(fetcher.Config{UserAgent: "examplebot/1.0", Header: http.Header{"Accept-Encoding": nil}})
	if got, ok := r.Header["Accept-Encoding"]; ok {
		t.Errorf("Accept-Encoding taken out: got %q", got)
	}
	if got := r.UserAgent(); got != "examplebot/1.0" {
		t.Errorf("User-Agent: got %q", got)
	}
}

func TestRedirectsAreReportedNotFollowed(t *testing.T) {
	tests := []struct {
		name     string
		status   int
		location string
		want     string
		wantErr  bool
	}{
		{name: "301", status: 301, location: "/b", want: "http://e.example/b"},
		{name: "302", status: 302, location: "/b", want: "http://e.example/b"},
		{name: "303", status: 303, location: "/b", want: "http://e.example/b"},
		{name: "307", status: 307, location: "/b", want: "http://e.example/b"},
		{name: "308", status: 308, location: "/b", want: "http://e.example/b"},
		{name: "to another host", status: 301, location: "https://f.example", want: "https://f.example/"},
		{name: "relative to the directory", status: 301, location: "b?c#d", want: "http://e.example/dir/b?c"},
		{name: "raw UTF-8 is escaped", status: 302, location: "/news/\xd8\xa7", want: "http://e.example/news/%D8%A7"},
		{name: "an escape that is none is kept", status: 302, location: "/%u0041", want: "http://e.example/%u0041"},
		{name: "to itself", status: 302, location: "/dir/a", want: "http://e.example/dir/a"},
		{name: "another scheme is an error", status: 302, location: "mailto:a@e.example", wantErr: true},
		{name: "a bad port is an error", status: 302, location: "http://e.example:99999/", wantErr: true},
		{name: "no Location", status: 302},
		{name: "300 is no redirect", status: 300, location: "/b"},
		{name: "304 is no redirect", status: 304, location: "/b"},
		{name: "201 is no redirect", status: 201, location: "/b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			location := ""
			if tt.location != "" {
				location = "Location: " + tt.location + "\r\n"
			}
			response := fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: 0\r\n\r\n", tt.status, location)
			var requests atomic.Int64
			f := newFetcher(t, fetcher.Config{Dial: onPipes(func(conn net.Conn, req *http.Request) bool {
				requests.Add(1)
				return answering(response)(conn, req)
			})})
			page := fetch(t, f, "http://e.example/dir/a")
			if page.Redirect.String() != tt.want || page.Status != tt.status {
				t.Errorf("got %d to %q, want %d to %q", page.Status, page.Redirect, tt.status, tt.want)
			}
			if (page.RedirectErr != nil) != tt.wantErr || (page.RedirectRaw != "") != tt.wantErr {
				t.Errorf("got error %v of %q, want one %t", page.RedirectErr, page.RedirectRaw, tt.wantErr)
			}
			if got := requests.Load(); got != 1 {
				t.Errorf("got %d requests, want 1", got)
			}
		})
	}
}

func TestMediaType(t *testing.T) {
	tests := []struct{ field, want string }{
		{"text/html", "text/html"},
		{"Text/HTML; charset=utf-8", "text/html"},
		{"\tapplication/xhtml+xml ;x", "application/xhtml+xml"},
		{"text/html;", "text/html"},
		{"", ""},
		{"html", ""},
		{"text/", ""},
		{"/html", ""},
		{"text/html/x", ""},
		{"te xt/html", ""},
		{"text/html, text/plain", ""},
	}
	for _, tt := range tests {
		f := newFetcher(t, fetcher.Config{Dial: onPipes(answering("HTTP/1.1 200 OK\r\nContent-Type: " + tt.field + "\r\nContent-Length: 0\r\n\r\n"))})
		if got := fetch(t, f, "http://e.example/").MediaType; got != tt.want {
			t.Errorf("Content-Type %q: got %q, want %q", tt.field, got, tt.want)
		}
	}
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBody(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	const gz = ok + "Content-Encoding: gzip\r\n"
	sized := func(head, body string) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	}
	text := strings.Repeat("all work and no play ", 40) // 840 bytes
	packed := gzipped(t, text)
	long := strings.Repeat("x", 1000)
	damaged := packed[:len(packed)-8] + "\x00\x00\x00\x00" + packed[len(packed)-4:]

	tests := []struct {
		name     string
		response string
		body     string
		cut      fetcher.Truncation
		encoding string
		received int // -1: not looked at
	}{
		{name: "of known length", response: sized(ok, text), body: text, received: 840},
		{name: "in chunks", response: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", body: "abcde", received: 5},
		{name: "up to the end of the connection", response: ok + "\r\nabc", body: "abc", received: 3},
		{name: "empty", response: sized(ok, "")},
		{name: "none by status", response: "HTTP/1.1 204 No\r\nContent-Encoding: gzip\r\n\r\n"},
		{name: "of a failure is kept", response: sized("HTTP/1.1 500 X\r\n", "sorry"), body: "sorry", received: 5},
		{name: "longer than its length", response: ok + "Content-Length: 3\r\n\r\nabcdef", body: "abc", received: 3},

		{name: "as long as the limit", response: sized(ok, long), body: long, received: 1000},
		{name: "above the limit", response: sized(ok, long+"y"), body: long, cut: fetcher.TruncatedLength, received: -1},
		{name: "far above the limit", response: sized(ok, strings.Repeat("x", 1e6)), body: long, cut: fetcher.TruncatedLength, received: -1},
		{name: "gzip as long as the limit when decoded", response: sized(gz, gzipped(t, long)), body: long, encoding: "gzip", received: -1},
		{name: "a gzip bomb", response: sized(gz, gzipped(t, strings.Repeat("x", 1e7))), body: long, cut: fetcher.TruncatedLength, encoding: "gzip", received: -1},

		{name: "shorter than its length", response: ok + "Content-Length: 9\r\n\r\nabc", body: "abc", cut: fetcher.TruncatedDisconnect, received: 3},
		{name: "nothing of its length", response: ok + "Content-Length: 9\r\n\r\n", cut: fetcher.TruncatedDisconnect},
		{name: "without the last chunk", response: ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", body: "abc", cut: fetcher.TruncatedDisconnect, received: 3},
		{name: "within a chunk", response: ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc", body: "abc", cut: fetcher.TruncatedDisconnect, received: 3},

		{name: "gzip", response: sized(gz, packed), body: text, encoding: "gzip", received: len(packed)},
		{name: "gzip by its old name", response: sized(ok+"Content-Encoding: X-GZIP\r\n", packed), body: text, encoding: "gzip", received: len(packed)},
		{name: "gzip in two members", response: sized(gz, packed+packed), body: (text + text)[:1000], cut: fetcher.TruncatedLength, encoding: "gzip", received: -1},
		{name: "gzip in two short members", response: sized(gz, gzipped(t, "ab")+gzipped(t, "cd")), body: "abcd", encoding: "gzip", received: -1},
		{name: "gzip and a NUL after it", response: sized(gz, packed+"\x00"), body: text, encoding: "gzip", received: -1},
		{name: "gzip and much after it", response: sized(gz, packed+strings.Repeat("\x00", 1e5)), body: text, encoding: "gzip", received: -1},
		{name: "gzip cut before its trailer", response: sized(gz, packed[:len(packed)-8]), body: text, cut: fetcher.TruncatedDisconnect, encoding: "gzip", received: -1},
		{name: "gzip cut in its head", response: sized(gz, packed[:5]), cut: fetcher.TruncatedDisconnect, encoding: "gzip", received: 5},
		{name: "gzip with a wrong checksum", response: sized(gz, damaged), body: text, cut: fetcher.TruncatedDisconnect, encoding: "gzip", received: -1},
		{name: "gzip without the last chunk", response: gz + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(packed), packed), body: text, cut: fetcher.TruncatedDisconnect, encoding: "gzip", received: len(packed)},
		{name: "said to be gzip but is not", response: sized(gz, text), body: text, received: 840},
		{name: "said to be gzip and of one byte", response: sized(gz, "a"), body: "a", received: 1},
		{name: "of an encoding that was not asked for", response: sized(ok+"Content-Encoding: br\r\n", "abc"), body: "abc", received: 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := listen(t, answering(tt.response))
			f := newFetcher(t, fetcher.Config{Allow: loopback, MaxBody: 1000})
			for range 2 { // the second time with used buffers
				f.Close() // the server has closed its end, or is about to
				page := fetch(t, f, base)
				if string(page.Body) != tt.body || page.Truncation != tt.cut {
					t.Errorf("got %d bytes %.40q cut by %q, want %d bytes %.40q cut by %q",
						len(page.Body), page.Body, page.Truncation, len(tt.body), tt.body, tt.cut)
				}
				if cap(page.Body) != len(page.Body) {
					t.Errorf("got a body of %d bytes in %d", len(page.Body), cap(page.Body))
				}
				if page.Encoding != tt.encoding {
					t.Errorf("got encoding %q, want %q", page.Encoding, tt.encoding)
				}
				if tt.encoding != "" && (page.Header.Get("Content-Encoding") != "" || page.Header.Get("Content-Length") != "") {
					t.Errorf("the header still describes the encoded body: %v", page.Header)
				}
				if tt.received >= 0 && page.Received != int64(tt.received) {
					t.Errorf("got %d bytes received, want %d", page.Received, tt.received)
				}
			}
		})
	}
}

func TestSwitchedProtocolIsNotRead(t *testing.T) {
	open := make(chan struct{})
	defer close(open)
	base := listen(t, func(conn net.Conn, _ *http.Request) bool {
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nabc")
		<-open
		return false
	})
	page := fetch(t, newFetcher(t, fetcher.Config{Allow: loopback}), base)
	if page.Status != 101 || len(page.Body) != 0 {
		t.Errorf("got %d with %q, want 101 and no body", page.Status, page.Body)
	}
}

func TestFailureKinds(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	hangUp := func(net.Conn, *http.Request) bool { return false }
	reset := func(conn net.Conn, _ *http.Request) bool {
		conn.(*net.TCPConn).SetLinger(0)
		return false
	}
	tests := []struct {
		name string
		url  string
		want fetcher.Kind
	}{
		{"refused", "http://" + closed.Addr().String(), fetcher.KindConnect},
		{"closed without an answer", listen(t, hangUp), fetcher.KindReset},
		{"closed within the head", listen(t, answering("HTTP/1.1 200 OK\r\nA: ")), fetcher.KindReset},
		{"reset without an answer", listen(t, reset), fetcher.KindReset},
		{"not HTTP", listen(t, answering("SSH-2.0-x\r\n\r\n")), fetcher.KindProtocol},
		{"a head too large", listen(t, answering("HTTP/1.1 200 OK\r\nA: "+strings.Repeat("a", 1<<20)+"\r\n\r\n")), fetcher.KindProtocol},
		{"no TLS", strings.Replace(listen(t, answering("HTTP/1.1 400 Bad\r\n\r\n")), "http:", "https:", 1), fetcher.KindTLS},
	}
	f := newFetcher(t, fetcher.Config{Allow: loopback})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.Fetch(context.Background(), parse(t, tt.url))
			if err == nil {
				t.Fatal("got a page")
			}
			if got := kindOf(t, err); got != tt.want {
				t.Errorf("got kind %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}

func TestLargeHeadIsRead(t *testing.T) {
	big := strings.Repeat("a", 1<<20-1000)
	page := fetch(t, newFetcher(t, fetcher.Config{Allow: loopback}), listen(t, answering("HTTP/1.1 200 OK\r\nA: "+big+"\r\n\r\n")))
	if got := page.Header.Get("A"); got != big {
		t.Errorf("got %d bytes of a field of %d", len(got), len(big))
	}
}

func TestFailingConfigDialIsAConnectFailure(t *testing.T) {
	down := errors.New("network is down")
	f := newFetcher(t, fetcher.Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, down }})
	_, err := f.Fetch(context.Background(), parse(t, "http://e.example/"))
	if got := kindOf(t, err); got != fetcher.KindConnect || !errors.Is(err, down) {
		t.Errorf("got %v, want kind connect that wraps the dialler's error", err)
	}
}

func TestNoURLIsAFailure(t *testing.T) {
	f := newFetcher(t, fetcher.Config{})
	if _, err := f.Fetch(context.Background(), normalize.URL{}); err == nil {
		t.Error("got a page for the zero URL")
	}
	if got := f.Robots(context.Background(), normalize.URL{}, 0); got.Err == nil || got.Access != "unreachable" {
		t.Errorf("got %+v for the zero URL, want unreachable", got)
	}
}

func TestConnectionsAreKept(t *testing.T) {
	text := gzipped(t, strings.Repeat("text ", 2000))
	tests := []struct {
		name    string
		handler http.HandlerFunc
	}{
		{"after a body of known length", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "abc") }},
		{"after a body in chunks", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "abc")
			http.NewResponseController(w).Flush()
			io.WriteString(w, "def")
		}},
		{"after gzip in chunks", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, text)
			http.NewResponseController(w).Flush()
		}},
		{"after no body", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var conns atomic.Int64
			srv := httptest.NewUnstartedServer(tt.handler)
			srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					conns.Add(1)
				}
			}
			srv.Start()
			defer srv.Close()
			f := newFetcher(t, fetcher.Config{Allow: loopback})
			for range 3 {
				fetch(t, f, srv.URL)
			}
			if got := conns.Load(); got != 1 {
				t.Errorf("got %d connections for 3 fetches, want 1", got)
			}
			f.Close()
			fetch(t, f, srv.URL)
			if got := conns.Load(); got != 2 {
				t.Errorf("got %d connections after Close, want 2", got)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	var conns atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Proto, r.RequestURI)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	addr := netip.MustParseAddrPort(srv.Listener.Addr().String())
	cfg := fetcher.Config{Allow: loopback, Resolve: map[string]netip.Addr{"Example.COM.": addr.Addr(), "wrong.test": addr.Addr()}}

	t.Run("HTTP/2 by default", func(t *testing.T) {
		f := newFetcher(t, cfg)
		for _, uri := range []string{"/", "/a?b", "//a?"} {
			page := fetch(t, f, fmt.Sprintf("https://example.com:%d%s", addr.Port(), uri))
			if page.Proto != "HTTP/2.0" || page.RemoteAddr != addr || page.Wait <= 0 {
				t.Errorf("got %s from %v after %v, want HTTP/2.0 from %v", page.Proto, page.RemoteAddr, page.Wait, addr)
			}
			if got, want := string(page.Body), "HTTP/2.0 "+uri; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if got := conns.Load(); got != 1 {
			t.Errorf("got %d connections, want 1", got)
		}
	})
	t.Run("a request that the server never takes is not sent for ever", func(t *testing.T) {
		conns.Store(0)
		// The server of net/http resets the stream of a path with an escape that is none.
		_, err := newFetcher(t, cfg).Fetch(context.Background(), parse(t, fmt.Sprintf("https://example.com:%d/%%u0041", addr.Port())))
		if err == nil {
			t.Fatal("got a page")
		}
		if got := kindOf(t, err); got != fetcher.KindReset {
			t.Errorf("got %v, want kind reset", err)
		}
		if got := conns.Load(); got != 1 {
			t.Errorf("got %d connections, want 1", got)
		}
	})
	t.Run("HTTP/1.1 on demand", func(t *testing.T) {
		cfg := cfg
		cfg.DisableHTTP2 = true
		page := fetch(t, newFetcher(t, cfg), fmt.Sprintf("https://example.com:%d/", addr.Port()))
		if page.Proto != "HTTP/1.1" || page.RemoteAddr != addr {
			t.Errorf("got %s from %v, want HTTP/1.1 from %v", page.Proto, page.RemoteAddr, addr)
		}
	})
	t.Run("a certificate for another name", func(t *testing.T) {
		_, err := newFetcher(t, cfg).Fetch(context.Background(), parse(t, fmt.Sprintf("https://wrong.test:%d/", addr.Port())))
		if got := kindOf(t, err); got != fetcher.KindTLS {
			t.Errorf("got %v, want kind tls", err)
		}
	})
}

func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/home", http.StatusFound)
	}))
	defer srv.Close()

	f, err := fetcher.New(fetcher.Config{
		UserAgent: "examplebot/1.0 (+https://example.org/bot)",
		Allow:     []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	u, err := normalize.Parse(srv.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := f.Fetch(context.Background(), u)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(page.Status, page.MediaType, page.Redirect.Path())
	// Output: 302 text/html /home
}

func ExampleError() {
	f, err := fetcher.New(fetcher.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	u, err := normalize.Parse("http://127.0.0.1:1/")
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = f.Fetch(context.Background(), u)
	if e, ok := errors.AsType[*fetcher.Error](err); ok {
		fmt.Println(e.Kind)
	}
	// Output: blocked
}

func BenchmarkFetch(b *testing.B) {
	body := []byte(strings.Repeat("<p>All work and no play makes Jack.</p>\n", 875)) // 35 KB
	packed := []byte(gzipped(b, string(body)))
	for _, encoding := range []string{"identity", "gzip"} {
		b.Run(encoding, func(b *testing.B) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				if encoding == "gzip" {
					w.Header().Set("Content-Encoding", "gzip")
					w.Write(packed)
					return
				}
				w.Write(body)
			}))
			defer srv.Close()
			f := newFetcher(b, fetcher.Config{Allow: loopback})
			u := parse(b, srv.URL)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				page, err := f.Fetch(context.Background(), u)
				if err != nil || len(page.Body) != len(body) {
					b.Fatal(err)
				}
			}
		})
	}
}
