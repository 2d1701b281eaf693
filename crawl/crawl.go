package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"crawler/fetcher"
	"crawler/fetcher/robots"
	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// Crawl is one crawl over a data directory that it holds. Open it, Run it once, Close it.
type Crawl struct {
	cfg      Config
	dir      *storage.Dir
	parts    []*partition
	frontier *frontier.Frontier
	fetcher  *fetcher.Fetcher
	agent    string // product token of the user agent
	rules    *robots.Cache
	flights  flights
	large    chan struct{} // has a token while the links of a large page are read and offered
	budget   *budget
	scope    *judge
	before   time.Duration // elapsed in earlier runs
	opened   time.Time

	hurry     chan struct{} // closed by Hurry
	hurryOnce sync.Once

	mu         sync.Mutex // guards all below
	stop       context.CancelCauseFunc
	busy       int           // activities that may still offer links, leases apart
	reconsider chan struct{} // has a token when refused URLs are to be judged anew
	failure    error         // the first, as a crawl that is stopping already may fail too
	state      State
}

// The reasons for which a crawl ends.
var (
	// ErrFinished: all that is in scope has been crawled.
	ErrFinished = errors.New("finished: nothing is left to crawl")
	// ErrUnreachable: what is left to crawl is on hosts that could not be reached again and again.
	ErrUnreachable = errors.New("stopped: what is left is on hosts that cannot be reached; run again to try them")
	// ErrMaxPages, ErrMaxTime and ErrMinFreeDisk: a limit was reached.
	ErrMaxPages    = errors.New("stopped: the limit of pages is reached")
	ErrMaxTime     = errors.New("stopped: the limit of time is reached")
	ErrMinFreeDisk = errors.New("stopped: the disk is nearly full")
	// ErrInterrupted: the caller's context ended.
	ErrInterrupted = errors.New("stopped")
)

// Open opens the crawl in the data directory at path, and makes it if there is none.
func Open(path string, cfg Config) (_ *Crawl, err error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	fetch, err := fetcher.New(cfg.Fetch)
	if err != nil {
		return nil, err
	}
	dir, err := storage.CreateDir(path, cfg.Partitions)
	if err != nil {
		fetch.Close()
		return nil, err
	}
	c := &Crawl{
		cfg: cfg, dir: dir, fetcher: fetch, agent: robots.ProductToken(cfg.Fetch.UserAgent), rules: robots.NewCache(0, 0),
		scope: newJudge(cfg.Scope), frontier: frontier.New(frontier.Config{Rules: cfg.Politeness, Retry: cfg.Retry}),
		opened: time.Now(), hurry: make(chan struct{}), large: make(chan struct{}, 1), reconsider: make(chan struct{}, 1), state: StateStopped,
	}
	defer func() {
		if err != nil {
			fetch.Close()
			err = errors.Join(err, dir.Close())
		}
	}()
	return c, c.openPartitions()
}

func (c *Crawl) openPartitions() error {
	fetched := 0
	for n, store := range c.dir.Stores() {
		p, err := openPartition(c, n, store)
		if err != nil {
			return err
		}
		if err := errors.Join(forgive(store), c.frontier.Attach(n, store)); err != nil {
			return err
		}
		anchors, err := readAnchors(store)
		if err != nil {
			return err
		}
		c.scope.add(anchors...)
		fetched += int(p.counters.Load().Fetched)
		c.before = max(c.before, p.counters.Load().Elapsed)
		c.parts = append(c.parts, p)
	}
	c.budget = newBudget(c.cfg.Limits.MaxPages, fetched)
	return nil
}

func readAnchors(store *storage.Store) ([]normalize.URL, error) {
	var anchors []normalize.URL
	err := store.View(func(tx *storage.Tx) error {
		for href := range tx.Anchors() {
			u, err := normalize.Parse(href)
			if err != nil {
				return fmt.Errorf("%w: anchors: %w", storage.ErrDamaged, err)
			}
			anchors = append(anchors, u)
		}
		return nil
	})
	return anchors, err
}

