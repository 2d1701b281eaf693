package frontier_test

import (
	"errors"
	"testing"
	"time"

	"crawler/frontier"
	"crawler/storage"
)

func TestRestart(t *testing.T) {
	t.Run("after an orderly end the rest of the delay is waited out", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(pages("a.example", 2)...)
			w.finish(w.lease(), settled)
			time.Sleep(300 * ms)
			w.restart(true)
			time.Sleep(300 * ms)
			w.leaseAt(1*s, page("a.example", 1))
		})
	})
	t.Run("after any other every host waits out a whole delay", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(pages("a.example", 2)...)
			w.finish(w.lease(), settled)
			w.admit(page("b.example", 0)) // never leased, as far as is known
			time.Sleep(300 * ms)
			w.restart(false)
			hosts := make(map[string]bool)
			for range 2 {
				l := w.lease()
				if got := time.Since(w.start); got != 1300*ms {
					t.Errorf("leased %s at %v, want at 1.3s", l.URL, got)
				}
				hosts[l.Host] = true
			}
			if len(hosts) != 2 {
				t.Errorf("leased of %v, want both hosts", hosts)
			}
		})
	})
	t.Run("and does so again if it ends like that again", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(page("a.example", 0))
			w.restart(true)
			time.Sleep(300 * ms)
			w.restart(false)
			w.leaseAt(1300*ms, page("a.example", 0))
		})
	})
	t.Run("even if an orderly end comes soon after", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(pages("a.example", 2)...)
			w.finish(w.lease(), settled)
			w.lease()
			time.Sleep(2 * s)
			w.restart(false)
			time.Sleep(300 * ms)
			w.restart(true)
			time.Sleep(300 * ms)
			w.restart(true)
			w.leaseAt(4*s, page("a.example", 1))
		})
	})
	t.Run("to detach with a lease is not an orderly end", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(page("a.example", 0))
			time.Sleep(300 * ms)
			w.lease()
			w.restart(true)
			w.leaseAt(1300*ms, page("a.example", 0))
		})
	})
	for _, clean := range []bool{true, false} {
		name := "after an orderly end "
		if !clean {
			name = "after any other "
		}
		t.Run(name+"the pause of a failing host goes on and counts", func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(pages("a.example", 3)...)
				w.finish(w.lease(), frontier.Outcome{Verdict: frontier.GiveUp, Reason: "reset", HostFailed: true})
				time.Sleep(2 * s)
				w.restart(clean)
				if got := w.Host("a.example"); got.Why != "reset" {
					t.Errorf("deferred for %q, want reset", got.Why)
				}
				w.finish(w.leaseAt(5*s, page("a.example", 1)), frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
				w.leaseAt(15*s, page("a.example", 2))
			})
		})
		t.Run(name+"retry times stand", func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(page("a.example", 0))
				w.finish(w.lease(), frontier.Outcome{Verdict: frontier.TryAgain})
				time.Sleep(2 * s)
				w.restart(clean)
				if l := w.leaseAt(5*s, page("a.example", 0)); l.Record.Tries != 1 {
					t.Errorf("the lease counts %d tries, want 1", l.Record.Tries)
				}
			})
		})
		t.Run(name+"failures to get robots.txt count on", func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(page("a.example", 0))
				for n := range 5 {
					w.robots(w.lease(), noRobots(n+1))
				}
				w.restart(clean)
				if w.Stuck() != 1 {
					t.Error("not stuck")
				}
				w.leaseAt(155*s, page("a.example", 0))
			})
		})
		t.Run(name+"the crawl delay and the time to answer are known", func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(page("a.example", 0), page("b.example", 0), page("b.example", 1))
				a, b := w.lease(), w.lease()
				if a.Host == "b.example" {
					a, b = b, a
				}
				w.robots(a, delayRobots(10*s))
				w.finish(b, frontier.Outcome{Answer: 4 * s})
				w.restart(clean)
				w.leaseAt(4*s, page("b.example", 1))
				w.leaseAt(10*s, page("a.example", 0))
			})
		})
	}
	t.Run("a lease that was lost is given out again", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(page("a.example", 0))
			w.lease()
			w.restart(false)
			w.finish(w.leaseAt(1*s, page("a.example", 0)), settled)
			if !w.Idle() {
				t.Error("not idle")
			}
		})
	})
}

func TestTheDelayHoldsForAHostThatWasIdle(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(page("a.example", 0))
		w.finish(w.lease(), settled)
		if !w.Idle() {
			t.Error("not idle")
		}
		time.Sleep(300 * ms)
		w.admit(page("a.example", 1))
		w.leaseAt(1*s, page("a.example", 1))
	})
}

func TestDetached(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 2)...)
		l := w.lease()
		w.must(w.Detach(0))
		if !w.Idle() || w.Stats() != (frontier.Stats{}) {
			t.Errorf("a frontier without partitions has %+v", w.Stats())
		}
		if err := w.Detach(0); !errors.Is(err, frontier.ErrDetached) {
			t.Errorf("Detach: %v, want %v", err, frontier.ErrDetached)
		}
		err := w.try(func(_ *storage.Tx, b *frontier.Batch) error {
			_, _, err := b.Finish(l.ID, l.Host, settled)
			return err
		})
		if !errors.Is(err, frontier.ErrDetached) {
			t.Errorf("End: %v, want %v", err, frontier.ErrDetached)
		}
		w.nothing(time.Hour)
	})
}

// TestABatchMayOutliveItsPartition commits one that was begun before Detach: the change is kept, and no lease follows.
func TestABatchMayOutliveItsPartition(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(page("a.example", 0))
		l := w.lease()
		w.batch(func(tx *storage.Tx, b *frontier.Batch) error {
			tx.OnCommit(func() { w.must(w.Detach(0)) })
			_, err := admit(tx, b, frontier.Link{URL: parse(t, page("b.example", 0))})
			if err != nil {
				return err
			}
			_, _, err = b.Finish(l.ID, l.Host, settled)
			return err
		})
		w.nothing(time.Hour)
		if got := w.Stats(); got != (frontier.Stats{}) {
			t.Errorf("a frontier without partitions has %+v", got)
		}
		w.must(w.Attach(0, w.store))
		w.leaseAt(time.Hour+1*s, page("b.example", 0))
		if got, want := w.Stats(), (frontier.Stats{Known: 2, Active: 1, Leased: 1}); got != want {
			t.Errorf("stats are %+v, want %+v", got, want)
		}
	})
}
