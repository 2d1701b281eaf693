package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"crawler/frontier"
	"crawler/storage"
)

const (
	s  = time.Second
	ms = time.Millisecond
)

// page returns the n-th page of a host.
func page(host string, n int) string { return fmt.Sprintf("http://%s/%d", host, n) }

func pages(host string, n int) []string {
	var hrefs []string
	for i := range n {
		hrefs = append(hrefs, page(host, i))
	}
	return hrefs
}

// TestGap pins the starts of the requests to one host, one worker asking as soon as the last request has ended.
func TestGap(t *testing.T) {
	type step struct {
		took time.Duration
		frontier.Outcome
	}
	took := func(d time.Duration) step { return step{d, settled} }
	tests := []struct {
		name   string
		change func(p *frontier.Politeness)
		steps  []step
		starts []time.Duration
	}{
		{
			"the delay counts from the end of the last fetch", nil,
			[]step{took(300 * ms), took(0), took(900 * ms), took(0)},
			[]time.Duration{0, 1300 * ms, 2300 * ms, 4200 * ms},
		},
		{
			"a delay of 0 means none",
			func(p *frontier.Politeness) { p.Delay = 0 },
			[]step{took(300 * ms), took(0), took(0)},
			[]time.Duration{0, 300 * ms, 300 * ms},
		},
		{
			"the time to answer does not count where the delay is 0",
			func(p *frontier.Politeness) { p.Delay = 0 },
			[]step{{300 * ms, frontier.Outcome{Answer: 3 * s}}, took(0)},
			[]time.Duration{0, 300 * ms},
		},
		{
			"a slow host gets more time: the moving average of its answers", nil,
			[]step{
				{0, frontier.Outcome{Answer: 4 * s}}, // average 4 s
				{0, frontier.Outcome{Answer: 8 * s}}, // 4 + (8-4)/4 = 5 s
				{0, frontier.Outcome{Answer: 1 * s}}, // 5 + (1-5)/4 = 4 s
				{0, settled},
			},
			[]time.Duration{0, 4 * s, 9 * s, 13 * s},
		},
		{
			"a fast host gets no less time", nil,
			[]step{{0, frontier.Outcome{Answer: ms}}, took(0)},
			[]time.Duration{0, 1 * s},
		},
		{
			"unless it is not to adapt",
			func(p *frontier.Politeness) { p.Adaptive = false },
			[]step{{0, frontier.Outcome{Answer: 4 * s}}, took(0)},
			[]time.Duration{0, 1 * s},
		},
		{
			"Retry-After is exact, whatever the delay", nil,
			[]step{
				{100 * ms, frontier.Outcome{RetryAfter: 7 * s}},
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true, RetryAfter: 2 * s}},
				took(0),
			},
			[]time.Duration{0, 7100 * ms, 9100 * ms},
		},
		{
			"Retry-After does not shorten the delay", nil,
			[]step{{0, frontier.Outcome{RetryAfter: ms}}, took(0)},
			[]time.Duration{0, 1 * s},
		},
		{
			"a failing host is left alone for twice as long each time, until it answers", nil,
			[]step{
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 5 s
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 10 s
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 20 s
				{0, frontier.Outcome{Verdict: frontier.GiveUp}},                   // an answer, if a bad one: + 1 s
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 5 s
				took(0),
			},
			[]time.Duration{0, 5 * s, 15 * s, 35 * s, 36 * s, 41 * s},
		},
		{
			"a request cut short by us says nothing about the host", nil,
			[]step{
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 5 s
				{0, frontier.Outcome{Verdict: frontier.PutBack}},                  // + 1 s
				{0, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true}}, // + 10 s
				took(0),
			},
			[]time.Duration{0, 5 * s, 6 * s, 16 * s},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cfg := frontier.Config{}
			if test.change != nil {
				cfg = politeness(test.change)
			}
			inWorld(t, cfg, func(w *world) {
				w.admit(pages("a.example", len(test.steps))...)
				for i, step := range test.steps {
					l := w.lease()
					if got := time.Since(w.start); got != test.starts[i] {
						t.Errorf("request %d starts at %v, want %v", i, got, test.starts[i])
					}
					time.Sleep(step.took)
					w.finish(l, step.Outcome)
				}
			})
		})
	}
}

