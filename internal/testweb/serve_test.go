package testweb_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crawler/internal/testweb"
)

func TestFaultsHappenAsConfigured(t *testing.T) {
	const front = "http://h000.test/"
	type answer struct {
		status     int
		retryAfter string
		cut        bool
	}
	ok := answer{status: 200}
	for name, tc := range map[string]struct {
		cfg  testweb.Config
		want []answer // to requests for the front page
	}{
		"none":                      {testweb.Config{}, []answer{ok, ok, ok, ok}},
		"a flaky page":              {testweb.Config{Flaky: 1, FlakyTimes: 2}, []answer{{status: 500}, {status: 500}, ok, ok}},
		"a reset":                   {testweb.Config{Resets: 1}, []answer{{status: 200, cut: true}, ok, ok}},
		"a host that throttles":     {testweb.Config{Throttled: []int{0}}, []answer{ok, ok, {status: 429, retryAfter: "1"}, ok, ok}},
		"a flaky one that does too": {testweb.Config{Throttled: []int{0}, Flaky: 1}, []answer{{status: 500}, ok, {status: 429, retryAfter: "1"}, ok}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(t, tc.cfg)
				c := newClient(t, w)
				for range 2 { // the second time after Reset
					var got []answer
					for range tc.want {
						resp, _, err := get(t, c, front)
						if resp == nil {
							t.Fatal(err)
						}
						got = append(got, answer{resp.StatusCode, resp.Header.Get("Retry-After"), err != nil})
					}
					if !cmp.Equal(got, tc.want, cmp.AllowUnexported(answer{})) {
						t.Errorf("got %v, want %v", got, tc.want)
					}
					synctest.Wait()
					w.Reset()
				}
			})
		})
	}
}

func TestThrottlingHostsDifferInStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Throttled: []int{0, 1}})
		c := newClient(t, w)
		for host, want := range map[string]int{"h000.test": 429, "h001.test": 503, "h002.test": 200} {
			var resp *http.Response
			for range 3 {
				resp, _ = mustGet(t, c, "http://"+host+"/")
			}
			if got := resp.StatusCode; got != want {
				t.Errorf("the third answer of %s is %d, want %d", host, got, want)
			}
		}
	})
}

func TestRobotsTxtOfEachHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{
			CrawlDelays:   map[int]time.Duration{1: 1250 * time.Millisecond},
			RobotsMissing: []int{2}, RobotsFailing: []int{3}, RobotsHanging: []int{4},
		})
		c := newClient(t, w)
		c.Timeout = time.Minute
		for host, want := range map[string]struct {
			status int
			body   string
		}{
			"h000.test": {200, "# h000.test\nUser-agent: *\nDisallow: /private/\n"},
			"h001.test": {200, "# h001.test\nUser-agent: *\nDisallow: /private/\nCrawl-delay: 1.25\n"},
			"h002.test": {404, "<!DOCTYPE html><title>Not found</title><p>There is no such page.</p>\n"},
			"h003.test": {500, "out of order\n"},
		} {
			resp, body := mustGet(t, c, "http://"+host+"/robots.txt")
			if resp.StatusCode != want.status || string(body) != want.body {
				t.Errorf("%s: %d %q, want %d %q", host, resp.StatusCode, body, want.status, want.body)
			}
		}
		begin := time.Now()
		if _, _, err := get(t, c, "http://h004.test/robots.txt"); err == nil {
			t.Error("the robots.txt that hangs was answered")
		}
		if got := time.Since(begin); got != time.Minute {
			t.Errorf("it hung for %v until the client's timeout of a minute", got)
		}
		synctest.Wait()
		want := map[int]int{0: 1, 200: 2, 404: 1, 500: 1}
		if got := w.Report(testweb.Options{}).Statuses; !cmp.Equal(got, want) {
			t.Errorf("statuses %v, want %v", got, want)
		}
	})
}

func TestLatencyIsWaitedBeforeAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testweb.Config{Latency: 50 * time.Millisecond, MedianSize: 1}
		took := func(c *http.Client, u string) time.Duration {
			begin := time.Now()
			mustGet(t, c, u)
			return time.Since(begin)
		}
		fixed := newClient(t, newWeb(t, cfg))
		cfg.Jitter = 20 * time.Millisecond
		w := newWeb(t, cfg)
		drawn := newClient(t, w)
		shorter, sum, n := 0, time.Duration(0), 0
		for u := range w.Reachable(testweb.Scope{MaxDepth: 5}) {
			if got := took(fixed, u); got != cfg.Latency {
				t.Errorf("%s took %v without jitter", u, got)
			}
			got := took(drawn, u)
			if got < cfg.Latency {
				t.Errorf("%s took %v with jitter", u, got)
			}
			if again := took(drawn, u); again != got {
				t.Errorf("%s took %v, then %v", u, got, again)
			}
			if got < cfg.Latency+cfg.Jitter {
				shorter++
			}
			sum += got
			n++
		}
		if shorter < n/4 || shorter > 3*n/4 {
			t.Errorf("%d of %d waits are shorter than the median", shorter, n)
		}
		if mean := sum / time.Duration(n); mean < 65*time.Millisecond || mean > 120*time.Millisecond {
			t.Errorf("the mean wait is %v", mean)
		}
	})
}

