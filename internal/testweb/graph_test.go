package testweb_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"crawler/internal/testweb"
)

var everything = testweb.Scope{MaxDepth: -1}

func newWeb(tb testing.TB, cfg testweb.Config) *testweb.Web {
	tb.Helper()
	w, err := testweb.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { w.Close() })
	return w
}

// newClient returns a client that reaches w by pipes and follows no redirect.
func newClient(tb testing.TB, w *testweb.Web) *http.Client {
	tb.Helper()
	return client(tb, &http.Transport{DialContext: w.Dial})
}

func client(tb testing.TB, tr *http.Transport) *http.Client {
	tb.Helper()
	tb.Cleanup(tr.CloseIdleConnections)
	return &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get fetches a URL and returns the response, and its body as far as it came.
func get(tb testing.TB, c *http.Client, target string) (*http.Response, []byte, error) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, target, nil)
	if err != nil {
		tb.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

func mustGet(tb testing.TB, c *http.Client, target string) (*http.Response, []byte) {
	tb.Helper()
	resp, body, err := get(tb, c, target)
	if err != nil {
		tb.Fatalf("GET %s: %v", target, err)
	}
	return resp, body
}

// anchor is a link as a browser sees it.
type anchor struct {
	url      string
	nofollow bool
}

// anchors returns the links of an HTML page, without their fragments.
func anchors(tb testing.TB, base string, body []byte) []anchor {
	tb.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	from, err := url.Parse(base)
	if err != nil {
		tb.Fatal(err)
	}
	var all []anchor
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "a" {
			continue
		}
		var a anchor
		for _, attr := range n.Attr {
			switch attr.Key {
			case "href":
				to, err := from.Parse(attr.Val)
				if err != nil {
					tb.Fatal(err)
				}
				to.Fragment = ""
				a.url = to.String()
			case "rel":
				a.nofollow = attr.Val == "nofollow"
			}
		}
		all = append(all, a)
	}
	return all
}

// crawl is an independent crawler: breadth first, a redirect at the depth of
// the page that redirects, disallow as the robots.txt of each host says.
func crawl(tb testing.TB, c *http.Client, seeds []string, s testweb.Scope) map[string]int {
	tb.Helper()
	type item struct {
		url   string
		depth int
	}
	private := make(map[string]string) // by host, the prefix that is disallowed
	depths := make(map[string]int)
	var queue []item
	push := func(to string, depth int, front bool) {
		u, err := url.Parse(to)
		if err != nil {
			tb.Fatal(err)
		}
		if _, ok := private[u.Host]; !ok && !s.IgnoreRobots {
			resp, body := mustGet(tb, c, "http://"+u.Host+"/robots.txt")
			_, rule, _ := strings.Cut(string(body), "Disallow: ")
			rule, _, _ = strings.Cut(rule, "\n")
			switch resp.StatusCode {
			case 404:
				rule = "none"
			case 500:
				rule = "/"
			}
			private[u.Host] = rule
		}
		if !s.IgnoreRobots && strings.HasPrefix(u.Path, private[u.Host]) {
			return
		}
		if front {
			queue = slices.Insert(queue, 0, item{to, depth})
		} else {
			queue = append(queue, item{to, depth})
		}
	}
	for _, u := range seeds {
		push(u, 0, false)
	}
	for len(queue) > 0 {
		now := queue[0]
		queue = queue[1:]
		if _, ok := depths[now.url]; ok {
			continue
		}
		depths[now.url] = now.depth
		resp, body := mustGet(tb, c, now.url)
		from := resp.Request.URL
		if resp.StatusCode == 301 {
			if to, err := resp.Location(); err == nil && (to.Host == from.Host || !s.SameHost) {
				push(to.String(), now.depth, true)
			}
		}
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || now.depth == s.MaxDepth {
			continue
		}
		for _, a := range anchors(tb, now.url, body) {
			to, _ := url.Parse(a.url)
			if (to.Host == from.Host || !s.SameHost) && (!a.nofollow || s.Nofollow) {
				push(a.url, now.depth+1, false)
			}
		}
	}
	return depths
}

func busy() testweb.Config {
	return testweb.Config{
		Seed: 7, Hosts: 6, Pages: 90, MedianSize: 3000,
		Private: 0.2, Redirects: 0.2, Gone: 0.1, Files: 0.1, Nofollow: 0.1,
		RobotsMissing: []int{2}, RobotsFailing: []int{4},
	}
}

