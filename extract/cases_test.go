package extract_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"crawler/extract"
	"crawler/internal/cases"
)

// resolve resolves references of a page the way a crawler does, and leaves out what is not of the web.
func resolve(t *testing.T, page, base string, links []extract.Link) []string {
	t.Helper()
	at, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	if at, err = at.Parse(base); err != nil {
		t.Fatal(err)
	}
	var urls []string
	for _, l := range links {
		u, err := at.Parse(l.Ref)
		if err != nil { // net/url refuses a colon in the first segment, which the URL standard does not
			u, err = at.Parse("./" + l.Ref)
		}
		if err != nil {
			t.Errorf("%q: %v", l.Ref, err)
			continue
		}
		if u.Scheme == "http" || u.Scheme == "https" {
			urls = append(urls, u.String())
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

func TestOutlinksOfOtherCrawlers(t *testing.T) {
	const (
		image = "images, their srcset and video are not pages"
		form  = "forms are not submitted"
		rel   = "every href of a link element comes out; which rel to follow is the caller's choice"
	)
	differ := map[string]string{
		"http://www.nutch.org/maps/logo.gif":     image,
		"http://www.nutch.org/test.gif":          image,
		"http://www.nutch.org/movie.mp4":         image,
		"http://www.example.com/a,b,c":           image,
		"http://www.example.com/images/foo.jpg":  image,
		"http://www.example.com/images/foo1.jpg": image,
		"http://www.example.com/images/foo2.jpg": image,
		"http://www.example.com/images/foo3.jpg": image,

		"http://www.example.com/images/foo3-1x.jpg": image,
		"http://www.example.com/images/foo3-2x.jpg": image,

		"https://www.schmid-gartenpflanzen.example/forum/index.php/fa/89652/0/": image,
		"https://www.schmid-gartenpflanzen.example/first/index.php/fa/89652/0/": image,

		"http://www.nutch.org/dummy.jsp": form,
		"http://www.example.com/ok1":     form,
		"http://www.example.com/ok2":     form,
		"http://www.example.com/ok3":     form,

		"https://www.example.org/pingback":    rel,
		"https://www.example.org/without-rel": rel,
		"https://www.example.org/empty-rel":   rel,
		"https://www.example.org/just-spaces": rel,
	}
	unused := maps.Clone(differ)
	for i, c := range cases.Read[struct {
		Base, HTML, Note string
		Links            []string
	}](t, "html/outlinks.jsonl") {
		d := extract.HTML([]byte(c.HTML), "text/html; charset=utf-8", "")
		obey := strings.Contains(c.Note, "nofollow") && !strings.Contains(c.Note, "OFF")
		var links []extract.Link
		for l := range d.Links() {
			if !obey || !l.NoFollow && !d.NoFollow {
				links = append(links, l)
			}
		}
		got := resolve(t, c.Base, d.Base, links)
		for _, u := range slices.Concat(got, c.Links) {
			if slices.Contains(got, u) == slices.Contains(c.Links, u) {
				continue
			}
			if differ[u] == "" {
				t.Errorf("case %d, %q: got %q, want %q", i+1, c.HTML, got, c.Links)
				break
			}
			delete(unused, u)
		}
	}
	for u, reason := range unused {
		t.Errorf("%s: does not differ any more, though %s", u, reason)
	}
}

func TestBaseOfOutlinksIsFound(t *testing.T) {
	// Most cases above with a base hold only images, so that nothing is resolved against it.
	for i, c := range cases.Read[struct{ Base, HTML, Note string }](t, "html/outlinks.jsonl") {
		_, after, found := strings.Cut(c.HTML, `<base href="`)
		want, _, _ := strings.Cut(after, `"`)
		if got := extract.HTML([]byte(c.HTML), "text/html", "").Base; found && got != want {
			t.Errorf("case %d: got base %q, want %q", i+1, got, want)
		}
	}
}

func TestRefreshesOfWebPlatformTests(t *testing.T) {
	// What is expected is the URL as parsed, which loses tabs and newlines.
	parsed := strings.NewReplacer("\t", "", "\n", "", "\r", "")
	for i, c := range cases.Read[struct {
		Content  string
		Expected *struct {
			Time int
			URL  string
		}
	}](t, "html/meta_refresh.jsonl") {
		delay, url, ok := extract.ParseRefresh(c.Content)
		if ok != (c.Expected != nil) {
			t.Errorf("case %d, %q: got %v, want %v", i+1, c.Content, ok, !ok)
			continue
		}
		if ok && (delay != time.Duration(c.Expected.Time)*time.Second || parsed.Replace(url) != c.Expected.URL) {
			t.Errorf("case %d, %q: got %v %q, want %+v", i+1, c.Content, delay, url, *c.Expected)
		}
	}
}

// The rows of tricky.jsonl on links, which are prose, as cases.
func TestTrickyPages(t *testing.T) {
	for _, tt := range []struct{ name, at, page, want string }{
		{
			"a query alone keeps the last segment of a relative base", "http://h.example/myself.html",
			`<base href="myself.html"><a href="?param=v">`, "http://h.example/myself.html?param=v",
		},
		{
			"after a javascript base the document's own URL is the base", "http://h.example/d/p",
			`<base href="javascript:x"><base href="/other/"><a href=q>`, "http://h.example/d/q",
		},
		{
			"after a data base too", "http://h.example/d/p",
			`<base href="data:,x"><a href=q>`, "http://h.example/d/q",
		},
		{
			"deeper than html.Parse goes", "http://h.example/",
			strings.Repeat("<div>", 600) + "<a href=/x>", "http://h.example/x",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := extract.HTML([]byte(tt.page), "text/html", "")
			got := resolve(t, tt.at, d.Base, slices.Collect(d.Links()))
			if !slices.Equal(got, []string{tt.want}) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
