package frontier_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"crawler/frontier"
	"crawler/storage"
)

// TestModel does random things to a frontier in virtual time and to a naive model, which says exactly when the next
// lease comes and of which URL of a host. At the end everything is drained.
func TestModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	rapid.Check(t, func(rt *rapid.T) {
		var failure any // rapid learns of failures by panics, which must reach it on its own goroutine
		synctest.Test(t, func(t *testing.T) {
			defer func() { failure = recover() }()
			m := newModel(rt, t, path)
			defer func() { m.must(errors.Join(m.world.store.Close(), os.Remove(path))) }()
			rt.Repeat(map[string]func(*rapid.T){
				"":        m.compare,
				"admit":   m.admit,
				"meet":    m.meet,
				"lease":   m.lease,
				"lease 2": m.lease, // twice as often
				"finish":  m.finish,
				"sleep":   m.sleep,
				"rules":   m.setRules,
				"restart": m.restart,
			})
			m.drain()
			m.must(m.world.store.Check())
		})
		switch failure := failure.(type) {
		case nil:
		case disagreement:
			rt.Fatal(failure)
		default: // rapid's own
			panic(failure)
		}
	})
}

// disagreement is panicked with where frontier and model do not agree.
type disagreement string

func (m *model) fatalf(format string, args ...any) { panic(disagreement(fmt.Sprintf(format, args...))) }

func (m *model) must(err error) {
	if err != nil {
		m.fatalf("%v", err)
	}
}

type modelURL struct {
	id     storage.ID
	href   string
	state  storage.State
	depth  int
	tries  int
	due    time.Time
	leased time.Time // since when, zero if it is not
	relink bool
}

type modelHost struct {
	urls        []*modelURL
	last        time.Time // end of the last request, or the unclean start
	until       time.Time
	fails       int
	unreachable int
	answer      time.Duration
	crawlDelay  time.Duration
}

type model struct {
	rt     *rapid.T
	world  *world
	polite frontier.Politeness
	hosts  map[string]*modelHost
	names  []string
	leases []*frontier.Lease

	always, fromSix frontier.Hours
}

func newModel(rt *rapid.T, t testing.TB, path string) *model {
	m := &model{rt: rt, hosts: make(map[string]*modelHost), names: []string{"a.example", "b.example", "c.example"}}
	for _, name := range m.names {
		m.hosts[name] = &modelHost{}
	}
	m.always, m.fromSix = hours(t, ""), hours(t, "06:00-24:00")
	m.world = newWorld(t, frontier.Config{Rules: m.drawRules()}, path)
	return m
}

func (m *model) drawRules() frontier.Rules {
	m.polite = frontier.Politeness{
		Delay:            rapid.SampledFrom([]time.Duration{0, s, 10 * s}).Draw(m.rt, "delay"),
		Connections:      rapid.IntRange(1, 3).Draw(m.rt, "connections"),
		ObeyRobots:       true,
		HonourCrawlDelay: rapid.Bool().Draw(m.rt, "crawl delay"),
		MaxCrawlDelay:    20 * s,
		Adaptive:         rapid.Bool().Draw(m.rt, "adaptive"),
	}
	m.polite.Hours = rapid.SampledFrom([]frontier.Hours{m.always, m.always, m.fromSix}).Draw(m.rt, "hours")
	return frontier.Rules{Default: m.polite}
}

// batch commits changes, or now and then finds that it cannot: then nothing happens.
func (m *model) batch(change func(tx *storage.Tx, b *frontier.Batch) error) (committed bool) {
	var failure error
	if rapid.IntRange(0, 9).Draw(m.rt, "failure") == 9 {
		failure = errors.New("rolled back")
	}
	err := m.world.store.Update(func(tx *storage.Tx) error {
		b := m.world.Begin(0, tx)
		return errors.Join(change(tx, b), b.End(), failure)
	})
	if failure == nil {
		m.must(err)
	}
	return err == nil
}

func (m *model) all() (urls []*modelURL) {
	for _, name := range m.names {
		urls = append(urls, m.hosts[name].urls...)
	}
	return urls
}

