package crawl

import "context"

// What is tested by itself.
var (
	NewBudget    = newBudget
	NewLocalLog  = newLocalLog
	PageOutcome  = pageOutcome
	ErrorOutcome = errorOutcome
	ErrLogClosed = errLogClosed
)

func (b *budget) Take(ctx context.Context) bool { return b.take(ctx) }
func (b *budget) Settle(spent bool)             { b.settle(spent) }
func (b *budget) Exhausted() bool               { return b.exhausted() }

// BreakStores has every later transaction fail.
func (c *Crawl) BreakStores() error {
	for _, p := range c.parts {
		if err := p.store.Close(); err != nil {
			return err
		}
	}
	return nil
}
