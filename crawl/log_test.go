package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"crawler/crawl"
	"crawler/frontier"
	"crawler/storage"
)

// numbered returns an entry that can be told from others.
func numbered(n int) frontier.Entry { return frontier.Relinked{ID: storage.ID(n)} }

func TestALogAppliesEntriesInOrderAndInGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		log := crawl.NewLocalLog()
		gate := make(chan struct{})
		var mu sync.Mutex // guards applied
		var applied []int
		var groups []int
		last := uint64(100)
		ended := make(chan error)
		go func() {
			ended <- log.Follow(ctx, last, func(entries []frontier.Entry, now uint64) error {
				<-gate
				groups = append(groups, len(entries))
				mu.Lock()
				defer mu.Unlock()
				for _, e := range entries {
					applied = append(applied, int(e.(frontier.Relinked).ID))
				}
				if now != last+uint64(len(entries)) {
					t.Errorf("%d entries after %d end at %d", len(entries), last, now)
				}
				last = now
				return nil
			})
		}()
		durable := make(chan int, 10)
		for n := range 5 {
			go func() {
				if err := log.Append(ctx, numbered(2*n), numbered(2*n+1)); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if !slices.Contains(applied, 2*n+1) {
					t.Errorf("%d counts as durable before it was applied", 2*n+1)
				}
				durable <- n
			}()
			synctest.Wait()
		}
		if len(durable) != 0 {
			t.Error("an entry counts as durable while the first commit runs")
		}
		close(gate)
		synctest.Wait()
		if got, want := fmt.Sprint(applied), "[0 1 2 3 4 5 6 7 8 9]"; got != want {
			t.Errorf("applied %s, want %s", got, want)
		}
		if got, want := fmt.Sprint(groups), "[2 8]"; got != want {
			t.Errorf("in groups of %s, want %s: what comes while a commit runs shares the next", got, want)
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("following ended with %v", err)
		}
	})
}

func TestAnAppendIsToldWhatFailed(t *testing.T) {
	broken := errors.New("broken")
	synctest.Test(t, func(t *testing.T) {
		log := crawl.NewLocalLog()
		gate := make(chan struct{})
		ended := make(chan error)
		go func() {
			ended <- log.Follow(t.Context(), 0, func([]frontier.Entry, uint64) error { <-gate; return broken })
		}()
		results := make(chan error, 3)
		for n := range 3 { // the first is being applied, the others wait
			go func() { results <- log.Append(t.Context(), numbered(n)) }()
			synctest.Wait()
		}
		close(gate)
		if err := <-ended; !errors.Is(err, broken) {
			t.Errorf("following ended with %v", err)
		}
		for range 3 {
			if err := <-results; !errors.Is(err, broken) {
				t.Errorf("an entry that was not applied: %v, want broken", err)
			}
		}
		if err := log.Append(t.Context(), numbered(9)); !errors.Is(err, broken) {
			t.Errorf("an entry after the end: %v, want broken", err)
		}
	})
}

func TestAnAppendAfterTheEndFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := crawl.NewLocalLog()
		ctx, stop := context.WithCancel(t.Context())
		go log.Follow(ctx, 0, func([]frontier.Entry, uint64) error { return nil }) //nolint:errcheck // nothing fails
		synctest.Wait()
		stop()
		synctest.Wait()
		if err := log.Append(t.Context(), numbered(0)); !errors.Is(err, crawl.ErrLogClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnAppendWaitsNoLongerThanItsContextToBeTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := crawl.NewLocalLog() // that nobody follows
		ended := make(chan error)
		for range 2000 {
			go func() { ended <- log.Append(after(t.Context(), s), numbered(0)) }()
		}
		synctest.Wait()
		for range 2000 - 1024 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		go log.Follow(t.Context(), 0, func([]frontier.Entry, uint64) error { return nil }) //nolint:errcheck // nothing fails
		for range 1024 {
			if err := <-ended; err != nil {
				t.Errorf("an entry that was taken: %v", err)
			}
		}
	})
}
