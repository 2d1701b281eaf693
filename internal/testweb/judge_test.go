package testweb_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crawler/internal/testweb"
)

// A visit is a request of a planted crawl, some time after the one before.
type visit struct {
	after time.Duration
	url   string
}

func TestJudgeNamesWhatIsWrongWithACrawl(t *testing.T) {
	const (
		front  = "http://h000.test/"
		robots = "http://h000.test/robots.txt"
		first  = "http://h000.test/item?cat=5&id=000001"
		second = "http://h000.test/s1/000002.html"
	)
	cfg := testweb.Config{Seed: 3, Hosts: 1, Pages: 3, MedianSize: 1000}
	strict := testweb.Options{Scope: everything, MinDelay: time.Second}
	complete := []visit{{0, robots}, {time.Second, front}, {time.Second, first}, {time.Second, second}}

	for name, tc := range map[string]struct {
		change func(*testweb.Config)
		visits []visit
		opts   testweb.Options
		want   testweb.Report
	}{
		"nothing, when there is nothing": {
			visits: complete,
			opts:   strict,
			want:   testweb.Report{Expected: 3, Fetched: 3},
		},
		"a page that is missing": {
			visits: complete[:3],
			opts:   strict,
			want:   testweb.Report{Expected: 3, Fetched: 2, Missing: []string{second}},
		},
		"a page fetched twice": {
			visits: append(complete[:4:4], visit{time.Second, first}),
			opts:   strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Duplicates: []testweb.Repeat{{URL: first, Times: 2, Phases: 1}},
			},
		},
		"a page that is too deep": {
			visits: complete,
			opts:   testweb.Options{MinDelay: time.Second},
			want:   testweb.Report{Expected: 1, Fetched: 1, Unexpected: []string{first, second}},
		},
		"URLs that are not of the web": {
			visits: append(complete[:4:4],
				visit{time.Second, "http://h000.test/s0/000002.html"},
				visit{time.Second, "http://h000.test/decoy/comment.html"},
				visit{time.Millisecond, "http://h000.test/decoy/comment.html"}),
			opts: strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Unexpected: []string{"http://h000.test/decoy/comment.html", "http://h000.test/s0/000002.html"},
				Gaps: []testweb.Gap{{
					URL: "http://h000.test/decoy/comment.html", After: "http://h000.test/decoy/comment.html",
					Gap: time.Millisecond, Due: time.Second, At: 5001 * time.Millisecond,
				}},
			},
		},
		"a request a millisecond too early": {
			visits: []visit{{0, robots}, {time.Second, front}, {999 * time.Millisecond, first}, {time.Second, second}},
			opts:   strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Gaps: []testweb.Gap{{
					URL: first, After: front,
					Gap: 999 * time.Millisecond, Due: time.Second, At: 1999 * time.Millisecond,
				}},
			},
		},
		"no request too early by no more than the tolerance": {
			visits: []visit{{0, robots}, {time.Second, front}, {999 * time.Millisecond, first}, {time.Second, second}},
			opts:   testweb.Options{Scope: everything, MinDelay: time.Second, Tolerance: time.Millisecond},
			want:   testweb.Report{Expected: 3, Fetched: 3},
		},
		"a page too soon after robots.txt": {
			visits: []visit{{0, robots}, {time.Millisecond, front}, {time.Second, first}, {time.Second, second}},
			opts:   strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Gaps: []testweb.Gap{{
					URL: front, After: robots,
					Gap: time.Millisecond, Due: time.Second, At: time.Millisecond,
				}},
			},
		},
		"a request before the Crawl-delay has passed": {
			change: func(c *testweb.Config) { c.CrawlDelays = map[int]time.Duration{0: 1500 * time.Millisecond} },
			visits: []visit{{0, robots}, {1500 * time.Millisecond, front}, {time.Second, first}, {2 * time.Second, second}},
			opts:   strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Gaps: []testweb.Gap{{
					URL: first, After: front,
					Gap: time.Second, Due: 1500 * time.Millisecond, At: 2500 * time.Millisecond,
				}},
			},
		},
		"no request before a Crawl-delay that is ignored": {
			change: func(c *testweb.Config) { c.CrawlDelays = map[int]time.Duration{0: 1500 * time.Millisecond} },
			visits: complete,
			opts: testweb.Options{
				Scope:    testweb.Scope{MaxDepth: -1, IgnoreRobots: true},
				MinDelay: time.Second,
			},
			want: testweb.Report{Expected: 3, Fetched: 3},
		},
		"a gap counted from the end of the request before": {
			change: func(c *testweb.Config) { c.Latency = 300 * time.Millisecond },
			visits: []visit{{0, robots}, {time.Second, front}, {999 * time.Millisecond, first}, {time.Second, second}},
			opts:   strict,
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Gaps: []testweb.Gap{{
					URL: first, After: front,
					Gap: 999 * time.Millisecond, Due: time.Second, At: 2599 * time.Millisecond,
				}},
			},
		},
		"a request before Retry-After has passed": {
			change: func(c *testweb.Config) { c.Throttled = []int{0} },
			visits: []visit{
				{0, robots}, {0, front}, {0, first}, {0, second}, // the third is throttled
				{999 * time.Millisecond, second},
			},
			opts: testweb.Options{Scope: everything},
			want: testweb.Report{
				Expected: 3, Fetched: 3,
				Gaps: []testweb.Gap{{
					URL: second, After: second,
					Gap: 999 * time.Millisecond, Due: time.Second, At: 999 * time.Millisecond,
				}},
			},
		},
		"no repeat after a fault": {
			change: func(c *testweb.Config) { c.Flaky = 1 },
			visits: append([]visit{
				{0, robots}, {time.Second, front}, {time.Second, first}, {time.Second, second},
			}, complete[1:]...),
			opts: strict,
			want: testweb.Report{Expected: 3, Fetched: 3},
		},
		"a page of which only faults were fetched": {
			change: func(c *testweb.Config) { c.Flaky = 1 },
			visits: append(complete[:4:4], complete[1:3]...),
			opts:   strict,
			want:   testweb.Report{Expected: 3, Fetched: 2, Missing: []string{second}},
		},
		"a fetch of what robots.txt keeps back by failing": {
			change: func(c *testweb.Config) { c.RobotsFailing = []int{0} },
			visits: complete[:2],
			opts:   strict,
			want:   testweb.Report{Disallowed: []string{front}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := cfg
				if tc.change != nil {
					tc.change(&cfg)
				}
				w := newWeb(t, cfg)
				c := newClient(t, w)
				for _, v := range tc.visits {
					time.Sleep(v.after)
					mustGet(t, c, v.url)
				}
				got := w.Report(tc.opts)
				if got.Requests != len(tc.visits) || got.Robots != 1 || got.Bytes == 0 {
					t.Errorf("totals of %d requests: %+v", len(tc.visits), got.Totals)
				}
				if want := map[string]int{"h000.test": 1}; !cmp.Equal(got.MaxInFlight, want) {
					t.Errorf("in flight at most %v, want %v", got.MaxInFlight, want)
				}
				got.Totals, got.MaxInFlight, got.Statuses = testweb.Totals{}, nil, nil
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("report (-want +got):\n%s", diff)
				}
				wrong := len(got.Missing)+len(got.Unexpected)+len(got.Duplicates)+len(got.Disallowed)+len(got.Gaps) > 0
				if err := got.Err(); (err != nil) != wrong {
					t.Errorf("Err: %v of %+v", err, got)
				}
			})
		})
	}
}

func TestJudgeNamesRequestsToDisallowedPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, busy())
		c := newClient(t, w)
		ask := map[string]bool{} // by host, the first private page
		for u := range w.Reachable(testweb.Scope{MaxDepth: -1, IgnoreRobots: true}) {
			if host, path, _ := strings.Cut(strings.TrimPrefix(u, "http://"), "/"); strings.HasPrefix(path, "private/") && !ask[host] {
				ask[host] = true
				mustGet(t, c, u)
			}
		}
		got := w.Report(testweb.Options{Scope: everything})
		hosts := make(map[string]bool)
		for _, u := range got.Disallowed {
			hosts[u[len("http://"):len("http://h000.test")]] = true
		}
		delete(ask, "h002.test") // has no robots.txt
		if diff := cmp.Diff(ask, hosts); diff != "" {
			t.Errorf("hosts with disallowed requests (-want +got):\n%s", diff)
		}
		if len(got.Unexpected) > 0 {
			t.Errorf("unexpected too: %v", got.Unexpected)
		}
		ignored := w.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1, IgnoreRobots: true}})
		if ignored.Disallowed != nil {
			t.Errorf("disallowed, with robots ignored: %v", ignored.Disallowed)
		}
	})
}

func TestJudgeCountsRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Latency: time.Second})
		c := newClient(t, w)
		for _, host := range []string{"h000.test", "h000.test", "h000.test", "h001.test"} {
			go func() { get(t, c, "http://"+host+"/") }()
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		got := w.Report(testweb.Options{Scope: everything, MinDelay: time.Millisecond})
		if want := map[string]int{"h000.test": 3, "h001.test": 1}; !cmp.Equal(got.MaxInFlight, want) {
			t.Errorf("in flight at most %v, want %v", got.MaxInFlight, want)
		}
		lenient := w.Report(testweb.Options{Scope: everything, Tolerance: 600 * time.Millisecond})
		if want := map[string]int{"h000.test": 1, "h001.test": 1}; !cmp.Equal(lenient.MaxInFlight, want) {
			t.Errorf("in flight at most %v with tolerance, want %v", lenient.MaxInFlight, want)
		}
		if len(got.Gaps) != 2 || got.Gaps[0].Gap != -600*time.Millisecond {
			t.Errorf("gaps of overlapping requests: %+v", got.Gaps)
		}
	})
}

func TestAGapCountsFromTheLastEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{})
		c := newClient(t, w)
		slow, err := w.Dial(t.Context(), "tcp", "h000.test:80")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(slow, "GET / HTTP/1.1\r\nHost: h000.test\r\nConnection: close\r\n\r\n")
		time.Sleep(time.Second)
		mustGet(t, c, "http://h000.test/robots.txt") // begins after the slow one, and ends before it
		time.Sleep(9 * time.Second)
		io.Copy(io.Discard, slow)
		slow.Close()
		time.Sleep(500 * time.Millisecond)
		mustGet(t, c, "http://h000.test/")
		got := w.Report(testweb.Options{MinDelay: time.Second}).Gaps
		want := []testweb.Gap{
			{URL: "http://h000.test/robots.txt", After: "http://h000.test/", Gap: -9 * time.Second, Due: time.Second, At: time.Second},
			{URL: "http://h000.test/", After: "http://h000.test/", Gap: 500 * time.Millisecond, Due: time.Second, At: 10500 * time.Millisecond},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("gaps (-want +got):\n%s", diff)
		}
	})
}

func TestHEADIsNoFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{})
		resp, err := newClient(t, w).Head("http://h000.test/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if got := w.Report(testweb.Options{}); got.Requests != 1 || got.Fetched != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestPhasesTellRepeatsAfterARestartFromOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Hosts: 2})
		c := newClient(t, w)
		mustGet(t, c, "http://h000.test/")
		mustGet(t, c, "http://h001.test/")
		synctest.Wait()
		before := w.Totals()
		w.NextPhase()
		c.CloseIdleConnections() // as a new process has none
		mustGet(t, c, "http://h000.test/")
		mustGet(t, c, "http://h001.test/")
		mustGet(t, c, "http://h001.test/")
		synctest.Wait()
		got := w.Report(testweb.Options{Scope: everything}).Duplicates
		want := []testweb.Repeat{
			{URL: "http://h000.test/", Times: 2, Phases: 2},
			{URL: "http://h001.test/", Times: 3, Phases: 2},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("duplicates (-want +got):\n%s", diff)
		}
		if got := w.Totals().Sub(before); got.Requests != 3 || got.Final != 3 || got.Robots != 0 || got.Bytes < 50_000 {
			t.Errorf("totals of the second phase: %+v", got)
		}
		w.Reset()
		if got := w.Report(testweb.Options{}); got.Fetched != 0 || got.Requests != 0 || got.Duplicates != nil {
			t.Errorf("after Reset: %+v", got)
		}
	})
}

func TestAnAbortedAnswerIsNoFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Latency: time.Second})
		c := newClient(t, w)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://h000.test/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Do(req); err == nil {
			t.Fatal("no timeout")
		}
		time.Sleep(time.Second)
		got := w.Report(testweb.Options{})
		if got.Requests != 1 || got.Fetched != 0 || len(got.Missing) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

func TestJudgeAnswersOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Hosts: 1, Pages: 1, MedianSize: 1})
		c := newClient(t, w)
		mustGet(t, c, "http://h000.test/robots.txt")
		mustGet(t, c, "http://h000.test/")
		const judge = "http://" + testweb.JudgeHost
		post := func(path string) int {
			resp, err := c.Post(judge+path, "text/plain", strings.NewReader("ignored"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			return resp.StatusCode
		}
		_, body := mustGet(t, c, judge+"/report?max_depth=-1&min_delay=1s&tolerance=1ms&same_host=true&nofollow=false&ignore_robots=false")
		for _, want := range []string{
			`"expected":1,"fetched":1,"gaps":[{`, `"gap_ns":0,"due_ns":1000000000`,
			`"max_in_flight":{"h000.test":1},"statuses":{"200":2},"requests":2,"robots":1,"final":1,"bytes":`,
		} {
			if !strings.Contains(string(body), want) {
				t.Errorf("the report %s\nlacks %s", body, want)
			}
		}
		synctest.Wait()
		if _, body := mustGet(t, c, judge+"/totals"); !strings.HasPrefix(string(body), `{"requests":2,`) {
			t.Errorf("totals: %s", body)
		}
		resp, body := mustGet(t, c, judge+"/report?max_depth=x&delay=1s")
		if resp.StatusCode != 400 || !strings.Contains(string(body), "option delay: unknown") || !strings.Contains(string(body), "option max_depth") {
			t.Errorf("bad options: %s: %s", resp.Status, body)
		}
		if got := post("/phase"); got != 200 {
			t.Errorf("POST /phase: %d", got)
		}
		c.CloseIdleConnections() // as a new process has none
		mustGet(t, c, "http://h000.test/")
		if got := w.Report(testweb.Options{}).Duplicates; len(got) != 1 || got[0].Phases != 2 {
			t.Errorf("duplicates after POST /phase: %+v", got)
		}
		if got := post("/reset"); got != 200 || w.Totals().Requests != 0 {
			t.Errorf("POST /reset: %d, then %+v", got, w.Totals())
		}
		if got := post("/report"); got != 404 {
			t.Errorf("POST /report: %d", got)
		}
	})
}
