package frontier_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"crawler/frontier"
	"crawler/storage"
)

var eager = politeness(func(p *frontier.Politeness) { p.Delay = 0 })

// drain leases and settles everything, and returns what it leased in order.
func (w *world) drain() (hrefs []string) {
	w.Helper()
	for !w.Idle() {
		l := w.lease()
		hrefs = append(hrefs, l.URL.String())
		w.finish(l, settled)
		time.Sleep(ms)
	}
	return hrefs
}

func (w *world) meet(id storage.ID, l frontier.Link) {
	w.Helper()
	w.batch(func(_ *storage.Tx, b *frontier.Batch) error { return b.Meet(id, l) })
}

func TestAHostIsCrawledBreadthFirst(t *testing.T) {
	inWorld(t, eager, func(w *world) {
		w.admitAt(2, page("a.example", 20), page("a.example", 21))
		w.admitAt(1, page("a.example", 10), page("a.example", 11))
		l := w.leaseAt(0, page("a.example", 10))
		w.admitAt(0, page("a.example", 0)) // comes after the others were due
		w.finish(l, settled)
		want := []string{page("a.example", 0), page("a.example", 11), page("a.example", 20), page("a.example", 21)}
		if got := w.drain(); !slices.Equal(got, want) {
			t.Errorf("leased %v, want %v", got, want)
		}
	})
}

func TestMeet(t *testing.T) {
	t.Run("a lesser depth moves a queued URL", func(t *testing.T) {
		inWorld(t, eager, func(w *world) {
			w.admitAt(1, page("a.example", 0), page("a.example", 1))
			id := w.admitAt(5, page("a.example", 2))
			w.meet(id, frontier.Link{URL: parse(t, page("a.example", 2)), Depth: 0, Hops: 3})
			l := w.leaseAt(0, page("a.example", 2))
			if l.Record.Depth != 0 || l.Record.Hops != 0 {
				t.Errorf("depth %d and %d hops, want the least of both: 0 and 0", l.Record.Depth, l.Record.Hops)
			}
			w.finish(l, settled)
			w.drain()
		})
	})
	t.Run("a greater depth changes nothing", func(t *testing.T) {
		inWorld(t, eager, func(w *world) {
			id := w.admitAt(1, page("a.example", 0))
			before := w.record(id)
			w.meet(id, frontier.Link{URL: parse(t, page("a.example", 0)), Depth: 2, Hops: 1})
			if got := w.record(id); got != before {
				t.Errorf("record is %+v, want %+v", got, before)
			}
		})
	})
	t.Run("while the URL is leased, the outcome tells", func(t *testing.T) {
		inWorld(t, eager, func(w *world) {
			id := w.admitAt(3, page("a.example", 0))
			l := w.lease()
			w.meet(id, frontier.Link{URL: l.URL, Depth: 1})
			if r := w.finish(l, settled); r.Depth != 1 {
				t.Errorf("depth is %d, want 1", r.Depth)
			}
		})
	})
	t.Run("while it waits for its next try, it goes on waiting", func(t *testing.T) {
		inWorld(t, eager, func(w *world) {
			id := w.admitAt(3, page("a.example", 0))
			w.finish(w.lease(), frontier.Outcome{Verdict: frontier.TryAgain})
			w.meet(id, frontier.Link{URL: parse(t, page("a.example", 0)), Depth: 1})
			if l := w.leaseAt(5*s, page("a.example", 0)); l.Record.Depth != 1 || l.Record.Tries != 1 {
				t.Errorf("depth %d after %d tries, want 1 after 1", l.Record.Depth, l.Record.Tries)
			}
		})
	})
	for _, test := range []struct {
		name    string
		outcome frontier.Outcome
		nearer  frontier.Link
		relinks []storage.ID
	}{
		{"a page already fetched is marked when it lies nearer", settled, frontier.Link{Depth: 1, Hops: 2}, []storage.ID{1}},
		{"and when fewer redirects lead to it", settled, frontier.Link{Depth: 3, Hops: 1}, []storage.ID{1}},
		{"and when a seed redirects to it", settled, frontier.Link{Depth: 3, Hops: 2, Seed: true}, []storage.ID{1}},
		{"but not otherwise", settled, frontier.Link{Depth: 3, Hops: 2}, nil},
		{"nor if it has no links", frontier.Outcome{Verdict: frontier.GiveUp}, frontier.Link{Depth: 1, Hops: 1}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, eager, func(w *world) {
				u := parse(t, page("a.example", 0))
				var id storage.ID
				w.batch(func(tx *storage.Tx, b *frontier.Batch) (err error) {
					id, err = admit(tx, b, frontier.Link{URL: u, Depth: 3, Hops: 2})
					return err
				})
				w.finish(w.lease(), test.outcome)
				test.nearer.URL = u
				w.meet(id, test.nearer)
				var got []storage.ID
				w.must(w.store.View(func(tx *storage.Tx) error {
					got = slices.Collect(tx.Relinks())
					return nil
				}))
				if !slices.Equal(got, test.relinks) {
					t.Errorf("marked %v, want %v", got, test.relinks)
				}
				if !w.Idle() {
					t.Error("it is queued again")
				}
			})
		})
	}
}

