package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
	"crawler/storage"
)

// everyState is a web of which some URL is in each state at any one time after a while: www.test/ is followed by others
// only after an hour, and hang.test does not answer.
func everyState() http.Handler {
	site := pages{
		"a.test/": `<a rel=nofollow href="/nofollow"></a>` + links("/gone", "/secret", "/no/way", "/busy", "http://hang.test/", "/deep/1",
			"http://out.test/", "mailto:x", "http://", "http://www.test/", "http://moody.test/"),
		"a.test/robots.txt":     "User-agent: *\nDisallow: /no/\n",
		"a.test/secret":         "403",
		"a.test/busy":           "500",
		"a.test/deep/1":         links("/deep/2"),
		"www.test/":             links("/later"),
		"www.test/later":        "",
		"www.test/robots.txt":   "User-agent: *\nCrawl-delay: 3600",
		"moody.test/robots.txt": "503",
		"hang.test/robots.txt":  "",
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host+r.URL.Path == "hang.test/" {
			<-r.Context().Done()
			return
		}
		site.ServeHTTP(w, r)
	})
}

func viewConfig(cfg *crawl.Config) {
	cfg.Scope = crawl.Scope{Reach: crawl.ReachAny, MaxDepth: depth(1), Exclude: patterns("out.test")}
	cfg.Politeness.Default.MaxCrawlDelay = 100 * s
	cfg.Fetch.Timeout = 1000 * s
	cfg.Partitions = 2
}

// duringAndAfter crawls everyState until it is at its busiest and has look look at it, then again when it has been stopped.
func duringAndAfter(t *testing.T, look func(t *testing.T, v *crawl.View, live bool)) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, everyState())
		dir := t.TempDir()
		c := open(t, dir, n.on(viewConfig))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- c.Run(ctx, seedsOf(t, "http://a.test/")) }()
		<-after(t.Context(), 60*s).Done()
		look(t, c.View(), true)
		stop()
		if err := <-ended; !errors.Is(err, crawl.ErrInterrupted) {
			t.Errorf("ended with %v", err)
		}
		stats := c.Stats()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		check(t, dir, stats)
		v, err := crawl.OpenView(dir, n.on(viewConfig))
		if err != nil {
			t.Fatal(err)
		}
		look(t, v, false)
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestURLsAreListedByState(t *testing.T) {
	duringAndAfter(t, func(t *testing.T, v *crawl.View, live bool) {
		want := map[string]string{
			"http://a.test/": "fetched", "http://a.test/deep/1": "fetched", "http://www.test/": "queued",
			"http://a.test/gone": "failed gone", "http://a.test/secret": "refused server", "http://a.test/no/way": "refused robots",
			"http://a.test/busy": "queued status 500", "http://a.test/nofollow": "refused nofollow", "http://a.test/deep/2": "refused depth",
			"http://out.test/": "refused exclude", "mailto:x": "refused scheme", "http://": "refused invalid",
			"http://moody.test/": "queued robots unreachable", "http://hang.test/": "leased",
		}
		if !live {
			want["http://hang.test/"] = "queued"
		}
		got := states(t, v)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("live %v (-want +got):\n%s", live, diff)
		}
		admitted := map[string]bool{}
		for e, err := range v.URLs("seen") {
			if err != nil {
				t.Fatal(err)
			}
			admitted[e.URL] = true
			if wantVia := map[bool]string{true: "", false: "http://a.test/"}[e.URL == "http://a.test/"]; e.Via != wantVia {
				t.Errorf("%s was met on %q, want %q", e.URL, e.Via, wantVia)
			}
		}
		if got := len(admitted); got != 9 {
			t.Errorf("%d URLs are listed as seen, want 9: %v", got, slices.Sorted(maps.Keys(admitted)))
		}
		stats, err := v.Stats()
		if err != nil {
			t.Fatal(err)
		}
		if err := stats.Check(); err != nil {
			t.Error(err)
		}
		leased := int64(0)
		if live {
			leased = 1
		}
		if stats.URLs.Leased != leased {
			t.Errorf("%d URLs are counted as leased, want %d", stats.URLs.Leased, leased)
		}
	})
}

