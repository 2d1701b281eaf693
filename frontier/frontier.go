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
	// Random returns numbers in [0, 1) for jitter. Default: math/rand/v2.
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
	stuck      int // hosts that count as unreachable
	waiters    []*waiter
	alarm      *time.Timer // runs hand when the first host is due
	err        error       // of reading the store; final
}

type partition struct {
	n     int
	store *storage.Store
	known int // hosts in its store
}

// host is a host with something queued or leased.
type host struct {
	storage.Host
	name   string
	part   *partition
	leased map[storage.ID]struct{}
	head   []item    // read ahead from the queues
	floor  time.Time // stands in for LastEnd after an unclean end
	start  time.Time // of the last lease
	ready  time.Time // when the first queued URL may be tried; zero: at once, as far as known
	due    time.Time
	place  int // in the schedule

	rules  *Rules // that polite was taken from
	polite Politeness
}

type item struct {
	id     storage.ID
	href   string
	record storage.Record
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
	// Unreachable counts the failures in a row to get the host's robots.txt.
	Unreachable int
}

// readAhead is the number of URLs of a host read at once.
const readAhead = 16

// stuckAfter is the number of failures in a row to get a host's robots.txt after which a crawl need not wait for the host.
const stuckAfter = 5

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

const metaClean = "frontier.clean"

// Attach takes up a partition. If its last user did not Detach it, requests may have been in flight when that ended,
// and every host with queued URLs waits out a whole delay from now.
func (f *Frontier) Attach(n int, store *storage.Store) error {
	part := &partition{n: n, store: store}
	var hosts []*host
	err := store.Update(func(tx *storage.Tx) error {
		var floor time.Time
		if len(tx.Meta(metaClean)) == 0 {
			floor = time.Now()
		}
		for name, stored := range tx.Hosts() {
			part.known++
			if stored.Queued > 0 {
				hosts = append(hosts, &host{Host: stored, name: name, part: part, floor: floor, place: unscheduled})
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
		if h.Unreachable >= stuckAfter {
			f.stuck++
		}
		f.reschedule(h)
	}
	f.hand()
	return nil
}

// Detach lets go of a partition none of whose URLs is leased, and notes that no request is in flight.
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
	if len(h.head) == 0 {
		if err := h.read(now); err != nil {
			return nil, err
		}
		if len(h.head) == 0 {
			f.reschedule(h)
			return nil, nil
		}
	}
	next := h.head[0]
	h.head = h.head[1:]
	u, err := normalize.Parse(next.href)
	if err != nil {
		return nil, fmt.Errorf("%w: log: %w", storage.ErrDamaged, err)
	}
	if h.leased == nil {
		h.leased = make(map[storage.ID]struct{})
	}
	h.leased[next.id] = struct{}{}
	h.start = now
	f.leased++
	f.reschedule(h)
	return &Lease{
		Partition: h.part.n, ID: next.id, URL: u, Host: h.name, Record: next.record,
		Politeness: h.polite, Unreachable: h.Unreachable,
	}, nil
}

// unlease takes back a lease that nobody has seen.
func (f *Frontier) unlease(l *Lease) {
	h := f.hosts[l.Host]
	if h == nil {
		return
	}
	delete(h.leased, l.ID)
	f.leased--
	h.ready = time.Time{}
	f.reschedule(h)
	f.hand()
}

// read fills the head with URLs that may be tried now. If there are none, ready says when there will be one.
func (h *host) read(now time.Time) error {
	return h.part.store.View(func(tx *storage.Tx) error {
		h.ready = time.Time{}
		for due, id := range tx.Later(h.ID) {
			if due.After(now) {
				h.ready = due
				break
			}
			if err := h.readOne(tx, id); err != nil {
				return err
			}
		}
		for id := range tx.Queue(h.ID) {
			if len(h.head) >= readAhead {
				break
			}
			if err := h.readOne(tx, id); err != nil {
				return err
			}
		}
		switch {
		case len(h.head) > 0:
			h.ready = time.Time{}
		case h.ready.IsZero():
			return fmt.Errorf("%w: host %s counts %d queued URLs, which its queues do not hold", storage.ErrDamaged, h.name, h.Queued)
		}
		return nil
	})
}

func (h *host) readOne(tx *storage.Tx, id storage.ID) error {
	if _, leased := h.leased[id]; leased || len(h.head) >= readAhead {
		return nil
	}
	_, href, err := tx.URL(id)
	if err != nil {
		return err
	}
	record, err := tx.Record(id)
	if err != nil {
		return err
	}
	h.head = append(h.head, item{id: id, href: href, record: record})
	return nil
}

// reschedule puts h where it belongs after a change, and forgets it if nothing is queued or leased.
func (f *Frontier) reschedule(h *host) {
	waiting := h.Queued - len(h.leased)
	if waiting <= 0 && len(h.leased) == 0 {
		f.drop(h)
		return
	}
	if h.rules != f.rules {
		h.rules, h.polite = f.rules, f.rules.For(h.name)
	}
	if waiting <= 0 || len(h.leased) >= h.polite.Connections {
		f.schedule.remove(h)
		return
	}
	h.due = h.when()
	f.schedule.put(h)
}

func (f *Frontier) drop(h *host) {
	f.schedule.remove(h)
	f.leased -= len(h.leased)
	if h.Unreachable >= stuckAfter {
		f.stuck--
	}
	delete(f.hosts, h.name)
}

// delay is the delay in force: the configured one, or what robots.txt asks or the host's slowness suggests, if more.
func (h *host) delay() time.Duration {
	delay := h.polite.Delay
	if h.polite.Adaptive && delay > 0 {
		delay = max(delay, h.Answer)
	}
	if h.polite.ObeyRobots && h.polite.HonourCrawlDelay {
		delay = max(delay, min(h.CrawlDelay, h.polite.MaxCrawlDelay))
	}
	return delay
}

// when returns the first time at which the host may be asked again.
func (h *host) when() time.Time {
	last := latest(latest(h.LastEnd, h.floor), h.start)
	due := latest(latest(h.Until, h.ready), last)
	if !last.IsZero() {
		due = latest(due, last.Add(h.delay()))
	}
	return h.polite.Hours.Next(due)
}

// follow takes over what a committed batch has changed.
func (f *Frontier) follow(b *Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, done := range b.done {
		h := f.hosts[done.host]
		if h == nil {
			continue
		}
		if _, ok := h.leased[done.id]; ok {
			delete(h.leased, done.id)
			f.leased--
		}
		if !done.asked && len(h.leased) == 0 {
			h.start = time.Time{} // a lease without a request costs no delay
		}
	}
	for name, t := range b.hosts {
		f.followHost(b.part, name, t)
	}
	f.hand()
}

func (f *Frontier) followHost(part *partition, name string, t *touched) {
	if !t.dirty {
		return
	}
	h := f.hosts[name]
	if h == nil {
		if t.Admitted > 0 && t.first {
			part.known++
		}
		if t.Queued == 0 {
			return
		}
		h = &host{name: name, part: part, place: unscheduled}
		f.hosts[name] = h
	}
	was, is := h.Unreachable >= stuckAfter, t.Unreachable >= stuckAfter
	if was && !is {
		f.stuck--
	} else if is && !was {
		f.stuck++
	}
	h.Host = t.Host
	if t.fresh {
		h.ready = time.Time{}
	} else if !t.later.IsZero() && t.later.Before(h.ready) {
		h.ready = t.later
	}
	f.reschedule(h)
}
