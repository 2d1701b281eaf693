package frontier

import (
	"fmt"
	"time"

	"crawler/storage"
)

// Batch is a group of changes to a frontier in one transaction. Its methods are for one goroutine. End must be called
// before the transaction commits.
type Batch struct {
	f     *Frontier
	part  *partition
	tx    *storage.Tx
	hosts map[string]*touched
	done  []finished
}

// touched is a host that the batch has read, and may have changed.
type touched struct {
	storage.Host
	dirty bool
	first bool // had no URL admitted before
}

// finished is a lease that the batch closes.
type finished struct {
	host string
	id   storage.ID
	end  time.Time // of its last request, zero if there was none
}

// Begin starts a batch of changes to a partition in tx, a transaction on its store. If the partition is not attached, End
// fails with ErrDetached.
func (f *Frontier) Begin(partition int, tx *storage.Tx) *Batch {
	return &Batch{f: f, part: f.partition(partition), tx: tx, hosts: make(map[string]*touched)}
}

func (b *Batch) host(name string) (*touched, error) {
	if h := b.hosts[name]; h != nil {
		return h, nil
	}
	stored, err := b.tx.Host(name)
	if err != nil {
		return nil, err
	}
	h := &touched{Host: stored, first: stored.Admitted == 0}
	b.hosts[name] = h
	return h, nil
}

// Admitted returns the number of URLs admitted of a host, those of this batch included.
func (b *Batch) Admitted(host string) (int, error) {
	h, err := b.host(host)
	if err != nil {
		return 0, err
	}
	return h.Admitted, nil
}

// Admit queues a URL that has just been appended to the log.
func (b *Batch) Admit(id storage.ID, l Link) error {
	h, err := b.host(l.URL.Host())
	if err != nil {
		return err
	}
	h.Admitted++
	h.Queued++
	h.dirty = true
	return b.tx.SetRecord(id, h.ID, storage.Record{
		State: storage.Queued, Depth: l.Depth, Hops: l.Hops, Via: l.Via, Seed: l.Seed, Fallback: l.Fallback,
	})
}

// Meet records that an admitted URL was met again: a lesser depth counts from now on, and that it is what a seed leads
// to. If that is news for the links of a page already fetched, they are to be offered again (Tx.Relinks).
func (b *Batch) Meet(id storage.ID, l Link) error {
	r, err := b.tx.Record(id)
	if err != nil {
		return err
	}
	if l.Depth >= r.Depth && l.Hops >= r.Hops && (r.Seed || !l.Seed) {
		return nil
	}
	h, err := b.host(l.URL.Host())
	if err != nil {
		return err
	}
	r.Depth, r.Hops, r.Seed = min(r.Depth, l.Depth), min(r.Hops, l.Hops), r.Seed || l.Seed
	if err := b.tx.SetRecord(id, h.ID, r); err != nil {
		return err
	}
	if r.State == storage.Fetched {
		return b.tx.MarkRelink(id)
	}
	return nil
}

// Reopen queues a URL of a host once more that was settled, as if it had not been tried.
func (b *Batch) Reopen(id storage.ID, host string) error {
	r, err := b.tx.Record(id)
	if err != nil || r.State == storage.Queued {
		return err
	}
	h, err := b.host(host)
	if err != nil {
		return err
	}
	h.Queued++
	h.dirty = true
	return b.tx.SetRecord(id, h.ID, storage.Record{
		State: storage.Queued, Depth: r.Depth, Hops: r.Hops, Via: r.Via, Seed: r.Seed, Fallback: r.Fallback,
	})
}

// Finish closes the lease of a URL. It returns the URL's record as it is now, and false if the outcome has been applied
// before or the URL is not queued any more, which makes a result applied twice harmless.
func (b *Batch) Finish(id storage.ID, host string, o Outcome) (storage.Record, bool, error) {
	r, err := b.tx.Record(id)
	if err != nil || !o.End.IsZero() && o.End.Equal(r.Fetched) {
		return r, false, err
	}
	h, err := b.host(host)
	if err != nil {
		return r, false, err
	}
	b.done = append(b.done, finished{host: host, id: id, end: o.End})
	if r.State != storage.Queued {
		return r, false, nil
	}
	h.dirty = true
	end := o.End
	if end.IsZero() {
		end = time.Now()
	}
	b.learn(h, o, end)
	if o.Verdict == PutBack {
		return r, true, nil
	}
	if r.Parked {
		r.Parked = false
		h.Parked--
	}
	b.settle(&r, h, o, end)
	return r, true, b.tx.SetRecord(id, h.ID, r)
}

