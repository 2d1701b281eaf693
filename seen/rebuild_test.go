package seen_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"crawler/seen"
	"crawler/storage"
)

// openHooked opens a covered gate on a store of n keys. Once armed, it calls the function during the next hash of
// key(at), which is a moment in the middle of a fill if nothing else is going on.
func openHooked(t *testing.T, n, at int) (store *storage.Store, g *seen.Gate, arm func(func())) {
	t.Helper()
	store = openStore(t)
	prefill(t, store, n)
	hash := seen.Seeded(store.HashSeed())
	var hook atomic.Pointer[func()]
	g, err := seen.OpenWithHash(store, seen.Config{}, seen.Counters{}, func(k string) uint64 {
		if k == string(key(at)) {
			if f := hook.Swap(nil); f != nil {
				(*f)()
			}
		}
		return hash(k)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Cover(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if hook.Load() != nil {
			t.Error("the hook was not reached")
		}
		audit(t, store, g)
	})
	return store, g, func(f func()) { hook.Store(&f) }
}

func TestRebuildTakesKeysAddedMeanwhile(t *testing.T) {
	store, g, arm := openHooked(t, 1000, 500)
	arm(func() {
		if got := fresh(add(t, store, g, span(1000, 1100))); got != 100 {
			t.Errorf("while rebuilding %d new keys of 100 are fresh", got)
		}
	})
	if err := g.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := g.Stats().Filter; s.Generation != 2 || s.Keys != 1100 || !s.Covered || s.CoverageLag != 0 {
		t.Errorf("filter is %+v, want generation 2, covered, 1100 keys", s)
	}
	if got := fresh(add(t, store, g, span(0, 1100))); got != 0 {
		t.Errorf("after the rebuild %d known keys are fresh", got)
	}
}

func TestAFilterIsNotAskedBeforeItIsFull(t *testing.T) {
	store, g, arm := openHooked(t, 1000, 500)
	arm(func() {
		if got := fresh(add(t, store, g, span(501, 1000))); got != 0 {
			t.Errorf("in the middle of a rebuild %d known keys are fresh", got)
		}
		if s := g.Stats().Filter; s.Generation != 1 || s.MemoryBytes != 2*s.Bits/8 {
			t.Errorf("in the middle of a rebuild the filter is %+v, want generation 1 and memory for two", s)
		}
	})
	if err := g.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := g.Stats().Counters, (seen.Counters{TruePositives: 499, Rebuilds: 1}); got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	if s := g.Stats().Filter; s.MemoryBytes != s.Bits/8 {
		t.Errorf("after the rebuild the filter is %+v, want memory for one", s)
	}
}

func TestRebuildWaitsForTheTransactionInFlight(t *testing.T) {
	store := openStore(t)
	prefill(t, store, 10)
	g := openGate(t, store, seen.Config{})
	rebuilt := make(chan error, 1)
	err := store.Update(func(tx *storage.Tx) error {
		if _, err := g.Add(tx, items("in flight"), nil); err != nil {
			return err
		}
		go func() { rebuilt <- g.Rebuild(t.Context()) }()
		// The filter that does not hold the key must not come into use. A gate that does not wait gets here in time to be caught.
		for range 10_000 {
			if g.Stats().Filter.Generation == 2 {
				break
			}
			runtime.Gosched()
		}
		return nil
	})
	if err := errors.Join(err, <-rebuilt); err != nil {
		t.Fatal(err)
	}
	if got := fresh(add(t, store, g, items("in flight"))); got != 0 {
		t.Error("the key is fresh again")
	}
	if s := g.Stats().Filter; s.Generation != 2 || s.Keys != 11 {
		t.Errorf("filter is %+v, want generation 2, 11 keys", s)
	}
}

func TestAnInterruptedRebuildChangesNothing(t *testing.T) {
	store, g, arm := openHooked(t, 9000, 500)
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	arm(func() { cancel(reason) })
	before := g.Stats()
	if err := g.Rebuild(ctx); !errors.Is(err, reason) {
		t.Errorf("Rebuild fails with %v, want %v", err, reason)
	}
	if got := g.Stats(); got != before {
		t.Errorf("stats are %+v, want %+v as before", got, before)
	}
	if got := fresh(add(t, store, g, span(8000, 9100))); got != 100 {
		t.Errorf("%d keys are fresh, want 100", got)
	}
	if err := g.Rebuild(ctx); !errors.Is(err, reason) {
		t.Errorf("Rebuild with an ended context fails with %v, want %v", err, reason)
	}
	if err := g.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := g.Stats().Filter; s.Generation != 2 || s.Keys != 9100 {
		t.Errorf("filter is %+v, want generation 2, 9100 keys", s)
	}
}

func TestConcurrentRebuildsAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, g, arm := openHooked(t, 1000, 500)
		var wg sync.WaitGroup
		rebuild := func() {
			if err := g.Rebuild(t.Context()); err != nil {
				t.Error(err)
			}
		}
		arm(func() {
			for range 7 {
				wg.Go(rebuild)
			}
			synctest.Wait()
		})
		rebuild()
		wg.Wait()
		if s := g.Stats(); s.Rebuilds != 1 || s.Filter.Generation != 2 {
			t.Errorf("%d rebuilds, generation %d; want 1, 2", s.Rebuilds, s.Filter.Generation)
		}
		rebuild()
		if s := g.Stats(); s.Rebuilds != 2 || s.Filter.Generation != 3 {
			t.Errorf("later %d rebuilds, generation %d; want 2, 3", s.Rebuilds, s.Filter.Generation)
		}
	})
}

