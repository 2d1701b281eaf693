package extract_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"pgregory.net/rapid"

	"crawler/extract"
)

// reference finds the links of a page in UTF-8 another way: in the tree that a full parser makes of it. They come sorted and
// without duplicates, because the parser moves and doubles elements. Where scripting is off, noscript holds elements.
func reference(page []byte, scripting bool) ([]string, error) {
	root, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(scripting))
	if err != nil {
		return nil, err
	}
	var found []string
	goquery.NewDocumentFromNode(root).Find("a, area, link, frame, iframe, meta").Each(func(_ int, s *goquery.Selection) {
		node := s.Get(0)
		attr := func(key string) (string, bool) {
			for _, a := range node.Attr {
				if a.Namespace == "" && a.Key == key || a.Namespace+":"+a.Key == key {
					return a.Val, true
				}
			}
			return "", false
		}
		rel, _ := attr("rel")
		l := extract.Link{Kind: extract.Kind(node.Data), Rel: trim(rel)}
		tokens := strings.Fields(strings.ToLower(rel))
		l.NoFollow = slices.Contains(tokens, "nofollow")
		ref, ok := "", false
		switch node.Data {
		case "a":
			if ref, ok = attr("href"); !ok {
				ref, ok = attr("xlink:href")
			}
		case "area":
			ref, ok = attr("href")
		case "link":
			ref, ok = attr("href")
			isHint := func(token string) bool { return token == "dns-prefetch" || token == "preconnect" }
			hintOnly := len(tokens) > 0 && !slices.ContainsFunc(tokens, func(token string) bool { return !isHint(token) })
			ok = ok && trim(ref) != "" && !hintOnly
			if slices.Contains(tokens, "canonical") {
				l.Kind = extract.KindCanonical
			}
		case "frame", "iframe":
			l.Rel, l.NoFollow = "", false
			ref, ok = attr("src")
			ok = ok && trim(ref) != ""
		case "meta":
			l = extract.Link{Kind: extract.KindRefresh}
			content, _ := attr("content")
			_, ref, ok = extract.ParseRefresh(content)
			equiv, _ := attr("http-equiv")
			ok = ok && strings.EqualFold(equiv, "refresh") && ref != ""
		}
		if l.Ref = trim(ref); ok {
			found = append(found, show(l))
		}
	})
	slices.Sort(found)
	return slices.Compact(found), nil
}

func trim(s string) string { return strings.Trim(s, " \t\n\f\r") }

func show(l extract.Link) string {
	return fmt.Sprintf("%s %q rel=%q %v", l.Kind, l.Ref, l.Rel, l.NoFollow)
}

// shown is the set of links of a document, sorted.
func shown(d *extract.Document) []string {
	var s []string
	for l := range d.Links() {
		s = append(s, show(l))
	}
	slices.Sort(s)
	return slices.Compact(s)
}

