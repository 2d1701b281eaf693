package testweb

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

const (
	branch        = 5  // children of a page in the tree of its host
	hostBranch    = 3  // children of a host in the tree of hosts
	maxArchive    = 12 // longest chain of archive pages
	shortcutEvery = 32 // one page in so many has a shortcut
)

// kind is what stands behind the URL of a page.
type kind uint8

const (
	page     kind = iota // HTML with links
	private              // the same below /private/
	redirect             // 301
	gone                 // 404
	image
	pdf
	printed // print version of page i, numbered Pages + i
)

// kind is what page i of host h is. The front page, the navigation bar and
// the archive are always HTML.
func (w *Web) kind(h, i int) kind {
	switch {
	case i >= w.cfg.Pages:
		return printed
	case i <= branch || i >= w.trunk:
		return page
	}
	r := w.rng(h, i, forKind)
	if r.float() < w.cfg.Private {
		return private
	}
	if branch*i+1 < w.trunk { // has children
		return page
	}
	switch u := r.float(); {
	case u < w.cfg.Redirects:
		return redirect
	case u < w.cfg.Redirects+w.cfg.Gone:
		return gone
	case u < w.cfg.Redirects+w.cfg.Gone+w.cfg.Files/2:
		return image
	case u < w.cfg.Redirects+w.cfg.Gone+w.cfg.Files:
		return pdf
	}
	return page
}

// target is where the redirect at page i of host h leads. Three in four lead
// to the next page, which then is linked from nowhere else in the tree;
// the others, and the last ones among their siblings, to the front or
// navigation page of any host. So no chain is longer than the siblings are many.
func (w *Web) target(h, i int) link {
	r := w.rng(h, i, forTarget)
	if r.n(4) != 0 && i%branch != 0 && i+1 < w.trunk {
		return link{host: h, page: i + 1}
	}
	return link{host: r.n(w.cfg.Hosts), page: r.n(min(branch+1, w.trunk))}
}

// link is one link on a page.
type link struct {
	host, page int
	nofollow   bool
}

// appendLinks appends the links of page i of host h in the order of the
// page: the navigation bar first.
func (w *Web) appendLinks(dst []link, h, i int) []link {
	switch w.kind(h, i) {
	case printed:
		return append(dst, link{host: h}, link{host: h, page: i - w.cfg.Pages})
	case redirect, gone, image, pdf:
		return dst
	}
	for n := range min(branch+1, w.trunk) {
		dst = append(dst, link{host: h, page: n})
	}
	r := w.rng(h, i, forLinks)
	body := len(dst)
	dst = w.appendChildren(dst, h, i)
	if r.n(shortcutEvery) == 0 {
		dst = append(dst, link{host: r.n(w.cfg.Hosts), page: r.n(w.cfg.Pages)})
	}
	for range 14 + r.n(15) {
		dst = append(dst, w.earlier(h, i, &r))
	}
	rest := dst[body:]
	for n := range rest {
		m := n + r.n(len(rest)-n)
		rest[n], rest[m] = rest[m], rest[n]
	}
	if w.printable(h, i) {
		dst = append(dst, link{host: h, page: w.cfg.Pages + i, nofollow: true})
	}
	return append(dst, dst[body], link{host: h})
}

// appendChildren appends the links that make every page reachable.
func (w *Web) appendChildren(dst []link, h, i int) []link {
	if i < w.trunk {
		first := branch*i + 1
		for c := first; c < min(first+branch, w.trunk); c++ {
			if c > first && w.kind(h, c-1) == redirect && w.target(h, c-1).page == c {
				continue
			}
			dst = append(dst, link{host: h, page: c})
		}
		for n := range hostBranch {
			if c := hostBranch*h + 1 + n; c < w.cfg.Hosts && i == min(1+n, w.trunk-1) {
				dst = append(dst, link{host: c})
			}
		}
	}
	next := i + 1
	if i == 0 {
		next = w.trunk
	}
	if (i == 0 || i >= w.trunk) && next < w.cfg.Pages {
		dst = append(dst, link{host: h, page: next})
	}
	return dst
}

// earlier draws a page of the same or an earlier level, more often an early
// one: of the same host, or one time in five of a host that is not later.
func (w *Web) earlier(h, i int, r *rng) link {
	if r.n(5) == 0 {
		h = int(float64(h+1) * r.float() * r.float())
	}
	if i >= w.trunk {
		return link{host: h, page: r.n(min(branch+1, w.trunk))}
	}
	u := r.float()
	return link{host: h, page: int(float64(i+1) * u * u)}
}

