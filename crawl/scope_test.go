package crawl_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
	"crawler/normalize"
)

func patterns(texts ...string) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, text := range texts {
		list = append(list, regexp.MustCompile(text))
	}
	return list
}

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name  string
		scope crawl.Scope
		seeds string
		in    string // URLs in scope
		out   string // URLs out of it
		why   string // the reason for all of those
	}{
		{
			name: "page takes the seeds alone", scope: crawl.Scope{Reach: crawl.ReachPage},
			seeds: "http://a.test/x http://b.test/",
			in:    "http://a.test/x http://b.test/", out: "http://a.test/ http://a.test/x/y http://a.test/x?q", why: "scope",
		},
		{
			name: "prefix takes what begins with the seed up to its last slash", scope: crawl.Scope{Reach: crawl.ReachPrefix},
			seeds: "http://a.test/docs/index.html?q=/a/b",
			in:    "http://a.test/docs/ http://a.test/docs/x/y?z http://a.test/docs/index.html https://a.test/docs/",
			out:   "http://a.test/ http://a.test/docs http://a.test/docsx/ http://b.test/docs/ http://a.test:8080/docs/ http://a.test/doc/", why: "scope",
		},
		{
			name: "prefix of a front page is all of the host and port", scope: crawl.Scope{Reach: crawl.ReachPrefix},
			seeds: "http://a.test:81",
			in:    "http://a.test:81/ http://a.test:81/x", out: "http://a.test/", why: "scope",
		},
		{
			name: "host takes every scheme and port of it, and is the default", scope: crawl.Scope{},
			seeds: "http://a.test/x",
			in:    "http://a.test/ https://a.test/y http://A.test:81/", out: "http://www.a.test/ http://test/", why: "scope",
		},
		{
			name: "domain takes hosts with the same registrable domain", scope: crawl.Scope{Reach: crawl.ReachDomain},
			seeds: "http://www.example.co.uk/",
			in:    "http://example.co.uk/ https://a.b.example.co.uk/x", out: "http://other.co.uk/ http://co.uk/ http://example.com/", why: "scope",
		},
		{
			name: "any takes all", scope: crawl.Scope{Reach: crawl.ReachAny}, seeds: "http://a.test/", in: "https://b.example/",
		},
		{
			name: "exclude keeps out", scope: crawl.Scope{Reach: crawl.ReachAny, Exclude: patterns("/private/", `\.zip$`)},
			seeds: "http://a.test/",
			in:    "http://a.test/zip", out: "http://a.test/private/x http://a.test/b.zip", why: "exclude",
		},
		{
			name: "include lets only those in that match", scope: crawl.Scope{Reach: crawl.ReachHost, Include: patterns("/de/", "/fr/")},
			seeds: "http://a.test/",
			in:    "http://a.test/de/ http://a.test/x/fr/y", out: "http://a.test/en/", why: "include",
		},
		{
			name: "exclude goes before include", scope: crawl.Scope{Include: patterns("x"), Exclude: patterns("xx")},
			seeds: "http://a.test/",
			in:    "http://a.test/x", out: "http://a.test/xx", why: "exclude",
		},
		{
			name:  "seeds are in scope whatever the patterns",
			scope: crawl.Scope{Reach: crawl.ReachPage, Include: patterns("^$"), Exclude: patterns(".")},
			seeds: "http://a.test/", in: "http://a.test/",
		},
		{
			name: "reach goes before patterns", scope: crawl.Scope{Reach: crawl.ReachHost, Include: patterns("b.test")},
			seeds: "http://a.test/", out: "http://b.test/", why: "scope",
		},
		{name: "without seeds nothing is in reach", scope: crawl.Scope{Reach: crawl.ReachHost}, out: "http://a.test/", why: "scope"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			seeds := seedsOf(t, strings.Fields(tc.seeds)...)
			judge := func(urls, want string) {
				for text := range strings.FieldsSeq(urls) {
					u, err := normalize.Parse(text)
					if err != nil {
						t.Fatal(err)
					}
					reason, detail := crawl.Judge(tc.scope, seeds, u)
					if reason != want || (detail == "") != (want == "") {
						t.Errorf("%s: %q (%s), want %q", text, reason, detail, want)
					}
				}
			}
			judge(tc.in, "")
			judge(tc.out, tc.why)
		})
	}
}