func TestAnswersAreOfTheStatusAndTypeOfTheirPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, busy())
		c := newClient(t, w)
		types := make(map[string]int)
		for u := range w.Reachable(everything) {
			resp, body := mustGet(t, c, u)
			want := resp.Header.Get("Content-Type")
			if got := http.DetectContentType(body); got != want {
				t.Errorf("%s is %s, said to be %s", u, got, want)
			}
			types[want]++
			status := 200
			switch {
			case strings.Contains(u, "/gone/"):
				status = 404
			case strings.Contains(u, "/go/"):
				status = 301
			}
			if resp.StatusCode != status {
				t.Errorf("%s is a %d, want %d", u, resp.StatusCode, status)
			}
		}
		if types["image/png"] == 0 || types["application/pdf"] == 0 {
			t.Errorf("types: %v", types)
		}
	})
}

// exchange sends raw bytes to a host and returns everything that comes back
// until the server closes the connection or has been silent for a second.
func exchange(t *testing.T, w *testweb.Web, request string) string {
	t.Helper()
	conn, err := w.Dial(t.Context(), "tcp", "h000.test:80")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go io.WriteString(conn, request)
	conn.SetReadDeadline(time.Now().Add(time.Second))
	got, _ := io.ReadAll(conn)
	return string(got)
}

func TestHTTPOnTheWire(t *testing.T) {
	const get = "GET /robots.txt HTTP/1.1\r\nHost: h000.test\r\n\r\n"
	const rules = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 46\r\n\r\n" +
		"# h000.test\nUser-agent: *\nDisallow: /private/\n"
	const malformed = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 18\r\nConnection: close\r\n\r\nmalformed request\n"
	closed := strings.Replace(rules, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)
	for name, tc := range map[string]struct{ request, want string }{
		"one request":                       {get, rules},
		"pipelined requests":                {get + get + get, rules + rules + rules},
		"names in any case, bare newlines":  {"GET /robots.txt HTTP/1.1\nhOsT:H000.test:80\n\n", rules},
		"HEAD":                              {"HEAD" + get[3:], rules[:strings.Index(rules, "#")]},
		"a body is skipped":                 {"POST /robots.txt HTTP/1.1\r\nHost: h000.test\r\nContent-Length: 3\r\n\r\nabc" + get, rules + rules},
		"asked to close":                    {"GET /robots.txt HTTP/1.1\r\nHost: h000.test\r\nConnection: close\r\n\r\n" + get, closed},
		"HTTP/1.0 closes":                   {"GET /robots.txt HTTP/1.0\r\nHost: h000.test\r\n\r\n" + get, closed},
		"no request line":                   {"hello\r\n\r\n", malformed},
		"another version":                   {"GET / HTTP/2.0\r\n\r\n", malformed},
		"a chunked body":                    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", malformed},
		"a bad length":                      {"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", malformed},
		"a line too long":                   {"GET /" + strings.Repeat("a", 5000) + " HTTP/1.1\r\n\r\n", malformed},
		"a request that ends in the middle": {"GET / HTTP/1.1\r\nHost: h0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(t, testweb.Config{})
				if got := exchange(t, w, tc.request); got != tc.want {
					t.Errorf("got  %q\nwant %q", got, tc.want)
				}
			})
		})
	}
}

func FuzzServe(f *testing.F) {
	f.Add("GET / HTTP/1.1\r\nHost: h000.test\r\n\r\n")
	f.Add("HEAD /print/000001.html HTTP/1.0\r\nHost: h001.test:80\r\nContent-Length: 2\r\n\r\nab")
	f.Add("GET /report?max_depth=1 HTTP/1.1\r\nHost: judge.test\r\n\r\nGET")
	f.Fuzz(func(t *testing.T, request string) {
		w := newWeb(t, testweb.Config{Hosts: 2, Pages: 20, Nofollow: 1, MedianSize: 1})
		conn, err := w.Dial(t.Context(), "tcp", "h000.test:80")
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, conn)
		io.WriteString(conn, request)
		conn.Close()
		w.Close() // hangs if the connection does not end
		for _, u := range w.Report(testweb.Options{}).Disallowed {
			t.Errorf("%s is disallowed", u)
		}
	})
}

func TestAnotherHostIsMisdirected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{})
		got := exchange(t, w, "GET /x HTTP/1.1\r\nHost: example.org\r\n\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 421 ") {
			t.Errorf("got %q", got)
		}
		report := w.Report(testweb.Options{})
		if want := []string{"http://example.org/x"}; !cmp.Equal(report.Unexpected, want) {
			t.Errorf("unexpected %v, want %v", report.Unexpected, want)
		}
		if report.Statuses[421] != 1 || report.Requests != 1 {
			t.Errorf("%+v", report)
		}
	})
}

func TestCloseEndsWaitingConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Latency: time.Hour, RobotsHanging: []int{0}})
		c := newClient(t, w)
		failed := make(chan error)
		for _, path := range []string{"/", "/robots.txt"} {
			go func() {
				_, _, err := get(t, c, "http://h000.test"+path)
				failed <- err
			}()
		}
		idle, err := w.Dial(t.Context(), "tcp", "h000.test:80")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		w.Close()
		for range 2 {
			if err := <-failed; err == nil {
				t.Error("a request was answered")
			}
		}
		if _, err := idle.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the idle connection: %v", err)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("closing took %v", took)
		}
	})
}