func (m *model) admit(rt *rapid.T) {
	name := rapid.SampledFrom(m.names).Draw(rt, "host")
	h := m.hosts[name]
	depths := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 3).Draw(rt, "depths")
	var added []*modelURL
	if m.batch(func(tx *storage.Tx, b *frontier.Batch) error {
		for i, depth := range depths {
			u := &modelURL{href: page(name, len(h.urls)+i), state: storage.Queued, depth: depth}
			var err error
			if u.id, err = admit(tx, b, frontier.Link{URL: parse(m.world, u.href), Depth: depth}); err != nil {
				return err
			}
			added = append(added, u)
		}
		return nil
	}) {
		h.urls = append(h.urls, added...)
	}
}

func (m *model) meet(rt *rapid.T) {
	urls := m.all()
	if len(urls) == 0 {
		rt.Skip("nothing is admitted")
	}
	u := rapid.SampledFrom(urls).Draw(rt, "url")
	depth := rapid.IntRange(0, 3).Draw(rt, "depth")
	if m.batch(func(_ *storage.Tx, b *frontier.Batch) error {
		return b.Meet(u.id, frontier.Link{URL: parse(m.world, u.href), Depth: depth})
	}) && depth < u.depth {
		u.depth = depth
		u.relink = u.relink || u.state == storage.Fetched
	}
}

// open returns the first time at or after t that lies in the hours.
func (m *model) open(t time.Time) time.Time {
	if t = t.UTC(); m.polite.Hours == m.always || t.Hour() >= 6 {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), 6, 0, 0, 0, time.UTC)
}

// next returns which URL of h is leased next and when, asked for from now on; nil for none unless something changes.
func (m *model) next(h *modelHost, now time.Time) (*modelURL, time.Time) {
	flying := 0
	last := h.last
	var waiting []*modelURL
	for _, u := range h.urls {
		switch {
		case u.state != storage.Queued:
		case u.leased.IsZero():
			waiting = append(waiting, u)
		default:
			flying++
			last = latest(last, u.leased)
		}
	}
	if len(waiting) == 0 || flying >= m.polite.Connections {
		return nil, time.Time{}
	}
	at := now
	if !last.IsZero() {
		delay := m.polite.Delay
		if m.polite.Adaptive && delay > 0 && h.answer > delay {
			delay = h.answer
		}
		if m.polite.HonourCrawlDelay && delay < 20*s && h.crawlDelay > delay {
			delay = min(h.crawlDelay, 20*s)
		}
		at = latest(at, last.Add(delay))
	}
	at = latest(at, h.until)
	first := waiting[0].due
	for _, u := range waiting {
		if u.due.Before(first) {
			first = u.due
		}
	}
	at = m.open(latest(at, first))
	waiting = slices.DeleteFunc(waiting, func(u *modelURL) bool { return u.due.After(at) })
	return slices.MinFunc(waiting, func(a, b *modelURL) int {
		if a.due.IsZero() != b.due.IsZero() { // a retry that is due goes first
			if a.due.IsZero() {
				return 1
			}
			return -1
		}
		if a.due.IsZero() {
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.id, b.id))
		}
		return cmp.Or(a.due.Compare(b.due), cmp.Compare(a.id, b.id))
	}), at
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// soonest returns when the next lease comes, asked for from now on, and of which URLs it may be.
func (m *model) soonest() (at time.Time, urls map[storage.ID]*modelURL) {
	now := time.Now()
	for _, name := range m.names {
		u, t := m.next(m.hosts[name], now)
		if u == nil || len(urls) > 0 && t.After(at) {
			continue
		}
		if len(urls) == 0 || t.Before(at) {
			at, urls = t, make(map[storage.ID]*modelURL)
		}
		urls[u.id] = u
	}
	return at, urls
}

func (m *model) lease(rt *rapid.T) {
	patience := rapid.SampledFrom([]time.Duration{ms, 10 * s, 24 * time.Hour}).Draw(rt, "patience")
	m.leaseWithin(patience)
}

