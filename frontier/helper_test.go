package frontier_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// world is a frontier with one partition whose store is on disk.
type world struct {
	testing.TB
	cfg   frontier.Config
	path  string
	store *storage.Store
	*frontier.Frontier
	start   time.Time
	damaged bool // the test damages the store
}

// inWorld runs a test in virtual time. Random is fixed to 0, and the store must be sound at the end.
func inWorld(t *testing.T, cfg frontier.Config, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, cfg, filepath.Join(t.TempDir(), "store.db"))
		defer w.close()
		test(w)
	})
}

func newWorld(t testing.TB, cfg frontier.Config, path string) *world {
	if cfg.Random == nil {
		cfg.Random = func() float64 { return 0 }
	}
	w := &world{TB: t, cfg: cfg, path: path, start: time.Now()}
	w.open()
	return w
}

func (w *world) open() {
	w.Helper()
	store, err := storage.OpenStore(w.path, storage.Options{NoSync: true})
	w.must(err)
	w.store, w.Frontier = store, frontier.New(w.cfg)
	w.must(w.Attach(0, store))
}

func (w *world) close() {
	w.Helper()
	if !w.damaged {
		w.must(w.store.Check())
	}
	w.must(w.store.Close())
}

// restart ends the process and starts the next: with an orderly end, or with none.
func (w *world) restart(clean bool) {
	w.Helper()
	if clean {
		w.must(w.Detach(0))
	}
	w.close()
	w.open()
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// batch commits one batch of changes.
func (w *world) batch(change func(tx *storage.Tx, b *frontier.Batch) error) {
	w.Helper()
	w.must(w.try(change))
}

func (w *world) try(change func(tx *storage.Tx, b *frontier.Batch) error) error {
	return w.store.Update(func(tx *storage.Tx) error {
		b := w.Begin(0, tx)
		if err := change(tx, b); err != nil {
			return err
		}
		return b.End()
	})
}

func parse(t testing.TB, href string) normalize.URL {
	t.Helper()
	u, err := normalize.Parse(href)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func admit(tx *storage.Tx, b *frontier.Batch, l frontier.Link) (storage.ID, error) {
	id, err := tx.Append(string(l.URL.Key()), l.URL.String())
	if err != nil {
		return 0, err
	}
	return id, b.Admit(id, l)
}

// admit queues URLs, all in one batch, and returns the ID of the first.
func (w *world) admit(hrefs ...string) storage.ID {
	w.Helper()
	return w.admitAt(0, hrefs...)
}

func (w *world) admitAt(depth int, hrefs ...string) (first storage.ID) {
	w.Helper()
	w.batch(func(tx *storage.Tx, b *frontier.Batch) error {
		for _, href := range hrefs {
			id, err := admit(tx, b, frontier.Link{URL: parse(w, href), Depth: depth})
			if err != nil {
				return err
			}
			if first == 0 {
				first = id
			}
		}
		return nil
	})
	return first
}

// lease waits for a lease, for as long as it takes.
func (w *world) lease() *frontier.Lease {
	w.Helper()
	l, err := w.Next(w.Context())
	w.must(err)
	return l
}

// leaseAt waits for a lease, which must be of href and come exactly at the given time after the start.
func (w *world) leaseAt(at time.Duration, href string) *frontier.Lease {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 1000*time.Hour)
	defer cancel()
	l, err := w.Next(ctx)
	w.must(err)
	if got := l.URL.String(); got != href {
		w.Errorf("leased %s, want %s", got, href)
	}
	if got := time.Since(w.start); got != at {
		w.Errorf("leased %s at %v, want at %v", href, got, at)
	}
	return l
}

// nothing makes sure that there is no lease to be had for the given time.
func (w *world) nothing(wait time.Duration) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), wait)
	defer cancel()
	if l, err := w.Next(ctx); err == nil {
		w.Fatalf("leased %s at %v, want nothing", l.URL, time.Since(w.start))
	} else if !errors.Is(err, context.DeadlineExceeded) {
		w.Fatal(err)
	}
}

// finish commits the outcome of a lease whose last request ends now.
func (w *world) finish(l *frontier.Lease, o frontier.Outcome) storage.Record {
	w.Helper()
	o.End = time.Now()
	return w.conclude(l, o)
}

// conclude commits an outcome as it is: without an End no request was made.
func (w *world) conclude(l *frontier.Lease, o frontier.Outcome) (r storage.Record) {
	w.Helper()
	w.batch(func(_ *storage.Tx, b *frontier.Batch) error {
		var ok bool
		var err error
		r, ok, err = b.Finish(l.ID, l.Host, o)
		if err == nil && !ok {
			w.Errorf("the outcome of %s was not taken", l.URL)
		}
		return err
	})
	return r
}

// robots commits what a request for robots.txt under a lease brought, and puts the lease back, or parks it if it was a failure.
func (w *world) robots(l *frontier.Lease, rb frontier.Robots) {
	w.Helper()
	rb.Origin, rb.Fetched = l.URL.Origin(), time.Now()
	w.batch(func(_ *storage.Tx, b *frontier.Batch) error {
		until, err := b.Robots(l.Host, rb)
		if err != nil {
			return err
		}
		o := frontier.Outcome{Verdict: frontier.PutBack, End: rb.Fetched}
		if rb.Fails > 0 {
			o.Verdict, o.Until, o.Fails = frontier.Park, until, rb.Fails
		}
		_, _, err = b.Finish(l.ID, l.Host, o)
		return err
	})
}

// noRobots is what comes of a robots.txt that could not be had for the n-th time in a row.
func noRobots(n int) frontier.Robots {
	return frontier.Robots{Robots: storage.Robots{Access: "unreachable", Fails: n}}
}

// delayRobots is a robots.txt with a Crawl-delay.
func delayRobots(d time.Duration) frontier.Robots {
	return frontier.Robots{Robots: storage.Robots{Access: "rules", CrawlDelay: d}}
}

func (w *world) record(id storage.ID) (r storage.Record) {
	w.Helper()
	w.must(w.store.View(func(tx *storage.Tx) (err error) {
		r, err = tx.Record(id)
		return err
	}))
	return r
}

// politeness returns a configuration in which every host is treated as the default with some changes.
func politeness(change func(p *frontier.Politeness)) frontier.Config {
	return frontier.Config{Rules: rules(change)}
}

func rules(change func(p *frontier.Politeness)) frontier.Rules {
	p := frontier.DefaultPoliteness()
	change(&p)
	return frontier.Rules{Default: p}
}

func hours(t testing.TB, text string) frontier.Hours {
	t.Helper()
	h, err := frontier.ParseHours(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var settled = frontier.Outcome{Verdict: frontier.Settled, Status: 200}
