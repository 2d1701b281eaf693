package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"crawler/normalize"
	"crawler/storage"
)

// Config says how a frontier works. The zero value works.
type Config struct {
	// Rules is the politeness of every host. A zero default means DefaultPoliteness.
	Rules Rules
	// Retry says how failed fetches are tried again.
	Retry Retry
	// Random returns numbers in [0, 1) for jitter, to any number of goroutines. Default: math/rand/v2.
	Random func() float64
}

// Frontier holds the hosts of the partitions attached to it. It is safe for concurrent use.
type Frontier struct {
	retry  Retry
	random func() float64

	mu         sync.Mutex // guards all below
	rules      *Rules
	partitions map[int]*partition
	hosts      map[string]*host // those with URLs queued or leased
	schedule   schedule         // those of hosts that may get a lease once due
	leased     int
	waiters    []*waiter
	alarm      *time.Timer // runs hand when the first host is due
	err        error       // of reading the store; final
}

type partition struct {
	n     int
	store *storage.Store
	known int // hosts that ever had a URL admitted
}

type waiter struct{ got chan *Lease }

// Lease is the right to fetch one URL now. It is closed by committing its outcome (Batch.Finish).
type Lease struct {
	Partition  int
	ID         storage.ID
	URL        normalize.URL
	Host       string
	Record     storage.Record
	Politeness Politeness
}

// A crawl need not wait for a host after this many failures in a row to get its robots.txt, this many requests in a row without an answer, or
// this many answers in a row that say that it is in trouble.
const (
	stuckAfter   = 5
	troubleAfter = 10
)

// ErrDetached means that a partition was asked for that is not attached.
var ErrDetached = errors.New("frontier: partition is not attached")

// New returns a frontier without partitions.
func New(cfg Config) *Frontier {
	f := &Frontier{
		retry: cfg.Retry.withDefaults(), random: cfg.Random,
		partitions: make(map[int]*partition), hosts: make(map[string]*host),
	}
	f.SetRules(cfg.Rules)
	if f.random == nil {
		f.random = defaultRandom
	}
	return f
}

// metaClean is there from Detach to Attach.
const metaClean = "frontier.clean"

