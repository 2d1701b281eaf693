package crawl

import (
	"context"
	"fmt"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// overtaken reports whether a page with links to keep may have been met nearer, or as what a seed redirects to, while it
// was leased, so that its links were offered as those of another.
func overtaken(record storage.Record, e frontier.Result) bool {
	if record.Depth < e.Depth || record.Hops < e.Hops {
		return true
	}
	asSeed := len(e.Links) == 1 && e.Links[0].Seed // a link to another partition cannot be looked at
	return record.Seed && e.Keep[0].Redirect && !asSeed
}

// relinked offers the links of a page again.
func (a *application) relinked(e frontier.Relinked) error {
	record, err := a.tx.Record(e.ID)
	if err != nil {
		return err
	}
	if record.Depth == e.Depth && record.Hops == e.Hops {
		if err := a.tx.UnmarkRelink(e.ID); err != nil {
			return err
		}
	}
	return a.offer(place(e.Links, record.Depth, record.Hops, storage.Ref{Partition: a.n, ID: e.ID}))
}

// relinkAll offers the links of marked pages again whenever there are any, until ctx ends.
func (p *partition) relinkAll(ctx context.Context) error {
	for {
		select {
		case <-p.relink:
		case <-ctx.Done():
			return nil
		}
		for {
			more, err := p.relinkSome(ctx)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
		p.crawl.leave()
	}
}

// relinkGroup bounds the pages whose links are read at once.
const relinkGroup = 64

// relinkSome offers the links of some of the marked pages again: those of other partitions first, then the page's own,
// which also takes the mark away.
func (p *partition) relinkSome(ctx context.Context) (more bool, err error) {
	type page struct {
		id     storage.ID
		record storage.Record
		links  []storage.StoredLink
	}
	var pages []page
	err = p.store.View(func(tx *storage.Tx) error {
		for id := range tx.Relinks() {
			if len(pages) == relinkGroup {
				break
			}
			pg := page{id: id}
			var err error
			if pg.record, err = tx.Record(id); err != nil {
				return err
			}
			if pg.links, err = tx.Links(id); err != nil {
				return err
			}
			pages = append(pages, pg)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	var foreign []frontier.Link
	var relinked []frontier.Entry
	for _, pg := range pages {
		if weight(relinked)+len(foreign) > groupLinks {
			break // the others keep their mark
		}
		links := make([]frontier.Link, 0, len(pg.links))
		for _, stored := range pg.links {
			u, err := normalize.Parse(stored.Href)
			if err != nil {
				return false, fmt.Errorf("%w: links: %w", storage.ErrDamaged, err)
			}
			links = append(links, p.crawl.link(u, stored.Redirect, pg.record))
		}
		page := storage.Ref{Partition: p.n, ID: pg.id}
		own, others := p.crawl.split(links, p.n)
		foreign = append(foreign, place(others, pg.record.Depth, pg.record.Hops, page)...)
		own, err := p.crawl.offerMost(ctx, page, pg.record, own)
		if err != nil {
			return false, err
		}
		relinked = append(relinked, frontier.Relinked{ID: pg.id, Depth: pg.record.Depth, Hops: pg.record.Hops, Links: own})
	}
	if len(pages) == 0 {
		return false, nil
	}
	if err := p.crawl.offer(ctx, foreign); err != nil {
		return false, err
	}
	return true, p.log.Append(ctx, relinked...)
}
