package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"crawler/extract"
)

// links returns the links of a page in UTF-8, in order.
func links(page string) []extract.Link {
	return slices.Collect(extract.HTML([]byte(page), "text/html; charset=utf-8", "").Links())
}

// refs returns the references of a page in UTF-8, separated by blanks.
func refs(page string) string {
	var refs []string
	for _, l := range links(page) {
		refs = append(refs, l.Ref)
	}
	return strings.Join(refs, " ")
}

func TestHTMLFindsEveryKindOfLink(t *testing.T) {
	page := `<!doctype html>
<link rel=" Canonical " href="/c"><link rel="next" href="/p2"><link href="/bare">
<meta http-equiv="Refresh" content="0; url=/r">
<a href="/a" rel="noopener NoFollow">a</a><a name="x">no link</a>
<map><area href="/area" rel=nofollow></map>
<iframe src="/if"></iframe>
<svg><a xlink:href="/svg1"/><a href="/svg2" xlink:href="/older"/></svg>
<frameset><frame src="/f"></frameset>`
	want := []extract.Link{
		{Ref: "/c", Kind: extract.KindCanonical, Rel: "Canonical"},
		{Ref: "/p2", Kind: extract.KindLink, Rel: "next"},
		{Ref: "/bare", Kind: extract.KindLink},
		{Ref: "/r", Kind: extract.KindRefresh},
		{Ref: "/a", Kind: extract.KindA, Rel: "noopener NoFollow", NoFollow: true},
		{Ref: "/area", Kind: extract.KindArea, Rel: "nofollow", NoFollow: true},
		{Ref: "/if", Kind: extract.KindIFrame},
		{Ref: "/svg1", Kind: extract.KindA},
		{Ref: "/svg2", Kind: extract.KindA},
		{Ref: "/f", Kind: extract.KindFrame},
	}
	if diff := cmp.Diff(want, links(page)); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
}

