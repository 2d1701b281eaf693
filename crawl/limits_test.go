package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crawler/crawl"
	"crawler/internal/testweb"
)

func TestTheLimitOfPagesIsExact(t *testing.T) {
	for _, tc := range []struct{ concurrency, first, second int }{
		{1, 1, 7}, {16, 1, 2}, {16, 10, 11}, {16, 17, 60}, {16, 40, 10_000}, {256, 50, 51},
	} {
		t.Run(fmt.Sprintf("%d, then %d, concurrency %d", tc.first, tc.second, tc.concurrency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Some of what is asked for is no page in the end.
				web := newWeb(t, testweb.Config{Hosts: 5, Pages: 30, Gone: 0.3, Flaky: 0.2, Private: 0.1, Jitter: 10 * ms})
				dir := t.TempDir()
				limited := func(n int) crawl.Config {
					return over(web.Dial, func(cfg *crawl.Config) {
						cfg.Concurrency, cfg.Limits.MaxPages = tc.concurrency, n
						cfg.Politeness = connections(8)
					})
				}
				stats := run(t, dir, limited(tc.first), crawl.ErrMaxPages, web.Seeds()...)
				if got := stats.URLs.Fetched; got != int64(tc.first) {
					t.Errorf("%d fetched, want %d", got, tc.first)
				}
				// Nothing is left for a run that may fetch no more.
				asked := web.Totals().Requests
				run(t, dir, limited(tc.first), crawl.ErrMaxPages, web.Seeds()...)
				if got := web.Totals().Requests; got != asked {
					t.Errorf("%d requests beyond the limit", got-asked)
				}
				want, all := crawl.ErrMaxPages, int64(tc.second)
				if tc.second == 10_000 {
					want = crawl.ErrFinished
				}
				stats = run(t, dir, limited(tc.second), want)
				report := web.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}})
				if want == crawl.ErrFinished {
					all = int64(report.Expected) - stats.URLs.Failed
				} else {
					report.Missing = nil
				}
				if err := report.Err(); err != nil {
					t.Error(err)
				}
				if got := stats.URLs.Fetched; got != all {
					t.Errorf("%d fetched in both runs, want %d", got, all)
				}
			})
		})
	}
}

func TestALimitThatIsAllThereIsFinishesTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"h.test/": links("/1"), "h.test/1": ""})
		run(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Limits.MaxPages = 2 }), crawl.ErrFinished, "http://h.test/")
	})
}

// slow answers after a while, with a page that links to 20 more.
func slow(wait time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			fmt.Fprint(w, links(fmt.Sprintf("/%d", i)))
		}
	})
}

func TestAStopLetsFetchesInFlightEndAndLosesNothing(t *testing.T) {
	for _, tc := range []struct {
		name  string
		wait  time.Duration // of an answer
		stop  func(cfg *crawl.Config, c func() *crawl.Crawl, ctx context.Context) context.Context
		want  error
		took  time.Duration
		first int64 // fetched when the first run ends
		again int   // URLs asked for twice, for the first was cut off
	}{
		{
			name: "by the caller", wait: 4 * s, want: crawl.ErrInterrupted, took: 8 * s, first: 5,
			stop: func(_ *crawl.Config, _ func() *crawl.Crawl, ctx context.Context) context.Context {
				return after(ctx, 5*s)
			},
		},
		{
			name: "by the limit of time", wait: 4 * s, want: crawl.ErrMaxTime, took: 8 * s, first: 5,
			stop: func(cfg *crawl.Config, _ func() *crawl.Crawl, ctx context.Context) context.Context {
				cfg.Limits.MaxTime = 5 * s
				return ctx
			},
		},
		{
			name: "by the caller, with fetches that take longer than the grace", wait: 60 * s,
			want: crawl.ErrInterrupted, took: 75 * s, first: 1, again: 4,
			stop: func(_ *crawl.Config, _ func() *crawl.Crawl, ctx context.Context) context.Context {
				return after(ctx, 65*s)
			},
		},
		{
			name: "in a hurry", wait: 60 * s, want: crawl.ErrInterrupted, took: 67 * s, first: 1, again: 4,
			stop: func(_ *crawl.Config, c func() *crawl.Crawl, ctx context.Context) context.Context {
				time.AfterFunc(67*s, func() { c().Hurry(); c().Hurry() })
				return after(ctx, 65*s)
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, slow(tc.wait))
				dir := t.TempDir()
				var c *crawl.Crawl
				ctx := t.Context()
				cfg := n.on(func(cfg *crawl.Config) {
					cfg.Politeness = connections(4)
					cfg.Fetch.Timeout = 2 * time.Minute
					ctx = tc.stop(cfg, func() *crawl.Crawl { return c }, ctx)
				})
				c = open(t, dir, cfg)
				start := time.Now()
				if err := c.Run(ctx, seedsOf(t, "http://h.test/")); !errors.Is(err, tc.want) {
					t.Errorf("ended with %v, want %v", err, tc.want)
				}
				if got := time.Since(start); got != tc.took {
					t.Errorf("ended after %v, want %v", got, tc.took)
				}
				stats := c.Stats()
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				check(t, dir, stats)
				if got := stats.URLs.Fetched; got != tc.first {
					t.Errorf("%d pages fetched by the end of the first run, want %d", got, tc.first)
				}
				synctest.Wait() // for the answers that nobody waits for any more
				run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Fetch.Timeout = 2 * time.Minute }), crawl.ErrFinished)
				twice := 0
				for i := range 20 {
					switch got := n.count(fmt.Sprintf("h.test/%d", i)); got {
					case 1:
					case 2:
						twice++
					default:
						t.Errorf("/%d was asked for %d times", i, got)
					}
				}
				if twice != tc.again {
					t.Errorf("%d URLs were asked for twice, want %d", twice, tc.again)
				}
			})
		})
	}
}