func TestGeneratedPagesAgreeWithGoquery(t *testing.T) {
	value := rapid.StringMatching(`[a-z/?=.:%#;é ]{1,12}`)
	rels := rapid.SampledFrom([]string{"", "nofollow", "NOOPENER nofollow", "canonical", "next", "preconnect", "alternate"})
	// Each piece is markup and the links in it.
	type piece struct {
		markup string
		links  []extract.Link
	}
	gen := rapid.Custom(func(t *rapid.T) piece {
		ref := value.Draw(t, "ref")
		quote := rapid.SampledFrom([]string{`"`, `'`}).Draw(t, "quote")
		attr := func(key, value string) string {
			if rapid.Bool().Draw(t, "capitals") {
				key = strings.ToUpper(key)
			}
			gap := rapid.SampledFrom([]string{" ", "\n", "/", " class=x "}).Draw(t, "gap")
			return gap + key + "=" + quote + html.EscapeString(value) + quote
		}
		rel := rels.Draw(t, "rel")
		link := extract.Link{Ref: trim(ref), Rel: rel, NoFollow: strings.Contains(rel, "nofollow")}
		attrs := attr("href", ref)
		if rel != "" {
			attrs += attr("rel", rel)
		}
		switch kind := rapid.SampledFrom([]string{"a", "area", "link", "iframe", "noscript", "svg", "template", "script", "text"}).Draw(t, "kind"); kind {
		case "a":
			link.Kind = extract.KindA
			return piece{"<p><a" + attrs + ">text &amp; <b>more</a>", []extract.Link{link}}
		case "area":
			link.Kind = extract.KindArea
			return piece{"<map><area" + attrs + "></map>", []extract.Link{link}}
		case "link":
			link.Kind = extract.KindLink
			if rel == "canonical" {
				link.Kind = extract.KindCanonical
			}
			if link.Ref == "" || rel == "preconnect" {
				return piece{"<link" + attrs + ">", nil}
			}
			return piece{"<link" + attrs + ">", []extract.Link{link}}
		case "iframe":
			markup := "<iframe" + attr("src", ref) + "><a href=no></iframe>"
			if link.Ref == "" {
				return piece{markup, nil}
			}
			return piece{markup, []extract.Link{{Ref: link.Ref, Kind: extract.KindIFrame}}}
		case "noscript", "template":
			link.Kind = extract.KindA
			return piece{"<" + kind + "><a" + attrs + "></a></" + kind + ">", []extract.Link{link}}
		case "svg":
			link.Kind, link.Rel, link.NoFollow = extract.KindA, "", false
			return piece{"<svg><title/><a" + attr("xlink:href", ref) + "></a></svg>", []extract.Link{link}}
		case "script":
			return piece{"<script>x = '<a" + strings.ReplaceAll(attrs, "<", "") + ">'</script><!-- <a" + attrs + "> -->", nil}
		default:
			return piece{html.EscapeString(ref) + "<table><tr><td>x</table>", nil}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		var page string
		var want []extract.Link
		for _, p := range rapid.SliceOfN(gen, 0, 12).Draw(t, "pieces") {
			page += p.markup
			want = append(want, p.links...)
		}
		d := extract.HTML([]byte(page), "text/html; charset=utf-8", "")
		if diff := cmp.Diff(want, slices.Collect(d.Links())); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", page, diff)
		}
		ref, err := reference([]byte(page), false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ref, shown(d)); diff != "" {
			t.Fatalf("%q (-goquery +got):\n%s", page, diff)
		}
	})
}

func TestHandwrittenPagesAgreeWithGoquery(t *testing.T) {
	for _, page := range handwritten {
		want, err := reference([]byte(page), false)
		if err != nil {
			t.Fatal(err)
		}
		got := shown(extract.HTML([]byte(page), "text/html; charset=utf-8", ""))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-goquery +got):\n%s", page, diff)
		}
	}
}

var handwritten = []string{
	`<!doctype html><title>t <a href=0></title><link rel="alternate feed" href=1><p><a href=2>x<p><a href=3 rel='a nofollow'>y`,
	`<table><a href=1><tr><a href=2><td><a href=3></table>`,
	`<b><a href=1><p></b></a><a href=2><div></a>`,
	`<svg><desc><a href=1></a></desc><a xlink:href=2></a><foreignObject><a href=3></a></foreignObject></svg>`,
	`<math><mi><a href=1></a></mi></math><a href=2></a>`,
	`<template><tr><td><a href=1></template><template><area href=2></template>`,
	`<frameset><frame src=1><frameset><frame src=2></frameset></frameset>`,
	`<head><noscript><link rel=x href=1><meta http-equiv=refresh content="0;2"></noscript></head><body><noscript><a href=3></noscript>`,
	`<textarea><a href=1></textarea><xmp><a href=2></xmp><script><a href=3></script><style><a href=4></style><a href=5>`,
	`<a href="&#x26;amp&NotEqualTilde;&notit;&amp=1">`,
	"<a\thref\n=\r'a\r\nb'\f>",
	`<a href=1/><a/href=2><a href="3"title=x><a =4 href=5><a href='6' href=7>`,
	`<object><param><a href=1></object><applet><a href=2></applet><button><a href=3></button>`,
	`<ul><li><a href=1><li><a href=2></ul></body></html><a href=3>`,
	`<!--[if IE]><a href=1><![endif]--><![if !IE]><a href=2><![endif]><?php <a href=3 ?>`,
	`</p></br><a href=1></a></a></noscript></template></svg>`,
}