func TestReach(t *testing.T) {
	site := pages{
		"www.a.test/docs/x": links("y", "/", "http://a.test/", "http://b.test/"),
		"www.a.test/docs/y": "", "www.a.test/": "", "a.test/": "", "b.test/": "",
	}
	for _, tc := range []struct {
		reach crawl.Reach
		want  string
	}{
		{crawl.ReachPage, "[www.a.test/docs/x]"},
		{crawl.ReachPrefix, "[www.a.test/docs/x www.a.test/docs/y]"},
		{crawl.ReachHost, "[www.a.test/ www.a.test/docs/x www.a.test/docs/y]"},
		{crawl.ReachDomain, "[a.test/ www.a.test/ www.a.test/docs/x www.a.test/docs/y]"},
		{crawl.ReachAny, "[a.test/ b.test/ www.a.test/ www.a.test/docs/x www.a.test/docs/y]"},
	} {
		t.Run(string(tc.reach), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, site)
				stats := run(t, t.TempDir(), n.on(func(cfg *crawl.Config) { cfg.Scope.Reach = tc.reach }),
					crawl.ErrFinished, "http://www.a.test/docs/x")
				got := n.fetched()
				if fmt.Sprint(got) != tc.want {
					t.Errorf("fetched %v, want %s", got, tc.want)
				}
				if out := stats.URLs.Refused["scope"]; out != int64(5-len(got)) {
					t.Errorf("%d are refused for the scope, want %d", out, 5-len(got))
				}
			})
		})
	}
}

func TestTheRedirectOfASeedWidensTheScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{
			// The second seed is fetched after this one, whose links are refused at first.
			"a.test/":           links("http://www.b.test/1", "http://www.b.test/2", "http://c.test/", "/to-c"),
			"a.test/to-c":       "-> http://c.test/",
			"b.test/":           "-> http://mid.test/",
			"mid.test/":         "-> http://www.b.test/",
			"www.b.test/":       links("/2", "/3"),
			"www.b.test/1":      "",
			"www.b.test/2":      "",
			"www.b.test/3":      "",
			"b.test/robots.txt": "User-agent: *\nCrawl-delay: 30",
		})
		dir := t.TempDir()
		stats := run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Scope.Reach, cfg.Partitions = crawl.ReachHost, 3 }),
			crawl.ErrFinished, "http://a.test/", "http://b.test/")
		want := "[a.test/ a.test/to-c b.test/ mid.test/ www.b.test/ www.b.test/1 www.b.test/2 www.b.test/3]"
		if got := fmt.Sprint(n.fetched()); got != want {
			t.Errorf("fetched %s, want %s", got, want)
		}
		refused := map[string]int64{"robots": 0, "scope": 1, "depth": 0, "limit": 0, "trap": 0, "invalid": 0}
		if diff := cmp.Diff(refused, stats.URLs.Refused); diff != "" {
			t.Errorf("refused (-want +got):\n%s", diff)
		}
		// And it stays wide: what a seed redirects to is kept.
		run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Scope.Reach = crawl.ReachHost }), crawl.ErrFinished, "http://a.test/4")
		if reason, err := explained(t, dir, crawl.ReachHost, "http://www.b.test/9"); reason != "in scope" {
			t.Errorf("after a resume the target of a seed's redirect is %q (%v)", reason, err)
		}
	})
}

