package crawl

import (
	"context"
	"time"

	"crawler/extract"
	"crawler/fetcher"
	"crawler/fetcher/robots"
	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// visit is one lease: robots.txt if it is not known yet, or the page itself and its links. It returns when the outcome
// is durable. fetched says that the page counts as fetched.
func (c *Crawl) visit(ctx context.Context, l *frontier.Lease) (fetched bool, err error) {
	v := visitor{crawl: c, lease: l, result: frontier.Result{
		ID: l.ID, Host: l.Host, Depth: l.Record.Depth, Hops: l.Record.Hops,
	}}
	v.run(ctx)
	defer v.land()
	return v.result.Outcome.Verdict == frontier.Settled, v.commit(context.WithoutCancel(ctx))
}

// visitor gathers what becomes of a lease.
type visitor struct {
	crawl  *Crawl
	lease  *frontier.Lease
	result frontier.Result
	links  []frontier.Link
	flight string // the origin whose robots.txt was asked for
	large  bool   // the page has the token of Crawl.large
}

// largePage is the size of a body in bytes from which pages are taken apart one at a time: one of 10 MiB may hold a million
// links, which take fifty times its memory.
const largePage = 1 << 20

// land lets others ask for the robots.txt, now that what it says is durable, and go on to the next large page.
func (v *visitor) land() {
	if v.large {
		<-v.crawl.large
	}
	if v.flight != "" {
		v.crawl.flights.end(v.flight, v.result.Robots != nil && v.result.Robots.Fails > 0)
	}
}

func (v *visitor) run(ctx context.Context) {
	// What an earlier run queued may be out of the scope of this one.
	if refusal := v.crawl.unwanted(v.lease.URL, v.lease.Record); refusal.Reason != "" {
		v.result.Outcome = frontier.Outcome{Verdict: frontier.Refuse, Reason: refusal.Reason, Detail: refusal.Detail}
		return
	}
	if v.lease.Politeness.ObeyRobots {
		rules, ok := v.robots(ctx)
		if !ok {
			return // the lease went to robots.txt
		}
		if verdict := rules.Check(v.lease.URL.RequestURI()); !verdict.Allowed {
			v.result.Outcome = frontier.Outcome{
				Verdict: frontier.Refuse, Reason: RefusedRobots, Detail: robotsDetail(verdict),
			}
			return
		}
	}
	v.fetch(ctx)
}

// fetch gets the page and judges it.
func (v *visitor) fetch(ctx context.Context) {
	page, err := v.crawl.fetcher.Fetch(ctx, v.lease.URL)
	cost := &v.result.Cost
	cost.Requests++
	if err != nil {
		o := errorOutcome(err, v.lease.Record.Tries)
		if asked(err) {
			o.End = time.Now()
		} else {
			cost.Requests--
		}
		cost.Error = string(kindOf(err))
		if o.Verdict == frontier.PutBack {
			cost.Error = ""
		}
		v.result.Outcome = o
		v.fallBack(err)
		return
	}
	cost.Bytes += page.Received
	v.result.Outcome = pageOutcome(page, v.lease.Record.Tries)
	if v.result.Outcome.Verdict == frontier.Settled {
		if len(page.Body) > largePage {
			v.crawl.large <- struct{}{}
			v.large = true
		}
		v.links = v.crawl.linksOf(page, v.lease)
		v.result.Keep = v.keep()
	}
}

// asked reports whether a failed fetch may have come as far as the host.
func asked(err error) bool {
	switch kindOf(err) {
	case fetcher.KindDNS, fetcher.KindNXDomain, fetcher.KindBlocked:
		return false
	}
	return true
}

// fallBack gives a seed that was written without a scheme up for its http form, if https does not answer.
func (v *visitor) fallBack(err error) {
	if !v.lease.Record.Fallback || v.lease.URL.Scheme() != "https" {
		return
	}
	switch kindOf(err) {
	case fetcher.KindConnect, fetcher.KindTLS, fetcher.KindTimeout, fetcher.KindReset, fetcher.KindProtocol:
	default:
		return
	}
	plain, parseErr := v.lease.URL.Resolve("http:" + v.lease.URL.String()[len("https:"):])
	if parseErr != nil {
		return
	}
	o := &v.result.Outcome
	o.Verdict, o.HostFailed, o.Reason = frontier.GiveUp, false, string(kindOf(err))
	o.Detail = detailOf(err) + "; " + plain.String() + " is tried instead"
	v.links = []frontier.Link{{URL: plain, Redirect: true, Seed: true}}
}

// keep returns the links to be offered again should the page turn out to lie nearer. Without a depth limit only a chain
// of redirects can end differently then.
func (v *visitor) keep() []storage.StoredLink {
	var keep []storage.StoredLink
	limited := v.crawl.cfg.Scope.maxDepth() >= 0
	for _, l := range v.links {
		if (l.Refused.Reason == "" || ofScope(l.Refused.Reason)) && (limited || l.Redirect) {
			keep = append(keep, storage.StoredLink{Href: l.URL.String(), Redirect: l.Redirect})
		}
	}
	return keep
}

// commit offers the links of other partitions, and then closes the lease.
func (v *visitor) commit(ctx context.Context) error {
	l := v.lease
	page := storage.Ref{Partition: l.Partition, ID: l.ID}
	own, foreign := v.crawl.split(v.links, l.Partition)
	if err := v.crawl.offer(ctx, place(foreign, l.Record.Depth, l.Record.Hops, page)); err != nil {
		return err
	}
	own, err := v.crawl.offerMost(ctx, page, l.Record, own)
	if err != nil {
		return err
	}
	v.result.Links = own
	return v.crawl.parts[l.Partition].log.Append(ctx, v.result)
}

// linksOf returns the links of a page, each URL once, judged by all but its depth.
func (c *Crawl) linksOf(page *fetcher.Page, l *frontier.Lease) []frontier.Link {
	if !page.Redirect.IsZero() {
		return []frontier.Link{c.link(page.Redirect, true, l.Record)}
	}
	if page.Status >= 300 || !extract.IsHTML(page.Header.Get("Content-Type")) && !(page.MediaType == "" && extract.SniffHTML(page.Body)) {
		return nil
	}
	doc := extract.HTML(page.Body, page.Header.Get("Content-Type"), c.agent)
	g := gatherer{crawl: c, base: page.URL, met: map[string]bool{string(page.URL.Key()): true}}
	if base, err := page.URL.Resolve(doc.Base); doc.Base != "" && err == nil {
		g.base = base
	}
	_, headerNoFollow := extract.RobotsTag(page.Header.Values("X-Robots-Tag"), c.agent)
	pageNoFollow := l.Politeness.ObeyRobots && (doc.NoFollow || headerNoFollow)
	for link := range doc.Links() {
		g.add(link.Ref, pageNoFollow, l.Politeness.ObeyRobots && link.NoFollow)
	}
	return g.links
}

// link returns a link of a page, judged. The target of a redirect of a seed stands in for the seed: it is in scope.
func (c *Crawl) link(u normalize.URL, redirect bool, page storage.Record) frontier.Link {
	if redirect && page.Seed {
		return frontier.Link{URL: u, Redirect: true, Seed: true}
	}
	return frontier.Link{URL: u, Redirect: redirect, Refused: c.scope.refuse(u)}
}

func robotsDetail(v robots.Verdict) string {
	return "line " + itoa(v.Line) + " of robots.txt: " + v.Rule
}