// Run crawls from the seeds, and goes on with what earlier runs left, until nothing is left, a limit is reached, ctx
// ends, or something fails. The error says which: one of the reasons above, or the failure.
//
// When the crawl is to stop, no further fetch begins, those in flight have Config.Grace to end, and all outcomes are committed.
func (c *Crawl) Run(ctx context.Context, seeds []Seed) error {
	leasing, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(ErrInterrupted) })()
	if limit := c.cfg.Limits.MaxTime; limit > 0 {
		defer time.AfterFunc(limit, func() { stop(ErrMaxTime) }).Stop()
	}
	c.mu.Lock()
	c.stop, c.state = stop, StateRunning
	c.busy++ // until the seeds are offered
	c.mu.Unlock()

	serving, endServing := context.WithCancel(context.WithoutCancel(ctx))
	var servers sync.WaitGroup
	serve := func(run func(context.Context) error) {
		servers.Go(func() {
			if err := run(serving); err != nil {
				c.end(err)
			}
		})
	}
	for _, p := range c.parts {
		serve(p.run)
		serve(p.gate.Run)
		serve(p.relinkAll)
	}
	serve(c.reconsiderAll)
	serve(c.watchDisk)

	if err := c.start(leasing, seeds); err != nil {
		c.end(err)
	}
	c.leave()
	c.work(leasing)

	endServing()
	servers.Wait()
	reason := context.Cause(leasing)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = StateStopped
	if c.failure != nil {
		return c.failure
	}
	if errors.Is(reason, ErrFinished) {
		c.state = StateFinished
	}
	return reason
}

// start offers the seeds, and has those pages and refused URLs looked at again that an earlier run left to be.
func (c *Crawl) start(ctx context.Context, seeds []Seed) error {
	links := make([]frontier.Link, 0, len(seeds))
	for _, s := range seeds {
		links = append(links, frontier.Link{URL: s.URL, Seed: true, Fallback: s.Fallback})
		c.scope.add(s.URL)
		if s.URL.DroppedUserinfo() {
			c.cfg.Log.Warn("user name and password of a seed dropped", "url", s.URL.String())
		}
	}
	for _, p := range c.parts {
		marked := false
		err := p.store.View(func(tx *storage.Tx) error { marked = firstOf(tx.Relinks()); return nil })
		if err != nil {
			return err
		}
		if marked {
			c.signal(p.relink)
		}
	}
	if err := c.noteSeeds(len(seeds)); err != nil {
		return err
	}
	// Seeds are taken in even if the crawl is to stop already: they are kept nowhere else.
	for chunk := range slices.Chunk(links, seedChunk) {
		if err := c.offer(context.WithoutCancel(ctx), chunk); err != nil {
			return err
		}
	}
	c.signal(c.reconsider)
	if len(seeds) == 0 {
		return nil
	}
	return c.markSeeds(nil)
}

// metaSeeds is there while seeds are taken in.
const metaSeeds = "seeds"

// noteSeeds notes that seeds are about to be taken in, and warns if a run was killed while it took its own.
func (c *Crawl) noteSeeds(n int) error {
	var marked bool
	err := c.parts[0].store.View(func(tx *storage.Tx) error { marked = len(tx.Meta(metaSeeds)) > 0; return nil })
	if err != nil {
		return err
	}
	switch {
	case n > 0:
		return c.markSeeds([]byte{1})
	case marked:
		c.cfg.Log.Warn("an earlier run was killed while it took in its seeds; some may be missing: give the file again")
	}
	return nil
}

// markSeeds sets metaSeeds.
func (c *Crawl) markSeeds(mark []byte) error {
	return c.parts[0].store.Update(func(tx *storage.Tx) error { return tx.SetMeta(metaSeeds, mark) })
}

// seedChunk is the number of seeds offered in one entry.
const seedChunk = 1000

// work runs the workers until no lease is to be had any more.
func (c *Crawl) work(leasing context.Context) {
	fetching, endFetching := context.WithCancelCause(context.WithoutCancel(leasing))
	defer endFetching(nil)
	defer context.AfterFunc(leasing, func() {
		grace := time.NewTimer(c.cfg.Grace)
		defer grace.Stop()
		select {
		case <-grace.C:
		case <-c.hurry:
		case <-fetching.Done():
		}
		endFetching(ErrInterrupted)
	})()
	var workers sync.WaitGroup
	for range c.cfg.Concurrency {
		if leasing.Err() != nil {
			break
		}
		workers.Go(func() { c.worker(leasing, fetching) })
	}
	workers.Wait()
}

func (c *Crawl) worker(leasing, fetching context.Context) {
	for {
		if !c.budget.take(leasing) {
			if c.budget.exhausted() {
				c.end(ErrMaxPages)
			}
			return
		}
		lease, err := c.frontier.Next(leasing)
		if err != nil {
			c.budget.settle(false)
			c.end(err)
			return
		}
		fetched, err := c.visit(fetching, lease)
		c.budget.settle(fetched)
		if err != nil {
			c.end(err)
			return
		}
	}
}

// end stops the crawl for the given reason, unless it is stopping already. A failure counts even then.
func (c *Crawl) end(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == nil && !isReason(reason) {
		c.failure = reason
	}
	c.stop(reason)
}