func TestThePauseOfAFailingHostIsBounded(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 16)...)
		var last time.Time
		for i := range 16 {
			l := w.lease()
			if want := min(5*s<<max(i-1, 0), time.Hour); i > 0 && time.Since(last) != want {
				t.Errorf("pause %d takes %v, want %v", i, time.Since(last), want)
			}
			last = time.Now()
			w.finish(l, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
		}
	})
}

func TestChanceLengthensThePauseOfAFailingHostByAQuarterAtMost(t *testing.T) {
	inWorld(t, frontier.Config{Random: func() float64 { return 0.5 }}, func(w *world) {
		w.admit(pages("a.example", 2)...)
		w.finish(w.lease(), frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
		w.leaseAt(5625*ms, page("a.example", 1))
	})
}

func TestAHostThatCannotBeReachedAtAllIsLeftAlone(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 2)...)
		l := w.lease()
		time.Sleep(300 * ms)
		// Its name has no address, so no request was made.
		r := w.conclude(l, frontier.Outcome{Verdict: frontier.TryAgain, Reason: "dns", HostFailed: true})
		if got, want := r.Due, w.start.Add(5300*ms); !got.Equal(want) {
			t.Errorf("tried again at %v, want %v", got, want)
		}
		if got := w.Host("a.example"); got.State != "deferred" || got.Why != "dns" {
			t.Errorf("the host is %s (%s), want deferred (dns)", got.State, got.Why)
		}
		w.leaseAt(5300*ms, page("a.example", 0))
	})
}

func TestALeaseWithoutARequestForgivesNothing(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("a.example", 4)...)
		w.finish(w.lease(), frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
		w.conclude(w.leaseAt(5*s, page("a.example", 1)), frontier.Outcome{Verdict: frontier.Refuse})
		w.finish(w.leaseAt(5*s, page("a.example", 2)), frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
		w.leaseAt(15*s, page("a.example", 3))
	})
}

func TestTheLongestOfSeveralReasonsCounts(t *testing.T) {
	three := politeness(func(p *frontier.Politeness) { p.Connections, p.Delay = 3, 0 })
	inWorld(t, three, func(w *world) {
		w.admit(pages("a.example", 4)...)
		a, b, c := w.lease(), w.lease(), w.lease()
		w.finish(a, frontier.Outcome{Verdict: frontier.GiveUp, RetryAfter: time.Hour})
		w.finish(b, frontier.Outcome{Verdict: frontier.GiveUp, HostFailed: true})
		w.finish(c, frontier.Outcome{RetryAfter: 2 * s})
		if got := w.Host("a.example"); got.Why != frontier.WhyRetryAfter {
			t.Errorf("deferred for %q, want %q", got.Why, frontier.WhyRetryAfter)
		}
		w.leaseAt(time.Hour, page("a.example", 3))
	})
}

func TestSeveralConnections(t *testing.T) {
	three := politeness(func(p *frontier.Politeness) { p.Connections = 3 })
	inWorld(t, three, func(w *world) {
		w.admit(pages("a.example", 8)...)
		a := w.leaseAt(0, page("a.example", 0))
		b := w.leaseAt(1*s, page("a.example", 1)) // a delay after the start of the last
		c := w.leaseAt(2*s, page("a.example", 2))
		w.nothing(8 * s) // three are in flight
		w.finish(b, settled)
		d := w.leaseAt(11*s, page("a.example", 3)) // a delay after the end of the last
		w.finish(a, settled)
		w.finish(c, settled)
		e := w.leaseAt(12*s, page("a.example", 4))
		time.Sleep(400 * ms)
		w.finish(d, settled)
		f := w.leaseAt(13400*ms, page("a.example", 5))
		// A lease without a request leaves the others' starts standing.
		w.conclude(f, frontier.Outcome{Verdict: frontier.Refuse})
		f = w.leaseAt(13400*ms, page("a.example", 6))
		time.Sleep(100 * ms)
		w.conclude(e, frontier.Outcome{Verdict: frontier.Refuse})
		w.leaseAt(14400*ms, page("a.example", 7))
		w.finish(f, settled)
	})
}