func TestAFailedFetchIsTriedAgainFartherApartEachTime(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		id := w.admit(page("a.example", 0))
		var at time.Duration
		for try, wait := range []time.Duration{0, 5 * s, 20 * s, 80 * s} {
			at += wait
			l := w.leaseAt(at, page("a.example", 0))
			if l.Record.Tries != try {
				t.Errorf("the lease counts %d tries, want %d", l.Record.Tries, try)
			}
			time.Sleep(300 * ms)
			at += 300 * ms
			w.finish(l, frontier.Outcome{Verdict: frontier.TryAgain, Reason: "status", Detail: "500", Status: 500})
		}
		got := w.record(id)
		want := storage.Record{
			State: storage.Failed, Reason: "status", Detail: "500", Status: 500, Tries: 4, Fetched: w.start.Add(at),
		}
		if !got.Fetched.Equal(want.Fetched) {
			t.Errorf("fetched at %v, want %v", got.Fetched, want.Fetched)
		}
		if got.Fetched = want.Fetched; got != want {
			t.Errorf("record is %+v, want %+v", got, want)
		}
		if !w.Idle() {
			t.Error("not idle")
		}
	})
}

func TestRetryIsConfigured(t *testing.T) {
	inWorld(t, frontier.Config{Retry: frontier.Retry{Tries: 2, Delay: 3 * s}}, func(w *world) {
		id := w.admit(page("a.example", 0))
		w.finish(w.leaseAt(0, page("a.example", 0)), frontier.Outcome{Verdict: frontier.TryAgain})
		w.finish(w.leaseAt(3*s, page("a.example", 0)), frontier.Outcome{Verdict: frontier.TryAgain})
		if got := w.record(id); got.State != storage.Failed {
			t.Errorf("the URL is %v, want failed", got.State)
		}
	})
}

func TestALongSeriesOfRetriesStaysInRange(t *testing.T) {
	inWorld(t, frontier.Config{Retry: frontier.Retry{Tries: 100, Delay: time.Hour}}, func(w *world) {
		w.admit(page("a.example", 0))
		var last time.Time
		for try := range 100 {
			l := w.lease()
			if want := time.Hour << min(2*max(try-1, 0), 10); try > 0 && time.Since(last) != want {
				t.Errorf("wait before try %d: %v, want %v", try, time.Since(last), want)
			}
			last = time.Now()
			w.finish(l, frontier.Outcome{Verdict: frontier.TryAgain})
		}
	})
}

func TestTheOthersOfAHostDoNotWaitForARetry(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 8)...)
		w.finish(w.leaseAt(0, page("a.example", 0)), frontier.Outcome{Verdict: frontier.TryAgain})
		for n := 1; n < 5; n++ {
			w.finish(w.leaseAt(time.Duration(n)*s, page("a.example", n)), settled)
		}
		w.finish(w.leaseAt(5*s, page("a.example", 0)), settled) // goes first once it is due
		w.finish(w.leaseAt(6*s, page("a.example", 5)), settled)
	})
}