// Attach takes up a partition that is not attached. If its last user did not Detach it, requests may have been in
// flight when that ended, and every host with queued URLs waits out a whole delay from now.
func (f *Frontier) Attach(n int, store *storage.Store) error {
	part := &partition{n: n, store: store}
	var hosts []*host
	err := store.Update(func(tx *storage.Tx) error {
		for name, stored := range tx.Hosts() {
			if stored.Admitted > 0 {
				part.known++
			}
			if stored.Queued > 0 {
				hosts = append(hosts, newHost(name, part, stored))
			}
		}
		if len(tx.Meta(metaClean)) == 0 {
			now := time.Now()
			for _, h := range hosts {
				h.LastEnd, h.last = now, now
				if err := tx.SetHost(h.name, h.Host); err != nil {
					return err
				}
			}
		}
		return tx.SetMeta(metaClean, nil)
	})
	if err != nil {
		return fmt.Errorf("frontier of partition %d: %w", n, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.partitions[n] = part
	for _, h := range hosts {
		f.hosts[h.name] = h
		f.reschedule(h)
	}
	f.hand()
	return nil
}

// Detach lets go of a partition and, if none of its URLs is leased, notes that no request is in flight.
func (f *Frontier) Detach(n int) error {
	f.mu.Lock()
	part := f.partitions[n]
	if part == nil {
		f.mu.Unlock()
		return fmt.Errorf("%w: %d", ErrDetached, n)
	}
	delete(f.partitions, n)
	clean := true
	for _, h := range f.hosts {
		if h.part == part {
			clean = clean && len(h.leased) == 0
			f.drop(h)
		}
	}
	f.mu.Unlock()
	if !clean {
		return nil
	}
	return part.store.Update(func(tx *storage.Tx) error { return tx.SetMeta(metaClean, []byte{1}) })
}

func (f *Frontier) partition(n int) *partition {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.partitions[n]
}

// SetRules puts new politeness into force at once.
func (f *Frontier) SetRules(r Rules) {
	if r.Default == (Politeness{}) {
		r.Default = DefaultPoliteness()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = &r
	for _, h := range f.hosts {
		f.reschedule(h)
	}
	f.hand()
}

// Rules returns the politeness in force.
func (f *Frontier) Rules() Rules {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *f.rules
}

// Next waits until a host is due and leases one of its URLs. It ends with the cause of ctx, or with the error that the
// store cannot be read any more.
func (f *Frontier) Next(ctx context.Context) (*Lease, error) {
	w := &waiter{got: make(chan *Lease, 1)}
	f.mu.Lock()
	if ctx.Err() != nil {
		f.mu.Unlock()
		return nil, context.Cause(ctx)
	}
	f.waiters = append(f.waiters, w)
	f.hand()
	f.mu.Unlock()
	select {
	case l := <-w.got:
		if l == nil {
			return nil, f.failure()
		}
		return l, nil
	case <-ctx.Done():
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.Index(f.waiters, w); i >= 0 {
		f.waiters = slices.Delete(f.waiters, i, i+1)
	} else if l := <-w.got; l != nil {
		f.unlease(l)
	}
	return nil, context.Cause(ctx)
}

func (f *Frontier) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// hand gives leases of due hosts to those who wait for one, and sets the alarm for the next.
func (f *Frontier) hand() {
	now := time.Now()
	for f.err == nil && len(f.waiters) > 0 && len(f.schedule) > 0 && !f.schedule[0].due.After(now) {
		l, err := f.lease(f.schedule[0], now)
		if err != nil {
			f.err = err
			break
		}
		if l != nil {
			f.waiters[0].got <- l
			f.waiters = f.waiters[1:]
		}
	}
	if f.err != nil {
		for _, w := range f.waiters {
			close(w.got)
		}
		f.waiters = nil
		return
	}
	f.setAlarm(now)
}

func (f *Frontier) setAlarm(now time.Time) {
	if len(f.waiters) == 0 || len(f.schedule) == 0 {
		if f.alarm != nil {
			f.alarm.Stop()
		}
		return
	}
	wait := f.schedule[0].due.Sub(now)
	if f.alarm == nil {
		f.alarm = time.AfterFunc(wait, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.hand()
		})
		return
	}
	f.alarm.Reset(wait)
}

// lease leases the next URL of a due host. It returns nil if the host turns out to have none that may be tried now.
func (f *Frontier) lease(h *host, now time.Time) (*Lease, error) {
	if open := h.polite.Hours.Next(now); open.After(now) {
		h.due = open
		f.schedule.put(h)
		return nil, nil
	}
	l, err := h.read(now)
	if err != nil {
		return nil, err
	}
	if l != nil {
		if h.leased == nil {
			h.leased = make(map[storage.ID]time.Time)
		}
		h.leased[l.ID] = now
		f.leased++
	}
	f.reschedule(h)
	return l, nil
}

// unlease takes back a lease that nobody has seen.
func (f *Frontier) unlease(l *Lease) {
	if h := f.hosts[l.Host]; h != nil {
		f.release(h, l.ID)
		f.reschedule(h)
		f.hand()
	}
}

func (f *Frontier) release(h *host, id storage.ID) {
	if _, ok := h.leased[id]; !ok {
		return
	}
	f.leased--
	if delete(h.leased, id); len(h.leased) == 0 {
		h.leased = nil // most hosts have no lease most of the time
	}
}

// reschedule puts h where it belongs after a change, and forgets it if nothing is queued or leased.
func (f *Frontier) reschedule(h *host) {
	if h.waiting() <= 0 && len(h.leased) == 0 {
		f.drop(h)
		return
	}
	if h.rules != f.rules {
		h.rules, h.polite = f.rules, f.rules.For(h.name)
	}
	if h.waiting() <= 0 || len(h.leased) >= h.polite.Connections {
		f.schedule.remove(h)
		return
	}
	h.due = h.when()
	f.schedule.put(h)
}

func (f *Frontier) drop(h *host) {
	f.schedule.remove(h)
	f.leased -= len(h.leased)
	delete(f.hosts, h.name)
}

// follow takes over what a committed batch has changed. It reads the hosts as they are now, so that it does not matter in
// which order batches are followed.
func (f *Frontier) follow(b *Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.partitions[b.part.n] != b.part {
		return // detached meanwhile
	}
	for _, done := range b.done {
		if h := f.hosts[done.host]; h != nil {
			h.last = latest(done.end, h.last)
			f.release(h, done.id)
		}
	}
	now := time.Now()
	err := b.part.store.View(func(tx *storage.Tx) error {
		for name, t := range b.hosts {
			if t.first && t.Admitted > 0 {
				b.part.known++
			}
			if err := f.followHost(tx, b.part, name, now); err != nil {
				return err
			}
		}
		return nil
	})
	if f.err == nil {
		f.err = err
	}
	f.hand()
}

func (f *Frontier) followHost(tx *storage.Tx, part *partition, name string, now time.Time) error {
	stored, err := tx.Host(name)
	if err != nil {
		return err
	}
	h := f.hosts[name]
	if h == nil {
		if stored.Queued == 0 {
			return nil
		}
		h = newHost(name, part, stored)
		h.ready = now
		f.hosts[name] = h
	}
	h.Host = believed(stored)
	if _, later := h.next(tx, now); later.After(now) {
		h.ready = later
	} else if h.ready.After(now) {
		h.ready = now
	}
	f.reschedule(h)
	return nil
}
