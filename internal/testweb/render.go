package testweb

import (
	"bytes"
	"sort"
)

const (
	maxSize   = 1 << 20
	sizeSigma = 0.6
)

// corpus is the text of all pages: sentences in HTML, now and then with a
// paragraph break between them. Pages take runs of it, so that a body costs
// little more than a copy.
type corpus struct {
	words     []string
	text      []byte
	sentences []int  // where each begins
	noise     []byte // the inside of files
}

func newCorpus(seed uint64) corpus {
	r := rng(seed ^ forText<<56)
	c := corpus{words: make([]string, 2000), noise: make([]byte, 64<<10)}
	for n := range c.words {
		var word []byte
		for range 1 + r.n(4) {
			word = append(word, "bdfghklmnprstvz"[r.n(15)], "aeiou"[r.n(5)])
			if r.n(3) == 0 {
				word = append(word, "lnrst"[r.n(5)])
			}
		}
		c.words[n] = string(word)
	}
	for len(c.text) < 256<<10 {
		c.sentences = append(c.sentences, len(c.text))
		first := len(c.text)
		for n := range 6 + r.n(16) {
			if n > 0 && r.n(9) == 0 {
				c.text = append(c.text, ',')
			}
			if n > 0 {
				c.text = append(c.text, ' ')
			}
			c.text = append(c.text, c.word(&r)...)
		}
		c.text[first] -= 'a' - 'A'
		c.text = append(c.text, ". "...)
		if r.n(6) == 0 {
			c.text = append(c.text, "</p>\n<p>"...)
		}
	}
	for n := range c.noise {
		c.noise[n] = byte(r.next())
	}
	return c
}

func (c *corpus) word(r *rng) string { return c.words[r.n(len(c.words))] }

// appendTitle appends two words.
func (c *corpus) appendTitle(dst []byte, r *rng) []byte {
	return append(append(append(dst, c.word(r)...), ' '), c.word(r)...)
}

// appendText appends whole sentences of at least size bytes.
func (c *corpus) appendText(dst []byte, size int, r *rng) []byte {
	for size > 0 {
		from := c.sentences[r.n(len(c.sentences))]
		to := len(c.text)
		if from+size < to {
			if n := sort.SearchInts(c.sentences, from+size); n < len(c.sentences) {
				to = c.sentences[n]
			}
		}
		dst = append(dst, c.text[from:to]...)
		size -= to - from
	}
	return dst
}

// appendBody appends the content of page i of host h.
func (w *Web) appendBody(dst []byte, h, i int, links *[]link) []byte {
	switch w.kind(h, i) {
	case image:
		return w.appendFile(append(dst, "\x89PNG\r\n\x1a\n"...), h, i)
	case pdf:
		return w.appendFile(append(dst, "%PDF-1.7\n"...), h, i)
	case redirect:
		return append(dst, "<!DOCTYPE html><title>Moved</title><p>This page has moved.</p>\n"...)
	case gone:
		return append(dst, notFound...)
	}
	return w.appendHTML(dst, h, i, links)
}

const notFound = "<!DOCTYPE html><title>Not found</title><p>There is no such page.</p>\n"

func (w *Web) size(h, i int) int {
	r := w.rng(h, i, forSize)
	return int(min(r.logNormal(float64(w.cfg.MedianSize), sizeSigma), maxSize))
}

func (w *Web) appendFile(dst []byte, h, i int) []byte {
	r := w.rng(h, i, forBody)
	for size := w.size(h, i); size > 0; {
		from := r.n(len(w.text.noise))
		to := min(from+size, len(w.text.noise))
		dst = append(dst, w.text.noise[from:to]...)
		size -= to - from
	}
	return dst
}

