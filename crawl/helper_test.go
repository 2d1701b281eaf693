package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"crawler/crawl"
	"crawler/fetcher"
	"crawler/frontier"
	"crawler/storage"
)

// pages is a small web by hand: URLs without scheme, and what stands there. That is HTML, or "-> URL" for a redirect, or
// the three digits of a status. What is not there is a 404.
type pages map[string]string

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, ok := p[r.Host+r.URL.RequestURI()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if target, ok := strings.CutPrefix(text, "-> "); ok {
		w.Header()["Location"] = []string{target}
		w.WriteHeader(http.StatusMovedPermanently)
		return
	}
	if status, err := strconv.Atoi(text); err == nil {
		w.WriteHeader(status)
		return
	}
	if r.URL.Path == "/robots.txt" {
		w.Header().Set("Content-Type", "text/plain")
	} else {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	fmt.Fprint(w, text)
}

// links returns HTML that links to each href.
func links(hrefs ...string) string {
	var b strings.Builder
	for _, href := range hrefs {
		fmt.Fprintf(&b, "<a href=\"%s\">x</a>\n", href)
	}
	return b.String()
}

// request is one request as the server saw it.
type request struct {
	url        string // without scheme
	start, end time.Time
}

// network serves one handler for every host over pipes. It speaks no TLS: connections to port 443 are refused.
type network struct {
	server http.Server
	conns  chan net.Conn
	done   chan struct{}

	mu  sync.Mutex // guards below
	log []request
}

func newNetwork(t testing.TB, h http.Handler) *network {
	n := &network{conns: make(chan net.Conn), done: make(chan struct{})}
	n.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		h.ServeHTTP(w, r)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.log = append(n.log, request{url: r.Host + r.URL.RequestURI(), start: start, end: time.Now()})
	})
	served := make(chan struct{})
	go func() { defer close(served); n.server.Serve(n) }()
	t.Cleanup(func() { n.server.Close(); <-served })
	return n
}

func (n *network) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if strings.HasSuffix(addr, ":443") {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		return client, nil
	case <-n.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept, Close and Addr make n the listener of its server.
func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.done:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { close(n.done); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// requests returns what was asked for so far, in order.
func (n *network) requests() []request {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.log)
}

// fetched returns the URLs asked for so far, robots.txt apart, sorted.
func (n *network) fetched() []string {
	var urls []string
	for _, r := range n.requests() {
		if !strings.HasSuffix(r.url, "/robots.txt") {
			urls = append(urls, r.url)
		}
	}
	slices.Sort(urls)
	return urls
}

// count returns how often a URL was asked for.
func (n *network) count(url string) int {
	times := 0
	for _, r := range n.requests() {
		if r.url == url {
			times++
		}
	}
	return times
}

// on returns a configuration that crawls everything over n with no delay.
func (n *network) on(change func(*crawl.Config)) crawl.Config { return over(n.Dial, change) }

// over returns a configuration that crawls everything over connections that dial makes, with no delay.
func over(dial func(context.Context, string, string) (net.Conn, error), change func(*crawl.Config)) crawl.Config {
	cfg := crawl.Config{
		Scope:      crawl.Scope{Reach: crawl.ReachAny},
		Politeness: delayed(0),
		Fetch:      fetcher.Config{UserAgent: "testbot/1.0", Dial: dial},
	}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

// delayed returns the default politeness with another delay.
func delayed(d time.Duration) frontier.Rules {
	p := frontier.DefaultPoliteness()
	p.Delay = d
	return frontier.Rules{Default: p}
}

func depth(n int) *int { return &n }

func seedsOf(t testing.TB, texts ...string) []crawl.Seed {
	t.Helper()
	var seeds []crawl.Seed
	for _, text := range texts {
		seed, err := crawl.ParseSeed(text)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, seed)
	}
	return seeds
}

func open(t testing.TB, dir string, cfg crawl.Config) *crawl.Crawl {
	t.Helper()
	c, err := crawl.Open(dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run crawls until the crawl ends for the reason wanted, checks all that must hold then, and returns the counts.
func run(t testing.TB, dir string, cfg crawl.Config, want error, seeds ...string) crawl.Stats {
	t.Helper()
	c := open(t, dir, cfg)
	reason := c.Run(t.Context(), seedsOf(t, seeds...))
	stats := c.Stats()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if !errors.Is(reason, want) {
		t.Errorf("the run ended with %v, want %v", reason, want)
	}
	check(t, dir, stats)
	return stats
}

// check holds the last counts of a crawl against themselves, against the data directory and what is stored of them.
func check(t testing.TB, dir string, stats crawl.Stats) {
	t.Helper()
	if err := stats.Check(); err != nil {
		t.Error(err)
	}
	if stats.URLs.Leased != 0 {
		t.Errorf("%d URLs are leased after the end", stats.URLs.Leased)
	}
	d, err := storage.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	counted := map[storage.State]int64{}
	refused := int64(0)
	for n, store := range d.Stores() {
		if err := store.Check(); err != nil {
			t.Errorf("partition %d: %v", n, err)
		}
		err := store.View(func(tx *storage.Tx) error {
			for _, r := range tx.Records(0) {
				counted[r.State]++
			}
			for range tx.Refusals("") {
				refused++
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		what        string
		got, stored int64
	}{
		{"queued", stats.URLs.Queued, counted[storage.Queued]},
		{"fetched", stats.URLs.Fetched, counted[storage.Fetched]},
		{"failed", stats.URLs.Failed, counted[storage.Failed]},
		{"refused after admission", stats.URLs.RefusedAfter, counted[storage.Refused]},
		{"refused before admission", stats.URLs.RefusedBefore, refused},
	} {
		if c.got != c.stored {
			t.Errorf("%d %s are counted, %d are stored", c.got, c.what, c.stored)
		}
	}
}

// states returns what is listed of a data directory: by URL the state, with the reason if there is one.
func states(t testing.TB, v *crawl.View) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, state := range crawl.ListStates() {
		if state == "seen" {
			continue
		}
		for e, err := range v.URLs(state) {
			if err != nil {
				t.Fatal(err)
			}
			if e.State != state {
				t.Errorf("%s is listed as %s among the %s", e.URL, e.State, state)
			}
			all[e.URL] = strings.TrimSpace(e.State + " " + e.Reason)
		}
	}
	return all
}

// stored is states of the data directory of a crawl that has ended.
func stored(t testing.TB, dir string) map[string]string {
	t.Helper()
	v, err := crawl.OpenView(dir, crawl.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	return states(t, v)
}

// slowly returns a handler that takes a while for one URL.
func slowly(h http.Handler, url string, wait time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host+r.URL.RequestURI() == url {
			time.Sleep(wait)
		}
		h.ServeHTTP(w, r)
	})
}

// verdicts returns what each part of the crawler says in an explanation.
func verdicts(e *crawl.Explanation) map[string]string {
	all := map[string]string{}
	for _, d := range e.Decisions {
		all[d.By] = d.Verdict
	}
	return all
}
