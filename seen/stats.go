package seen

import (
	"time"

	"crawler/normalize"
)

// Counters counts what Add has met. They only grow. Every key checked is in exactly one of the first four, also where
// its transaction was rolled back later: that counts work done.
type Counters struct {
	NegativesTrusted      uint64 // the filter said no, which was proof: new without a lookup
	NegativesUnproven     uint64 // an uncovered filter said no: the exact store was asked
	TruePositives         uint64 // the filter said yes and the exact store held the key
	FalsePositivesAvoided uint64 // the filter said yes and the exact store did not hold the key: new all the same
	RecentHits            uint64 // positives answered without an exact lookup
	Rebuilds              uint64 // generations replaced
}

// Checks returns the number of keys checked.
func (c Counters) Checks() uint64 { return c.NegativesTrusted + c.NegativesUnproven + c.Positives() }

// Positives returns the number of keys that the filter claimed.
func (c Counters) Positives() uint64 { return c.TruePositives + c.FalsePositivesAvoided }

// ExactLookups returns the number of keys that the exact store was asked for.
func (c Counters) ExactLookups() uint64 { return c.NegativesUnproven + c.Positives() - c.RecentHits }

// ExactLookupsAvoided returns the number of keys that were new without a lookup.
func (c Counters) ExactLookupsAvoided() uint64 { return c.NegativesTrusted }

// FPRObserved returns the false positives as a share of them and the negatives, 0 if there are none.
func (c Counters) FPRObserved() float64 {
	tested := c.FalsePositivesAvoided + c.NegativesTrusted + c.NegativesUnproven
	if tested == 0 {
		return 0
	}
	return float64(c.FalsePositivesAvoided) / float64(tested)
}

// Sub returns what was counted since earlier.
func (c Counters) Sub(earlier Counters) Counters {
	return Counters{
		NegativesTrusted:      c.NegativesTrusted - earlier.NegativesTrusted,
		NegativesUnproven:     c.NegativesUnproven - earlier.NegativesUnproven,
		TruePositives:         c.TruePositives - earlier.TruePositives,
		FalsePositivesAvoided: c.FalsePositivesAvoided - earlier.FalsePositivesAvoided,
		RecentHits:            c.RecentHits - earlier.RecentHits,
		Rebuilds:              c.Rebuilds - earlier.Rebuilds,
	}
}

// Plus returns the sum of both.
func (c Counters) Plus(more Counters) Counters {
	return Counters{
		NegativesTrusted:      c.NegativesTrusted + more.NegativesTrusted,
		NegativesUnproven:     c.NegativesUnproven + more.NegativesUnproven,
		TruePositives:         c.TruePositives + more.TruePositives,
		FalsePositivesAvoided: c.FalsePositivesAvoided + more.FalsePositivesAvoided,
		RecentHits:            c.RecentHits + more.RecentHits,
		Rebuilds:              c.Rebuilds + more.Rebuilds,
	}
}

// Stats is a snapshot of the gate.
type Stats struct {
	Counters             // of earlier runs too
	FPRTarget    float64 // the filter is sized for
	FPRPredicted float64 // for the keys the filter holds now
	Filter       FilterStats
}

// FilterStats describes the current generation.
type FilterStats struct {
	Kind        string
	Generation  uint64  // 1 is the one made by Open
	Bits        uint64  // size
	Hashes      uint64  // bits a key sets
	Keys        uint64  // committed keys it holds
	Capacity    uint64  // keys it is sized for
	Occupancy   float64 // share of bits that are set
	BitsPerKey  float64 // at capacity
	MemoryBytes uint64  // of all live generations: twice as many filters while one is being rebuilt
	Covered     bool    // its negatives are proof
	CoverageLag uint64  // log entries still to be filled in before they are
}

// Sub returns s with its counters reduced to what was counted since earlier.
func (s Stats) Sub(earlier Stats) Stats {
	s.Counters = s.Counters.Sub(earlier.Counters)
	return s
}

// Stats returns a snapshot.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	counters := g.counters
	g.mu.Unlock()
	live := g.live.Load()
	gen := live.current
	memory := gen.filter.MemoryBytes()
	if live.next != nil {
		memory += live.next.filter.MemoryBytes()
	}
	keys := gen.keys()
	return Stats{
		Counters:     counters,
		FPRTarget:    g.cfg.TargetFPR,
		FPRPredicted: gen.filter.FPR(keys),
		Filter: FilterStats{
			Kind:        "blocked",
			Generation:  gen.number,
			Bits:        gen.filter.Bits(),
			Hashes:      hashes,
			Keys:        keys,
			Capacity:    gen.capacity,
			Occupancy:   gen.filter.Occupancy(),
			BitsPerKey:  float64(gen.filter.Bits()) / float64(gen.capacity),
			MemoryBytes: memory,
			Covered:     live.covered,
			CoverageLag: uint64(gen.birth) - gen.point.Load(),
		},
	}
}

// FalsePositive is a key that the filter claimed and the exact store did not hold.
type FalsePositive struct {
	Key  normalize.Key
	Time time.Time
}

// FalsePositives returns the last 1,000 false positives since the gate was opened, the oldest first. A crawler that
// trusts its filter would have lost them.
func (g *Gate) FalsePositives() []FalsePositive {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.falsePositives.list()
}

const ringSize = 1000

// ring keeps the last ringSize values pushed. The zero value is empty.
type ring struct {
	values []FalsePositive
	oldest int
}

func (r *ring) push(v FalsePositive) {
	if len(r.values) < ringSize {
		r.values = append(r.values, v)
		return
	}
	r.values[r.oldest] = v
	r.oldest = (r.oldest + 1) % ringSize
}

func (r *ring) list() []FalsePositive {
	return append(append([]FalsePositive(nil), r.values[r.oldest:]...), r.values[:r.oldest]...)
}
