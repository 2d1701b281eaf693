package crawl

import (
	"context"
	"sync"
	"time"

	"crawler/fetcher"
	"crawler/fetcher/robots"
	"crawler/frontier"
	"crawler/storage"
)

// flights lets one worker at a time ask for the robots.txt of an origin.
type flights struct {
	mu    sync.Mutex // guards below
	under map[string]chan struct{}
}

// begin starts a flight. If one is under way, it returns a channel that is closed when that ends.
func (f *flights) begin(origin string) (wait <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if landed, ok := f.under[origin]; ok {
		return landed
	}
	if f.under == nil {
		f.under = make(map[string]chan struct{})
	}
	f.under[origin] = make(chan struct{})
	return nil
}

func (f *flights) end(origin string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.under[origin])
	delete(f.under, origin)
}

// robots returns the rules for the lease's URL. If they are not known, the lease is spent on asking for them, or on
// waiting for another that asks: ok is false and the URL goes back, for the request counts against the host's politeness.
func (v *visitor) robots(ctx context.Context) (_ *robots.Rules, ok bool) {
	c, origin := v.crawl, v.lease.URL.Origin()
	v.result.Outcome.Verdict = frontier.PutBack
	if entry, ok := c.knownRobots(v.lease.Partition, origin); ok {
		return entry.Rules, true
	}
	if wait := c.flights.begin(origin); wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
		}
		return nil, false
	}
	v.flight = origin
	v.askRobots(ctx, origin)
	return nil, false
}

// knownRobots returns the rules of an origin from memory or from the store, unless they are too old.
func (c *Crawl) knownRobots(partition int, origin string) (robots.Entry, bool) {
	now := time.Now()
	if entry, ok := c.rules.Get(origin, now); ok {
		return entry, true
	}
	stored, ok := storedRobots(c.parts[partition].store, origin)
	if !ok || robots.Access(stored.Access) == robots.AccessUnreachable || now.Sub(stored.Fetched) > robots.MaxAge {
		return robots.Entry{}, false
	}
	entry := c.robotsEntry(stored)
	c.rules.Put(origin, entry)
	return entry, true
}

func storedRobots(store *storage.Store, origin string) (stored storage.Robots, ok bool) {
	err := store.View(func(tx *storage.Tx) (err error) {
		stored, ok, err = tx.Robots(origin)
		return err
	})
	return stored, ok && err == nil // what cannot be read is asked for again
}

// robotsEntry returns what a robots.txt means for this crawler.
func (c *Crawl) robotsEntry(stored storage.Robots) robots.Entry {
	entry := robots.Entry{Access: robots.Access(stored.Access), Fetched: stored.Fetched}
	if entry.Access == robots.AccessRules {
		entry.Rules = robots.Parse(stored.Body).Group(c.agent)
	}
	return entry
}

// askRobots fetches a robots.txt under the lease.
func (v *visitor) askRobots(ctx context.Context, origin string) {
	c := v.crawl
	got := c.fetcher.Robots(ctx, v.lease.URL)
	cost, o := &v.result.Cost, &v.result.Outcome
	cost.Requests, cost.RobotsRequests = got.Requests, got.Requests
	o.Answer = 0
	if got.Requests > 0 {
		o.End = got.End
	}
	if got.Err != nil {
		if kindOf(got.Err) == fetcher.KindCanceled {
			return
		}
		cost.Error = string(kindOf(got.Err))
	}
	rb := &frontier.Robots{Origin: origin, Robots: storage.Robots{
		Access: string(got.Access), Status: got.Status, Fetched: got.End, Body: got.Body,
	}}
	if got.Err != nil {
		rb.Detail = got.Err.Error()
	}
	v.result.Robots = rb
	if got.Access != robots.AccessUnreachable {
		entry := c.robotsEntry(rb.Robots)
		rb.CrawlDelay, _ = entry.Rules.CrawlDelay()
		c.rules.Put(origin, entry)
		return
	}
	rb.Unreachable = true
	o.RetryAfter = got.RetryAfter
	c.cfg.Log.Info("robots.txt unreachable, host deferred", "origin", origin, "status", got.Status, "error", rb.Detail)
	if got.Err != nil {
		v.hopeless(got.Err)
		v.fallBack(got.Err)
	}
}

// hopeless settles the URL of a host that there is no point in asking again.
func (v *visitor) hopeless(err error) {
	switch kind := kindOf(err); {
	case kind == fetcher.KindBlocked, kind == fetcher.KindNXDomain && v.lease.Unreachable+1 >= triesNXDomain:
		v.result.Outcome = errorOutcome(err, v.lease.Unreachable)
		v.result.Robots = nil
	}
}