func TestALeaseWithoutARequestCostsNoDelay(t *testing.T) {
	for _, verdict := range []frontier.Verdict{frontier.Refuse, frontier.PutBack, frontier.GiveUp} {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(pages("a.example", 2)...)
			w.finish(w.lease(), settled)
			w.admit(page("a.example", 2))
			l := w.leaseAt(1*s, page("a.example", 1))
			w.conclude(l, frontier.Outcome{Verdict: verdict})
			next := page("a.example", 2)
			if verdict == frontier.PutBack {
				next = page("a.example", 1)
			}
			w.leaseAt(1*s, next)
		})
	}
}

func TestHostsDoNotWaitForEachOther(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(page("a.example", 0), page("a.example", 1))
		time.Sleep(100 * ms)
		w.admit(page("b.example", 0), page("b.example", 1))
		a := w.leaseAt(100*ms, page("a.example", 0))
		b := w.leaseAt(100*ms, page("b.example", 0))
		time.Sleep(100 * ms)
		w.finish(b, settled)
		time.Sleep(100 * ms)
		w.finish(a, settled)
		w.leaseAt(1200*ms, page("b.example", 1))
		w.leaseAt(1300*ms, page("a.example", 1))
	})
}

func TestOfManyHostsThatAreDueTheSoonestComesFirst(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		const n = 50
		order := make([]int, n) // a permutation
		for i := range n {
			order[i] = i * 7 % n
		}
		for _, i := range order {
			w.admit(page(fmt.Sprintf("h%d.example", i), 0))
			time.Sleep(ms)
		}
		time.Sleep(time.Minute) // all are due
		for _, i := range order {
			if got, want := w.lease().Host, fmt.Sprintf("h%d.example", i); got != want {
				t.Fatalf("leased of %s, want %s", got, want)
			}
		}
	})
}

func TestAHostThatIsOverdueComesBeforeANewOne(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		w.admit(pages("old.example", 2)...)
		w.finish(w.lease(), settled)
		time.Sleep(5 * s)
		w.admit(page("new.example", 0))
		time.Sleep(1 * s)
		w.admit(page("old.example", 2)) // does not send it back to the end
		w.leaseAt(6*s, page("old.example", 1))
		w.leaseAt(6*s, page("new.example", 0))
	})
}

func TestCrawlDelay(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *frontier.Politeness)
		asked  time.Duration
		want   time.Duration
	}{
		{"lengthens the delay", func(*frontier.Politeness) {}, 10 * s, 10 * s},
		{"does not shorten it", func(*frontier.Politeness) {}, 100 * ms, 1 * s},
		{"is capped", func(*frontier.Politeness) {}, time.Hour, time.Minute},
		{"is capped as configured", func(p *frontier.Politeness) { p.MaxCrawlDelay = 20 * s }, time.Hour, 20 * s},
		{"is capped without shortening the delay", func(p *frontier.Politeness) { p.MaxCrawlDelay = ms }, time.Hour, 1 * s},
		{"counts where the delay is 0", func(p *frontier.Politeness) { p.Delay = 0 }, 10 * s, 10 * s},
		{"can be ignored", func(p *frontier.Politeness) { p.HonourCrawlDelay = false }, 10 * s, 1 * s},
		{"is ignored with the rest of robots.txt", func(p *frontier.Politeness) { p.ObeyRobots = false }, 10 * s, 1 * s},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, politeness(test.change), func(w *world) {
				w.admit(page("a.example", 0))
				w.robots(w.lease(), delayRobots(test.asked))
				if got := w.Host("a.example").Delay; got != test.want {
					t.Errorf("delay in force: %v, want %v", got, test.want)
				}
				w.leaseAt(test.want, page("a.example", 0))
			})
		})
	}
}