// printable reports whether page i of host h has a print version.
func (w *Web) printable(h, i int) bool {
	if w.cfg.Nofollow == 0 {
		return false
	}
	r := w.rng(h, i, forPrint)
	return r.float() < w.cfg.Nofollow
}

// appendPath appends path and query of page i of host h.
func (w *Web) appendPath(dst []byte, h, i int) []byte {
	if i == 0 {
		return append(dst, '/')
	}
	ext := ".html"
	switch w.kind(h, i) {
	case page:
		r := w.rng(h, i, forPath)
		section := int64(r.n(9))
		if r.n(8) == 0 {
			dst, ext = strconv.AppendInt(append(dst, "/item?cat="...), section, 10), ""
			dst = append(dst, "&id="...)
		} else {
			dst = append(strconv.AppendInt(append(dst, "/s"...), section, 10), '/')
		}
	case private:
		dst = append(dst, "/private/"...)
	case redirect:
		dst, ext = append(dst, "/go/"...), ""
	case gone:
		dst = append(dst, "/gone/"...)
	case image:
		dst, ext = append(dst, "/files/"...), ".png"
	case pdf:
		dst, ext = append(dst, "/files/"...), ".pdf"
	case printed:
		dst, i = append(dst, "/print/"...), i-w.cfg.Pages
	}
	for width := 100_000; i < width && width > 1; width /= 10 {
		dst = append(dst, '0')
	}
	return append(strconv.AppendInt(dst, int64(i), 10), ext...)
}

// find is the inverse of appendPath.
func (w *Web) find(h int, path string) (i int, ok bool) {
	if path != "/" {
		digits := strings.TrimRight(path, ".dfghlmnpt")
		i, _ = strconv.Atoi(digits[strings.LastIndexAny(digits, "/=")+1:])
		if strings.HasPrefix(path, "/print/") {
			if i < 0 || i >= w.cfg.Pages || !w.printable(h, i) {
				return 0, false
			}
			i += w.cfg.Pages
		}
		if i <= 0 || i >= w.span {
			return 0, false
		}
	}
	var scratch [64]byte
	return i, string(w.appendPath(scratch[:0], h, i)) == path
}

// Scope says which URLs a crawl is to fetch.
type Scope struct {
	MaxDepth     int  // links from a seed; -1 means no limit
	SameHost     bool // follow no link or redirect to another host
	Nofollow     bool // follow links with rel=nofollow too
	IgnoreRobots bool
}

// allowed reports whether robots.txt allows page i of host h.
func (w *Web) allowed(s Scope, h, i int) bool {
	if s.IgnoreRobots {
		return true
	}
	switch w.hosts[h].robots {
	case robotsServed:
		return w.kind(h, i) != private
	case robotsMissing:
		return true
	}
	return false
}

// Reachable yields every URL that a crawl of the seeds within s must fetch,
// and its depth: the least number of links from a seed, where a redirect is
// none. Redirects, 404s and files are among them; what robots.txt disallows,
// and what only that leads to, is not.
func (w *Web) Reachable(s Scope) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for id, d := range w.depths(s) {
			if d >= 0 && !yield(w.url(id/w.span, id%w.span), int(d)) {
				return
			}
		}
	}
}

// depths returns the depth of each page, -1 for those out of reach, page i of
// host h at h*span + i.
func (w *Web) depths(s Scope) []int16 {
	const unreached = math.MaxInt16
	depth := make([]int16, w.cfg.Hosts*w.span)
	for id := range depth {
		depth[id] = unreached
	}
	var level, next []int
	reach := func(queue []int, h, i int, d int16) []int {
		if id := h*w.span + i; depth[id] > d && w.allowed(s, h, i) {
			depth[id] = d
			return append(queue, id)
		}
		return queue
	}
	for h := range w.cfg.Seeds {
		level = reach(level, h, 0, 0)
	}
	var links []link
	for d := int16(0); len(level) > 0; d++ {
		for n := 0; n < len(level); n++ { // redirects lengthen the level
			h, i := level[n]/w.span, level[n]%w.span
			if w.kind(h, i) == redirect {
				if to := w.target(h, i); to.host == h || !s.SameHost {
					level = reach(level, to.host, to.page, d)
				}
				continue
			}
			if int(d) == s.MaxDepth {
				continue
			}
			links = w.appendLinks(links[:0], h, i)
			for _, to := range links {
				if (to.host == h || !s.SameHost) && (!to.nofollow || s.Nofollow) {
					next = reach(next, to.host, to.page, d+1)
				}
			}
		}
		level, next = next, level[:0]
	}
	for id, d := range depth {
		if d == unreached {
			depth[id] = -1
		}
	}
	return depth
}
