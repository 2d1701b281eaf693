package crawl_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"crawler/crawl"
)

// graph is a small web drawn at random. Pages answer at different speeds, so that a page is often met by a long path
// before it is met by a short one.
type graph struct {
	nodes []node
	seeds []int
	depth int
	reach crawl.Reach
}

type node struct {
	url      string // without scheme
	redirect bool   // to the first of links
	links    []int
	nofollow []int
	wait     time.Duration
}

func drawGraph(seed uint64) graph {
	r := rand.New(rand.NewPCG(seed, 0))
	// Few enough that no chain of redirects is a trap.
	g := graph{nodes: make([]node, 5+r.IntN(6)), depth: r.IntN(6) - 1, reach: crawl.ReachAny}
	if r.IntN(2) == 0 {
		g.reach = crawl.ReachHost
	}
	hosts := 1 + r.IntN(3)
	some := func(most int) []int {
		var ids []int
		for range r.IntN(most + 1) {
			ids = append(ids, r.IntN(len(g.nodes)))
		}
		return ids
	}
	for i := range g.nodes {
		g.nodes[i] = node{
			url:      fmt.Sprintf("h%d.test/%d", r.IntN(hosts), i),
			redirect: r.IntN(4) == 0,
			// Along this one a long path leads to every page.
			links:    append([]int{(i + 1) % len(g.nodes)}, some(3)...),
			nofollow: some(1),
		}
		if r.IntN(3) == 0 {
			g.nodes[i].wait = time.Duration(r.IntN(1000)) * time.Millisecond
		}
	}
	g.seeds = append(some(1), 0)
	return g
}

func (g graph) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for _, n := range g.nodes {
		if n.url != r.Host+r.URL.Path {
			continue
		}
		time.Sleep(n.wait)
		if n.redirect {
			w.Header().Set("Location", "http://"+g.nodes[n.links[0]].url)
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for _, to := range n.nofollow {
			fmt.Fprintf(w, "<a rel=nofollow href=\"http://%s\">x</a>", g.nodes[to].url)
		}
		for _, to := range n.links {
			fmt.Fprintf(w, "<a href=\"http://%s\">x</a>", g.nodes[to].url)
		}
		return
	}
	http.NotFound(w, r)
}

// answer returns the depth of each page that a crawl with the depth limit and the reach has to fetch. It gets there by
// going over all the pages until nothing changes any more.
func (g graph) answer() map[string]int {
	const far = 1 << 30
	depths := slices.Repeat([]int{far}, len(g.nodes))
	seed := make([]bool, len(g.nodes))
	hosts := map[string]bool{}
	host := func(i int) string { return strings.Split(g.nodes[i].url, "/")[0] }
	changed := true
	meet := func(i, depth int, isSeed bool) {
		if isSeed && !seed[i] {
			seed[i], hosts[host(i)], changed = true, true, true
		}
		inScope := g.reach == crawl.ReachAny || hosts[host(i)]
		if inScope && depth < depths[i] && (g.depth < 0 || depth <= g.depth) {
			depths[i], changed = depth, true
		}
	}
	for changed {
		changed = false
		for _, s := range g.seeds {
			meet(s, 0, true)
		}
		for i, n := range g.nodes {
			switch {
			case depths[i] == far:
			case n.redirect:
				meet(n.links[0], depths[i], seed[i])
			default:
				for _, to := range n.links {
					meet(to, depths[i]+1, false)
				}
			}
		}
	}
	want := map[string]int{}
	for i, d := range depths {
		if d < far {
			want[g.nodes[i].url] = d
		}
	}
	return want
}

func (g graph) seedURLs() []string {
	var urls []string
	for _, s := range g.seeds {
		urls = append(urls, "http://"+g.nodes[s].url)
	}
	return urls
}

func (g graph) config(cfg *crawl.Config) {
	cfg.Scope = crawl.Scope{Reach: g.reach, MaxDepth: &g.depth}
	cfg.Politeness = connections(16)
	cfg.Concurrency, cfg.Partitions = 16, 2
}

func TestThePagesOfACrawlDoNotDependOnTheOrderInWhichTheyAreMet(t *testing.T) {
	for seed := range uint64(260) {
		t.Run(fmt.Sprint("graph ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := drawGraph(seed)
				n := newNetwork(t, g)
				dir := t.TempDir()
				run(t, dir, n.on(g.config), crawl.ErrFinished, g.seedURLs()...)
				g.compare(t, dir, n)
			})
		})
	}
}

// compare holds what was fetched, and the depths if there is a limit to them, against the answer.
func (g graph) compare(t *testing.T, dir string, n *network) {
	t.Helper()
	want := g.answer()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), n.fetched()); diff != "" {
		t.Errorf("fetched (-want +got):\n%s\n%+v", diff, g)
	}
	if g.depth < 0 {
		return // nothing depends on depths, and links are not kept to correct them
	}
	v, err := crawl.OpenView(dir, crawl.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	got := map[string]int{}
	for e, err := range v.URLs("fetched") {
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(e.URL, "http://")] = e.Depth
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("depths (-want +got):\n%s\n%+v", diff, g)
	}
}

// A page may be met nearer while it is being fetched; its links then count from there, in its own partition and in others.
func TestAPageThatIsMetNearerWhileItIsFetchedHasItsLinksOfferedFromThere(t *testing.T) {
	const own, other = "a.test", "b.test"
	if crawl.PartitionOf(own, 2) == crawl.PartitionOf(other, 2) {
		t.Fatal("the hosts are in one partition")
	}
	synctest.Test(t, func(t *testing.T) {
		site := pages{
			"a.test/": links("/1", "/near"), "a.test/1": links("/2"), "a.test/2": links("/page"), "a.test/near": links("/page"),
			"a.test/page": links("/own", "http://b.test/"), "a.test/own": "", "b.test/": "",
		}
		n := newNetwork(t, slowly(slowly(site, "a.test/page", 20*s), "a.test/near", 10*s))
		dir := t.TempDir()
		run(t, dir, n.on(func(cfg *crawl.Config) {
			cfg.Scope.MaxDepth = depth(3)
			cfg.Politeness, cfg.Partitions = connections(4), 2
		}), crawl.ErrFinished, "http://a.test/")
		got := stored(t, dir)
		for _, url := range []string{"http://a.test/own", "http://b.test/"} {
			if got[url] != "fetched" {
				t.Errorf("%s is %q", url, got[url])
			}
		}
	})
}

// What a seed redirects to is in scope wherever it leads, whether its URL was met before as an ordinary link or not.
func TestWhatASeedRedirectsToStandsInForTheSeedThoughItWasMetBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := pages{
			"a.test/": links("/hop"), "b.test/": "", "a.test/seed": "-> /hop", "a.test/hop": "-> http://b.test/",
		}
		n := newNetwork(t, slowly(site, "a.test/seed", 20*s))
		dir := t.TempDir()
		run(t, dir, n.on(func(cfg *crawl.Config) {
			cfg.Scope.Reach, cfg.Politeness = crawl.ReachHost, connections(2)
		}), crawl.ErrFinished, "http://a.test/", "http://a.test/seed")
		if got := stored(t, dir)["http://b.test/"]; got != "fetched" {
			t.Errorf("the end of the seed's redirects is %q", got)
		}
	})
}
