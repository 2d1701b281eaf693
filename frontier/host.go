package frontier

import (
	"fmt"
	"time"

	"crawler/normalize"
	"crawler/storage"
)

// host is a host with something queued or leased.
type host struct {
	storage.Host // as last read
	name         string
	part         *partition
	leased       map[storage.ID]time.Time // since when
	last         time.Time                // LastEnd, and by a clock that nobody sets if this process has seen it
	ready        time.Time                // when the first waiting URL may be tried, as far as known
	due          time.Time
	place        int // in the schedule

	rules  *Rules // that polite was taken from
	polite Politeness
}

// believed returns a host as stored, but for times that a clock set wrong has put far into the future.
func believed(stored storage.Host) storage.Host {
	now := time.Now()
	stored.LastEnd = earliest(stored.LastEnd, now)
	stored.Until = earliest(stored.Until, now.Add(longestPause))
	return stored
}

func newHost(name string, part *partition, stored storage.Host) *host {
	stored = believed(stored)
	return &host{Host: stored, name: name, part: part, last: stored.LastEnd, place: unscheduled}
}

// waiting returns the number of URLs that wait for a lease, as far as batches have been followed.
func (h *host) waiting() int { return h.Queued - len(h.leased) }

// read returns a lease on the URL of h that is next. It returns nil if there is none that may be tried now; then ready or
// Queued has changed.
func (h *host) read(now time.Time) (*Lease, error) {
	var l *Lease
	err := h.part.store.View(func(tx *storage.Tx) error {
		id, later := h.next(tx, now)
		if id == 0 {
			return h.exhausted(tx, later)
		}
		_, href, err := tx.URL(id)
		if err != nil {
			return err
		}
		record, err := tx.Record(id)
		if err != nil {
			return err
		}
		u, err := normalize.Parse(href)
		if err != nil {
			return fmt.Errorf("%w: log: URL %d: %w", storage.ErrDamaged, id, err)
		}
		l = &Lease{
			Partition: h.part.n, ID: id, URL: u, Host: h.name, Record: record,
			Politeness: h.polite,
		}
		return nil
	})
	return l, err
}

// next returns the URL that is next of those not leased: one whose time has come before one whose turn has come. If there
// is none, it returns 0 and the time of the first that waits for one, if any.
func (h *host) next(tx *storage.Tx, now time.Time) (id storage.ID, later time.Time) {
	for due, id := range tx.Later(h.ID) {
		if h.isLeased(id) {
			continue
		}
		if !due.After(now) {
			return id, time.Time{}
		}
		later = due
		break
	}
	for id := range tx.Queue(h.ID) {
		if !h.isLeased(id) {
			return id, time.Time{}
		}
	}
	return 0, later
}

func (h *host) isLeased(id storage.ID) bool {
	_, ok := h.leased[id]
	return ok
}

// exhausted takes over that no URL may be tried before later or, if that is zero, that the queues hold only leased ones.
// Then a batch has been committed that is not followed yet, unless the store is damaged: it counts more.
func (h *host) exhausted(tx *storage.Tx, later time.Time) error {
	stored, err := tx.Host(h.name)
	if err != nil {
		return err
	}
	if later.IsZero() && stored.Queued > len(h.leased) {
		return fmt.Errorf("%w: host %s counts %d queued URLs, which its queues do not hold", storage.ErrDamaged, h.name, stored.Queued)
	}
	h.Host, h.ready = believed(stored), later
	return nil
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

// when returns the first time at which the host may be asked again, its hours left aside.
func (h *host) when() time.Time {
	last := h.last
	for _, start := range h.leased {
		last = latest(start, last)
	}
	return latest(last.Add(h.delay()), latest(h.Until, h.ready))
}

// longestPause bounds the time for which a host is left alone, whatever it asks for.
const longestPause = 24 * time.Hour

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
