package crawl_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
	"crawler/frontier"
	"crawler/internal/testweb"
	"crawler/seen"
)

func newWeb(t testing.TB, cfg testweb.Config) *testweb.Web {
	t.Helper()
	if cfg.MedianSize == 0 {
		cfg.MedianSize = 1500
	}
	web, err := testweb.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { web.Close() })
	return web
}

// connections returns rules without delay and with several connections to a host.
func connections(n int) frontier.Rules {
	rules := delayed(0)
	rules.Default.Connections = n
	return rules
}

func TestACrawlFetchesEveryReachablePageOnceWhateverTheOrder(t *testing.T) {
	for _, tc := range []struct {
		concurrency, partitions, connections, depth int
	}{
		{concurrency: 1, partitions: 1, connections: 1, depth: -1},
		{concurrency: 1, partitions: 3, connections: 1, depth: 3},
		{concurrency: 16, partitions: 1, connections: 4, depth: 3},
		{concurrency: 16, partitions: 3, connections: 1, depth: 3},
		{concurrency: 16, partitions: 3, connections: 4, depth: -1},
		{concurrency: 256, partitions: 1, connections: 16, depth: -1},
		{concurrency: 256, partitions: 3, connections: 16, depth: 3},
		{concurrency: 256, partitions: 3, connections: 16, depth: 2},
	} {
		name := fmt.Sprintf("concurrency %d, %d partitions, %d connections, depth %d", tc.concurrency, tc.partitions, tc.connections, tc.depth)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mix := testweb.Mix(11, 20, 60)
				mix.Nofollow = 0.1
				mix.Seeds = 2
				mix.Jitter = 20 * time.Millisecond
				mix.CrawlDelays = nil // they are not kept between connections
				web := newWeb(t, mix)
				stats := run(t, t.TempDir(), over(web.Dial, func(cfg *crawl.Config) {
					cfg.Concurrency, cfg.Partitions = tc.concurrency, tc.partitions
					cfg.Politeness = connections(tc.connections)
					cfg.Scope.MaxDepth = depth(tc.depth)
					cfg.Seen = seen.Config{MinCapacity: 64}
				}), crawl.ErrFinished, web.Seeds()...)
				report := web.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: tc.depth}})
				if err := report.Err(); err != nil {
					t.Error(err)
				}
				if got := stats.URLs.Fetched + stats.URLs.Failed; got != int64(report.Expected) {
					t.Errorf("%d URLs fetched or gone, want %d", got, report.Expected)
				}
				if stats.URLs.Queued != 0 {
					t.Errorf("%d URLs are still queued", stats.URLs.Queued)
				}
				if got, want := report.Robots, len(report.MaxInFlight); got != want {
					t.Errorf("robots.txt was asked for %d times of %d hosts", got, want)
				}
			})
		})
	}
}

func TestFaultsCostTriesAndNoPages(t *testing.T) {
	for _, tc := range []struct {
		name  string
		web   testweb.Config
		delay time.Duration
	}{
		{name: "500 at first", web: testweb.Config{Flaky: 0.3, FlakyTimes: 2}},
		{name: "a reset in the body", web: testweb.Config{Resets: 0.3}},
		{name: "429 and 503 with Retry-After", web: testweb.Config{Throttled: []int{0, 1, 2, 3}}, delay: 100 * time.Millisecond},
		{name: "no robots.txt", web: testweb.Config{RobotsMissing: []int{0, 3}}},
		{
			name: "all at once", delay: 100 * time.Millisecond,
			web: testweb.Config{
				Flaky: 0.1, Resets: 0.1, Throttled: []int{0, 3, 4}, RobotsMissing: []int{2}, Redirects: 0.2, Gone: 0.1,
				CrawlDelays: map[int]time.Duration{1: 3 * time.Second}, Jitter: 50 * time.Millisecond,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tc.web.Hosts, tc.web.Pages = 6, 30
				web := newWeb(t, tc.web)
				stats := run(t, t.TempDir(), over(web.Dial, func(cfg *crawl.Config) {
					cfg.Politeness = delayed(tc.delay)
				}), crawl.ErrFinished, web.Seeds()...)
				report := web.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}, MinDelay: tc.delay})
				// A page whose body was cut short is kept, and fetched once more: that is no fetch to the judge.
				if err := report.Err(); err != nil {
					t.Error(err)
				}
				if got, want := stats.Fetch.Requests, int64(report.Requests); got != want {
					t.Errorf("%d requests are counted, the web saw %d", got, want)
				}
				if got, want := stats.Fetch.RobotsRequests, int64(report.Robots); got != want {
					t.Errorf("%d requests for robots.txt are counted, the web saw %d", got, want)
				}
			})
		})
	}
}

