package seen

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"crawler/normalize"
	"crawler/storage"
)

// Gate decides, for one partition, which keys are new. It is safe for concurrent use.
type Gate struct {
	store *storage.Store
	cfg   Config
	hash  func(key string) uint64

	live     atomic.Pointer[generations]
	building chan struct{} // holds a token while a generation is being filled; whoever has put it may store live
	wake     chan struct{} // holds a token when Run has something to look at

	mu             sync.Mutex // guards what follows, and absent and falsePositives of each generation
	counters       Counters
	falsePositives ring
}

// Open returns the gate of a store, its first generation filled from the store's log. The gate counts on from the
// counters of earlier runs. It fails with the faults of cfg and with what reading the store fails with.
func Open(store *storage.Store, cfg Config, earlier Counters) (*Gate, error) {
	g, err := OpenUncovered(store, cfg, earlier)
	if err != nil {
		return nil, err
	}
	return g, g.cover(context.Background())
}

// OpenUncovered is Open that returns at once: the first generation is filled by Run. Until then answers are right all
// the same, but every negative costs a lookup.
func OpenUncovered(store *storage.Store, cfg Config, earlier Counters) (*Gate, error) {
	return open(store, cfg, earlier, seeded(store.HashSeed()))
}

func open(store *storage.Store, cfg Config, earlier Counters, hash func(string) uint64) (*Gate, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	g := &Gate{
		store: store, cfg: cfg.withDefaults(), hash: hash, counters: earlier,
		building: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	err := store.View(func(tx *storage.Tx) error {
		first := newGeneration(1, tx.Last(), g.cfg)
		g.live.Store(&generations{current: first, covered: first.birth == 0})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("seen: %w", err)
	}
	return g, nil
}

// seeded returns xxHash64 with the given seed, which enters the state before the first byte of the key. A seed mixed
// into a finished hash would leave every collision in place.
//
// A secret seed means that nobody can compute which keys share a block. It does not keep anybody from preparing
// collisions: xxHash is no keyed cryptographic function, and pairs of keys that collide under most seeds are easily
// made. They do no harm here, where equal hashes cost an exact lookup each and decide nothing.
//
// The digest stays on the stack: nothing is allocated.
func seeded(seed uint64) func(key string) uint64 {
	return func(key string) uint64 {
		var d xxhash.Digest
		d.ResetWithSeed(seed)
		_, _ = d.WriteString(key) // never fails
		return d.Sum64()
	}
}

// Item is a URL at the gate.
type Item struct {
	Key  normalize.Key
	Href string
}

// Answer is what the gate says of an Item.
type Answer struct {
	ID    storage.ID // place in the store's log
	Fresh bool       // the key has been appended to the log by this call
}

// Add checks each item and appends those to the store's log that it does not hold, as part of tx, which must be a
// transaction of Update. It appends one answer for each item to answers, in order. Of equal keys the first may be
// fresh, the others are not.
//
// When it fails, answers holds those given so far, and the caller must roll tx back. A rollback takes back what was
// appended, but neither what was counted nor the filter's bits: when the keys come again they count again, as false
// positives if not by chance after a rebuild.
func (g *Gate) Add(tx *storage.Tx, items []Item, answers []Answer) ([]Answer, error) {
	live := g.live.Load()
	var work batch
	var err error
	for _, item := range items {
		var answer Answer
		if answer, err = g.add(tx, live, item, &work); err != nil {
			err = fmt.Errorf("seen: %s: %w", item.Key, err)
			break
		}
		answers = append(answers, answer)
	}
	g.count(live.current, &work)
	if work.fresh > 0 {
		tx.OnCommit(func() {
			live.admitted(work.fresh)
			g.wakeIfDue()
		})
	}
	return answers, err
}

// batch is what one Add has met.
type batch struct {
	counters       Counters
	falsePositives []normalize.Key
	fresh          uint64
}

func (g *Gate) add(tx *storage.Tx, live *generations, item Item, work *batch) (Answer, error) {
	key := string(item.Key)
	h := g.hash(key)
	positive := live.current.filter.Has(h)
	if !positive && live.covered {
		work.counters.NegativesTrusted++
	} else {
		id, known := tx.Find(key)
		switch {
		case !positive:
			work.counters.NegativesUnproven++
		case known:
			work.counters.TruePositives++
		default:
			work.counters.FalsePositivesAvoided++
			work.falsePositives = append(work.falsePositives, item.Key)
		}
		if known {
			return Answer{ID: id}, nil
		}
	}
	live.insert(h)
	id, err := tx.Append(key, item.Href)
	if err != nil {
		return Answer{}, err
	}
	work.fresh++
	return Answer{ID: id, Fresh: true}, nil
}

// count adds what a batch has met to the gate's counters, all at once, so that no snapshot shows half of a batch.
func (g *Gate) count(gen *generation, work *batch) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counters = g.counters.Plus(work.counters)
	gen.absent += work.counters.NegativesTrusted + work.counters.NegativesUnproven + work.counters.FalsePositivesAvoided
	gen.falsePositives += work.counters.FalsePositivesAvoided
	if len(work.falsePositives) > 0 {
		now := time.Now()
		for _, key := range work.falsePositives {
			g.falsePositives.push(FalsePositive{Key: key, Time: now})
		}
	}
}

// Verdict is how the gate comes to its answer about one key.
type Verdict struct {
	Generation uint64     // that was asked
	Positive   bool       // the filter may hold the key
	Proven     bool       // the generation is covered, so that a negative is proof
	Known      bool       // the exact store holds the key
	ID         storage.ID // place in the store's log, 0 if the key is not known
}

// Check says how the gate stands to key as of tx. It changes and counts nothing, and always asks the exact store too.
func (g *Gate) Check(tx *storage.Tx, key normalize.Key) Verdict {
	live := g.live.Load()
	id, known := tx.Find(string(key))
	return Verdict{
		Generation: live.current.number,
		Positive:   live.current.filter.Has(g.hash(string(key))),
		Proven:     live.covered,
		Known:      known,
		ID:         id,
	}
}
