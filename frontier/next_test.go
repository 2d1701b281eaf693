package frontier_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"crawler/frontier"
	"crawler/storage"
)

func TestNextEndsWithTheCauseOfItsContext(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(w.Context())
		time.AfterFunc(s, func() { cancel(cause) })
		for range 2 { // while it waits, and before
			if _, err := w.Next(ctx); !errors.Is(err, cause) {
				t.Errorf("Next: %v, want %v", err, cause)
			}
		}
		if got := time.Since(w.start); got != s {
			t.Errorf("ended at %v, want 1s", got)
		}
	})
}

// TestACancelledNextLosesNoLease cancels workers at the very time at which leases are handed out.
func TestACancelledNextLosesNoLease(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		const n = 100
		w.admit(pages("a.example", n)...)
		leases := make(chan *frontier.Lease, 1)
		for !w.Idle() {
			ctx, cancel := context.WithCancel(w.Context())
			var workers sync.WaitGroup
			for range 4 {
				workers.Go(func() {
					if l, err := w.Next(ctx); err == nil {
						leases <- l
					}
				})
			}
			synctest.Wait()
			time.AfterFunc(time.Until(w.Host("a.example").Due), cancel)
			workers.Wait()
			if got := w.Stats(); got.Leased != len(leases) {
				t.Fatalf("%d leased, the workers have %d", got.Leased, len(leases))
			}
			select {
			case l := <-leases:
				w.finish(l, settled)
			default:
			}
		}
		states := make(map[storage.State]int)
		w.must(w.store.View(func(tx *storage.Tx) error {
			for _, r := range tx.Records(0) {
				states[r.State]++
			}
			return nil
		}))
		if states[storage.Fetched] != n {
			t.Errorf("the states are %v, want %d fetched", states, n)
		}
	})
}

func TestWhoWaitsLongestIsServedFirst(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		var mu sync.Mutex
		var served []int
		var workers sync.WaitGroup
		quit, cancel := context.WithCancel(w.Context())
		for i := range 10 {
			workers.Go(func() {
				ctx := w.Context()
				if i == 4 {
					ctx = quit
				}
				if l, err := w.Next(ctx); err == nil {
					mu.Lock()
					served = append(served, i)
					mu.Unlock()
					w.finish(l, settled)
				}
			})
			synctest.Wait()
		}
		cancel()
		w.admit(pages("a.example", 9)...)
		workers.Wait()
		if want := []int{0, 1, 2, 3, 5, 6, 7, 8, 9}; !slices.Equal(served, want) {
			t.Errorf("served %v, want %v", served, want)
		}
		if got := time.Since(w.start); got != 8*s {
			t.Errorf("served until %v, want 8s", got)
		}
	})
}

func TestNextEndsWhenTheStoreIsDamaged(t *testing.T) {
	damage := func(w *world, do func(tx *storage.Tx, h *storage.Host) error) {
		w.damaged = true
		w.must(w.store.Update(func(tx *storage.Tx) error {
			h, err := tx.Host("a.example")
			if err != nil {
				return err
			}
			return errors.Join(do(tx, &h), tx.SetHost("a.example", h))
		}))
	}
	tests := []struct {
		name string
		do   func(tx *storage.Tx, h *storage.Host) error
	}{
		{"the queues hold fewer URLs than are counted", func(_ *storage.Tx, h *storage.Host) error {
			h.Queued++
			return nil
		}},
		{"a queued URL is not in the log", func(tx *storage.Tx, h *storage.Host) error {
			h.Queued++
			return tx.SetRecord(77, h.ID, storage.Record{State: storage.Queued})
		}},
		{"a URL of the log cannot be parsed", func(tx *storage.Tx, h *storage.Host) error {
			h.Queued++
			id, err := tx.Append("gopher://a.example/", "gopher://a.example/")
			return errors.Join(err, tx.SetRecord(id, h.ID, storage.Record{State: storage.Queued}))
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(page("a.example", 0))
				damage(w, test.do)
				w.restart(true)
				var workers sync.WaitGroup
				w.finish(w.lease(), settled)
				for range 3 {
					workers.Go(func() {
						if _, err := w.Next(w.Context()); !errors.Is(err, storage.ErrDamaged) {
							t.Errorf("Next: %v, want %v", err, storage.ErrDamaged)
						}
					})
				}
				workers.Wait()
				if _, err := w.Next(w.Context()); !errors.Is(err, storage.ErrDamaged) {
					t.Errorf("Next afterwards: %v, want %v", err, storage.ErrDamaged)
				}
			})
		})
	}
	t.Run("a batch finds fewer URLs counted than it takes out", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(page("a.example", 0))
			l := w.lease()
			damage(w, func(_ *storage.Tx, h *storage.Host) error { h.Queued--; return nil })
			err := w.try(func(_ *storage.Tx, b *frontier.Batch) error {
				_, _, err := b.Finish(l.ID, l.Host, settled)
				return err
			})
			if !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("End: %v, want %v", err, storage.ErrDamaged)
			}
		})
	})
}

func TestNextEndsWhenTheStoreIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, frontier.Config{}, filepath.Join(t.TempDir(), "store.db"))
		w.admit(page("a.example", 0))
		w.close()
		if l, err := w.Next(w.Context()); err == nil {
			t.Errorf("leased %s of a closed store", l.URL)
		}
	})
}

// TestManyWorkers has 64 goroutines lease and finish, each outcome in a transaction of its own. As there is always a
// worker free, every gap between requests to a host is exactly the delay.
func TestManyWorkers(t *testing.T) {
	const (
		hosts   = 24
		each    = 12
		workers = 64
	)
	for _, connections := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d connections", connections), func(t *testing.T) {
			cfg := politeness(func(p *frontier.Politeness) { p.Connections = connections })
			inWorld(t, cfg, func(w *world) {
				var mu sync.Mutex
				started := make(map[string][]time.Duration)
				flying := make(map[string]int)
				for i := range hosts {
					w.admit(pages(fmt.Sprintf("h%d.example", i), each)...)
				}
				ctx, cancel := context.WithCancel(w.Context())
				defer cancel()
				var group sync.WaitGroup
				for range workers {
					group.Go(func() {
						for {
							l, err := w.Next(ctx)
							if err != nil {
								return
							}
							mu.Lock()
							started[l.Host] = append(started[l.Host], time.Since(w.start))
							flying[l.Host]++
							if flying[l.Host] > connections {
								t.Errorf("%d requests to %s in flight", flying[l.Host], l.Host)
							}
							mu.Unlock()
							time.Sleep(100 * ms)
							mu.Lock()
							flying[l.Host]--
							mu.Unlock()
							w.finish(l, settled)
							if w.Idle() {
								cancel()
							}
						}
					})
				}
				group.Wait()
				var want []time.Duration
				for i := range each { // a request is over before the next may start, even where it need not be
					want = append(want, time.Duration(i)*1100*ms)
				}
				for i := range hosts {
					host := fmt.Sprintf("h%d.example", i)
					if got := started[host]; !slices.Equal(got, want) {
						t.Errorf("requests to %s start at %v, want %v", host, got, want)
					}
				}
			})
		})
	}
}

func TestHost(t *testing.T) {
	two := politeness(func(p *frontier.Politeness) { p.Connections, p.Delay = 2, 3*s })
	inWorld(t, two, func(w *world) {
		check := func(want frontier.HostStatus) {
			t.Helper()
			got := w.Host("a.example")
			if !got.Due.Equal(want.Due) {
				t.Errorf("due after %v, want %v", got.Due.Sub(w.start), want.Due.Sub(w.start))
			}
			if got.Due = want.Due; got != want {
				t.Errorf("the host is %+v, want %+v", got, want)
			}
		}
		at := func(d time.Duration) time.Time { return w.start.Add(d) }
		check(frontier.HostStatus{State: "idle", Delay: 3 * s})
		w.admit(pages("a.example", 3)...)
		check(frontier.HostStatus{State: "waiting", Due: at(0), Delay: 3 * s, Queued: 3})
		a := w.lease()
		check(frontier.HostStatus{State: "waiting", Due: at(3 * s), Delay: 3 * s, Queued: 2, Leased: 1})
		b := w.lease()
		check(frontier.HostStatus{State: "leased", Due: at(6 * s), Delay: 3 * s, Queued: 1, Leased: 2})
		if got, want := len(w.Leases()), 2; got != want {
			t.Errorf("%d leases, want %d", got, want)
		}
		w.finish(a, frontier.Outcome{RetryAfter: time.Minute})
		check(frontier.HostStatus{State: "deferred", Why: frontier.WhyRetryAfter, Due: at(63 * s), Delay: 3 * s, Queued: 1, Leased: 1})
		w.finish(b, frontier.Outcome{Answer: 5 * s})
		check(frontier.HostStatus{State: "deferred", Why: frontier.WhyRetryAfter, Due: at(63 * s), Delay: 5 * s, Queued: 1})
		c := w.lease()
		check(frontier.HostStatus{State: "leased", Due: at(68 * s), Delay: 5 * s, Leased: 1}) // nothing waits
		if got, want := w.Leases(), []storage.Ref{{Partition: 0, ID: c.ID}}; !slices.Equal(got, want) {
			t.Errorf("leases are %v, want %v", got, want)
		}
		w.finish(c, frontier.Outcome{Verdict: frontier.TryAgain})
		check(frontier.HostStatus{State: "waiting", Due: at(68 * s), Delay: 5 * s, Queued: 1})
		w.finish(w.lease(), settled)
		check(frontier.HostStatus{State: "idle", Delay: 3 * s})
	})
}

