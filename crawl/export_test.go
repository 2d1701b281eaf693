package crawl

import "context"

// What is tested by itself.
var (
	NewBudget    = newBudget
	NewLocalLog  = newLocalLog
	PageOutcome  = pageOutcome
	ErrorOutcome = errorOutcome
	ErrLogClosed = errLogClosed
	PartitionOf  = partitionOf
)

func (b *budget) Take(ctx context.Context) bool { return b.take(ctx) }
func (b *budget) Settle(spent bool)             { b.settle(spent) }
func (b *budget) Exhausted() bool               { return b.exhausted() }

// BreakStore has every later transaction of the partition of a host fail.
func (c *Crawl) BreakStore(host string) error { return c.parts[c.partitionOf(host)].store.Close() }
