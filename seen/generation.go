package seen

import (
	"math"
	"sync/atomic"

	"crawler/storage"
)

// generation is one filter and what is known of its contents.
type generation struct {
	number   uint64 // 1 is made by Open, each rebuild makes the next
	filter   *Filter
	capacity uint64     // keys the filter is sized for
	limit    uint64     // keys above which the generation is due to be replaced
	birth    storage.ID // the newest ID when Add began to insert; the filter holds what came later

	point atomic.Uint64 // the filter holds every key up to this ID
	later atomic.Uint64 // keys committed since birth

	// Checked against the filter, guarded by the gate's mu.
	absent         uint64 // keys that the exact store did not hold, or that tested negative
	falsePositives uint64 // those of them that the filter claimed
}

func newGeneration(number uint64, birth storage.ID, cfg Config) *generation {
	capacity := max(cfg.MinCapacity, uint64(math.Ceil(float64(birth)*cfg.Headroom)))
	filter := NewFilter(capacity, cfg.TargetFPR)
	return &generation{
		number:   number,
		filter:   filter,
		capacity: capacity,
		limit:    min(capacity+capacity/4, filter.mostKeys(cfg.RebuildAt*cfg.TargetFPR)),
		birth:    birth,
	}
}

// keys returns the number of committed keys that the filter holds.
func (gen *generation) keys() uint64 { return gen.point.Load() + gen.later.Load() }

// crowded says whether the filter holds more keys than it should.
func (gen *generation) crowded() bool { return gen.keys() > gen.limit }

// failing says whether the filter claims absent keys at a rate above threshold, by what has been observed. That is
// left open until the false positives to expect at the threshold number 64 (3,200 absent keys at 2 %) and those met
// exceed them by four standard deviations: chance is no reason to rebuild. It is also left open until the absent keys
// number a quarter of the keys: if a rebuild does not help, as against keys prepared to collide, the next must not
// follow at once.
func (gen *generation) failing(threshold float64) bool {
	expected := threshold * float64(gen.absent)
	return expected >= 64 && gen.absent >= gen.keys()/4 &&
		float64(gen.falsePositives) > expected+4*math.Sqrt(expected)
}

// generations are those in use at one moment. The struct does not change: an Add works on one from its first item to
// its last, so that whether a negative counts is known before the filter is asked.
type generations struct {
	current *generation
	covered bool        // current.point has reached current.birth
	next    *generation // being filled; nil most of the time
}

func (live *generations) insert(h uint64) {
	live.current.filter.Add(h)
	if live.next != nil {
		live.next.filter.Add(h)
	}
}

// admitted takes note of n keys whose transaction has committed.
func (live *generations) admitted(n uint64) {
	live.current.later.Add(n)
	if live.next != nil {
		live.next.later.Add(n)
	}
}