// The head ends with decoys: what a parser must not take for links.
const (
	headEnd = `<style>body{font:16px/1.5 serif;margin:0 auto;max-width:45em}nav a{margin-right:1em}</style>
<script>var old = '<a href="/decoy/script.html">old</a>';</script>
</head>
<body>
<!-- <a href="/decoy/comment.html">old</a> -->
<header><nav>`
	articleEnd = "</p>\n</article>\n</main>\n<footer>"
)

// appendHTML appends an HTML page. It is as long as its size says, or as short as its
// links allow.
func (w *Web) appendHTML(dst []byte, h, i int, links *[]link) []byte {
	r := w.rng(h, i, forBody)
	begin, size := len(dst), w.size(h, i)
	*links = w.appendLinks((*links)[:0], h, i)
	all := *links
	nav := min(branch+1, w.trunk, len(all)) // all[:nav] is the navigation bar, all[footer:] the footer
	footer := max(len(all)-2, nav)

	dst = append(dst, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"...)
	title := len(dst)
	dst = w.text.appendTitle(dst, &r)
	titleEnd := len(dst)
	dst = append(dst, "</title>\n<meta name=\"description\" content=\""...)
	dst = w.text.appendTitle(dst, &r)
	dst = append(dst, "\">\n"+headEnd...)
	for _, to := range all[:nav] {
		dst = append(dst, ' ')
		dst = w.appendAnchor(dst, h, i, to, &r)
	}
	dst = append(dst, "</nav></header>\n<main>\n<article>\n<h1>"...)
	dst = append(dst, dst[title:titleEnd]...)
	dst = append(dst, "</h1>\n<p>"...)
	for n, to := range all[nav:footer] {
		left := size - (len(dst) - begin)
		dst = w.text.appendText(dst, left/(footer-nav-n+1), &r)
		dst = w.appendAnchor(dst, h, i, to, &r)
		dst = append(dst, ". "...)
	}
	dst = w.text.appendText(dst, size-(len(dst)-begin), &r)
	dst = append(dst, articleEnd...)
	for _, to := range all[footer:] {
		dst = w.appendAnchor(dst, h, i, to, &r)
		dst = append(dst, ' ')
	}
	return append(dst, "</footer>\n</body>\n</html>\n"...)
}

// appendAnchor appends a link from page i of host h in one of the forms that
// links have.
func (w *Web) appendAnchor(dst []byte, h, i int, to link, r *rng) []byte {
	dst = append(dst, "<a"...)
	if to.nofollow {
		dst = append(dst, ` rel="nofollow"`...)
	}
	dst = append(dst, ` href="`...)
	var scratch, base [64]byte
	path := w.appendPath(scratch[:0], to.host, to.page)
	switch form := r.n(8); {
	case to.host != h && form < 6, form == 0:
		dst = w.appendOrigin(dst, to.host)
	case to.host != h, form == 1:
		dst = append(append(append(dst, "//"...), w.hosts[to.host].name...), w.port...)
	case form < 5:
		dst, path = appendRelative(dst, w.appendPath(base[:0], h, i), path)
	}
	if before, after, ok := bytes.Cut(path, []byte{'&'}); ok {
		dst = append(append(dst, before...), '&')
		if r.n(4) != 0 {
			dst = append(dst, "amp;"...)
		}
		path = after
	}
	dst = append(dst, path...)
	if r.n(12) == 0 {
		dst = append(append(dst, "#part-"...), '1'+byte(r.n(9)))
	}
	dst = append(dst, `">`...)
	return append(w.text.appendTitle(dst, r), "</a>"...)
}

// appendRelative appends how a reference to path begins when it is relative
// to the directory of base, and returns also the part of path that is to follow.
func appendRelative(dst, base, path []byte) ([]byte, []byte) {
	dir := base[:bytes.LastIndexByte(base, '/')+1]
	switch {
	case len(dir) == 1:
		return append(dst, "./"...), path[1:]
	case bytes.HasPrefix(path, dir):
		return dst, path[len(dir):]
	}
	return append(dst, "../"...), path[1:]
}
