package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/seen"
	"crawler/storage"
)

// maxHops is the number of redirects in a row that are followed.
const maxHops = 10

// partition is the state of the hosts that hash to it, and the one place where that state changes.
type partition struct {
	n     int
	crawl *Crawl
	store *storage.Store
	gate  *seen.Gate
	log   Log
	// counters are those of the last commit; applied entries change a copy that replaces them with the next.
	counters atomic.Pointer[Counters]
	// relink has a token when pages wait to have their links offered again.
	relink chan struct{}
}

const (
	metaApplied  = "applied"
	metaCounters = "counters"
)

func openPartition(c *Crawl, n int, store *storage.Store) (*partition, error) {
	p := &partition{n: n, crawl: c, store: store, log: newLocalLog(), relink: make(chan struct{}, 1)}
	counters, err := loadCounters(store)
	if err != nil {
		return nil, err
	}
	if p.gate, err = seen.Open(store, c.cfg.Seen, counters.Seen); err != nil {
		return nil, err
	}
	p.counters.Store(counters)
	return p, nil
}

// forgive has a run try hosts and robots.txt files anew, and at once, that could not be had in earlier ones.
func forgive(store *storage.Store) error {
	return store.Update(func(tx *storage.Tx) error {
		hosts := make(map[string]storage.Host)
		for name, h := range tx.Hosts() {
			if h.Fails > 0 || h.Silent > 0 || h.Parked > 0 {
				hosts[name] = h
			}
		}
		for name, h := range hosts {
			if err := unpark(tx, h.ID); err != nil {
				return err
			}
			h.Fails, h.Silent, h.Parked, h.Unreachable = 0, 0, 0, 0
			if h.Why != frontier.WhyRetryAfter {
				h.Until = time.Time{}
			}
			if err := tx.SetHost(name, h); err != nil {
				return err
			}
		}
		return nil
	})
}

// unpark has the parked URLs of a host wait no longer.
func unpark(tx *storage.Tx, host uint32) error {
	parked := make(map[storage.ID]storage.Record)
	for _, id := range tx.Later(host) {
		r, err := tx.Record(id)
		if err != nil {
			return err
		}
		if r.Parked {
			parked[id] = r
		}
	}
	for id, r := range parked {
		r.Parked, r.Due, r.Reason, r.Detail = false, time.Time{}, "", ""
		if err := tx.SetRecord(id, host, r); err != nil {
			return err
		}
	}
	return nil
}

func loadCounters(store *storage.Store) (*Counters, error) {
	counters := newCounters()
	err := store.View(func(tx *storage.Tx) error {
		if text := tx.Meta(metaCounters); len(text) > 0 {
			if err := json.Unmarshal(text, counters); err != nil {
				return fmt.Errorf("%w: counters: %w", storage.ErrDamaged, err)
			}
		}
		return nil
	})
	return counters, err
}