func TestStats(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		check := func(want frontier.Stats, idle bool) {
			t.Helper()
			if got := w.Stats(); got != want {
				t.Errorf("stats are %+v, want %+v", got, want)
			}
			if got := w.Idle(); got != idle {
				t.Errorf("idle is %v, want %v", got, idle)
			}
		}
		check(frontier.Stats{}, true)
		w.admit(pages("a.example", 2)...)
		w.admit(pages("b.example", 2)...)
		check(frontier.Stats{Known: 2, Active: 2, Queued: 4}, false)
		l := w.lease()
		check(frontier.Stats{Known: 2, Active: 2, Queued: 3, Leased: 1}, false)
		w.finish(l, frontier.Outcome{RetryAfter: time.Minute})
		check(frontier.Stats{Known: 2, Active: 1, Deferred: 1, Queued: 3}, false)
		w.restart(true)
		check(frontier.Stats{Known: 2, Active: 1, Deferred: 1, Queued: 3}, false)
		for range 3 {
			w.finish(w.lease(), settled)
		}
		check(frontier.Stats{Known: 2}, true)
		w.batch(func(_ *storage.Tx, b *frontier.Batch) error { // a host of which nothing is admitted is not known
			_, err := b.Robots("c.example", frontier.Robots{Origin: "http://c.example", Robots: storage.Robots{Access: "rules"}})
			return err
		})
		w.restart(false)
		check(frontier.Stats{Known: 2}, true)
		w.admit(page("a.example", 2))
		w.admit(page("c.example", 0))
		check(frontier.Stats{Known: 3, Active: 2, Queued: 2}, false)
	})
}

func TestStuckOnlyIfEveryHostIsHopeless(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		check := func(want int) {
			t.Helper()
			if got := w.Stuck(); got != want {
				t.Errorf("stuck: %d, want %d", got, want)
			}
		}
		check(0)
		w.admit(page("a.example", 0))
		for n := range 5 {
			check(0)
			w.robots(w.lease(), noRobots(n+1))
		}
		check(1)
		w.admit(page("a.example", 1)) // perhaps of an origin that can be reached
		check(0)
		w.robots(w.leaseAt(76*s, page("a.example", 1)), noRobots(6))
		check(1)
		w.admit(page("b.example", 0))
		check(0)
		l := w.lease()
		w.robots(l, frontier.Robots{})
		w.finish(w.lease(), settled)
		check(1)
		l = w.lease()
		check(0) // it is being tried
		w.robots(l, noRobots(6))
		check(1)
	})
	for _, test := range []struct {
		name    string
		outcome frontier.Outcome
		want    int // failures in a row
	}{
		{"a host that does not answer", frontier.Outcome{Verdict: frontier.TryAgain, HostFailed: true}, 5},
		{"a host that answers with trouble", frontier.Outcome{Verdict: frontier.TryAgain, HostFailed: true, Status: 503}, 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(pages("a.example", 12)...)
				for n := range test.want {
					if w.Stuck() != 0 {
						t.Fatalf("stuck after %d failures, want %d", n, test.want)
					}
					w.finish(w.lease(), test.outcome)
				}
				if w.Stuck() != 1 {
					t.Errorf("not stuck after %d failures", test.want)
				}
				w.finish(w.lease(), settled)
				if w.Stuck() != 0 {
					t.Error("stuck although the host has answered")
				}
			})
		})
	}
}
