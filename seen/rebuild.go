package seen

import (
	"context"
	"fmt"

	"crawler/storage"
)

// scanRange is the number of keys read in one transaction, about 1 ms of work: a store that is written while a read
// transaction stays open cannot reuse space.
const scanRange = 1 << 12

// Run fills the first generation if it is uncovered, and replaces a generation whenever it is due: when its predicted
// or observed false-positive rate is above RebuildAt times TargetFPR, or it holds a quarter more keys than its
// capacity. It returns nil when ctx ends, and else the first error. Without Run a crawl goes on rightly, with a
// false-positive rate that grows.
func (g *Gate) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		switch {
		case !g.live.Load().covered:
			err = g.cover(ctx)
		case g.due():
			err = g.Rebuild(ctx)
		default:
			select {
			case <-ctx.Done():
			case <-g.wake:
			}
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// Rebuild replaces the filter by a new one that is sized for the keys known now, and returns when the new one is in
// use. Adds go on meanwhile. Of concurrent calls one does the work and the others wait for it. When it fails, or ctx
// ends, the old filter stays in use.
func (g *Gate) Rebuild(ctx context.Context) error {
	was := g.live.Load().current
	if err := g.startBuilding(ctx); err != nil {
		return err
	}
	defer g.endBuilding()
	live := g.live.Load()
	if live.current != was {
		return nil
	}
	next, err := g.breed(live)
	if err == nil {
		err = g.fill(ctx, next)
	}
	if err != nil {
		g.live.Store(live)
		return fmt.Errorf("seen: rebuilding the filter: %w", err)
	}
	g.live.Store(&generations{current: next, covered: true})
	g.mu.Lock()
	g.counters.Rebuilds++
	g.mu.Unlock()
	return nil
}

// breed makes the successor of the current generation and has Add insert into it from now on. That happens inside a
// write transaction, where no other is in flight: those before it have committed, and stand in the log up to the
// successor's birth, or have failed; those after it insert into both.
func (g *Gate) breed(live *generations) (*generation, error) {
	var next *generation
	err := g.store.Update(func(tx *storage.Tx) error {
		next = newGeneration(live.current.number+1, tx.Last(), g.cfg)
		g.live.Store(&generations{current: live.current, covered: live.covered, next: next})
		return nil
	})
	return next, err
}

// cover fills the current generation if it is uncovered.
func (g *Gate) cover(ctx context.Context) error {
	if err := g.startBuilding(ctx); err != nil {
		return err
	}
	defer g.endBuilding()
	live := g.live.Load()
	if live.covered {
		return nil
	}
	if err := g.fill(ctx, live.current); err != nil {
		return fmt.Errorf("seen: filling the filter: %w", err)
	}
	g.live.Store(&generations{current: live.current, covered: true})
	return nil
}

// fill adds the keys of the log from gen's point to its birth. What it has added stays when it fails, and the next
// call goes on from there.
func (g *Gate) fill(ctx context.Context, gen *generation) error {
	for point := storage.ID(gen.point.Load()); point < gen.birth; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := min(point+scanRange, gen.birth)
		err := g.store.View(func(tx *storage.Tx) error {
			for id, key := range tx.Log(point) {
				if id != point+1 {
					break
				}
				gen.filter.Add(g.hash(key))
				if point = id; point == end {
					return nil
				}
			}
			return fmt.Errorf("log entry %d of %d cannot be read: %w", point+1, gen.birth, storage.ErrDamaged)
		})
		if err != nil {
			return err
		}
		gen.point.Store(uint64(point))
	}
	return nil
}

func (g *Gate) startBuilding(ctx context.Context) error {
	select {
	case g.building <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (g *Gate) endBuilding() { <-g.building }

// due says whether the current generation should be replaced.
func (g *Gate) due() bool {
	gen := g.live.Load().current
	g.mu.Lock()
	defer g.mu.Unlock()
	return gen.crowded() || gen.failing(g.cfg.RebuildAt*g.cfg.TargetFPR)
}

func (g *Gate) wakeIfDue() {
	if !g.due() {
		return
	}
	select {
	case g.wake <- struct{}{}:
	default: // Run has not seen the last one yet
	}
}