// run applies the partition's entries until ctx ends.
func (p *partition) run(ctx context.Context) error {
	var applied uint64
	err := p.store.View(func(tx *storage.Tx) error {
		if v := tx.Meta(metaApplied); len(v) > 0 {
			return json.Unmarshal(v, &applied)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return p.log.Follow(ctx, applied, p.apply)
}

// apply applies entries in one transaction.
func (p *partition) apply(entries []frontier.Entry, last uint64) error {
	err := p.store.Update(func(tx *storage.Tx) error {
		a := &application{
			partition: p, tx: tx, batch: p.crawl.frontier.Begin(p.n, tx),
			counters: p.counters.Load().clone(),
		}
		for _, e := range entries {
			if err := a.entry(e); err != nil {
				return err
			}
		}
		return a.end(last)
	})
	if err != nil {
		return fmt.Errorf("partition %d: %w", p.n, err)
	}
	p.crawl.checkEnd()
	return nil
}

// application is one transaction in which entries are applied.
type application struct {
	*partition
	tx       *storage.Tx
	batch    *frontier.Batch
	counters *Counters
	anchors  []normalize.URL

	candidates []frontier.Link // of offer
	items      []seen.Item
	answers    []seen.Answer
}

func (a *application) entry(e frontier.Entry) error {
	switch e := e.(type) {
	case frontier.Links:
		return a.offer(e)
	case frontier.Result:
		return a.result(e)
	case frontier.Relinked:
		return a.relinked(e)
	}
	panic(fmt.Sprintf("crawl: entry of type %T", e))
}

// end writes what goes with every transaction.
func (a *application) end(last uint64) error {
	a.counters.Seen = a.gate.Stats().Counters
	a.counters.Elapsed, a.counters.State = a.crawl.elapsed(), a.crawl.currentState()
	text, err := json.Marshal(a.counters)
	if err != nil {
		return err
	}
	if err := a.tx.SetMeta(metaCounters, text); err != nil {
		return err
	}
	if err := a.tx.SetMeta(metaApplied, fmt.Appendf(nil, "%d", last)); err != nil {
		return err
	}
	relinks := firstOf(a.tx.Relinks())
	// What is still to be done is signalled before the frontier may be found idle.
	a.tx.OnCommit(func() {
		a.partition.counters.Store(a.counters)
		a.crawl.addAnchors(a.anchors)
		if relinks {
			a.crawl.signal(a.relink)
		}
	})
	return a.batch.End()
}

// offer admits the links that are new and may be crawled, and says of every other what became of it.
func (a *application) offer(links []frontier.Link) error {
	a.candidates = a.candidates[:0]
	for _, l := range links {
		a.counters.Discovered++
		// The scope may have widened since the page was judged; what patterns say stands, but for seeds.
		if l.Refused.Reason == RefusedScope || ofScope(l.Refused.Reason) && a.crawl.scope.isAnchor(l.URL) {
			l.Refused = a.crawl.scope.refuse(l.URL)
		}
		if l.Refused.Reason == "" {
			l.Refused = a.crawl.tooDeep(l)
		}
		if l.Refused.Reason != "" {
			if err := a.refuse(l); err != nil {
				return err
			}
			continue
		}
		if l.Seed {
			if err := a.anchor(l.URL); err != nil {
				return err
			}
		}
		a.candidates = append(a.candidates, l)
		if a.crawl.cfg.Limits.MaxURLsPerHost > 0 {
			// What the host may still have depends on what became of the last link.
			if err := a.admitWithin(a.crawl.cfg.Limits.MaxURLsPerHost); err != nil {
				return err
			}
		}
	}
	return a.admit()
}

// tooDeep says whether a link lies beyond the depth limit, or at the end of too long a chain of redirects.
func (c *Crawl) tooDeep(l frontier.Link) frontier.Refusal {
	if limit := c.cfg.Scope.maxDepth(); limit >= 0 && l.Depth > limit {
		return frontier.Refusal{Reason: RefusedDepth, Detail: fmt.Sprintf("%d links from a seed; the limit is %d", l.Depth, limit)}
	}
	if l.Hops > maxHops {
		return frontier.Refusal{Reason: RefusedTrap, Detail: fmt.Sprintf("more than %d redirects in a row", maxHops)}
	}
	return frontier.Refusal{}
}

// admitWithin admits the one candidate unless it is new and its host has all the URLs it may have.
func (a *application) admitWithin(limit int) error {
	l := a.candidates[0]
	n, err := a.batch.Admitted(l.URL.Host())
	if err != nil {
		return err
	}
	if n >= limit {
		if _, known := a.tx.Find(string(l.URL.Key())); !known {
			a.candidates = a.candidates[:0]
			l.Refused = frontier.Refusal{Reason: RefusedLimit, Detail: fmt.Sprintf("the host has its %d URLs", limit)}
			return a.refuse(l)
		}
	}
	return a.admit()
}

// admit passes the candidates through the seen gate and queues those that are new.
func (a *application) admit() error {
	a.items = a.items[:0]
	for _, l := range a.candidates {
		a.items = append(a.items, seen.Item{Key: l.URL.Key(), Href: l.URL.String()})
	}
	var err error
	if a.answers, err = a.gate.Add(a.tx, a.items, a.answers[:0]); err != nil {
		return err
	}
	for i, l := range a.candidates {
		if a.answers[i].Fresh {
			err = a.admitted(a.answers[i].ID, l)
		} else {
			a.counters.Duplicates++
			err = errors.Join(a.reopen(a.answers[i].ID, l), a.batch.Meet(a.answers[i].ID, l))
		}
		if err != nil {
			return err
		}
	}
	a.candidates = a.candidates[:0]
	return nil
}

func (a *application) admitted(id storage.ID, l frontier.Link) error {
	key := string(l.URL.Key())
	refusal, ok, err := a.tx.Refusal(key)
	if err != nil {
		return err
	}
	if ok { // refused when it was met first: it was another link of the same URL, as it turns out
		if err := a.tx.DeleteRefusal(key); err != nil {
			return err
		}
		a.counters.Refused.add(refusal.Reason, -1)
		a.counters.Duplicates++
	}
	a.counters.Admitted++
	return a.batch.Admit(id, l)
}

// reopen queues a URL once more that has been settled for a reason which does not hold any more: it is in scope again, or it is
// a seed that is given again and that no server has answered, for the network, or what it allows, may have changed.
func (a *application) reopen(id storage.ID, l frontier.Link) error {
	givenAgain := l.Seed && !l.Redirect && l.Via.ID == 0
	if !givenAgain && !a.counters.narrowed() {
		return nil
	}
	r, err := a.tx.Record(id)
	if err != nil {
		return err
	}
	switch {
	case r.State == storage.Failed && r.Status == 0 && givenAgain:
		a.counters.Failed--
	case r.State == storage.Refused && (givesWay(r.Reason) || r.Reason == RefusedBlocked && givenAgain):
		a.counters.RefusedLater.add(r.Reason, -1)
	default:
		return nil
	}
	return a.batch.Reopen(id, l.URL.Host())
}

func (a *application) anchor(u normalize.URL) error {
	fresh, err := a.tx.AddAnchor(u.String())
	if fresh {
		a.anchors = append(a.anchors, u)
	}
	return err
}

// refuse keeps why a link is not crawled, unless its URL was admitted by way of another.
func (a *application) refuse(l frontier.Link) error {
	key := l.Raw
	if !l.URL.IsZero() {
		key = string(l.URL.Key())
		if _, admitted := a.tx.Find(key); admitted {
			a.counters.Duplicates++
			return nil
		}
	}
	known, ok, err := a.tx.Refusal(key)
	if err != nil {
		return err
	}
	if ok {
		a.counters.Duplicates++
		return a.refuseAgain(key, known, l)
	}
	a.counters.Refused.add(l.Refused.Reason, 1)
	href := l.Raw
	if !l.URL.IsZero() {
		href = l.URL.String()
	}
	return a.tx.SetRefusal(key, storage.Refusal{
		Reason: l.Refused.Reason, Detail: l.Refused.Detail, Href: href,
		Depth: l.Depth, Hops: l.Hops, Via: l.Via, Seed: l.Seed,
	})
}

// refuseAgain merges a further refusal of a URL into the one that is known. The reason of the nearest link stands, but
// one that may be followed goes before any that may not, for only it lets the URL in should the scope or a limit change.
func (a *application) refuseAgain(key string, known storage.Refusal, l frontier.Link) error {
	switch {
	case l.Refused.Reason == RefusedNoFollow && known.Reason != RefusedNoFollow:
		return nil
	case known.Reason == RefusedNoFollow && l.Refused.Reason != RefusedNoFollow:
		known.Depth, known.Hops, known.Via = l.Depth, l.Hops, l.Via
	case l.Depth >= known.Depth && l.Hops >= known.Hops:
		return nil
	}
	a.counters.Refused.add(known.Reason, -1)
	a.counters.Refused.add(l.Refused.Reason, 1)
	known.Reason, known.Detail = l.Refused.Reason, l.Refused.Detail
	known.Depth, known.Hops = min(known.Depth, l.Depth), min(known.Hops, l.Hops)
	known.Seed = known.Seed || l.Seed
	return a.tx.SetRefusal(key, known)
}

// result closes a lease.
func (a *application) result(e frontier.Result) error {
	if e.Robots != nil {
		next, err := a.batch.Robots(e.Host, *e.Robots)
		if err != nil {
			return err
		}
		e.Outcome.Until = next
	}
	record, open, err := a.batch.Finish(e.ID, e.Host, e.Outcome)
	if err != nil || !open {
		return err
	}
	a.counters.count(e)
	switch record.State {
	case storage.Fetched:
		a.counters.Fetched++
	case storage.Failed:
		a.counters.Failed++
	case storage.Refused:
		a.counters.RefusedLater.add(record.Reason, 1)
	}
	if len(e.Keep) > 0 && record.State == storage.Fetched {
		if err := a.tx.SetLinks(e.ID, e.Keep); err != nil {
			return err
		}
		if overtaken(record, e) {
			if err := a.tx.MarkRelink(e.ID); err != nil {
				return err
			}
		}
	}
	return a.offer(place(e.Links, record.Depth, record.Hops, storage.Ref{Partition: a.n, ID: e.ID}))
}

// place returns the links of a page with the depth and hops that follow from the page's own.
func place(links []frontier.Link, depth, hops int, via storage.Ref) []frontier.Link {
	placed := slices.Clone(links)
	for i := range placed {
		l := &placed[i]
		l.Via = via
		if l.Redirect {
			l.Depth, l.Hops = depth, hops+1
		} else {
			l.Depth, l.Hops = depth+1, 0
		}
	}
	return placed
}

func firstOf[T any](seq func(func(T) bool)) bool {
	for range seq {
		return true
	}
	return false
}