func TestRebuildsRaceWithAdds(t *testing.T) {
	const batches, size = 10, 100
	store := openStore(t)
	prefill(t, store, 5000)
	g := openGate(t, store, seen.Config{MinCapacity: 1000})
	var wg sync.WaitGroup
	done := make(chan struct{})
	for n := range 4 {
		wg.Go(func() {
			for b := range batches {
				from := 5000 + (n*batches+b)*size
				batch := append(span(from, from+size), span(5000+n*batches*size, from+size)...) // the new ones, and all of this goroutine
				if got := fresh(add(t, store, g, batch)); got != size {
					t.Errorf("%d keys are fresh, want %d", got, size)
				}
			}
		})
	}
	var rebuilder sync.WaitGroup
	for range 2 {
		rebuilder.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := g.Rebuild(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(done)
	rebuilder.Wait()
	if s := g.Stats(); s.Rebuilds == 0 || s.Filter.Keys != 5000+4*batches*size {
		t.Errorf("%d rebuilds, %d keys; want some, %d", s.Rebuilds, s.Filter.Keys, 5000+4*batches*size)
	}
}

// run runs the gate in the test's bubble until the test ends.
func run(t *testing.T, g *seen.Gate) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run fails with %v", err)
		}
	})
	synctest.Wait()
}

func TestRunCoversTheFirstGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		prefill(t, store, 9000)
		g, err := seen.OpenUncovered(store, seen.Config{}, seen.Counters{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, g)
		if s := g.Stats().Filter; !s.Covered || s.Keys != 9000 || s.Generation != 1 {
			t.Errorf("filter is %+v, want covered, 9000 keys, generation 1", s)
		}
		audit(t, store, g)
	})
}

func TestCoveringRacesWithAdds(t *testing.T) {
	store := openStore(t)
	prefill(t, store, 9000)
	g, err := seen.OpenUncovered(store, seen.Config{}, seen.Counters{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := g.Cover(); err != nil {
			t.Error(err)
		}
	})
	for from := 9000; from > 0; from -= 500 { // against the direction of the scan
		if got := fresh(add(t, store, g, span(from-500, from))); got != 0 {
			t.Errorf("%d known keys are fresh", got)
		}
	}
	wg.Wait()
	audit(t, store, g)
}

func TestRunKeepsTheRateWhileTheCrawlGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const capacity, target = 2000, 0.01
		store := openStore(t)
		g := openGate(t, store, seen.Config{TargetFPR: target, MinCapacity: capacity})
		run(t, g)
		worst := 0.0
		for from := 0; from < 10*capacity; from += 50 {
			add(t, store, g, span(from, from+50))
			synctest.Wait()
			worst = max(worst, g.Stats().FPRPredicted)
		}
		if worst > 2*target || worst < target {
			t.Errorf("the predicted rate rose to %v, want between %v and %v", worst, target, 2*target)
		}
		s := g.Stats()
		if got := s.FPRObserved(); got > 2*target {
			t.Errorf("the observed rate is %v, want at most %v", got, 2*target)
		}
		if s.Filter.Keys != 10*capacity {
			t.Errorf("the filter holds %d keys, want %d", s.Filter.Keys, 10*capacity)
		}
		// From 2,000 to 20,000 keys in steps of 1.5 times a quarter more than the capacity.
		if s.Rebuilds < 3 || s.Rebuilds > 8 {
			t.Errorf("%d rebuilds", s.Rebuilds)
		}
		positives := 0
		err := store.View(func(tx *storage.Tx) error {
			for i := range 20_000 {
				if g.Check(tx, "absent-"+key(i)).Positive {
					positives++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(positives) / 20_000; got > 2*target {
			t.Errorf("the measured rate is %v, want at most %v", got, 2*target)
		}
	})
}

func TestWithoutRunTheRateGrowsAndNothingIsLost(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{MinCapacity: 1000})
	for from := 0; from < 10_000; from += 1000 {
		if got := fresh(add(t, store, g, span(from, from+1000))); got != 1000 {
			t.Errorf("%d new keys of 1000 are fresh", got)
		}
	}
	if s := g.Stats(); s.FPRPredicted < 0.9 || s.Filter.Generation != 1 || s.FalsePositivesAvoided < 3000 {
		t.Errorf("stats are %+v, want a useless first generation", s)
	}
}

func TestAnObservedRateAboveThePredictedOneIsRebuiltButNotAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		hash := seen.Seeded(store.HashSeed())
		// Of all keys, 1,024 hashes: what a rebuild cannot help.
		g, err := seen.OpenWithHash(store, seen.Config{}, seen.Counters{}, func(k string) uint64 { return hash(k) & (1<<10 - 1) })
		if err != nil {
			t.Fatal(err)
		}
		run(t, g)
		for from := 0; from < 40_000; from += 200 {
			if got := fresh(add(t, store, g, span(from, from+200))); got != 200 {
				t.Errorf("%d new keys of 200 are fresh", got)
			}
			synctest.Wait()
			if from == 2800 && g.Stats().Rebuilds != 0 {
				t.Error("rebuilt on the evidence of 3,000 keys")
			}
		}
		s := g.Stats()
		if s.FPRPredicted > 0.01 {
			t.Errorf("predicted rate is %v: the test needs a filter that is not crowded", s.FPRPredicted)
		}
		// Every 3,200 keys that would be 12; from 12,800 on it is each time that a quarter of the keys is new.
		if s.Rebuilds < 1 || s.Rebuilds > 8 {
			t.Errorf("%d rebuilds, want 1 to 8", s.Rebuilds)
		}
	})
}