func TestARetryDueSoonerIsNoticed(t *testing.T) {
	three := politeness(func(p *frontier.Politeness) { p.Delay, p.Connections = 0, 3 })
	inWorld(t, three, func(w *world) {
		w.admit(pages("a.example", 3)...)
		a, b, c := w.lease(), w.lease(), w.lease()
		time.AfterFunc(10*s, func() { w.finish(b, frontier.Outcome{Verdict: frontier.TryAgain}) })
		w.finish(a, frontier.Outcome{Verdict: frontier.TryAgain})
		w.finish(w.leaseAt(5*s, page("a.example", 0)), frontier.Outcome{Verdict: frontier.TryAgain}) // until 25 s
		if got := w.Host("a.example"); got.State != "waiting" || !got.Due.Equal(w.start.Add(25*s)) {
			t.Errorf("the host is %+v, want waiting until 25s", got)
		}
		w.leaseAt(15*s, page("a.example", 1))
		w.finish(c, settled)
	})
}

func TestRetryAfterHoldsForTheURLToo(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		id := w.admit(pages("a.example", 2)...)
		w.finish(w.lease(), frontier.Outcome{Verdict: frontier.TryAgain, HostFailed: true, RetryAfter: 42 * s})
		if got := w.record(id).Due; !got.Equal(w.start.Add(42 * s)) {
			t.Errorf("due at %v, want after 42s", got)
		}
		w.finish(w.leaseAt(42*s, page("a.example", 0)), frontier.Outcome{Verdict: frontier.TryAgain, RetryAfter: 2 * s})
		w.leaseAt(44*s, page("a.example", 0)) // though a retry waits longer of itself
	})
}

func TestEveryVerdictIsRecorded(t *testing.T) {
	inWorld(t, eager, func(w *world) {
		end := w.start.Add(s)
		for i, test := range []struct {
			outcome frontier.Outcome
			want    storage.Record
		}{
			{
				frontier.Outcome{Verdict: frontier.Settled, Status: 200, Bytes: 17, MediaType: "text/html"},
				storage.Record{State: storage.Fetched, Status: 200, Bytes: 17, MediaType: "text/html"},
			},
			{
				frontier.Outcome{Verdict: frontier.GiveUp, Reason: "gone", Detail: "404 Not Found", Status: 404},
				storage.Record{State: storage.Failed, Reason: "gone", Detail: "404 Not Found", Status: 404},
			},
			{
				frontier.Outcome{Verdict: frontier.Refuse, Reason: "robots", Detail: "Disallow: /"},
				storage.Record{State: storage.Refused, Reason: "robots", Detail: "Disallow: /"},
			},
			{
				frontier.Outcome{Verdict: frontier.PutBack, Reason: "not", Detail: "kept", Status: 1},
				storage.Record{State: storage.Queued},
			},
		} {
			id := w.admitAt(2, page("a.example", i))
			l := w.lease()
			test.outcome.End = end
			returned := w.conclude(l, test.outcome)
			test.want.Depth = 2
			got := w.record(id)
			if test.outcome.Verdict != frontier.PutBack {
				if !got.Fetched.Equal(end) || !returned.Fetched.Equal(end) {
					t.Errorf("fetched at %v, returned %v, want %v", got.Fetched, returned.Fetched, end)
				}
			}
			got.Fetched, returned.Fetched = time.Time{}, time.Time{}
			if got != test.want || returned != test.want {
				t.Errorf("verdict %v:\nrecorded %+v,\nreturned %+v,\nwant     %+v", test.outcome.Verdict, got, returned, test.want)
			}
			end = end.Add(s)
		}
	})
}

func TestFinishTwiceIsHarmless(t *testing.T) {
	for _, test := range []struct {
		name    string
		outcome frontier.Outcome
		next    time.Duration // when the URL is leased next, 0 for not
	}{
		{"settled", settled, 0},
		{"given up", frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}, 0},
		{"tried again", frontier.Outcome{Verdict: frontier.TryAgain, HostFailed: true}, 5 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, frontier.Config{}, func(w *world) {
				w.admit(page("a.example", 0))
				l := w.leaseAt(0, page("a.example", 0))
				w.admit(page("b.example", 0))
				test.outcome.End = time.Now()
				w.conclude(l, test.outcome)
				again := func() {
					w.batch(func(_ *storage.Tx, b *frontier.Batch) error {
						for range 2 {
							_, ok, err := b.Finish(l.ID, l.Host, test.outcome)
							if ok {
								t.Error("the outcome was taken twice")
							}
							if err != nil {
								return err
							}
						}
						return nil
					})
				}
				again()
				w.leaseAt(0, page("b.example", 0))
				if test.next > 0 {
					w.leaseAt(test.next, page("a.example", 0))
					again() // does not close the lease that came after
					if got := w.Stats().Leased; got != 2 {
						t.Errorf("%d leased, want 2", got)
					}
					return
				}
				if got, want := w.Stats(), (frontier.Stats{Known: 2, Active: 1, Leased: 1}); got != want {
					t.Errorf("stats are %+v, want %+v", got, want)
				}
			})
		})
	}
}

