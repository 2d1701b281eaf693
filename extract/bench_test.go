package extract_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"crawler/extract"
)

// article is a page of some 35 KB with the mix of a news site: head, navigation, a script, a style, prose, 150 links.
func article() []byte {
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>An article</title>
<link rel="canonical" href="https://news.example/2024/article"><link rel="stylesheet" href="/static/main.css">
<meta name="robots" content="max-image-preview:large"><style>`)
	b.WriteString(strings.Repeat(".card > a { color: #123; padding: 0 1em }\n", 100))
	b.WriteString("</style><script>")
	b.WriteString(strings.Repeat("if (a < b && c > d) { f('<div class=\"x\">'); }\n", 170))
	b.WriteString("</script></head><body><nav><ul>")
	for i := range 50 {
		fmt.Fprintf(&b, `<li class="nav-item"><a class="nav-link" href="/section/%d?from=nav&amp;pos=%d" title="Section">Section %d</a></li>`+"\n", i, i, i)
	}
	b.WriteString("</ul></nav><main>")
	for i := range 50 {
		fmt.Fprintf(&b, `<div class="card" id="c%d"><p>The quick brown fox jumps over the lazy dog &mdash; and
<a href="https://other.example/%d" rel="nofollow noopener">over</a> another, <em>twice</em> a day. Pack my box with five
dozen liquor jugs, said the <a href="../authors/%d.html">author</a>.</p><img src="/img/%d.jpg" alt="" loading="lazy"></div>`+"\n", i, i, i, i)
	}
	b.WriteString("</main></body></html>")
	return []byte(b.String())
}

func BenchmarkHTML(b *testing.B) {
	page := article()
	for _, bb := range []struct {
		name string
		read func() int
	}{
		{"extract", func() (n int) {
			for range extract.HTML(page, "text/html; charset=utf-8", "bot").Links() {
				n++
			}
			return n
		}},
		{"extract-undeclared", func() (n int) {
			for range extract.HTML(page, "text/html", "bot").Links() {
				n++
			}
			return n
		}},
		{"goquery", func() int {
			found, err := reference(page, false)
			if err != nil {
				b.Fatal(err)
			}
			return len(found)
		}},
		{"tokenizer", func() (n int) {
			z := html.NewTokenizer(bytes.NewReader(page))
			for z.Next() != html.ErrorToken {
				n++
			}
			return n
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(page)))
			b.ReportAllocs()
			for b.Loop() {
				if n := bb.read(); n < 150 {
					b.Fatalf("got %d links or tokens, want 150 at least", n)
				}
			}
		})
	}
}

// A page made to be slow: half of it is one tag with very many attributes, half of it is small tags.
func BenchmarkHTMLManyAttributes(b *testing.B) {
	for _, kib := range []int{256, 1024} {
		b.Run(fmt.Sprintf("%dKiB", kib), func(b *testing.B) {
			var page bytes.Buffer
			page.WriteString("<p")
			for i := 0; page.Len() < kib<<9; i++ {
				fmt.Fprintf(&page, " a%x", i)
			}
			page.WriteString(">")
			for page.Len() < kib<<10 {
				page.WriteString("<b c>")
			}
			b.SetBytes(int64(page.Len()))
			for b.Loop() {
				extract.HTML(page.Bytes(), "text/html; charset=utf-8", "")
			}
		})
	}
}