func TestAHostWithoutReachableRobotsIsDeferredAndComesBack(t *testing.T) {
	inWorld(t, frontier.Config{}, func(w *world) {
		id := w.admit(page("a.example", 0))
		at := time.Duration(0)
		for n := range 6 {
			l := w.leaseAt(at, page("a.example", 0))
			w.robots(l, noRobots(n+1))
			at += 5 * s << n
			got := w.Host("a.example")
			if got.State != "deferred" || got.Why != frontier.WhyRobots || !got.Due.Equal(w.start.Add(at)) {
				t.Errorf("after failure %d the host is %+v, want deferred until %v", n+1, got, at)
			}
			if stuck := w.Stuck() == 1; stuck != (n+1 >= 5) {
				t.Errorf("after failure %d: stuck is %v", n+1, stuck)
			}
		}
		if r := w.record(id); r.State != storage.Queued || r.Tries != 0 {
			t.Errorf("the URL is %v after %d tries, want queued after none", r.State, r.Tries)
		}
		l := w.leaseAt(at, page("a.example", 0))
		w.robots(l, delayRobots(3*s))
		if w.Stuck() != 0 {
			t.Error("stuck although robots.txt has come")
		}
		l = w.leaseAt(at+3*s, page("a.example", 0))
		w.robots(l, noRobots(1))
		w.leaseAt(at+8*s, page("a.example", 0)) // it counts from 1 again
	})
}

// A host may have several origins, and robots.txt of one of them says nothing about the others.
func TestAnOriginWithoutReachableRobotsDoesNotHoldUpTheOthersOfItsHost(t *testing.T) {
	inWorld(t, eager, func(w *world) {
		w.admit("https://a.example/0", page("a.example", 1), page("a.example", 2))
		l := w.leaseAt(0, "https://a.example/0")
		w.robots(l, noRobots(1))
		if got := w.Host("a.example").State; got != "waiting" {
			t.Errorf("the host is %s", got)
		}
		l = w.leaseAt(0, page("a.example", 1))
		w.robots(l, delayRobots(2*s))
		l = w.leaseAt(2*s, page("a.example", 1))
		w.finish(l, settled)
		w.finish(w.leaseAt(4*s, page("a.example", 2)), settled)
		if got := w.Host("a.example"); got.State != "deferred" || got.Why != frontier.WhyRobots {
			t.Errorf("the host is %+v, want deferred", got)
		}
		l = w.leaseAt(6*s, "https://a.example/0")
		w.robots(l, delayRobots(0))
		w.leaseAt(8*s, "https://a.example/0") // the other origin's delay holds
	})
}

// What is under way when a host fails tells nothing more than that.
func TestRequestsThatFailTogetherAreOneFailureOfTheHost(t *testing.T) {
	inWorld(t, politeness(func(p *frontier.Politeness) { p.Delay, p.Connections = 0, 6 }), func(w *world) {
		w.admit(pages("a.example", 18)...)
		at := time.Duration(0)
		for round := range 3 {
			var leases []*frontier.Lease
			for range 6 {
				leases = append(leases, w.lease())
			}
			if got := time.Since(w.start); got != at {
				t.Errorf("round %d began at %v, want %v", round, got, at)
			}
			for _, l := range leases {
				w.finish(l, frontier.Outcome{Verdict: frontier.TryAgain, HostFailed: true, Reason: "reset"})
			}
			at += 5 * s << round
			if w.Stuck() != 0 {
				t.Errorf("stuck after %d failures", round+1)
			}
		}
	})
}

