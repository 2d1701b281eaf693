package crawl_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crawler/crawl"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// gaps returns, for each host, the times from the end of one request to the start of the next.
func (n *network) gaps() map[string][]time.Duration {
	last := map[string]time.Time{}
	gaps := map[string][]time.Duration{}
	for _, r := range n.requests() {
		host, _, _ := strings.Cut(r.url, "/")
		if end, ok := last[host]; ok {
			gaps[host] = append(gaps[host], r.start.Sub(end))
		}
		last[host] = r.end
	}
	return gaps
}

// town is eight hosts of four pages each. Host 1 has a Crawl-delay, host 2 asks once to be left alone, and host 3 is slow.
func town() http.Handler {
	var once sync.Once
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "h3.test" {
			time.Sleep(3 * s)
		}
		switch {
		case r.URL.Path == "/robots.txt" && r.Host == "h1.test":
			fmt.Fprint(w, "User-agent: *\nCrawl-delay: 7.5\n")
			return
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case r.URL.Path == "/1" && r.Host == "h2.test":
			asked := true
			once.Do(func() { asked = false })
			if !asked {
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
		}
		w.Header().Set("Content-Type", "text/html")
		for h := range 8 {
			fmt.Fprint(w, links(fmt.Sprintf("http://h%d.test/", h)))
		}
		fmt.Fprint(w, links("/", "/1", "/2", "/3"))
	})
}

func TestEveryGapIsThatInForceExactly(t *testing.T) {
	for _, adaptive := range []bool{true, false} {
		t.Run(fmt.Sprint("adaptive ", adaptive), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, town())
				run(t, t.TempDir(), n.on(func(cfg *crawl.Config) {
					cfg.Politeness = delayed(2 * s)
					cfg.Politeness.Default.Adaptive = adaptive
					cfg.Partitions = 2
				}), crawl.ErrFinished, "http://h0.test/")
				// Between robots.txt and the four pages.
				want := map[string][]time.Duration{
					"h1.test": {7500 * ms, 7500 * ms, 7500 * ms, 7500 * ms},
					"h2.test": {2 * s, 2 * s, 30 * s, 2 * s, 2 * s},
					"h3.test": {2 * s, 2 * s, 2 * s, 2 * s},
				}
				if adaptive { // robots.txt says nothing of the time that pages take
					want["h3.test"] = []time.Duration{2 * s, 3 * s, 3 * s, 3 * s}
				}
				got := n.gaps()
				for h := range 8 {
					host := fmt.Sprintf("h%d.test", h)
					if want[host] == nil {
						want[host] = []time.Duration{2 * s, 2 * s, 2 * s, 2 * s}
					}
					if fmt.Sprint(got[host]) != fmt.Sprint(want[host]) {
						t.Errorf("%s: gaps %v, want %v", host, got[host], want[host])
					}
				}
			})
		})
	}
}

func TestTheDelayHoldsFromOneRunToTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"h.test/": links("/1", "/2", "/3"), "h.test/1": "", "h.test/2": "", "h.test/3": ""})
		dir := t.TempDir()
		config := func(limit int) crawl.Config {
			return n.on(func(cfg *crawl.Config) {
				cfg.Politeness = delayed(5 * s)
				cfg.Limits.MaxPages = limit
			})
		}
		run(t, dir, config(1), crawl.ErrMaxPages, "http://h.test/")
		run(t, dir, config(2), crawl.ErrMaxPages)
		time.Sleep(2 * s)
		run(t, dir, config(0), crawl.ErrFinished)
		if got, want := fmt.Sprint(n.gaps()["h.test"]), "[5s 5s 5s 5s]"; got != want {
			t.Errorf("gaps %s, want %s", got, want)
		}
	})
}

func TestPolitenessChangesWhileTheCrawlRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"h.test/": links("/1", "/2"), "h.test/1": "", "h.test/2": ""})
		c := open(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Politeness = delayed(time.Hour) }))
		ended := make(chan error)
		go func() { ended <- c.Run(t.Context(), seedsOf(t, "http://h.test/")) }()
		time.Sleep(10 * s)
		c.SetPoliteness(delayed(20 * s))
		if err := <-ended; err != crawl.ErrFinished {
			t.Errorf("ended with %v", err)
		}
		if got, want := fmt.Sprint(n.gaps()["h.test"]), "[20s 20s 20s]"; got != want {
			t.Errorf("gaps %s, want %s", got, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOneWorkerAsksForTheRobotsFileOfAnOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"h.test/robots.txt": "User-agent: *\nDisallow: /no", "h.test/no": ""}
		var urls []string
		for i := range 20 {
			site[fmt.Sprintf("h.test/%d", i)] = ""
			urls = append(urls, fmt.Sprintf("http://h.test/%d", i))
		}
		n := newNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(s)
			site.ServeHTTP(w, r)
		}))
		stats := run(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Politeness = connections(20) }),
			crawl.ErrFinished, append(urls, "http://h.test/no")...)
		if got := n.count("h.test/robots.txt"); got != 1 {
			t.Errorf("robots.txt was asked for %d times", got)
		}
		if n.count("h.test/no") != 0 || stats.URLs.Refused["robots"] != 1 {
			t.Errorf("a URL that robots.txt disallows was asked for, or not counted: %v", stats.URLs.Refused)
		}
		if got := stats.Fetch.RobotsRequests; got != 1 {
			t.Errorf("%d requests for robots.txt are counted", got)
		}
	})
}

func TestOneWorkerAsksForARobotsFileThatCannotBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, slowly(pages{"h.test/robots.txt": "503"}, "h.test/robots.txt", s))
		var urls []string
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://h.test/%d", i))
		}
		stats := run(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Politeness = connections(20) }), crawl.ErrUnreachable, urls...)
		requests := n.requests()
		if len(requests) != 5 || stats.URLs.Queued != 20 {
			t.Errorf("%d requests and %d URLs queued, want 5 and 20", len(requests), stats.URLs.Queued)
		}
		for i, r := range requests[1:] {
			pause := 5 * s << i // and by chance up to a quarter more
			if gap := r.start.Sub(requests[i].end); gap < pause || gap > pause*5/4 {
				t.Errorf("try %d came %v after the one before, want %v or a little more", i+2, gap, pause)
			}
		}
	})
}

func TestARobotsFileIsKeptForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"h.test/robots.txt": "User-agent: *\nDisallow: /no"}
		n := newNetwork(t, site)
		dir := t.TempDir()
		for i, step := range []struct {
			wait   time.Duration
			change string
			asked  int
			state  string
		}{
			{wait: 0, asked: 1, state: "refused robots"},
			{wait: 23 * time.Hour, change: "User-agent: *\nAllow: /", asked: 1, state: "refused robots"},
			{wait: 2 * time.Hour, asked: 2, state: "fetched"},
		} {
			time.Sleep(step.wait)
			if step.change != "" {
				site["h.test/robots.txt"] = step.change
			}
			path := fmt.Sprintf("h.test/no%d", i)
			site[path] = ""
			run(t, dir, n.on(nil), crawl.ErrFinished, "http://"+path)
			if got := n.count("h.test/robots.txt"); got != step.asked {
				t.Errorf("run %d: robots.txt was asked for %d times, want %d", i, got, step.asked)
			}
			if got := stored(t, dir)["http://"+path]; got != step.state {
				t.Errorf("run %d: %s, want %s", i, got, step.state)
			}
		}
	})
}

func TestRobotsRulesCanBeIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{
			"h.test/robots.txt": "User-agent: *\nDisallow: /\nCrawl-delay: 10",
			"h.test/":           "<meta name=robots content=nofollow><a rel=nofollow href=/a>a</a>", "h.test/a": "",
		})
		run(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Politeness.Default.ObeyRobots = false }),
			crawl.ErrFinished, "http://h.test/")
		if got, want := fmt.Sprint(n.fetched()), "[h.test/ h.test/a]"; got != want {
			t.Errorf("fetched %s, want %s", got, want)
		}
		if n.count("h.test/robots.txt") != 0 {
			t.Error("robots.txt was asked for")
		}
	})
}