func after(ctx context.Context, d time.Duration) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	time.AfterFunc(d, cancel)
	return ctx
}

func TestANearlyFullDiskEndsTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, slow(s))
		dir := t.TempDir()
		stats := run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Limits.MinFreeDisk = 1 << 62 }), crawl.ErrMinFreeDisk, "http://h.test/")
		if stats.URLs.Fetched > 1 {
			t.Errorf("%d pages were fetched", stats.URLs.Fetched)
		}
		// It may have ended before it had taken up its seeds.
		run(t, dir, n.on(nil), crawl.ErrFinished, "http://h.test/")
		if got := len(n.fetched()); got != 21 {
			t.Errorf("%d requests, want 21", got)
		}
	})
}

func TestTheLimitOfURLsPerHostIsExactAndCanBeRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"a.test/": links("/1", "/2", "/3", "/4", "http://b.test/")}
		for i := range 5 {
			site[fmt.Sprintf("a.test/%d", i)] = links("/1", "/2", "/3", "/4", "http://b.test/")
		}
		site["b.test/"] = links("/1", "http://a.test/1")
		site["b.test/1"] = ""
		n := newNetwork(t, site)
		dir := t.TempDir()
		limited := func(limit int) crawl.Config {
			return n.on(func(cfg *crawl.Config) { cfg.Limits.MaxURLsPerHost, cfg.Partitions = limit, 2 })
		}
		stats := run(t, dir, limited(3), crawl.ErrFinished, "http://a.test/")
		if got := stats.URLs; got.Fetched != 5 || got.Refused["limit"] != 2 {
			t.Errorf("%d fetched, refused %v; want 5, 2 for the limit", got.Fetched, got.Refused)
		}
		stats = run(t, dir, limited(4), crawl.ErrFinished)
		if got := stats.URLs; got.Fetched != 6 || got.Refused["limit"] != 1 {
			t.Errorf("%d fetched, refused %v; want 6, 1 for the limit", got.Fetched, got.Refused)
		}
		stats = run(t, dir, limited(0), crawl.ErrFinished)
		if got := stats.URLs; got.Fetched != 7 || got.RefusedBefore+got.RefusedAfter != 0 {
			t.Errorf("%d fetched, refused %v; want 7, none", got.Fetched, got.Refused)
		}
	})
}

func TestASeedOverTheLimitOfItsHostIsASeedStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"a.test/1": "", "a.test/2": ""})
		dir := t.TempDir()
		limited := func(limit int) crawl.Config {
			return n.on(func(cfg *crawl.Config) { cfg.Scope.Reach, cfg.Limits.MaxURLsPerHost = crawl.ReachPage, limit })
		}
		run(t, dir, limited(1), crawl.ErrFinished, "http://a.test/1", "http://a.test/2")
		run(t, dir, limited(2), crawl.ErrFinished)
		if got, want := fmt.Sprint(n.fetched()), "[a.test/1 a.test/2]"; got != want {
			t.Errorf("fetched %s, want %s", got, want)
		}
	})
}

func TestABudgetGivesOutEachRightOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := crawl.NewBudget(100, 40)
		var held, spent, tries atomic.Int64
		for n := range 16 {
			go func() {
				for b.Take(t.Context()) {
					if now := held.Add(1) + spent.Load(); now > 60 {
						t.Errorf("%d rights are held or spent, of 60", now)
					}
					time.Sleep(time.Duration(n+1) * ms)
					use := tries.Add(1)%3 != 0
					held.Add(-1)
					if use {
						spent.Add(1)
					}
					b.Settle(use)
				}
			}()
		}
		time.Sleep(10 * s)
		if got := spent.Load(); got != 60 || !b.Exhausted() {
			t.Errorf("%d rights were spent, want 60", got)
		}
	})
	t.Run("and waits no longer than its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := crawl.NewBudget(1, 0)
			if !b.Take(t.Context()) || b.Take(after(t.Context(), s)) || b.Exhausted() {
				t.Error("the one right was given out twice, or counts as spent")
			}
		})
	})
	t.Run("and is without end if it has no limit", func(t *testing.T) {
		b := crawl.NewBudget(0, 1000)
		b.Settle(true)
		if !b.Take(t.Context()) || b.Exhausted() {
			t.Error("a right was refused")
		}
	})
}
