package crawl_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
)

// crawlStates crawls a handler from seeds and returns what became of each URL.
func crawlStates(t *testing.T, h http.Handler, change func(*crawl.Config), seeds ...string) (map[string]string, crawl.Stats) {
	t.Helper()
	n := newNetwork(t, h)
	dir := t.TempDir()
	stats := run(t, dir, n.on(change), crawl.ErrFinished, seeds...)
	return stored(t, dir), stats
}

func TestWhatBecomesOfTheLinksOfAPage(t *testing.T) {
	const u = "http://a.test"
	for _, tc := range []struct {
		name   string
		html   string
		header http.Header
		want   map[string]string // states apart from that of the page
	}{
		{
			name: "relative, absolute and without scheme",
			html: links("x", "/y", "//b.test/z", "http://b.test/", "?q", "#f"),
			want: map[string]string{u + "/d/x": "failed gone", u + "/y": "failed gone", "http://b.test/z": "failed gone", "http://b.test/": "failed gone", u + "/d/?q": "failed gone"},
		},
		{
			name: "a base",
			html: `<base href="http://b.test/e/">` + links("x", "/y"),
			want: map[string]string{"http://b.test/e/x": "failed gone", "http://b.test/y": "failed gone"},
		},
		{
			name: "a relative base",
			html: `<base href="../e/">` + links("x"),
			want: map[string]string{u + "/e/x": "failed gone"},
		},
		{
			name: "a base that is no URL",
			html: `<base href="mailto:x">` + links("x"),
			want: map[string]string{u + "/d/x": "failed gone"},
		},
		{
			name: "what is no page to fetch",
			html: links("mailto:x@a.test", "javascript:void(0)", "ftp://a.test/", "http://", "http://a b/"),
			want: map[string]string{
				"mailto:x@a.test": "refused scheme", "javascript:void(0)": "refused scheme", "ftp://a.test/": "refused scheme",
				"http://": "refused invalid", "http://a b/": "refused invalid",
			},
		},
		{
			name: "rel=nofollow, and one of the same URL without it",
			html: `<a rel="nofollow" href="/x"></a><a rel="external NoFollow" href="/y"></a>` + links("/y"),
			want: map[string]string{u + "/x": "refused nofollow", u + "/y": "failed gone"},
		},
		{
			name: "rel=nofollow after a link of the same URL without it",
			html: links("/x") + `<a rel="nofollow" href="/x"></a>`,
			want: map[string]string{u + "/x": "failed gone"},
		},
		{
			name: "a meta robots nofollow",
			html: `<meta name="robots" content="noindex, nofollow">` + links("/x", "mailto:x"),
			want: map[string]string{u + "/x": "refused nofollow", "mailto:x": "refused scheme"},
		},
		{
			name: "a meta nofollow for this crawler",
			html: `<meta name="testbot" content="nofollow">` + links("/x"),
			want: map[string]string{u + "/x": "refused nofollow"},
		},
		{
			name: "a meta nofollow for another",
			html: `<meta name="otherbot" content="nofollow">` + links("/x"),
			want: map[string]string{u + "/x": "failed gone"},
		},
		{
			name:   "an X-Robots-Tag",
			header: http.Header{"X-Robots-Tag": {"noindex", "nofollow"}},
			html:   links("/x"), want: map[string]string{u + "/x": "refused nofollow"},
		},
		{
			name:   "an X-Robots-Tag for another",
			header: http.Header{"X-Robots-Tag": {"otherbot: nofollow"}},
			html:   links("/x"), want: map[string]string{u + "/x": "failed gone"},
		},
		{
			name: "text that is not HTML", header: http.Header{"Content-Type": {"text/plain"}},
			html: links("/x"), want: map[string]string{},
		},
		{
			name: "HTML without a type", header: http.Header{"Content-Type": nil},
			html: "<!doctype html>" + links("/x"), want: map[string]string{u + "/x": "failed gone"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, _ := crawlStates(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Host+r.URL.Path != "a.test/d/" || r.URL.RawQuery != "" {
						http.NotFound(w, r)
						return
					}
					w.Header().Set("Content-Type", "text/html")
					maps.Copy(w.Header(), tc.header)
					fmt.Fprint(w, tc.html)
				}), nil, u+"/d/")
				tc.want[u+"/d/"] = "fetched"
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRedirectsAreFollowedToTheTenth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"a.test/": links("/0")}
		for i := range 20 {
			site[fmt.Sprintf("a.test/%d", i)] = fmt.Sprintf("-> /%d", i+1)
		}
		got, stats := crawlStates(t, site, nil, "http://a.test/")
		want := map[string]string{"http://a.test/": "fetched", "http://a.test/11": "refused trap"}
		for i := range 11 {
			want[fmt.Sprintf("http://a.test/%d", i)] = "fetched"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if stats.URLs.Refused["trap"] != 1 {
			t.Errorf("refused %v, want 1 trap", stats.URLs.Refused)
		}
	})
}