func TestALeaseOfAURLSettledElsewhereIsClosed(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 2)...)
		l := w.lease()
		w.batch(func(tx *storage.Tx, _ *frontier.Batch) error { // not by a batch
			h, err := tx.Host(l.Host)
			if err != nil {
				return err
			}
			h.Queued--
			l.Record.State = storage.Refused
			return errors.Join(tx.SetHost(l.Host, h), tx.SetRecord(l.ID, h.ID, l.Record))
		})
		time.Sleep(300 * ms)
		w.batch(func(_ *storage.Tx, b *frontier.Batch) error {
			r, ok, err := b.Finish(l.ID, l.Host, frontier.Outcome{End: time.Now()})
			if ok || r.State != storage.Refused {
				t.Errorf("Finish says %v, %v; want refused, false", r.State, ok)
			}
			return err
		})
		w.leaseAt(1300*ms, page("a.example", 1)) // the request counts all the same
	})
}

func TestABatchThatIsRolledBackLeavesNoTrace(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		id := w.admit(pages("a.example", 2)...)
		l := w.lease()
		status, stats, record := w.Host("a.example"), w.Stats(), w.record(id)
		failure := errors.New("the disk is full")
		err := w.try(func(tx *storage.Tx, b *frontier.Batch) error {
			if _, err := admit(tx, b, frontier.Link{URL: parse(t, page("b.example", 0))}); err != nil {
				return err
			}
			rb := noRobots(1)
			rb.Origin = l.URL.Origin()
			if _, err := b.Robots(l.Host, rb); err != nil {
				return err
			}
			if _, _, err := b.Finish(l.ID, l.Host, frontier.Outcome{RetryAfter: s, End: time.Now()}); err != nil {
				return err
			}
			return errors.Join(b.End(), failure)
		})
		if !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if got := w.Host("a.example"); got != status {
			t.Errorf("the host is %+v, want %+v", got, status)
		}
		if got := w.Stats(); got != stats {
			t.Errorf("stats are %+v, want %+v", got, stats)
		}
		if got := w.record(id); got != record {
			t.Errorf("the record is %+v, want %+v", got, record)
		}
		w.nothing(time.Hour) // the lease stands
		w.finish(l, settled)
		w.leaseAt(time.Hour+1*s, page("a.example", 1))
	})
}

func TestAdmittedCountsTheBatchItself(t *testing.T) {
	inWorld(t, eager, func(w *world) {
		w.admit(pages("a.example", 3)...)
		w.drain()
		w.batch(func(tx *storage.Tx, b *frontier.Batch) error {
			for i, want := range []int{3, 4} {
				if got, err := b.Admitted("a.example"); err != nil || got != want {
					t.Errorf("admitted: %d, %v; want %d", got, err, want)
				}
				if _, err := admit(tx, b, frontier.Link{URL: parse(t, page("a.example", 10+i))}); err != nil {
					return err
				}
			}
			if got, err := b.Admitted("b.example"); err != nil || got != 0 {
				t.Errorf("admitted: %d, %v; want 0", got, err)
			}
			return nil
		})
	})
}

// TestACommitThatIsNotFollowedYetIsNoDamage asks for a lease when the store has fewer URLs queued than memory counts.
func TestACommitThatIsNotFollowedYetIsNoDamage(t *testing.T) {
	two := politeness(func(p *frontier.Politeness) { p.Delay, p.Connections = 0, 3 })
	inWorld(t, two, func(w *world) {
		w.admit(pages("a.example", 3)...)
		a, b := w.lease(), w.lease()
		w.batch(func(tx *storage.Tx, batch *frontier.Batch) error {
			tx.OnCommit(func() { w.nothing(s) })
			if _, _, err := batch.Finish(b.ID+1, b.Host, settled); err != nil { // never leased
				return err
			}
			_, _, err := batch.Finish(a.ID, a.Host, settled)
			return err
		})
		w.finish(b, settled)
		if !w.Idle() {
			t.Errorf("not idle: %+v", w.Host("a.example"))
		}
	})
}
