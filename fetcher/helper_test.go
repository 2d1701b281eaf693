package fetcher_test

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"crawler/fetcher"
	"crawler/normalize"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// TestMain makes the certificate of httptest's servers one that the system trusts.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "fetcher")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		srv := httptest.NewTLSServer(nil)
		defer srv.Close()
		file := filepath.Join(dir, "roots.pem")
		block := pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}
		if err := os.WriteFile(file, pem.EncodeToMemory(&block), 0o600); err != nil {
			panic(err)
		}
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"} {
			os.Unsetenv(name)
		}
		os.Setenv("SSL_CERT_FILE", file)
		log.SetOutput(io.Discard) // net/http reports bytes after the end of a body there
		return m.Run()
	}())
}

func newFetcher(t testing.TB, cfg fetcher.Config) *fetcher.Fetcher {
	t.Helper()
	f, err := fetcher.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func parse(t testing.TB, raw string) normalize.URL {
	t.Helper()
	u, err := normalize.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func fetch(t testing.TB, f *fetcher.Fetcher, raw string) *fetcher.Page {
	t.Helper()
	page, err := f.Fetch(context.Background(), parse(t, raw))
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// kindOf returns the kind of an error of Fetch.
func kindOf(t testing.TB, err error) fetcher.Kind {
	t.Helper()
	e, ok := errors.AsType[*fetcher.Error](err)
	if !ok {
		t.Fatalf("got error %v, want a *fetcher.Error", err)
	}
	return e.Kind
}

// onPipes is a Config.Dial whose connections are pipes, each served by serve, which gets the requests of its connection
// one by one and returns false to close it.
func onPipes(serve func(conn net.Conn, req *http.Request) bool) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveConn(server, serve)
		return client, nil
	}
}

func serveConn(conn net.Conn, serve func(conn net.Conn, req *http.Request) bool) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil || !serve(conn, req) {
			return
		}
	}
}

// answering is a serve function that writes the same bytes for any request and closes.
func answering(response string) func(net.Conn, *http.Request) bool {
	return func(conn net.Conn, _ *http.Request) bool {
		conn.Write([]byte(response))
		return false
	}
}

// listen serves connections of a loopback port until the test ends and returns its URL.
func listen(t testing.TB, serve func(conn net.Conn, req *http.Request) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveConn(conn, serve)
		}
	}()
	return "http://" + l.Addr().String()
}