func TestAChainOfRedirectsThatIsMetHalfwayGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// By way of /0 the chain is too long; by way of /8, which is met later, it is not.
		site := pages{"a.test/": links("/0", "/late"), "a.test/late": links("/8")}
		for i := range 14 {
			site[fmt.Sprintf("a.test/%d", i)] = fmt.Sprintf("-> http://h%d.test/%d", i%3, i+1)
			for h := range 3 {
				site[fmt.Sprintf("h%d.test/%d", h, i)] = fmt.Sprintf("-> http://a.test/%d", i+1)
			}
		}
		got, _ := crawlStates(t, slowly(site, "a.test/late", 10*s), func(cfg *crawl.Config) {
			cfg.Politeness, cfg.Partitions = connections(4), 3
		}, "http://a.test/")
		for url, state := range got {
			if state != "fetched" && state != "failed gone" {
				t.Errorf("%s is %s", url, state)
			}
		}
		if got["http://a.test/14"] == "" {
			t.Error("the end of the chain was not reached")
		}
	})
}

func TestRedirectsInACircleEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, _ := crawlStates(t, pages{
			"a.test/": "-> /1", "a.test/1": "-> http://b.test/", "b.test/": "-> http://a.test/", "a.test/self": "-> /self",
		}, nil, "http://a.test/", "http://a.test/self")
		want := map[string]string{
			"http://a.test/": "fetched", "http://a.test/1": "fetched", "http://b.test/": "fetched", "http://a.test/self": "fetched",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWhatAServerAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{"a.test/": "", "a.test/bad": "-> http://", "a.test/nowhere": "302"}
		seeds := []string{"http://a.test/bad", "http://a.test/nowhere"}
		want := map[string]string{"http://a.test/bad": "failed redirect", "http://a.test/nowhere": "fetched"}
		for status, state := range map[int]string{
			200: "fetched", 204: "fetched", 304: "fetched", 400: "failed gone", 404: "failed gone", 410: "failed gone", 418: "failed gone",
			401: "refused server", 403: "refused server", 408: "failed status 408", 425: "failed status 425", 429: "failed status 429",
			500: "failed status 500", 501: "failed status 501", 503: "failed status 503", 599: "failed status 599",
		} {
			page := fmt.Sprintf("s%d.test/", status) // a host each, for some say that their host is in trouble
			site[page] = fmt.Sprint(status)
			seeds = append(seeds, "http://"+page)
			want["http://"+page] = state
		}
		got, stats := crawlStates(t, site, nil, seeds...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if stats.Fetch.NotModified != 1 || stats.Fetch.Status["404"] != 1 || stats.Fetch.Status["503"] != 4 {
			t.Errorf("%d not modified, statuses %v; want 1, and 503 four times", stats.Fetch.NotModified, stats.Fetch.Status)
		}
		if stats.URLs.RefusedAfter != 2 || stats.URLs.Refused["server"] != 2 {
			t.Errorf("%d refused after admission, %v; want 2 for the server", stats.URLs.RefusedAfter, stats.URLs.Refused)
		}
	})
}