func TestHoursAreKept(t *testing.T) {
	day := func(text string) frontier.Config {
		return politeness(func(p *frontier.Politeness) { p.Hours = hours(t, text) })
	}
	const h = time.Hour
	t.Run("a host waits for its hours", func(t *testing.T) {
		inWorld(t, day("06:30-08:00"), func(w *world) { // virtual time begins at midnight, UTC
			w.admit(page("a.example", 0))
			got := w.Host("a.example")
			if got.State != "deferred" || got.Why != frontier.WhyHours || !got.Due.Equal(w.start.Add(6*h+30*time.Minute)) {
				t.Errorf("the host is %+v, want deferred until 06:30", got)
			}
			w.leaseAt(6*h+30*time.Minute, page("a.example", 0))
		})
	})
	t.Run("a delay may lead beyond them", func(t *testing.T) {
		inWorld(t, day("06:00-08:00"), func(w *world) {
			w.admit(pages("a.example", 2)...)
			l := w.leaseAt(6*h, page("a.example", 0))
			time.Sleep(2*h - 500*ms)
			w.finish(l, settled)
			w.leaseAt(30*h, page("a.example", 1))
		})
	})
	t.Run("a host that nobody asked for in its hours waits for the next", func(t *testing.T) {
		inWorld(t, day("22:00-06:00"), func(w *world) {
			w.admit(pages("a.example", 2)...)
			w.finish(w.leaseAt(0, page("a.example", 0)), settled)
			time.Sleep(12 * h)
			if got := w.Host("a.example"); !got.Due.Equal(w.start.Add(22 * h)) {
				t.Errorf("due at %v, want 22:00", got.Due)
			}
			w.leaseAt(22*h, page("a.example", 1))
		})
	})
	t.Run("a new host is not let in outside of them", func(t *testing.T) {
		inWorld(t, day("22:00-06:00"), func(w *world) {
			time.Sleep(12 * h)
			w.admit(page("a.example", 0))
			w.leaseAt(22*h, page("a.example", 0))
		})
	})
}

func TestSetRulesIsInForceAtOnce(t *testing.T) {
	delay := func(d time.Duration) frontier.Rules { return rules(func(p *frontier.Politeness) { p.Delay = d }) }
	for _, test := range []struct {
		name string
		to   frontier.Rules
		want time.Duration
	}{
		{"a shorter delay lets a waiting host go sooner", delay(4 * s), 4 * s},
		{"one that is over lets it go at once", delay(1 * s), 2 * s},
		{"a longer one has it wait", delay(30 * s), 30 * s},
		{"no rules mean the default ones", frontier.Rules{}, 2 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, frontier.Config{Rules: delay(10 * s)}, func(w *world) {
				w.admit(pages("a.example", 2)...)
				w.finish(w.lease(), settled)
				time.AfterFunc(2*s, func() { w.SetRules(test.to) })
				w.leaseAt(test.want, page("a.example", 1))
			})
		})
	}
	t.Run("more connections", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(pages("a.example", 3)...)
			w.lease()
			time.AfterFunc(5*s, func() { w.SetRules(rules(func(p *frontier.Politeness) { p.Connections = 2 })) })
			l := w.leaseAt(5*s, page("a.example", 1))
			w.SetRules(frontier.Rules{})
			w.finish(l, settled) // the first is in flight still
			w.nothing(time.Minute)
		})
	})
	t.Run("for one domain", func(t *testing.T) {
		inWorld(t, frontier.Config{}, func(w *world) {
			w.admit(page("a.example", 0), page("a.example", 1), page("b.example", 0), page("b.example", 1))
			for range 2 {
				w.finish(w.lease(), settled)
			}
			slow := frontier.DefaultPoliteness()
			slow.Delay = time.Minute
			w.SetRules(frontier.Rules{Domains: []frontier.DomainRule{{Match: "a.example", Politeness: slow}}})
			w.leaseAt(1*s, page("b.example", 1))
			w.leaseAt(60*s, page("a.example", 1))
		})
	})
}
