package crawl

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"crawler/frontier"
	"crawler/normalize"
)

func itoa(n int) string { return strconv.Itoa(n) }

// gatherer makes links of the references on one page.
type gatherer struct {
	crawl *Crawl
	base  normalize.URL
	met   map[string]bool // keys, and references that are no URL; whether they may be followed
	links []frontier.Link
}

// add takes a reference, unless the page has given the same URL before. Of several links to one URL the first counts,
// and the first that may be followed, if that is another.
func (g *gatherer) add(ref string, pageNoFollow, linkNoFollow bool) {
	u, err := g.base.Resolve(ref)
	l := frontier.Link{URL: u}
	key := string(u.Key())
	switch {
	case err != nil:
		key = clip(ref)
		l.Raw, l.Refused = key, refuseUnparsable(err)
	case pageNoFollow:
		l.Refused = frontier.Refusal{Reason: RefusedNoFollow, Detail: "the page asks not to follow its links"}
	case linkNoFollow:
		l.Refused = frontier.Refusal{Reason: RefusedNoFollow, Detail: "the link has rel=nofollow"}
	default:
		l.Refused = g.crawl.scope.refuse(u)
	}
	follow := l.Refused.Reason != RefusedNoFollow
	if followed, met := g.met[key]; met && (followed || !follow) {
		return
	}
	g.met[key] = follow
	if u.DroppedUserinfo() {
		g.crawl.cfg.Log.Debug("user name and password of a link dropped", "url", u.String(), "page", g.base.String())
	}
	g.links = append(g.links, l)
}

func refuseUnparsable(err error) frontier.Refusal {
	reason := RefusedInvalid
	if errors.Is(err, normalize.ErrScheme) {
		reason = RefusedScheme
	}
	return frontier.Refusal{Reason: reason, Detail: err.Error()}
}

// maxRaw is the number of bytes kept of a reference that is no URL.
const maxRaw = 1024

// clip returns a reference as it is kept, which is never empty.
func clip(ref string) string {
	ref = strings.ToValidUTF8(strings.TrimSpace(ref), "\uFFFD")
	if ref == "" {
		return "(empty)"
	}
	if len(ref) <= maxRaw {
		return ref
	}
	n := maxRaw
	for !utf8.RuneStart(ref[n]) {
		n--
	}
	return ref[:n] + "…"
}