// learn takes over what the outcome of a lease that ended says about the host.
func (b *Batch) learn(h *touched, o Outcome, end time.Time) {
	h.LastEnd = latest(o.End, h.LastEnd)
	if o.Answer > 0 {
		if h.Answer == 0 {
			h.Answer = o.Answer
		}
		h.Answer += (o.Answer - h.Answer) / 4
	}
	if o.Status != 0 {
		h.Silent = 0
	}
	switch {
	case o.HostFailed && h.Fails > 0 && end.Before(h.Until):
		// It was under way when another failed: together that is one failure of the host.
	case o.HostFailed:
		h.Fails++
		if o.Status == 0 {
			h.Silent++
		}
	case o.Verdict != PutBack && o.Verdict != Park && !o.End.IsZero():
		h.Fails = 0
	}
	switch {
	case o.RetryAfter > 0:
		h.leave(end.Add(o.RetryAfter), WhyRetryAfter)
	case o.HostFailed:
		h.leave(end.Add(b.f.backoff(h.Fails)), o.Reason)
	}
}

// leave has the host left alone until t, unless it is to be left alone for longer already.
func (h *touched) leave(t time.Time, why string) {
	if t.After(h.Until) {
		h.Until, h.Why = t, why
	}
}

// settle changes the record of a URL as the outcome of a lease that ended says.
func (b *Batch) settle(r *storage.Record, h *touched, o Outcome, end time.Time) {
	if o.Verdict == Park {
		r.Reason, r.Detail, r.Due, r.Parked = WhyRobots, o.Detail, o.Until, true
		h.Parked++
		h.Unreachable = o.Fails
		return
	}
	r.Reason, r.Detail = o.Reason, o.Detail
	r.Status, r.Bytes, r.MediaType = o.Status, o.Bytes, o.MediaType
	r.Due = time.Time{}
	if !o.End.IsZero() {
		r.Fetched = o.End
	}
	switch o.Verdict {
	case Settled:
		r.State = storage.Fetched
	case GiveUp:
		r.State = storage.Failed
	case Refuse:
		r.State = storage.Refused
	case TryAgain:
		r.Tries++
		if r.Tries < b.f.retry.Tries {
			wait := o.RetryAfter
			if wait == 0 {
				wait = b.f.retry.wait(r.Tries)
			}
			r.Due = latest(end.Add(wait), h.Until)
			return
		}
		r.State = storage.Failed
	}
	h.Queued--
}

// Robots keeps a robots.txt that was asked for and takes over what it says about the host. If it could not be had, it
// returns when it may be asked for again, which is later each time.
func (b *Batch) Robots(host string, rb Robots) (next time.Time, err error) {
	h, err := b.host(host)
	if err != nil {
		return next, err
	}
	before, _, err := b.tx.Robots(rb.Origin)
	if err != nil {
		return next, err
	}
	h.dirty = true
	if rb.Fails > 0 {
		// Beyond what the host asks for, lest the URLs parked here come before those of its other origins whenever it is due.
		rb.Next = rb.Fetched.Add(rb.RetryAfter + b.f.backoff(rb.Fails))
		rb.CrawlDelay = before.CrawlDelay
	} else {
		h.Silent, h.Unreachable = 0, 0
		// A host may have several origins; the longest of their delays counts.
		if rb.CrawlDelay > h.CrawlDelay || before.CrawlDelay == h.CrawlDelay {
			h.CrawlDelay = rb.CrawlDelay
		}
	}
	return rb.Next, b.tx.SetRobots(rb.Origin, rb.Robots)
}

// Why a host is left alone, unless it failed: then the outcome's Reason says it.
const (
	WhyRobots     = "robots unreachable" // its robots.txt cannot be had
	WhyRetryAfter = "retry-after"        // it asks for it
	WhyHours      = "outside hours"
)

// End writes the hosts that have changed and has the frontier follow once the transaction is durable.
func (b *Batch) End() error {
	if b.part == nil {
		return ErrDetached
	}
	for name, h := range b.hosts {
		if !h.dirty {
			continue
		}
		if h.Queued < 0 {
			return fmt.Errorf("%w: host %s counts %d queued URLs", storage.ErrDamaged, name, h.Queued)
		}
		if err := b.tx.SetHost(name, h.Host); err != nil {
			return err
		}
	}
	b.tx.OnCommit(func() { b.f.follow(b) })
	return nil
}