func TestReachableIsWhatACrawlOfTheBodiesFinds(t *testing.T) {
	manySeeds := busy()
	manySeeds.Seeds = 3
	tiny := busy()
	tiny.Hosts, tiny.Pages, tiny.RobotsMissing, tiny.RobotsFailing = 3, 4, nil, nil
	for name, tc := range map[string]struct {
		cfg   testweb.Config
		scope testweb.Scope
	}{
		"without a limit":               {busy(), everything},
		"seeds only":                    {busy(), testweb.Scope{}},
		"to depth 3":                    {busy(), testweb.Scope{MaxDepth: 3}},
		"with nofollow links":           {busy(), testweb.Scope{MaxDepth: -1, Nofollow: true}},
		"with robots ignored":           {busy(), testweb.Scope{MaxDepth: -1, IgnoreRobots: true}},
		"within the hosts of the seeds": {manySeeds, testweb.Scope{MaxDepth: -1, SameHost: true}},
		"of pages without children":     {tiny, everything},
		"of the mix":                    {testweb.Mix(3, 4, 60), everything},
		"of the default":                {testweb.Config{}, testweb.Scope{MaxDepth: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWeb(t, tc.cfg)
				got := crawl(t, newClient(t, w), w.Seeds(), tc.scope)
				want := maps.Collect(w.Reachable(tc.scope))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("depths (-Reachable +crawl):\n%s", diff)
				}
				report := w.Report(testweb.Options{Scope: tc.scope})
				report.Gaps = nil // this crawler knows no politeness
				if err := report.Err(); err != nil {
					t.Errorf("the judge: %v", err)
				}
			})
		})
	}
}

func TestEveryPageIsReachableWhenNothingIsDisallowed(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		cfg := testweb.Config{
			Seed: seed, Hosts: 1 + r.IntN(30), Pages: 1 + r.IntN(400),
			Redirects: r.Float64() / 2, Gone: r.Float64() / 4, Files: r.Float64() / 4,
		}
		w := newWeb(t, cfg)
		got := 0
		for range w.Reachable(everything) {
			got++
		}
		if want := cfg.Hosts * cfg.Pages; got != want {
			t.Errorf("%+v: %d of %d pages are reachable", cfg, got, want)
		}
	}
}

func TestDisallowedPagesHideOthers(t *testing.T) {
	cfg := testweb.Config{Hosts: 3, Pages: 2000, Private: 0.5}
	w := newWeb(t, cfg)
	private, reachable := 0, 0
	for u := range w.Reachable(testweb.Scope{MaxDepth: -1, IgnoreRobots: true}) {
		if strings.Contains(u, "/private/") {
			private++
		}
	}
	for range w.Reachable(everything) {
		reachable++
	}
	if total := cfg.Hosts * cfg.Pages; reachable >= total-private {
		t.Errorf("%d of %d pages are reachable though %d are disallowed, so none is hidden", reachable, total, private)
	}
}

func TestDepthsVary(t *testing.T) {
	w := newWeb(t, testweb.Config{Hosts: 20, Pages: 500})
	pages := make(map[int]int)
	for _, d := range w.Reachable(everything) {
		pages[d]++
	}
	if deepest := slices.Max(slices.Collect(maps.Keys(pages))); deepest < 9 || deepest > 20 {
		t.Errorf("the deepest page is at %d; pages by depth: %v", deepest, pages)
	}
	for d, n := range pages {
		if n > 10_000/2 {
			t.Errorf("%d of 10000 pages are at depth %d", n, d)
		}
	}
}

func TestShortcutsLeadToTheMiddleOfArchives(t *testing.T) {
	const pages, archive = 500, 12
	w := newWeb(t, testweb.Config{Hosts: 20, Pages: pages})
	fronts := make(map[string]int)
	nearer := 0
	for u, d := range w.Reachable(everything) {
		to, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		page := 0
		if digits := strings.TrimSuffix(u, ".html"); to.Path != "/" {
			if page, err = strconv.Atoi(digits[len(digits)-6:]); err != nil {
				t.Fatal(err)
			}
		}
		switch chain := fronts[to.Host] + 1 + page - (pages - archive); {
		case page == 0:
			fronts[to.Host] = d
		case page >= pages-archive && d > chain:
			t.Errorf("%s is at depth %d, but at %d by the archive", u, d, chain)
		case page >= pages-archive && d < chain:
			nearer++
		}
	}
	if nearer == 0 {
		t.Error("no page of an archive is nearer than by the archive")
	}
}

func TestRedirectsEndAfterFive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Hosts: 3, Pages: 500, Redirects: 1, MedianSize: 1})
		c := newClient(t, w)
		longest := 0
		for u := range w.Reachable(everything) {
			hops := 0
			for resp, _ := mustGet(t, c, u); resp.StatusCode == 301 && hops < 10; hops++ {
				resp, _ = mustGet(t, c, resp.Header.Get("Location"))
			}
			longest = max(longest, hops)
		}
		if longest < 2 || longest > 5 {
			t.Errorf("the longest chain has %d redirects", longest)
		}
	})
}