// Pages of the real web, or of a documentation, in the folder that EXTRACT_PAGES names.
func TestRealPagesAgreeWithGoquery(t *testing.T) {
	dir := os.Getenv("EXTRACT_PAGES")
	if dir == "" {
		t.Skip("EXTRACT_PAGES names no folder of HTML pages")
	}
	pages, links := 0, 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(name); err != nil || d.IsDir() || ext != ".html" && ext != ".htm" {
			return err
		}
		body, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		got := shown(extract.HTML(body, "text/html", ""))
		if enc, charset, _ := charset.DetermineEncoding(body, "text/html"); charset != "utf-8" && !utf8.Valid(body) {
			if body, err = enc.NewDecoder().Bytes(body); err != nil {
				return err
			}
		}
		want, err := reference(body, false)
		if err != nil {
			t.Logf("%s: goquery: %v", name, err)
			return nil
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-goquery +got):\n%s", name, diff)
		}
		pages++
		links += len(got)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if pages == 0 {
		t.Fatalf("no pages in %s", dir)
	}
	t.Logf("%d pages, %d links, each counted once a page", pages, links)
}

// FuzzHTML holds four properties: links are the same each time; they are valid and trimmed; a page that is cut off has the
// first of the links of the whole; and every link in goquery's tree is found. Equality with that tree would be wrong: the
// parser drops what may not stand where it does (a frame outside of a frameset, all but a few elements in a select), and reads
// no noscript. What it takes for markup in foreign content, as in an SVG style, is text here, so such pages are left out.
func FuzzHTML(f *testing.F) {
	for i, page := range handwritten {
		f.Add([]byte(page), "text/html; charset=utf-8", uint(i))
	}
	f.Add([]byte("\xff\xfe<\x00a\x00>\x00"), "text/html", uint(3))
	f.Add([]byte("<meta charset=shift_jis><a href=\x83\x5c>"), "", uint(9))
	f.Add([]byte(`<base href=x><meta name=robots content=none>`), "application/xhtml+xml", uint(30))
	f.Fuzz(func(t *testing.T, page []byte, contentType string, cut uint) {
		d := extract.HTML(page, contentType, "bot")
		links := slices.Collect(d.Links())
		again := extract.HTML(page, contentType, "bot")
		if !slices.Equal(links, slices.Collect(again.Links())) || d.Base != again.Base || d.NoIndex != again.NoIndex || d.NoFollow != again.NoFollow {
			t.Fatal("two readings differ")
		}
		for _, l := range links {
			for _, s := range []string{l.Ref, l.Rel} {
				if !utf8.ValidString(s) || s != trim(s) {
					t.Errorf("%+v: not valid and trimmed", l)
				}
			}
		}

		const utf8HTML = "text/html; charset=utf-8"
		links = slices.Collect(extract.HTML(page, utf8HTML, "").Links())
		first := slices.Collect(extract.HTML(page[:cut%uint(len(page)+1)], utf8HTML, "").Links())
		if len(first) > len(links) || !slices.Equal(first, links[:len(first)]) {
			t.Errorf("cut off: got %+v, which are not the first of %+v", first, links)
		}

		lower := bytes.ToLower(page)
		if !utf8.Valid(page) || bytes.Contains(lower, []byte("<svg")) || bytes.Contains(lower, []byte("<math")) {
			return
		}
		want, err := reference(page, true)
		if err != nil {
			return // too deep for a tree
		}
		got := shown(extract.HTML(page, utf8HTML, ""))
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("got %q, without %s", got, w)
			}
		}
	})
}