func TestHTMLReferences(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{"an unquoted value ends at white space", `<a href=/x/ class=y>`, "/x/"},
		{"names and attributes match in any case", `<A HREF='/x'>`, "/x"},
		{"attributes may stand without white space between them", `<a class="b"href="/x">`, "/x"},
		{"the first of two equal attributes counts", `<a href=/1 href=/2>`, "/1"},
		{"surrounding white space is trimmed", "<a href='\n\t /x \f\r'>", "/x"},
		{"white space within is kept", "<a href='/a b\nc'>", "/a b\nc"},
		{"character references are decoded", `<a href="/?a=1&amp;b=2&#x26;c&eacute;">`, "/?a=1&b=2&c\u00e9"},
		{"a parameter that looks like a character reference is none", `<a href="/?a=1&copy=2&lt=3">`, "/?a=1&copy=2&lt=3"},
		{"invalid bytes become replacement characters", "<a href='/a\xff\xe2\x82b'>", "/a\ufffd\ufffdb"},
		{"a NUL becomes a replacement character", "<a href='/a\x00b'>", "/a\ufffdb"},
		{"other schemes come out as they are", `<a href="mailto:x@h.example"><a href="javascript:f()">`, "mailto:x@h.example javascript:f()"},
		{"links nest wrongly", `<a href=1><b><a href=2></b></a>`, "1 2"},
		{"a tag that the end of the page cuts off is no tag", `<a href=1><a href="2`, "1"},
		{"an end tag holds no links", `</a href=1>`, ""},
		{"names that begin alike are other elements", `<abbr href=1><links href=2><area2 href=3><iframes src=4><noscripts><a href=5>`, "5"},
		{"links stand in any part of the page", `</html><p><a href=1></body><table><a href=2>`, "1 2"},

		{"a link without href is none", `<a><area><link rel=next><iframe></iframe><frame><base>`, ""},
		{"an empty href of a or area means the base", `[<a href=""><area href>`, " "},
		{"an empty reference of other elements loads nothing", `<link rel=next href=""><iframe src=" "></iframe><frame src>`, ""},
		{"connection hints name no documents", `<link rel=dns-prefetch href=1><link rel="PreConnect dns-prefetch" href=2>`, ""},
		{"a hint that is a resource too is kept", `<link rel="preconnect stylesheet" href=1>`, "1"},
		{"stylesheets and icons are left to the caller", `<link rel=stylesheet href=1><link rel="shortcut icon" href=2>`, "1 2"},

		{"no links in comments", `<!-- <a href=1> --><!--><a href=2><!-- > <a href=3> --!><a href=4>`, "2 4"},
		{"no links in declarations", `<!doctype a "<a href=1"><? <a href=2 ?><! <a href=3 >`, ""},
		{"no links in scripts", `<script>"<a href=1>"; <!-- <script> </script> <a href=2> --></script><a href=3>`, "3"},
		{"no links in styles", `<style><a href=1></style>`, ""},
		{"no links in text areas and titles", `<title><a href=1></title><textarea><a href=2></textarea>`, ""},
		{"no links in examples", `<xmp><a href=1></xmp><a href=2><plaintext><a href=3></plaintext><a href=4>`, "2"},
		{"no links in the text of an iframe", `<iframe src=1><a href=2></iframe><a href=3>`, "1 3"},

		{"links in noscript", `<head><noscript><link rel=next href=1></noscript><body><noscript><a href=2></noscript>`, "1 2"},
		{"links in noscript in their order", `<a href=1><noscript><a href=2></noscript><a href=3>`, "1 2 3"},
		{"a refresh in noscript", `<noscript><meta http-equiv=refresh content="0;url=/plain"></noscript>`, "/plain"},
		{"links in the fallback of frames and embeds", `<noframes><a href=1></noframes><noembed><a href=2></noembed>`, "1 2"},
		{"a quote left open in noscript hides nothing behind it", `<noscript><img src="x></noscript><a href=1 class="">`, "1"},
		{"a comment left open in noscript hides nothing behind it", `<noscript><a href=1><!-- </noscript><a href=2>`, "1 2"},
		{"a quote left open in a later noscript", `<noscript><a href=1></noscript><noscript><img src="x></noscript><a href=2 class="">`, "1 2"},
		{"noscript in noscript", `<noscript><noscript><a href=1></noscript><a href=2></noscript><a href=3>`, "1 2 3"},
		{"an empty noscript", `<noscript></noscript><a href=1><noscript>`, "1"},
		{"a noscript without end", `<noscript><a href=1>`, "1"},
		{"links in templates", `<template><a href=1><template><a href=2></template></template>`, "1 2"},

		{"an empty title in SVG has no text", `<svg><title/><a href=1></svg>`, "1"},
		{"an empty style in MathML has no text", `<math><style/><a href=1></math>`, "1"},
		{"outside of SVG there are no empty titles", `<svg/><svg></svg><title/><a href=1></title><a href=2>`, "2"},
		{"a stray end of SVG opens nothing", `</svg></svg><svg><title/><a href=1></svg>`, "1"},

		{"the URL of a refresh", `<META HTTP-EQUIV=REFRESH CONTENT="3;URL='/x'">`, "/x"},
		{"a refresh of the page itself is no link", `<meta http-equiv=refresh content=30>`, ""},
		{"a refresh that does nothing is no link", `<meta http-equiv=refresh content="url=/x">`, ""},
		{"other metas are no links", `<meta name=refresh content="0;url=/x"><meta http-equiv=refresh>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refs(tt.page); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.page, got, tt.want)
			}
		})
	}
}

func TestHTMLReadsXHTMLAsXML(t *testing.T) {
	const page = `<title/><script src="x"/><noscript/><a href="0"/><template/><base href="/b/"/><![CDATA[ > <a href="no"> ]]><a href="1"/>`
	d := extract.HTML([]byte(page), "Application/XHTML+XML; charset=utf-8", "")
	want := []extract.Link{{Ref: "0", Kind: extract.KindA}, {Ref: "1", Kind: extract.KindA}}
	if diff := cmp.Diff(want, slices.Collect(d.Links())); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if d.Base != "/b/" {
		t.Errorf("base: got %q, want /b/", d.Base)
	}
	if got := refs(page); got != "" {
		t.Errorf("the same page as HTML is all title: got %q, want none", got)
	}
}

func TestHTMLBase(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{"none", `<a href=1>`, ""},
		{"the first counts", `<base href=" /1/ "><base href=/2/>`, "/1/"},
		{"one without href does not count", `<base target=_top><base href=/2/>`, "/2/"},
		{"an empty one counts", `<base href=""><base href=/2/>`, ""},
		{"it may follow the links", `<body><a href=1><base href=/1/>`, "/1/"},
		{"a javascript one is ignored, and later ones too", `<base href="javascript:x"><base href=/2/>`, ""},
		{"a data one is ignored", `<base href="DATA:text/html,x">`, ""},
		{"white space and controls do not disguise a scheme", "<base href='\x01 java\n\tscript:x'>", ""},
		{"a name that begins alike is no such scheme", `<base href="data/x:y">`, "data/x:y"},
		{"not in a comment", `<!-- <base href=/1/> -->`, ""},
		{"not in a template", `<template><base href=/1/></template><base href=/2/>`, "/2/"},
		{"a stray end of template opens nothing", `</template><template><base href=/1/></template>`, ""},
		{"a template left open in noscript ends with it", `<noscript><template></noscript><base href=/1/>`, "/1/"},
		{"in noscript", `<noscript><base href=/1/></noscript><base href=/2/>`, "/1/"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := extract.HTML([]byte(tt.page), "text/html", "").Base; got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.page, got, tt.want)
			}
		})
	}
}

func TestHTMLRobotsMeta(t *testing.T) {
	for _, tt := range []struct {
		name, page        string
		noIndex, noFollow bool
	}{
		{"no meta forbids nothing", `<p>`, false, false},
		{"robots is everyone", `<meta name=robots content=noindex>`, true, false},
		{"names and directives match in any case", `<META NAME=" Robots " CONTENT="NoFollow">`, false, true},
		{"a list", `<meta name=robots content="noarchive, noindex ,nofollow">`, true, true},
		{"a list without commas", `<meta name=robots content="noindex nofollow">`, true, true},
		{"none is both", `<meta name=robots content=none>`, true, true},
		{"all, index and follow forbid nothing", `<meta name=robots content="all, index, follow">`, false, false},
		{"the value of a directive is no directive", `<meta name=robots content="max-image-preview: none">`, false, false},
		{"the agent by its name", `<meta name=ExampleBot content=nofollow>`, false, true},
		{"another agent is not meant", `<meta name=otherbot content=none>`, false, false},
		{"an unnamed meta is not meant", `<meta content=none><meta name="" content=none>`, false, false},
		{"several add up", `<meta name=robots content=noindex><meta name=examplebot content=nofollow><meta name=robots content=all>`, true, true},
		{"in the body", `<body><p>x<meta name=robots content=noindex>`, true, false},
		{"not in a template", `<template><meta name=robots content=none></template>`, false, false},
		{"not in a comment", `<!-- <meta name=robots content=none> -->`, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := extract.HTML([]byte(tt.page), "text/html", "examplebot")
			if d.NoIndex != tt.noIndex || d.NoFollow != tt.noFollow {
				t.Errorf("%q: got %v %v, want %v %v", tt.page, d.NoIndex, d.NoFollow, tt.noIndex, tt.noFollow)
			}
		})
	}
	if d := extract.HTML([]byte(`<meta name="" content=none>`), "", ""); d.NoIndex || d.NoFollow {
		t.Error("an empty agent is addressed by a meta with an empty name")
	}
}

func TestHTMLTakesHugePages(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct{ name, page, want string }{
		{"deep nesting", strings.Repeat("<div>", 100_000) + "<a href=/x>", "/x"},
		{"a long attribute", `<a class="` + long + `" href=/x>`, "/x"},
		{"a long reference", `<a href=/` + long + `>`, "/" + long},
		{"a long name", `<` + long + `><a href=/x>`, "/x"},
		{"many attributes", `<p` + strings.Repeat(" a b=c", 50_000) + `><a href=/x>`, "/x"},
		{"deep noscripts", strings.Repeat("<noscript>", 100_000) + "<a href=/x>", "/x"},
		{"a long script tag", `<script x="` + long + `">"<a href=1>"</script><a href=/x>`, "/x"},
		{"a long iframe tag", `<iframe srcdoc="` + long + `"><a href=1></iframe><a href=/x>`, "/x"},
		{"a long plaintext tag", `<a href=/x><plaintext x="` + long + `"><a href=1></plaintext><a href=2>`, "/x"},
		{"a long noscript tag", `<noscript x="` + long + `"><a href=1></noscript><a href=/x>`, "1 /x"},
		{"a long tag before a script", `<p x="` + long + `"><script>"<a href=1>"</script><a href=/x>`, "/x"},
		{"long tags in a row", strings.Repeat(`<p x="`+long[:1<<17]+`"><a href=1>`, 3) + "<a href=2>", "1 1 1 2"},
		{"a long text", long + "<a href=1>" + long + "<a href=/x>", "1 /x"},
		{"a long comment", "<!-- <a href=1>" + long + "--><a href=/x>", "/x"},
		{"many open quotes", strings.Repeat(`<p title="`, 50_001) + `"><a href=/x>`, "/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := refs(tt.page); got != tt.want {
				t.Errorf("got %d bytes, want %d", len(got), len(tt.want))
			}
		})
	}
}

func TestLinksStopsWhenAsked(t *testing.T) {
	n := 0
	for range extract.HTML([]byte(`<a href=1><a href=2>`), "", "").Links() {
		n++
		break
	}
	if n != 1 {
		t.Errorf("got %d links, want 1", n)
	}
}

func TestHasRelMatchesWholeTokens(t *testing.T) {
	l := extract.Link{Rel: "nofollow-me\tUGC  sponsored"}
	for token, want := range map[string]bool{"ugc": true, "Sponsored": true, "nofollow": false, "": false} {
		if got := l.HasRel(token); got != want {
			t.Errorf("%q: got %v, want %v", token, got, want)
		}
	}
}

func TestOnlyNoFollowIsNoFollow(t *testing.T) {
	for _, l := range links(`<a rel="ugc sponsored noopener nofollow-me" href=1>`) {
		if l.NoFollow {
			t.Errorf("rel=%q: got NoFollow", l.Rel)
		}
	}
}
