package testweb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"

	"crawler/internal/testweb"
)

func start(tb testing.TB, w *testweb.Web) *testweb.Server {
	tb.Helper()
	s, err := w.Start(tb.Context(), "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// resolver asks the DNS server of s over the given network.
func resolver(s *testweb.Server, network string) *net.Resolver {
	return &net.Resolver{
		PreferGo: true,
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, s.DNSAddr)
		},
	}
}

func TestDNSKnowsTheHostsOnly(t *testing.T) {
	s := start(t, newWeb(t, testweb.Config{Hosts: 3}))
	for _, network := range []string{"udp", "tcp"} {
		r := resolver(s, network)
		for _, name := range []string{"h000.test.", "H002.TEST.", testweb.JudgeHost + "."} {
			got, err := r.LookupHost(t.Context(), name)
			if want := []string{"127.0.0.1"}; err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: %s: %v, %v, want %v", network, name, got, err, want)
			}
		}
		for _, name := range []string{"h003.test.", "test.", "example.org."} {
			got, err := r.LookupHost(t.Context(), name)
			if e, ok := errors.AsType[*net.DNSError](err); !ok || !e.IsNotFound {
				t.Errorf("%s: %s: %v, %v, want not found", network, name, got, err)
			}
		}
		if got, err := r.LookupNetIP(t.Context(), "ip6", "h000.test."); len(got) > 0 {
			t.Errorf("%s: addresses of version 6: %v, %v", network, got, err)
		}
	}
}

func TestDNSOnTheWire(t *testing.T) {
	s := start(t, newWeb(t, testweb.Config{}))
	conn, err := net.Dial("udp", s.DNSAddr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	type answer struct {
		code    dnsmessage.RCode
		answers int
	}
	for name, tc := range map[string]struct {
		name string
		kind dnsmessage.Type
		want answer
	}{
		"an address":            {"h001.test.", dnsmessage.TypeA, answer{dnsmessage.RCodeSuccess, 1}},
		"no address of 128 bit": {"h001.test.", dnsmessage.TypeAAAA, answer{dnsmessage.RCodeSuccess, 0}},
		"no other type":         {"h001.test.", dnsmessage.TypeTXT, answer{dnsmessage.RCodeSuccess, 0}},
		"an unknown name":       {"h010.test.", dnsmessage.TypeA, answer{dnsmessage.RCodeNameError, 0}},
	} {
		query := dnsmessage.Message{
			Header:    dnsmessage.Header{ID: 77, RecursionDesired: true},
			Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(tc.name), Type: tc.kind, Class: dnsmessage.ClassINET}},
		}
		packed, err := query.Pack()
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte("not a message"))
		conn.Write(packed)
		buf := make([]byte, 512)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		var msg dnsmessage.Message
		if err := msg.Unpack(buf[:n]); err != nil {
			t.Fatal(err)
		}
		if got := (answer{msg.RCode, len(msg.Answers)}); got != tc.want || msg.ID != 77 || !msg.Response {
			t.Errorf("%s: got %+v, want %v", name, msg, tc.want)
		}
	}
}

func TestACrawlOverSocketsFindsWhatIsReachable(t *testing.T) {
	w := newWeb(t, busy())
	s := start(t, w)
	d := net.Dialer{Resolver: resolver(s, "udp")}
	c := client(t, &http.Transport{DialContext: d.DialContext})
	if want := "http://h000.test" + s.Addr[strings.LastIndex(s.Addr, ":"):] + "/"; s.Seeds()[0] != want {
		t.Errorf("the first seed is %s, want %s", s.Seeds()[0], want)
	}
	got := crawl(t, c, s.Seeds(), everything)
	if diff := cmp.Diff(maps.Collect(w.Reachable(everything)), got); diff != "" {
		t.Errorf("depths (-Reachable +crawl):\n%s", diff)
	}
	if err := w.Report(testweb.Options{Scope: everything}).Err(); err != nil {
		t.Error(err)
	}
	resp, body := mustGet(t, c, "http://"+testweb.JudgeHost+s.Addr[strings.LastIndex(s.Addr, ":"):]+"/report")
	if resp.StatusCode != 200 || !strings.HasPrefix(string(body), fmt.Sprintf(`{"expected":%d,"fetched":%[1]d,`, len(got))) {
		t.Errorf("the judge over HTTP: %s %.200s", resp.Status, body)
	}
}

func TestACrawlOverAddressesFindsWhatIsReachable(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux are all addresses of 127.0.0.0/8 local")
	}
	cfg := busy()
	cfg.Addresses = true
	w := newWeb(t, cfg)
	s := start(t, w)
	if s.DNSAddr != "" {
		t.Errorf("a DNS server at %s", s.DNSAddr)
	}
	if !strings.HasPrefix(s.Addr, "127.0.1.1:") || s.Seeds()[0] != "http://"+s.Addr+"/" {
		t.Errorf("at %s, seeds %v", s.Addr, s.Seeds())
	}
	got := crawl(t, client(t, &http.Transport{}), s.Seeds(), everything)
	if diff := cmp.Diff(maps.Collect(w.Reachable(everything)), got); diff != "" {
		t.Errorf("depths (-Reachable +crawl):\n%s", diff)
	}
	if err := w.Report(testweb.Options{Scope: everything}).Err(); err != nil {
		t.Error(err)
	}
}

func TestAResetOverSocketsIsOne(t *testing.T) {
	w := newWeb(t, testweb.Config{Hosts: 1, Pages: 1, Resets: 1, Addresses: runtime.GOOS == "linux"})
	s := start(t, w)
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	host := strings.TrimSuffix(strings.TrimPrefix(s.Seeds()[0], "http://"), "/")
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("reading the answer: %v", err)
	}
	if got := w.Report(testweb.Options{}); got.Fetched != 0 || got.Requests != 1 {
		t.Errorf("%+v", got)
	}
}

func TestTheEndOfTheContextEndsAServer(t *testing.T) {
	w := newWeb(t, testweb.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := w.Start(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cancel()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection lives on")
	}
	s.Close()
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		conn.Close()
		t.Error("the listener lives on")
	}
}

func TestStartReportsABadAddress(t *testing.T) {
	w := newWeb(t, testweb.Config{})
	for _, addr := range []string{"", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000"} {
		if s, err := w.Start(t.Context(), addr); err == nil {
			s.Close()
			t.Errorf("%q: no error", addr)
		}
	}
}