func explained(t *testing.T, dir string, reach crawl.Reach, url string) (string, error) {
	t.Helper()
	v, err := crawl.OpenView(dir, crawl.Config{Scope: crawl.Scope{Reach: reach}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	e, err := v.Explain(url)
	return verdicts(e)["scope"], err
}

func TestAWiderScopeReopensWhatWasRefused(t *testing.T) {
	site := pages{
		"a.test/":     links("/1", "http://b.test/", "/x/1", "/y"),
		"a.test/1":    links("/2"),
		"a.test/2":    links("/3", "http://b.test/"),
		"a.test/3":    "",
		"a.test/x/1":  links("/x/2"),
		"a.test/x/2":  "",
		"a.test/y":    "",
		"b.test/":     links("/1", "http://c.test/"),
		"b.test/1":    "",
		"c.test/":     "",
		"lone.test/":  "",
		"a.test/none": "",
	}
	reach := func(r crawl.Reach) func(*crawl.Scope) { return func(sc *crawl.Scope) { sc.Reach = r } }
	to := func(n int) func(*crawl.Scope) { return func(sc *crawl.Scope) { sc.MaxDepth = &n } }
	for _, tc := range []struct {
		name          string
		first, second func(*crawl.Scope)
	}{
		{"from page to host", reach(crawl.ReachPage), reach(crawl.ReachHost)},
		{"from host to any", reach(crawl.ReachHost), reach(crawl.ReachAny)},
		{"from depth 0 to 1", to(0), to(1)},
		{"from depth 1 to 2", to(1), to(2)},
		{"from depth 2 to none", to(2), to(-1)},
		{
			"without the exclude pattern",
			func(sc *crawl.Scope) { sc.Exclude = patterns("/x/") },
			func(sc *crawl.Scope) {},
		},
		{
			"with one more include pattern",
			func(sc *crawl.Scope) { sc.Include = patterns("/x/") },
			func(sc *crawl.Scope) { sc.Include = patterns("/x/", "/1$", "c.test") },
		},
		{
			"wider in reach and depth at once",
			func(sc *crawl.Scope) { sc.Reach, sc.MaxDepth = crawl.ReachHost, depth(1) },
			func(sc *crawl.Scope) { sc.Reach, sc.MaxDepth = crawl.ReachAny, depth(2) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crawled := func(scopes ...func(*crawl.Scope)) (urls []string, states map[string]string) {
					n := newNetwork(t, site)
					dir := t.TempDir()
					for _, change := range scopes {
						run(t, dir, n.on(func(cfg *crawl.Config) {
							cfg.Partitions = 2
							change(&cfg.Scope)
						}), crawl.ErrFinished, "http://a.test/")
					}
					return n.fetched(), stored(t, dir)
				}
				once, onceStates := crawled(tc.second)
				again, againStates := crawled(tc.first, tc.second)
				if diff := cmp.Diff(once, again); diff != "" {
					t.Errorf("fetched (-at once +in two runs):\n%s", diff)
				}
				if diff := cmp.Diff(onceStates, againStates); diff != "" {
					t.Errorf("states (-at once +in two runs):\n%s", diff)
				}
			})
		})
	}
}

func TestTheReasonThatCanGiveWayStands(t *testing.T) {
	// Each page is refused for one reason and later for another; in the second run it is to be let in.
	for _, tc := range []struct {
		name          string
		site          pages
		late          string // what is answered after all else
		first, second func(*crawl.Config)
		target        string
		reason        string
	}{
		{
			name: "too deep, after a link not to be followed", target: "a.test/x", reason: "depth",
			site: pages{
				"a.test/": "<a rel=nofollow href=/x></a>" + links("/1"), "a.test/1": links("/x"), "a.test/x": "",
			},
			first:  func(cfg *crawl.Config) { cfg.Scope.MaxDepth = depth(1) },
			second: func(*crawl.Config) {},
		},
		{
			name: "too deep, before a link not to be followed", target: "a.test/x", reason: "depth", late: "a.test/2",
			site: pages{
				"a.test/": links("/1", "/2"), "a.test/1": links("/x"), "a.test/2": "<a rel=nofollow href=/x></a>", "a.test/x": "",
			},
			first:  func(cfg *crawl.Config) { cfg.Scope.MaxDepth = depth(1) },
			second: func(*crawl.Config) {},
		},
		{
			name: "out of scope, after a link not to be followed", target: "b.test/", reason: "scope",
			site: pages{
				"a.test/": `<a rel=nofollow href="http://b.test/"></a>` + links("/1"), "a.test/1": links("http://b.test/"), "b.test/": "",
			},
			first:  func(cfg *crawl.Config) { cfg.Scope.Reach = crawl.ReachHost },
			second: func(*crawl.Config) {},
		},
		{
			name: "over the limit of its host, after it was too deep", target: "a.test/x", reason: "limit", late: "a.test/",
			site: pages{
				"a.test/": links("/x", "http://b.test/"), "b.test/": links("/1"), "b.test/1": links("http://a.test/x"), "a.test/x": "",
			},
			first:  func(cfg *crawl.Config) { cfg.Scope.MaxDepth, cfg.Limits.MaxURLsPerHost = depth(1), 2 },
			second: func(cfg *crawl.Config) { cfg.Scope.MaxDepth = depth(1) },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t, slowly(tc.site, tc.late, 10*s))
				dir := t.TempDir()
				config := func(change func(*crawl.Config)) crawl.Config {
					return n.on(func(cfg *crawl.Config) {
						cfg.Politeness = connections(4)
						change(cfg)
					})
				}
				seeds := []string{"http://a.test/"}
				if tc.reason == "limit" {
					seeds = append(seeds, "http://a.test/other", "http://b.test/")
				}
				run(t, dir, config(tc.first), crawl.ErrFinished, seeds...)
				if got := stored(t, dir)["http://"+tc.target]; got != "refused "+tc.reason {
					t.Errorf("after the first run it is %q, want refused for %s", got, tc.reason)
				}
				run(t, dir, config(tc.second), crawl.ErrFinished)
				if got := stored(t, dir)["http://"+tc.target]; got != "fetched" {
					t.Errorf("after the second run it is %q", got)
				}
			})
		})
	}
}