func (m *model) leaseWithin(patience time.Duration) {
	at, urls := m.soonest()
	deadline := time.Now().Add(patience)
	if len(urls) > 0 && at.Equal(deadline) {
		deadline = deadline.Add(ms) // which of two comes first at the same time is open
	}
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	l, err := m.world.Next(ctx)
	now := time.Now()
	if len(urls) == 0 || at.After(deadline) {
		if err == nil {
			m.fatalf("leased %s at %v, want nothing before %v", l.URL, now, at)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			m.must(err)
		}
		return
	}
	if err != nil {
		m.fatalf("no lease until %v, want one at %v: %v", now, at, err)
	}
	if !now.Equal(at) {
		m.fatalf("leased %s at %v, want at %v", l.URL, now, at)
	}
	u := urls[l.ID]
	if u == nil {
		m.fatalf("leased %s, want one of %v", l.URL, urls)
	}
	if l.Record.Depth != u.depth || l.Record.Tries != u.tries {
		m.fatalf("lease is %+v, want it to be of %+v", l, u)
	}
	u.leased = now
	m.leases = append(m.leases, l)
}

// finish ends some of the leases in one batch.
func (m *model) finish(rt *rapid.T) {
	if len(m.leases) == 0 {
		rt.Skip("nothing is leased")
	}
	n := rapid.IntRange(1, len(m.leases)).Draw(rt, "leases")
	outcomes := make([]frontier.Outcome, n)
	robots := make([]*frontier.Robots, n)
	for i := range outcomes {
		outcomes[i], robots[i] = m.drawOutcome(rt, m.leases[i].Host)
	}
	fails := make(map[string]int) // to get robots.txt, so far
	for name, h := range m.hosts {
		fails[name] = h.unreachable
	}
	if !m.batch(func(_ *storage.Tx, b *frontier.Batch) error {
		for i, l := range m.leases[:n] {
			if robots[i] != nil {
				if robots[i].Fails > 0 {
					robots[i].Fails = fails[l.Host] + 1
				}
				fails[l.Host] = robots[i].Fails
				var err error
				if outcomes[i].Until, err = b.Robots(l.Host, *robots[i]); err != nil {
					return err
				}
				outcomes[i].Fails = robots[i].Fails
			}
			if _, ok, err := b.Finish(l.ID, l.Host, outcomes[i]); err != nil || !ok {
				return fmt.Errorf("finish says %v: %w", ok, err)
			}
		}
		return nil
	}) {
		return
	}
	for i, l := range m.leases[:n] {
		m.apply(l, outcomes[i], robots[i])
	}
	m.leases = slices.Clone(m.leases[n:])
	time.Sleep(ms) // so that no URL has two outcomes at one time
}

func (m *model) drawOutcome(rt *rapid.T, host string) (frontier.Outcome, *frontier.Robots) {
	o := frontier.Outcome{
		Verdict: rapid.SampledFrom([]frontier.Verdict{
			frontier.Settled, frontier.Settled, frontier.GiveUp, frontier.Refuse, frontier.TryAgain, frontier.TryAgain, frontier.PutBack,
		}).Draw(rt, "verdict"),
		HostFailed: rapid.IntRange(0, 3).Draw(rt, "host failed") == 3,
		RetryAfter: rapid.SampledFrom([]time.Duration{0, 0, 0, ms, time.Minute}).Draw(rt, "retry after"),
	}
	if rapid.IntRange(0, 3).Draw(rt, "asked") > 0 {
		o.End = time.Now()
		o.Answer = rapid.SampledFrom([]time.Duration{0, 40 * ms, 16 * s}).Draw(rt, "answer")
	}
	if rapid.IntRange(0, 4).Draw(rt, "robots") < 4 {
		return o, nil
	}
	rb := &frontier.Robots{Origin: "http://" + host, Robots: storage.Robots{Fetched: time.Now()}}
	if rapid.Bool().Draw(rt, "unreachable") {
		rb.Fails, o.Verdict = 1, frontier.Park
	} else {
		rb.CrawlDelay = rapid.SampledFrom([]time.Duration{0, 5 * s, time.Hour}).Draw(rt, "crawl delay")
	}
	return o, rb
}

func pauseOf(fails int) time.Duration {
	pause := 5 * s
	for range fails - 1 {
		pause = min(2*pause, time.Hour)
	}
	return pause
}

