package testweb_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"crawler/internal/testweb"
)

// BenchmarkServe measures pages a second over loopback sockets on one core.
// Client and server share it, so the figure is a lower bound of what
// the server alone reaches. The client keeps connections alive, one request in
// flight on each, and throws bodies away by Content-Length.
func BenchmarkServe(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const conns = 16
	w := newWeb(b, testweb.Mix(1, 50, 10_000))
	s := start(b, w)
	var requests [][]byte
	for u := range w.Reachable(testweb.Scope{MaxDepth: 6}) {
		to, err := url.Parse(u)
		if err != nil {
			b.Fatal(err)
		}
		requests = append(requests, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", to.RequestURI(), to.Host))
	}
	clients := make([]net.Conn, conns)
	for n := range clients {
		var err error
		if clients[n], err = net.Dial("tcp", s.Addr); err != nil {
			b.Fatal(err)
		}
		defer clients[n].Close()
	}
	before := w.Totals()
	b.ResetTimer()
	var wg sync.WaitGroup
	for n, conn := range clients {
		wg.Go(func() {
			buf := make([]byte, 256<<10)
			for r := n; r < b.N; r += conns {
				if _, err := conn.Write(requests[r%len(requests)]); err != nil {
					b.Error(err)
					return
				}
				if err := discardAnswer(conn, buf); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	b.SetBytes(int64(w.Totals().Sub(before).Bytes / b.N))
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

// discardAnswer reads one answer, and nothing after it.
func discardAnswer(conn io.Reader, buf []byte) error {
	n, err := conn.Read(buf)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(buf[:n], []byte("\r\n\r\n"))
	_, length, found := bytes.Cut(head, []byte("Content-Length: "))
	if !ok || !found {
		return fmt.Errorf("no whole header in %q", buf[:n])
	}
	length, _, _ = bytes.Cut(length, []byte("\r\n"))
	left, err := strconv.Atoi(string(length))
	for left -= len(rest); left > 0 && err == nil; left -= n {
		n, err = conn.Read(buf)
	}
	return err
}

// BenchmarkReport measures the verdict on a web of 100,000 pages of which none has
// been asked for.
func BenchmarkReport(b *testing.B) {
	w := newWeb(b, testweb.Mix(1, 100, 1000))
	for b.Loop() {
		w.Report(testweb.Options{Scope: everything})
	}
}
