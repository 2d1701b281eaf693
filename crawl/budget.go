package crawl

import (
	"context"
	"sync"
)

// budget hands out the right to fetch a page so that exactly max pages are fetched in the end: a right that led to no
// page is given back and used by another.
type budget struct {
	max int // 0: no limit

	mu    sync.Mutex // guards all below
	spent int
	held  int
	freed chan struct{} // closed when a right was spent or given back
}

func newBudget(limit, spent int) *budget {
	return &budget{max: limit, spent: spent, freed: make(chan struct{})}
}

// take waits for a right. It returns false when there will be none any more, or when ctx has ended.
func (b *budget) take(ctx context.Context) bool {
	if b.max <= 0 {
		return true
	}
	for {
		b.mu.Lock()
		if b.spent >= b.max {
			b.mu.Unlock()
			return false
		}
		if b.spent+b.held < b.max {
			b.held++
			b.mu.Unlock()
			return true
		}
		freed := b.freed
		b.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

// settle gives a right back, spent or not.
func (b *budget) settle(spent bool) {
	if b.max <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held--
	if spent {
		b.spent++
	}
	close(b.freed)
	b.freed = make(chan struct{})
}

// exhausted reports whether all rights are spent.
func (b *budget) exhausted() bool {
	if b.max <= 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent >= b.max
}
