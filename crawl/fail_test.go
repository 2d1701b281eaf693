package crawl_test

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crawler/crawl"
)

func TestAStoreThatFailsEndsTheRunAndLosesNothing(t *testing.T) {
	for _, tc := range []struct {
		name string
		stop bool // the crawl is stopping already when the store fails
	}{{name: "in the middle"}, {name: "while the crawl stops", stop: true}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, slow(4*s))
				dir := t.TempDir()
				config := n.on(func(cfg *crawl.Config) { cfg.Politeness, cfg.Partitions = connections(4), 2 })
				c := open(t, dir, config)
				ctx := t.Context()
				if tc.stop {
					ctx = after(ctx, 5*s)
				}
				time.AfterFunc(6*s, func() {
					if err := c.BreakStore("h.test"); err != nil {
						t.Error(err)
					}
				})
				err := c.Run(ctx, seedsOf(t, "http://h.test/"))
				if err == nil || errors.Is(err, crawl.ErrInterrupted) || errors.Is(err, crawl.ErrFinished) {
					t.Errorf("ended with %v, want the failure of the store", err)
				}
				if got := c.Stats().Crawl.State; got != crawl.StateStopped {
					t.Errorf("the state is %s", got)
				}
				if err := c.Close(); err == nil {
					t.Error("closing a store that has failed is no error")
				}
				run(t, dir, config, crawl.ErrFinished)
				for i := range 20 {
					if got := n.count(fmt.Sprintf("h.test/%d", i)); got < 1 || got > 2 {
						t.Errorf("/%d was asked for %d times", i, got)
					}
				}
				if got := n.count("h.test/"); got != 1 {
					t.Errorf("the seed, which was committed, was asked for %d times", got)
				}
			})
		})
	}
}

func TestARunThatFailsAfterOneThatFinishedIsNotFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, slow(4*s))
		dir := t.TempDir()
		run(t, dir, n.on(nil), crawl.ErrFinished, "http://h.test/")
		c := open(t, dir, n.on(nil))
		time.AfterFunc(6*s, func() {
			if err := c.BreakStore("other.test"); err != nil {
				t.Error(err)
			}
		})
		if err := c.Run(t.Context(), seedsOf(t, "http://other.test/")); errors.Is(err, crawl.ErrFinished) {
			t.Errorf("ended with %v", err)
		}
		if err := c.Close(); err == nil {
			t.Error("closing a store that has failed is no error")
		}
		v, err := crawl.OpenView(dir, crawl.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if stats, err := v.Stats(); err != nil || stats.Crawl.State != crawl.StateStopped {
			t.Errorf("the state is %s (%v)", stats.Crawl.State, err)
		}
	})
}

// The links to other partitions are durable before the page counts as fetched.
func TestAPartitionThatFailsLosesNoLinkOfAnother(t *testing.T) {
	const sound, failing = "a.test", "b.test"
	if crawl.PartitionOf(sound, 2) == crawl.PartitionOf(failing, 2) {
		t.Fatal("the hosts are in one partition")
	}
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, slowly(pages{sound + "/": links("http://"+failing+"/", "/1"), sound + "/1": "", failing + "/": ""}, sound+"/", 10*s))
		dir := t.TempDir()
		config := n.on(func(cfg *crawl.Config) { cfg.Partitions = 2 })
		c := open(t, dir, config)
		time.AfterFunc(5*s, func() {
			if err := c.BreakStore(failing); err != nil {
				t.Error(err)
			}
		})
		if err := c.Run(t.Context(), seedsOf(t, "http://"+sound+"/")); errors.Is(err, crawl.ErrFinished) {
			t.Errorf("ended with %v", err)
		}
		if err := c.Close(); err == nil {
			t.Error("closing a store that has failed is no error")
		}
		run(t, dir, config, crawl.ErrFinished)
		if n.count(failing+"/") != 1 || n.count(sound+"/1") != 1 {
			t.Errorf("fetched %v: links are lost", n.fetched())
		}
	})
}

func TestCountsAddUpAtEveryMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{}
		for i := range 80 {
			site[fmt.Sprintf("h%d.test/%d", i%5, i)] = links(
				fmt.Sprintf("http://h%d.test/%d", (2*i+1)%5, 2*i+1), fmt.Sprintf("http://h%d.test/%d", (2*i+2)%5, 2*i+2),
				"mailto:x", "http://", fmt.Sprintf("http://out.test/%d", i), "/missing", "/private",
			)
			site[fmt.Sprintf("h%d.test/robots.txt", i%5)] = "User-agent: *\nDisallow: /private"
		}
		n := newNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Duration(len(r.URL.Path)) * ms)
			site.ServeHTTP(w, r)
		}))
		dir := t.TempDir()
		c := open(t, dir, n.on(func(cfg *crawl.Config) {
			cfg.Scope.Exclude = patterns("out.test")
			cfg.Politeness, cfg.Partitions = connections(4), 3
		}))
		var done atomic.Bool
		looked := make(chan int)
		go func() { // as fast as it can: commits take real time, in which this runs
			times := 0
			for ; !done.Load(); times++ {
				stats := c.Stats()
				if err := stats.Check(); err != nil {
					t.Error(err)
				}
				if got, most := stats.URLs.Leased, int64(64); got < 0 || got > most || stats.URLs.Queued < 0 {
					t.Errorf("%d leased, %d queued", got, stats.URLs.Queued)
				}
				if times%10 == 0 {
					time.Sleep(ms)
				}
				runtime.Gosched()
			}
			looked <- times
		}()
		if err := c.Run(t.Context(), seedsOf(t, "http://h0.test/0")); err != crawl.ErrFinished {
			t.Errorf("ended with %v", err)
		}
		done.Store(true)
		if times := <-looked; times < 20 {
			t.Errorf("looked %d times only", times)
		}
		stats := c.Stats()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		check(t, dir, stats)
		v, err := crawl.OpenView(dir, crawl.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		later, err := v.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(later.URLs) != fmt.Sprint(stats.URLs) || later.Crawl.State != crawl.StateFinished {
			t.Errorf("after the end the counts are\n%+v, %s, want\n%+v", later.URLs, later.Crawl.State, stats.URLs)
		}
	})
}

func TestWhenARunReturnsItsGoroutinesHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, slow(4*s))
		c := open(t, t.TempDir(), n.on(func(cfg *crawl.Config) {
			cfg.Limits.MinFreeDisk = 1
			cfg.Partitions = 3
		}))
		if err := c.Run(after(t.Context(), 10*s), seedsOf(t, "http://h.test/")); err != crawl.ErrInterrupted {
			t.Errorf("ended with %v", err)
		}
		synctest.Wait()
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			if strings.Contains(stack, "crawler/crawl.(*") {
				t.Errorf("after Run there is still\n%s", stack)
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}
