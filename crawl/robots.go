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

// flights lets one worker at a time ask for the robots.txt of an origin, and remembers which could not be had in this run.
type flights struct {
	mu     sync.Mutex // guards below
	under  map[string]chan struct{}
	failed map[string]bool
}

// begin starts a flight. If one is under way, it returns a channel that is closed when that ends.
func (f *flights) begin(origin string) (wait <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if landed, ok := f.under[origin]; ok {
		return landed
	}
	if f.under == nil {
		f.under, f.failed = make(map[string]chan struct{}), make(map[string]bool)
	}
	f.under[origin] = make(chan struct{})
	return nil
}

func (f *flights) end(origin string, failed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.under[origin])
	delete(f.under, origin)
	if failed {
		f.failed[origin] = true
	} else {
		delete(f.failed, origin)
	}
}

func (f *flights) hasFailed(origin string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed[origin]
}

// robots returns the rules for the lease's URL. If they are not known, the lease is spent on asking for them, or on
// waiting for another that asks: ok is false and the URL goes back, for the request counts against the host's politeness.
// If they cannot be had for now, it is parked.
func (v *visitor) robots(ctx context.Context) (_ *robots.Rules, ok bool) {
	c, origin := v.crawl, v.lease.URL.Origin()
	v.result.Outcome.Verdict = frontier.PutBack
	now := time.Now()
	if entry, ok := c.rules.Get(origin, now); ok {
		return entry.Rules, true
	}
	stored := storedRobots(c.parts[v.lease.Partition].store, origin)
	switch {
	case robots.Access(stored.Access) == robots.AccessUnreachable:
		if !c.flights.hasFailed(origin) {
			stored.Fails = 0 // that was an earlier run
		} else if now.Before(stored.Next) {
			v.unreachable(stored)
			v.result.Outcome.Until = stored.Next
			return nil, false
		}
	case stored.Access != "" && now.Sub(stored.Fetched) <= robots.MaxAge:
		entry := c.robotsEntry(stored)
		c.rules.Put(origin, entry)
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
	v.askRobots(ctx, stored.Fails)
	return nil, false
}

// storedRobots returns the last robots.txt of an origin; a zero one if there is none. What cannot be read is asked for again.
func storedRobots(store *storage.Store, origin string) storage.Robots {
	var stored storage.Robots
	err := store.View(func(tx *storage.Tx) (err error) {
		stored, _, err = tx.Robots(origin)
		return err
	})
	if err != nil {
		return storage.Robots{}
	}
	return stored
}

// robotsEntry returns what a robots.txt means for this crawler.
func (c *Crawl) robotsEntry(stored storage.Robots) robots.Entry {
	entry := robots.Entry{Access: robots.Access(stored.Access), Fetched: stored.Fetched}
	if entry.Access == robots.AccessRules {
		entry.Rules = robots.Parse(stored.Body).Group(c.agent)
	}
	return entry
}

// askRobots fetches a robots.txt under the lease. fails counts the failures in a row to get it before.
func (v *visitor) askRobots(ctx context.Context, fails int) {
	c := v.crawl
	got := c.fetcher.Robots(ctx, v.lease.URL, v.lease.Politeness.Delay)
	cost, o := &v.result.Cost, &v.result.Outcome
	cost.Requests, cost.RobotsRequests = got.Requests, got.Requests
	if got.Requests > 0 {
		o.End = got.End
	}
	rb := &frontier.Robots{Origin: v.flight, RetryAfter: got.RetryAfter, Robots: storage.Robots{
		Access: string(got.Access), Status: got.Status, Fetched: got.End, Body: got.Body,
	}}
	if got.Err != nil {
		if kindOf(got.Err) == fetcher.KindCanceled {
			return
		}
		rb.Kind, rb.Detail = string(kindOf(got.Err)), detailOf(got.Err)
		cost.Error = rb.Kind
	}
	v.result.Robots = rb
	if got.Access != robots.AccessUnreachable {
		entry := c.robotsEntry(rb.Robots)
		rb.CrawlDelay, _ = entry.Rules.CrawlDelay()
		c.rules.Put(v.flight, entry)
		return
	}
	rb.Fails = fails + 1
	o.RetryAfter = got.RetryAfter
	v.unreachable(rb.Robots)
	c.cfg.Log.Info("robots.txt cannot be had", "origin", v.flight, "failures", rb.Fails, "reason", robotsAnswer(rb.Robots))
	if got.Err != nil {
		v.fallBack(got.Err)
	}
}

// unreachable says what becomes of a URL whose robots.txt cannot be had: it is parked, unless there is no point in asking again.
func (v *visitor) unreachable(r storage.Robots) {
	o := &v.result.Outcome
	switch kind := fetcher.Kind(r.Kind); {
	case kind == fetcher.KindBlocked:
		o.Verdict, o.Reason, o.Detail = frontier.Refuse, RefusedBlocked, r.Detail
	case kind == fetcher.KindNXDomain && r.Fails >= triesNXDomain:
		o.Verdict, o.Reason, o.Detail = frontier.GiveUp, r.Kind, r.Detail
	default:
		o.Verdict, o.Fails, o.Detail = frontier.Park, r.Fails, robotsAnswer(r)
	}
}