func TestExplain(t *testing.T) {
	type verdictsOf map[string]string
	for _, tc := range []struct {
		url  string
		want verdictsOf // of scope, robots, seen, state and host; that of the stopped crawl after a slash, if another
	}{
		{"http://a.test/", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "fetched", "host": "*"}},
		{"a.test", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "fetched", "host": "*"}},
		{"HTTP://A.test:80/x/../gone", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "failed", "host": "*"}},
		{"http://a.test/secret", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "refused", "host": "*"}},
		{"http://a.test/no/way", verdictsOf{"scope": "in scope", "robots": "disallowed", "seen": "seen", "state": "refused", "host": "*"}},
		{"http://a.test/busy", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "queued", "host": "*"}},
		{"http://a.test/nofollow", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "new", "state": "refused", "host": "*"}},
		{"http://a.test/deep/2", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "new", "state": "refused", "host": "*"}},
		{"http://a.test/never-met", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "new", "state": "unknown", "host": "*"}},
		{"http://out.test/", verdictsOf{"scope": "out of scope", "robots": "unknown", "seen": "new", "state": "refused", "host": "idle/unknown"}},
		{"http://www.test/", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "queued", "host": "waiting/known"}},
		{"http://moody.test/", verdictsOf{"scope": "in scope", "robots": "unreachable", "seen": "seen", "state": "queued", "host": "deferred"}},
		{"http://hang.test/", verdictsOf{"scope": "in scope", "robots": "allowed", "seen": "seen", "state": "leased/queued", "host": "leased/known"}},
		{"mailto:x", verdictsOf{"state": "refused"}},
		{"http://", verdictsOf{"state": "refused"}},
		{"ftp://never.met/", verdictsOf{}},
	} {
		t.Run(tc.url, func(t *testing.T) {
			duringAndAfter(t, func(t *testing.T, v *crawl.View, live bool) {
				e, err := v.Explain(tc.url)
				if err != nil {
					t.Fatal(err)
				}
				got := verdicts(e)
				for by, want := range tc.want {
					if during, after, ok := strings.Cut(want, "/"); ok {
						want = map[bool]string{true: during, false: after}[live]
					}
					if got[by] != want && want != "*" {
						t.Errorf("live %v: %s says %q, want %q", live, by, got[by], want)
					}
				}
				if _, ok := tc.want["scope"]; !ok && got["normalize"] != "invalid" {
					t.Errorf("normalize says %q, want invalid", got["normalize"])
				}
				if len(tc.want) == 0 && len(e.Decisions) != 1 {
					t.Errorf("decisions %v, want that of normalize alone", e.Decisions)
				}
				for _, d := range e.Decisions {
					if d.Reason == "" || d.Verdict == "" {
						t.Errorf("no reason: %+v", d)
					}
				}
			})
		})
	}
}

func TestAnExplanationLeadsBackToTheSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{
			"a.test/": links("http://b.test/"), "b.test/": "-> http://c.test/1", "c.test/1": links("/2"), "c.test/2": links("mailto:x"),
		})
		dir := t.TempDir()
		run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Partitions = 3 }), crawl.ErrFinished, "http://a.test/")
		v, err := crawl.OpenView(dir, crawl.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		for url, want := range map[string]string{
			"http://a.test/":  "[{http://a.test/ 0}]",
			"http://c.test/2": "[{http://c.test/2 2} {http://c.test/1 1} {http://b.test/ 1} {http://a.test/ 0}]",
			"mailto:x":        "[{mailto:x 3} {http://c.test/2 2} {http://c.test/1 1} {http://b.test/ 1} {http://a.test/ 0}]",
		} {
			e, err := v.Explain(url)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(e.Path); got != want {
				t.Errorf("%s: path %s, want %s", url, got, want)
			}
		}
	})
}

func TestThereIsNoViewOfWhatIsNotThere(t *testing.T) {
	if _, err := crawl.OpenView(t.TempDir(), crawl.Config{}); !errors.Is(err, storage.ErrNoCrawl) {
		t.Errorf("got %v, want %v", err, storage.ErrNoCrawl)
	}
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{})
		dir := t.TempDir()
		c := open(t, dir, n.on(nil))
		defer c.Close()
		if _, err := crawl.Open(dir, n.on(nil)); !errors.Is(err, storage.ErrInUse) {
			t.Errorf("opened twice: %v, want %v", err, storage.ErrInUse)
		}
		if _, err := crawl.OpenView(dir, n.on(nil)); !errors.Is(err, storage.ErrInUse) {
			t.Errorf("viewed while open: %v, want %v", err, storage.ErrInUse)
		}
		for _, err := range c.View().URLs("sold") {
			if err == nil {
				t.Error("there are URLs in a state that is none")
			}
		}
	})
}