func TestTheSameConfigIsTheSameWeb(t *testing.T) {
	bodies := func(seed uint64) map[string]string {
		all := make(map[string]string)
		synctest.Test(t, func(t *testing.T) {
			cfg := busy()
			cfg.Seed = seed
			w := newWeb(t, cfg)
			c := newClient(t, w)
			for u := range w.Reachable(testweb.Scope{MaxDepth: -1, Nofollow: true}) {
				resp, body := mustGet(t, c, u)
				all[u] = resp.Status + string(body)
			}
		})
		return all
	}
	first := bodies(1)
	if diff := cmp.Diff(first, bodies(1)); diff != "" {
		t.Errorf("two webs of one seed differ:\n%s", diff)
	}
	if cmp.Equal(first, bodies(2)) {
		t.Error("webs of two seeds are equal")
	}
}

func TestPagesHaveTheSizesAndLinksTheyAreSaidToHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Seed: 5, Hosts: 8, Pages: 250})
		c := newClient(t, w)
		var sizes []int
		sum, links, repeats := 0, 0, 0
		for u := range w.Reachable(everything) {
			_, body := mustGet(t, c, u)
			sizes = append(sizes, len(body))
			sum += len(body)
			seen := make(map[string]bool)
			all := anchors(t, u, body)
			if n := len(all); n < 20 || n > 45 {
				t.Errorf("%s has %d links", u, n)
			}
			for _, a := range all {
				if links++; seen[a.url] {
					repeats++
				}
				seen[a.url] = true
			}
		}
		slices.Sort(sizes)
		if median := sizes[len(sizes)/2]; median < 33_000 || median > 37_000 {
			t.Errorf("the median page has %d bytes", median)
		}
		if mean := sum / len(sizes); mean < 40_000 || mean > 44_000 {
			t.Errorf("the mean page has %d bytes", mean)
		}
		if repeats == 0 {
			t.Errorf("none of %d links repeats another of its page", links)
		}
	})
}

func TestMostLinksRepeatEarlierOnesWhileTheTreeIsOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, testweb.Config{Hosts: 1, Pages: 100_000, MedianSize: 1})
		c := newClient(t, w)
		linked := make(map[string]bool)
		links := 0
		for u := range w.Reachable(testweb.Scope{MaxDepth: 4}) {
			_, body := mustGet(t, c, u)
			for _, a := range anchors(t, u, body) {
				linked[a.url] = true
				links++
			}
		}
		if share := 1 - float64(len(linked))/float64(links); share < 0.80 || share > 0.87 {
			t.Errorf("%.3f of %d links are to pages linked already", share, links)
		}
	})
}

func TestLinksAreWrittenInAllForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb(t, busy())
		c := newClient(t, w)
		var all []byte
		for u := range w.Reachable(everything) {
			_, body := mustGet(t, c, u)
			all = append(all, body...)
		}
		for name, form := range map[string]string{
			"absolute":                `href="http://h001.test/`,
			"without scheme":          `href="//h001.test/`,
			"absolute path":           `href="/s1/`,
			"up a directory":          `href="../s1/`,
			"from the root":           `href="./s1/`,
			"in the same directory":   `href="000`,
			"with an escape":          `&amp;id=`,
			"with a bare ampersand":   `&id=`,
			"with a fragment":         `#part-`,
			"to a disallowed page":    `/private/0`,
			"with nofollow":           `rel="nofollow"`,
			"in a comment, as decoy":  `<!-- <a href=`,
			"in a script, as decoy":   `'<a href=`,
			"to a page not there":     `/gone/0`,
			"to a page that is moved": `/go/0`,
		} {
			if !bytes.Contains(all, []byte(form)) {
				t.Errorf("no link is %s (%s)", name, form)
			}
		}
	})
}

func TestConfigReportsAllItsFaults(t *testing.T) {
	_, err := testweb.New(testweb.Config{
		Hosts: -1, Pages: -1, Seeds: 2, MedianSize: 1 << 30, FlakyTimes: -1,
		Private: 1.5, Redirects: 0.6, Gone: 0.6, Nofollow: -0.1,
		Flaky: 0.9, Resets: 0.9,
		Throttled: []int{12}, RobotsHanging: []int{-3},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"Hosts is -1", "Pages is -1", "Seeds is 2", "MedianSize is 1073741824", "FlakyTimes is -1",
		"Private is 1.5", "Redirects + Gone + Files is 1.2", "Nofollow is -0.1", "Flaky + Resets is 1.8",
		"Throttled names host 12", "RobotsHanging names host -3",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q:\n%v", want, err)
		}
	}
}

func TestDialFailsLikeANetwork(t *testing.T) {
	w := newWeb(t, testweb.Config{})
	if _, err := w.Dial(t.Context(), "tcp", "h999.test:80"); err == nil || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("dialling an unknown host: %v", err)
	}
	if _, err := w.Dial(t.Context(), "tcp", "h000.test"); err == nil {
		t.Error("dialling without a port: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Dial(ctx, "tcp", "h000.test:80"); err == nil {
		t.Error("dialling with an ended context: no error")
	}
	w.Close()
	if _, err := w.Dial(t.Context(), "tcp", "h000.test:80"); err == nil {
		t.Error("dialling after Close: no error")
	}
}