// isReason tells the reasons for which a crawl ends from failures.
func isReason(err error) bool {
	return slices.ContainsFunc([]error{
		ErrFinished, ErrUnreachable, ErrMaxPages, ErrMaxTime, ErrMinFreeDisk, ErrInterrupted,
		context.Canceled, errLogClosed, // of what runs beside the workers, when these have ended
	}, func(reason error) bool { return errors.Is(err, reason) })
}

// Hurry cuts short the time that fetches in flight have once the crawl is to stop.
func (c *Crawl) Hurry() { c.hurryOnce.Do(func() { close(c.hurry) }) }

// leave ends an activity that may have offered links.
func (c *Crawl) leave() {
	c.mu.Lock()
	c.busy--
	c.mu.Unlock()
	c.checkEnd()
}

// checkEnd stops the crawl when nothing is left to do. A link that is on its way always has a lease or an activity
// behind it, so none can arrive later.
func (c *Crawl) checkEnd() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy > 0 || c.stop == nil {
		return
	}
	if c.frontier.Idle() {
		c.stop(ErrFinished)
	} else if c.frontier.Stuck() > 0 {
		c.stop(ErrUnreachable)
	}
}

// signal puts a token for an activity that may offer links, unless there is one. The activity ends with leave.
func (c *Crawl) signal(token chan<- struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case token <- struct{}{}:
		c.busy++
	default:
	}
}

// partitionOf returns the number of the partition that has a host.
func (c *Crawl) partitionOf(host string) int { return partitionOf(host, len(c.parts)) }

func partitionOf(host string, partitions int) int {
	return int(xxhash.Sum64String(host) % uint64(partitions))
}

// linkChunk is the number of links in one entry. It bounds a transaction: in bbolt a leaf that takes many new keys is split
// only at the commit, and each further key moves more of it.
const linkChunk = 2000

// offerMost offers the links of a page to the page's own partition, but for the last few, which it returns to go with the
// entry that settles the page. It gives up between chunks after Hurry.
func (c *Crawl) offerMost(ctx context.Context, page storage.Ref, r storage.Record, own []frontier.Link) ([]frontier.Link, error) {
	for len(own) > linkChunk {
		select {
		case <-c.hurry:
			return nil, ErrInterrupted
		default:
		}
		chunk := place(own[:linkChunk], r.Depth, r.Hops, page)
		if err := c.parts[page.Partition].log.Append(ctx, frontier.Links(chunk)); err != nil {
			return nil, err
		}
		own = own[linkChunk:]
	}
	return own, nil
}

// offer sends links to their partitions and returns when they are durable there.
func (c *Crawl) offer(ctx context.Context, links []frontier.Link) error {
	groups := make([]frontier.Links, len(c.parts))
	for _, l := range links {
		n := c.partitionOf(l.URL.Host())
		groups[n] = append(groups[n], l)
	}
	for n, group := range groups {
		for chunk := range slices.Chunk(group, linkChunk) {
			if err := c.parts[n].log.Append(ctx, chunk); err != nil {
				return err
			}
		}
	}
	return nil
}

// split tells the links that belong to a partition from those of others. A reference that is no URL belongs to the
// partition of its page.
func (c *Crawl) split(links []frontier.Link, partition int) (own, foreign []frontier.Link) {
	for _, l := range links {
		if l.URL.IsZero() || c.partitionOf(l.URL.Host()) == partition {
			own = append(own, l)
		} else {
			foreign = append(foreign, l)
		}
	}
	return own, foreign
}

// addAnchors widens the scope to what is reached from further seeds, and has what was out of scope judged anew.
func (c *Crawl) addAnchors(anchors []normalize.URL) {
	if c.scope.add(anchors...) {
		c.signal(c.reconsider)
	}
}

// SetPoliteness puts new politeness into force at once.
func (c *Crawl) SetPoliteness(r frontier.Rules) { c.frontier.SetRules(r) }

// Path returns the path of the data directory.
func (c *Crawl) Path() string { return c.dir.Path() }

// Settings returns what SaveSettings kept in the data directory, nil for nothing.
func (c *Crawl) Settings() json.RawMessage { return c.dir.Description().Settings }

// SaveSettings keeps the caller's settings in the data directory, for a resume.
func (c *Crawl) SaveSettings(s json.RawMessage) error { return c.dir.SaveSettings(s) }

// elapsed returns the time spent crawling, in earlier runs too.
func (c *Crawl) elapsed() time.Duration { return c.before + time.Since(c.opened) }

// Close lets go of the data directory.
func (c *Crawl) Close() error {
	c.fetcher.Close()
	var errs []error
	for _, p := range c.parts {
		errs = append(errs, c.frontier.Detach(p.n), p.close())
	}
	return errors.Join(append(errs, c.dir.Close())...)
}