func TestHostsWithoutARobotsFileToObeyAreLeftForAnotherRun(t *testing.T) {
	for _, ill := range []testweb.Config{{RobotsFailing: []int{1, 2}}, {RobotsHanging: []int{1}}} {
		t.Run(fmt.Sprintf("failing %v, hanging %v", ill.RobotsFailing, ill.RobotsHanging), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				ill.Hosts, ill.Pages = 5, 20
				sick := newWeb(t, ill)
				stats := run(t, dir, over(sick.Dial, nil), crawl.ErrUnreachable, sick.Seeds()...)
				if err := sick.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}}).Err(); err != nil {
					t.Error(err)
				}
				if stats.URLs.Queued == 0 || stats.Hosts.Deferred == 0 {
					t.Errorf("%d URLs queued, %d hosts deferred; want some of both", stats.URLs.Queued, stats.Hosts.Deferred)
				}
				again := run(t, dir, over(sick.Dial, nil), crawl.ErrUnreachable)
				if again.Fetch.RobotsRequests <= stats.Fetch.RobotsRequests {
					t.Error("another run did not try the hosts again")
				}

				well := newWeb(t, testweb.Config{Hosts: 5, Pages: 20})
				run(t, dir, over(well.Dial, nil), crawl.ErrFinished)
				if got := len(well.Report(testweb.Options{}).Duplicates); got != 0 {
					t.Errorf("%d duplicates", got)
				}
				got := stored(t, dir)
				for url := range well.Reachable(testweb.Scope{MaxDepth: -1}) {
					if got[url] != "fetched" {
						t.Errorf("%s is %q after the hosts healed", url, got[url])
					}
				}
			})
		})
	}
}

// A host may have several origins; that robots.txt of one cannot be had says nothing of the others.
func TestAnOriginWithoutAReachableRobotsFileDoesNotHoldUpTheOthersOfItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"h.test/": links("https://h.test/x", "https://h.test/y", "/1", "/2"), "h.test/1": "", "h.test/2": ""})
		dir := t.TempDir()
		run(t, dir, n.on(nil), crawl.ErrUnreachable, "http://h.test/")
		want := map[string]string{
			"http://h.test/": "fetched", "http://h.test/1": "fetched", "http://h.test/2": "fetched",
			"https://h.test/x": "queued robots unreachable", "https://h.test/y": "queued robots unreachable",
		}
		if diff := cmp.Diff(want, stored(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A host that dies for good must not keep a crawl from ending, whether robots.txt is obeyed or known or not.
func TestAHostThatDiesDoesNotKeepACrawlFromEnding(t *testing.T) {
	for _, obey := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			// It answers for robots.txt and its front page, and then breaks every connection off.
			site := pages{"h.test/": links("/1", "/2", "/3", "/4", "/5", "/6"), "a.test/": ""}
			n := newNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Host == "h.test" && len(r.URL.Path) == 2 {
					panic(http.ErrAbortHandler)
				}
				site.ServeHTTP(w, r)
			}))
			begin := time.Now()
			stats := run(t, t.TempDir(), n.on(func(cfg *crawl.Config) {
				cfg.Politeness = delayed(s)
				cfg.Politeness.Default.ObeyRobots = obey
			}), crawl.ErrUnreachable, "http://h.test/", "http://a.test/")
			if took := time.Since(begin); took > 10*time.Minute {
				t.Errorf("the crawl took %v", took)
			}
			if u := stats.URLs; u.Fetched != 2 || u.Queued+u.Failed != 6 {
				t.Errorf("%+v", u)
			}
		})
	}
}

// A seed that nobody has answered is tried anew when it is given again: the network may have changed meanwhile.
func TestASeedThatWasNotAnsweredIsTriedAnewWhenItIsGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{"a.test/": links("/1"), "a.test/1": ""})
		failing := func(kind error) func(context.Context, string, string) (net.Conn, error) {
			return func(context.Context, string, string) (net.Conn, error) { return nil, kind }
		}
		dir := t.TempDir()
		gone := failing(&net.DNSError{IsNotFound: true})
		run(t, dir, over(gone, nil), crawl.ErrFinished, "http://a.test/")
		if got := stored(t, dir)["http://a.test/"]; got != "failed nxdomain" {
			t.Errorf("without a network the seed is %q", got)
		}
		run(t, dir, n.on(nil), crawl.ErrFinished) // not given again: it stays as it is
		if n.count("a.test/") != 0 {
			t.Error("the seed was tried again although it was not given again")
		}
		stats := run(t, dir, n.on(nil), crawl.ErrFinished, "http://a.test/")
		if stats.URLs.Fetched != 2 || stats.URLs.Failed != 0 {
			t.Errorf("%+v", stats.URLs)
		}
		run(t, dir, n.on(nil), crawl.ErrFinished, "http://a.test/")
		if got := n.count("a.test/"); got != 1 {
			t.Errorf("the seed was fetched %d times", got)
		}
	})
}

// Nor does a robots.txt that asks to be left alone, again and again, keep the other origins from being asked.
func TestAnOriginThatAsksToWaitDoesNotHoldUpTheOthersForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"h.test:82/": links("http://h.test:81/x", "/1", "http://h.test:83/y"), "h.test:82/1": "", "h.test:83/y": ""}
		n := newNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host == "h.test:81" {
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			site.ServeHTTP(w, r)
		}))
		dir := t.TempDir()
		run(t, dir, n.on(nil), crawl.ErrUnreachable, "http://h.test:82/")
		want := map[string]string{
			"http://h.test:82/": "fetched", "http://h.test:82/1": "fetched", "http://h.test:83/y": "fetched",
			"http://h.test:81/x": "queued robots unreachable",
		}
		if diff := cmp.Diff(want, stored(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
