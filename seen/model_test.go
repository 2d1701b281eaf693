package seen_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"crawler/normalize"
	"crawler/seen"
	"crawler/storage"
)

// TestGateAgainstAMap drives a gate with random batches, rollbacks, rebuilds and restarts, beside a map that says what
// each answer has to be.
func TestGateAgainstAMap(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		file, err := os.CreateTemp(dir, "*.db")
		if err != nil {
			t.Fatal(err)
		}
		m := &machine{
			path: file.Name(),
			// Few hashes make most answers depend on the exact store, the whole hash makes most depend on the filter.
			mask: rapid.SampledFrom([]uint64{0, 0xf << 60, ^uint64(0)}).Draw(t, "hash mask"),
			cfg: seen.Config{
				TargetFPR:   rapid.SampledFrom([]float64{0.5, 0.1, 0.001}).Draw(t, "target"),
				MinCapacity: rapid.Uint64Range(1, 20).Draw(t, "capacity"),
			},
			ids: make(map[normalize.Key]storage.ID),
		}
		if err := errors.Join(file.Close(), os.Remove(file.Name())); err != nil {
			t.Fatal(err)
		}
		m.open(t)
		defer func() {
			if err := errors.Join(m.store.Close(), os.Remove(m.path)); err != nil {
				t.Error(err)
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"commit":   func(t *rapid.T) { m.transact(t, false) },
			"rollback": func(t *rapid.T) { m.transact(t, true) },
			"rebuild": func(t *rapid.T) {
				if err := m.gate.Rebuild(t.Context()); err != nil {
					t.Fatal(err)
				}
				m.counters.Rebuilds++
			},
			"reopen": func(t *rapid.T) {
				if err := m.store.Close(); err != nil {
					t.Fatal(err)
				}
				m.open(t)
			},
			"cover": func(t *rapid.T) {
				if err := m.gate.Cover(); err != nil {
					t.Fatal(err)
				}
			},
			"": m.check,
		})
	})
}

// machine is a gate and what is expected of it.
type machine struct {
	path     string
	mask     uint64
	cfg      seen.Config
	store    *storage.Store
	gate     *seen.Gate
	ids      map[normalize.Key]storage.ID // committed
	counters seen.Counters                // as the gate has shown them, for what a map cannot foretell
}

// open opens the store and an uncovered gate.
func (m *machine) open(t *rapid.T) {
	var err error
	if m.store, err = storage.OpenStore(m.path, storage.Options{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	hash := seen.Seeded(m.store.HashSeed())
	m.gate, err = seen.OpenWithHash(m.store, m.cfg, m.counters, func(k string) uint64 { return hash(k) & m.mask })
	if err != nil {
		t.Fatal(err)
	}
}

// transact adds one to three batches in a transaction.
func (m *machine) transact(t *rapid.T, rollback bool) {
	batches := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 60), 0, 20), 1, 3).Draw(t, "batches")
	failure := errors.New("rolled back")
	uncommitted := make(map[normalize.Key]storage.ID)
	checks, absent := 0, 0
	err := m.store.Update(func(tx *storage.Tx) error {
		for _, numbers := range batches {
			var batch []seen.Item
			var want []seen.Answer
			for _, n := range numbers {
				k := key(n)
				batch = append(batch, seen.Item{Key: k, Href: string(k)})
				id, known := m.ids[k]
				if !known {
					id, known = uncommitted[k]
				}
				if !known {
					id = storage.ID(len(m.ids) + len(uncommitted) + 1)
					uncommitted[k] = id
					absent++
				}
				want = append(want, seen.Answer{ID: id, Fresh: !known})
			}
			checks += len(batch)
			got, err := m.gate.Add(tx, batch, nil)
			if err != nil {
				return err
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("Add(%v) = %v, want %v", numbers, got, want)
			}
		}
		if rollback {
			return failure
		}
		return nil
	})
	if rollback && !errors.Is(err, failure) || !rollback && err != nil {
		t.Fatalf("the transaction ended with %v", err)
	}
	if !rollback {
		for k, id := range uncommitted {
			m.ids[k] = id
		}
	}
	now := m.gate.Stats().Counters
	done := now.Sub(m.counters)
	if got := done.Checks(); got != uint64(checks) {
		t.Fatalf("%d checks were counted of %d: %+v", got, checks, done)
	}
	// What tested positive and was absent, or negative and trusted, is all absent; unproven negatives are either.
	told := done.NegativesTrusted + done.FalsePositivesAvoided
	if told > uint64(absent) || told+done.NegativesUnproven < uint64(absent) {
		t.Fatalf("of %d absent keys the counters know %+v", absent, done)
	}
	m.counters = now
}

func (m *machine) check(t *rapid.T) {
	s := m.gate.Stats()
	if s.Counters != m.counters {
		t.Fatalf("counters are %+v, want %+v", s.Counters, m.counters)
	}
	if got, want := s.Filter.Keys+s.Filter.CoverageLag, uint64(len(m.ids)); got != want {
		t.Fatalf("the filter holds and lacks %d keys, want %d: %+v", got, want, s.Filter)
	}
	err := m.store.View(func(tx *storage.Tx) error {
		if got, want := tx.Last(), storage.ID(len(m.ids)); got != want {
			t.Fatalf("the log has %d keys, want %d", got, want)
		}
		for n := range 61 {
			v, id := m.gate.Check(tx, key(n)), m.ids[key(n)]
			if v.ID != id || v.Known != (id != 0) || v.Proven != s.Filter.Covered || v.Generation != s.Filter.Generation {
				t.Fatalf("Check(%d) = %+v, want ID %d", n, v, id)
			}
			if v.Known && v.Proven && !v.Positive {
				t.Fatalf("Check(%d) = %+v: a false negative", n, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