func TestASeedWithoutSchemeFallsBackToHTTP(t *testing.T) {
	for _, obey := range []bool{true, false} {
		t.Run(fmt.Sprint("robots obeyed ", obey), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, pages{"a.test/x": links("/y"), "a.test/y": ""})
				dir := t.TempDir()
				reason := crawl.ErrFinished
				if obey {
					reason = crawl.ErrUnreachable
				}
				run(t, dir, n.on(func(cfg *crawl.Config) {
					cfg.Politeness.Default.ObeyRobots = obey
					cfg.Scope.MaxDepth = depth(1)
				}), reason, "a.test/x", "https://b.test/")
				got := stored(t, dir)
				want := map[string]string{
					"https://a.test/x": "failed connect", "http://a.test/x": "fetched", "http://a.test/y": "fetched",
					"https://b.test/": "queued robots unreachable", // with a scheme there is no other to try
				}
				if !obey {
					want["https://b.test/"] = "failed connect"
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRobotsRulesRefuseWithTheirLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{
			"a.test/robots.txt": "User-agent: other\nDisallow: /\n\nUser-agent: TestBot\nAllow: /no/yes\nDisallow: /no\n",
			"a.test/":           links("/no/x", "/no/yes"), "a.test/no/yes": "",
		})
		dir := t.TempDir()
		stats := run(t, dir, n.on(nil), crawl.ErrFinished, "http://a.test/")
		if got, want := fmt.Sprint(n.fetched()), "[a.test/ a.test/no/yes]"; got != want {
			t.Errorf("fetched %s, want %s", got, want)
		}
		if stats.URLs.Refused["robots"] != 1 || stats.URLs.RefusedAfter != 1 {
			t.Errorf("refused %v", stats.URLs.Refused)
		}
		v, err := crawl.OpenView(dir, n.on(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		e, err := v.Explain("http://a.test/no/x")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range e.Decisions {
			if d.By == "robots" && (d.Verdict != "disallowed" || d.Reason != "line 6 of robots.txt: Disallow: /no") {
				t.Errorf("robots say %s: %s", d.Verdict, d.Reason)
			}
			if d.By == "state" && !strings.Contains(d.Reason, "line 6 of robots.txt") {
				t.Errorf("the state is %s: %s", d.Verdict, d.Reason)
			}
		}
	})
}

func TestFalsePositivesAreCountedAndCostNoPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{}
		var all []string
		for i := range 600 {
			all = append(all, fmt.Sprintf("/%d", i))
		}
		for i := range 6 {
			site[fmt.Sprintf("a.test/%d", i)] = links(all[i*100 : (i+1)*100]...)
		}
		site["a.test/"] = links(all[:6]...)
		n := newNetwork(t, site)
		dir := t.TempDir()
		config := n.on(func(cfg *crawl.Config) { cfg.Seen.MinCapacity, cfg.Seen.TargetFPR = 16, 0.3 })
		c := open(t, dir, config)
		if err := c.Run(t.Context(), seedsOf(t, "http://a.test/")); err != crawl.ErrFinished {
			t.Errorf("ended with %v", err)
		}
		stats := c.Stats()
		if got := int(stats.URLs.Fetched + stats.URLs.Failed); got != 601 {
			t.Errorf("%d URLs crawled, want 601", got)
		}
		list, err := c.View().FalsePositives()
		if err != nil {
			t.Error(err)
		}
		if stats.Seen.FalsePositivesAvoided == 0 || len(list) == 0 {
			t.Errorf("%d false positives counted, %d listed", stats.Seen.FalsePositivesAvoided, len(list))
		}
		if got, want := stats.Seen.Checks, stats.Seen.NegativesTrusted+stats.Seen.NegativesUnproven+stats.Seen.Positives; got != want {
			t.Errorf("%d checks, want %d", got, want)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		v, err := crawl.OpenView(dir, crawl.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		kept, err := v.FalsePositives()
		if err != nil || len(kept) != len(list) {
			t.Errorf("%d false positives are listed after the end (%v), want %d", len(kept), err, len(list))
		}
		later, err := v.Stats()
		if err != nil || later.Seen.FalsePositivesAvoided != stats.Seen.FalsePositivesAvoided {
			t.Errorf("%d false positives are counted after the end (%v)", later.Seen.FalsePositivesAvoided, err)
		}
		keys := map[string]bool{}
		for _, fp := range kept {
			keys[string(fp.Key)] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if e, err := v.Explain(key); err != nil || verdicts(e)["seen"] != "seen" {
				t.Errorf("%s was lost: %v", key, err)
			}
		}
	})
}

// A page with very many links is taken in by several transactions, and none of its links is lost, whichever way the
// links lead.
func TestAPageMayHaveVeryManyLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 4500
		hrefs := make([]string, 2*many)
		for i := range many {
			hrefs[2*i], hrefs[2*i+1] = fmt.Sprintf("/%d", i), fmt.Sprintf("http://b.test/%d", i)
		}
		n := newNetwork(t, pages{"a.test/": links(hrefs...)})
		dir := t.TempDir()
		stats := run(t, dir, n.on(func(cfg *crawl.Config) {
			cfg.Scope.MaxDepth, cfg.Partitions, cfg.Limits.MaxPages = depth(1), 2, 1
		}), crawl.ErrMaxPages, "http://a.test/")
		if got := stats.URLs.Admitted; got != 2*many+1 {
			t.Errorf("%d URLs admitted, want %d", got, 2*many+1)
		}
		v, err := crawl.OpenView(dir, n.on(nil))
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		for e, err := range v.URLs("queued") {
			if err != nil || e.Depth != 1 || e.Via != "http://a.test/" {
				t.Fatalf("%+v, %v", e, err)
			}
		}
	})
}