func (m *model) apply(l *frontier.Lease, o frontier.Outcome, rb *frontier.Robots) {
	now := time.Now()
	h := m.hosts[l.Host]
	if rb != nil && rb.Fails > 0 {
		h.unreachable++
	} else if rb != nil {
		h.unreachable, h.crawlDelay = 0, rb.CrawlDelay
	}
	if !o.End.IsZero() {
		h.last = latest(h.last, now)
	}
	if o.Answer > 0 && h.answer == 0 {
		h.answer = o.Answer
	} else if o.Answer > 0 {
		h.answer += (o.Answer - h.answer) / 4
	}
	if o.HostFailed && h.fails > 0 && now.Before(h.until) {
		// one failure of the host, with that of another lease
	} else if o.HostFailed {
		h.fails++
	} else if !o.End.IsZero() && o.Verdict != frontier.PutBack && o.Verdict != frontier.Park {
		h.fails = 0
	}
	if o.RetryAfter > 0 {
		h.until = latest(h.until, now.Add(o.RetryAfter))
	} else if o.HostFailed {
		h.until = latest(h.until, now.Add(pauseOf(h.fails)))
	}
	u := h.urls[slices.IndexFunc(h.urls, func(u *modelURL) bool { return u.id == l.ID })]
	u.leased = time.Time{}
	switch o.Verdict {
	case frontier.Park:
		u.due = now.Add(pauseOf(h.unreachable))
	case frontier.Settled:
		u.state = storage.Fetched
	case frontier.GiveUp:
		u.state = storage.Failed
	case frontier.Refuse:
		u.state = storage.Refused
	case frontier.TryAgain:
		u.tries++
		if u.tries == 4 {
			u.state = storage.Failed
			return
		}
		wait := []time.Duration{5 * s, 20 * s, 80 * s}[u.tries-1]
		if o.RetryAfter > 0 {
			wait = o.RetryAfter
		}
		u.due = latest(now.Add(wait), h.until)
	}
}

func (m *model) sleep(rt *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{ms, 700 * ms, 5 * s, 5 * time.Hour}).Draw(rt, "sleep"))
}

func (m *model) setRules(*rapid.T) { m.world.SetRules(m.drawRules()) }

func (m *model) restart(rt *rapid.T) {
	clean := rapid.Bool().Draw(rt, "clean")
	m.world.cfg.Rules = m.world.Rules()
	m.world.restart(clean)
	if !clean || len(m.leases) > 0 {
		for _, h := range m.hosts {
			for _, u := range h.urls {
				u.leased = time.Time{}
				if u.state == storage.Queued {
					h.last = time.Now()
				}
			}
		}
	}
	m.leases = nil
}

// compare compares what can be asked, in the store and in memory.
func (m *model) compare(*rapid.T) {
	var want, got frontier.Stats
	var faults []error
	m.must(m.world.store.View(func(tx *storage.Tx) error {
		marked := make(map[storage.ID]bool)
		for id := range tx.Relinks() {
			marked[id] = true
		}
		for _, h := range m.hosts {
			if len(h.urls) > 0 {
				want.Known++
			}
			for _, u := range h.urls {
				if u.state == storage.Queued && u.leased.IsZero() {
					want.Queued++
				}
				if !u.leased.IsZero() {
					want.Leased++
				}
				r, err := tx.Record(u.id)
				if err != nil {
					return err
				}
				if r.State != u.state || r.Depth != u.depth || r.Tries != u.tries || marked[u.id] != u.relink ||
					r.State == storage.Queued && !r.Due.Equal(u.due) {
					faults = append(faults, fmt.Errorf("%s is %+v, want %+v", u.href, r, u))
				}
			}
		}
		if last := int(tx.Last()); last != len(m.all()) {
			faults = append(faults, fmt.Errorf("%d URLs, want %d", last, len(m.all())))
		}
		return nil
	}))
	m.must(errors.Join(faults...))
	got = m.world.Stats()
	got.Active, got.Deferred = 0, 0
	if got != want {
		m.fatalf("stats are %+v, want %+v", got, want)
	}
	if idle := want.Queued+want.Leased == 0; m.world.Idle() != idle {
		m.fatalf("idle is %v, want %v", !idle, idle)
	}
}

// drain settles all that is left: every URL comes to an end.
func (m *model) drain() {
	for {
		for _, l := range m.leases {
			o := frontier.Outcome{End: time.Now()}
			m.must(m.world.try(func(_ *storage.Tx, b *frontier.Batch) error {
				_, _, err := b.Finish(l.ID, l.Host, o)
				return err
			}))
			m.apply(l, o, nil)
		}
		m.leases = nil
		if m.compare(nil); m.world.Idle() {
			return
		}
		m.leaseWithin(1000 * time.Hour)
	}
}
