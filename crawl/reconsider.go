package crawl

import (
	"context"
	"fmt"
	"slices"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// metaScope keeps the fingerprint of the scope by which a partition's refused URLs were last judged.
const metaScope = "scope"

// reconsiderAll judges refused URLs anew whenever the scope may have changed, until ctx ends.
func (c *Crawl) reconsiderAll(ctx context.Context) error {
	for {
		select {
		case <-c.reconsider:
		case <-ctx.Done():
			return nil
		}
		for _, p := range c.parts {
			if err := p.reconsiderRefused(ctx); err != nil {
				return err
			}
		}
		c.leave()
	}
}

// reconsiderGroup is the number of refused URLs looked at in one transaction.
const reconsiderGroup = 1000

// reconsiderRefused offers those refused URLs again that the scope and limits in force would let in.
func (p *partition) reconsiderRefused(ctx context.Context) error {
	scope := p.crawl.fingerprint()
	var last []byte
	err := p.store.View(func(tx *storage.Tx) error { last = slices.Clone(tx.Meta(metaScope)); return nil })
	if err != nil {
		return err
	}
	if string(last) == scope {
		return nil
	}
	// What was applied before this entry may have been judged by an older scope, and is now to be seen.
	if err := p.log.Append(ctx, frontier.Links(nil)); err != nil {
		return err
	}
	after := ""
	err = p.reoffer(ctx, func(tx *storage.Tx) (links []frontier.Link, more bool, err error) {
		n := 0
		for key, r := range tx.Refusals(after) {
			after = key
			if l, ok := p.crawl.reprieve(r); ok {
				links = append(links, l)
			}
			if n++; n == reconsiderGroup {
				return links, true, nil
			}
		}
		return links, false, nil
	})
	if err != nil {
		return err
	}
	if p.counters.Load().narrowed() {
		if err := p.reconsiderAdmitted(ctx); err != nil {
			return err
		}
	}
	return p.store.Update(func(tx *storage.Tx) error { return tx.SetMeta(metaScope, []byte(scope)) })
}

// reconsiderAdmitted offers those admitted URLs again that were refused because an earlier scope was narrower than that in force.
func (p *partition) reconsiderAdmitted(ctx context.Context) error {
	after := storage.ID(0)
	return p.reoffer(ctx, func(tx *storage.Tx) (links []frontier.Link, more bool, err error) {
		n := 0
		for id, r := range tx.Records(after) {
			after = id
			if r.State == storage.Refused && givesWay(r.Reason) {
				_, href, err := tx.URL(id)
				if err != nil {
					return nil, false, err
				}
				u, err := normalize.Parse(href)
				if err != nil {
					return nil, false, fmt.Errorf("%w: log: URL %d: %w", storage.ErrDamaged, id, err)
				}
				if p.crawl.unwanted(u, r).Reason == "" {
					links = append(links, frontier.Link{URL: u, Depth: r.Depth, Hops: r.Hops, Via: r.Via, Seed: r.Seed})
				}
			}
			if n++; n == reconsiderGroup {
				return links, true, nil
			}
		}
		return links, false, nil
	})
}

// reoffer offers the links that read finds. It calls read, each time in a short transaction, until there is no more.
func (p *partition) reoffer(ctx context.Context, read func(*storage.Tx) (links []frontier.Link, more bool, err error)) error {
	for more := true; more; {
		var links []frontier.Link
		err := p.store.View(func(tx *storage.Tx) (err error) {
			links, more, err = read(tx)
			return err
		})
		if err != nil {
			return err
		}
		if len(links) > 0 {
			if err := p.log.Append(ctx, frontier.Links(links)); err != nil {
				return err
			}
		}
	}
	return nil
}

// reprieve returns the link by which a refused URL is offered again, if it would be let in now.
func (c *Crawl) reprieve(r storage.Refusal) (frontier.Link, bool) {
	switch r.Reason {
	case RefusedScope, RefusedExclude, RefusedInclude, RefusedDepth, RefusedTrap, RefusedLimit:
	default:
		return frontier.Link{}, false
	}
	u, err := normalize.Parse(r.Href)
	if err != nil {
		return frontier.Link{}, false
	}
	l := frontier.Link{URL: u, Depth: r.Depth, Hops: r.Hops, Via: r.Via, Seed: r.Seed}
	ok := c.scope.refuse(u).Reason == "" && c.tooDeep(l).Reason == ""
	return l, ok
}

// fingerprint returns a text that is another when other limits and another scope decide which URLs are refused.
func (c *Crawl) fingerprint() string {
	return fmt.Sprintf("%s depth %d host %d", c.scope.fingerprint(), c.cfg.Scope.maxDepth(), c.cfg.Limits.MaxURLsPerHost)
}