// A link out of scope may be met at a lesser depth than it was first; that depth counts when the scope widens.
func TestTheLeastDepthOfARefusedURLCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{
			"a.test/":     links("/1", "/late"),
			"a.test/1":    links("/2"),
			"a.test/2":    links("/page"),
			"a.test/page": links("http://b.test/"),
			"a.test/late": "-> /page",
			"b.test/":     links("/1"),
			"b.test/1":    links("/2"),
			"b.test/2":    "",
		}
		n := newNetwork(t, slowly(site, "a.test/late", 10*s))
		dir := t.TempDir()
		run(t, dir, n.on(func(cfg *crawl.Config) {
			cfg.Scope = crawl.Scope{Reach: crawl.ReachHost, MaxDepth: depth(3)}
			cfg.Politeness = connections(4)
		}), crawl.ErrFinished, "http://a.test/")
		run(t, dir, n.on(func(cfg *crawl.Config) { cfg.Scope.MaxDepth = depth(3) }), crawl.ErrFinished)
		got := stored(t, dir)
		for url, want := range map[string]string{"http://b.test/": "fetched", "http://b.test/1": "fetched", "http://b.test/2": "refused depth"} {
			if got[url] != want {
				t.Errorf("%s is %s, want %s", url, got[url], want)
			}
		}
	})
}

// A run with a narrower scope leaves out what an earlier one has queued, and a wider one takes it up again.
func TestAQueueIsJudgedByTheScopeInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(t, pages{
			"a.test/": links("/trap/1", "/2", "/3"), "a.test/trap/1": links("/trap/2"), "a.test/trap/2": "", "a.test/2": links("/4"),
			"a.test/3": "", "a.test/4": "",
		})
		dir := t.TempDir()
		with := func(exclude string, maxDepth, maxPages int) crawl.Config {
			return n.on(func(cfg *crawl.Config) {
				cfg.Limits.MaxPages = maxPages
				cfg.Scope.MaxDepth = &maxDepth
				if exclude != "" {
					cfg.Scope.Exclude = patterns(exclude)
				}
			})
		}
		run(t, dir, with("", -1, 1), crawl.ErrMaxPages, "http://a.test/")
		run(t, dir, with("/trap/", 0, 0), crawl.ErrFinished)
		want := map[string]string{
			"http://a.test/": "fetched", "http://a.test/trap/1": "refused exclude", "http://a.test/2": "refused depth", "http://a.test/3": "refused depth",
		}
		if diff := cmp.Diff(want, stored(t, dir)); diff != "" {
			t.Errorf("narrowed (-want +got):\n%s", diff)
		}
		run(t, dir, with("/trap/", -1, 0), crawl.ErrFinished)
		want["http://a.test/2"], want["http://a.test/3"], want["http://a.test/4"] = "fetched", "fetched", "fetched"
		if diff := cmp.Diff(want, stored(t, dir)); diff != "" {
			t.Errorf("deeper (-want +got):\n%s", diff)
		}
		run(t, dir, with("", -1, 0), crawl.ErrFinished)
		want["http://a.test/trap/1"], want["http://a.test/trap/2"] = "fetched", "fetched"
		if diff := cmp.Diff(want, stored(t, dir)); diff != "" {
			t.Errorf("widened (-want +got):\n%s", diff)
		}
	})
}
