package seen_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cespare/xxhash/v2"
	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"crawler/normalize"
	"crawler/seen"
	"crawler/storage"
)

func openStore(t *testing.T) *storage.Store {
	t.Helper()
	return openStoreAt(t, filepath.Join(t.TempDir(), "store.db"))
}

func openStoreAt(t *testing.T, path string) *storage.Store {
	t.Helper()
	store, err := storage.OpenStore(path, storage.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// openGate opens a gate, and audits it when the test ends.
func openGate(t *testing.T, store *storage.Store, cfg seen.Config) *seen.Gate {
	t.Helper()
	g, err := seen.Open(store, cfg, seen.Counters{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { audit(t, store, g) })
	return g
}

// audit checks that no key is in the log twice, that the index finds each where the log has it, and that each tests
// positive if the generation is covered.
func audit(t *testing.T, store *storage.Store, g *seen.Gate) {
	t.Helper()
	err := store.View(func(tx *storage.Tx) error {
		at := make(map[string]storage.ID)
		for id, key := range tx.Log(0) {
			if first, ok := at[key]; ok {
				t.Errorf("%s is in the log twice: %d and %d", key, first, id)
				continue
			}
			at[key] = id
			switch v := g.Check(tx, normalize.Key(key)); {
			case v.ID != id || !v.Known:
				t.Errorf("Check(%s) = %+v, want ID %d", key, v, id)
			case v.Proven && !v.Positive:
				t.Errorf("Check(%s) = %+v: a false negative", key, v)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func key(i int) normalize.Key {
	return normalize.Key(fmt.Sprintf("https://h%d.example/page/%d", i%97, i))
}

func items(keys ...normalize.Key) []seen.Item {
	var items []seen.Item
	for _, k := range keys {
		items = append(items, seen.Item{Key: k, Href: string(k)})
	}
	return items
}

// span returns the items of key(from) to key(to-1).
func span(from, to int) []seen.Item {
	var keys []normalize.Key
	for i := from; i < to; i++ {
		keys = append(keys, key(i))
	}
	return items(keys...)
}

// prefill appends key(0) to key(n-1) to the log of an empty store.
func prefill(t *testing.T, store *storage.Store, n int) {
	t.Helper()
	for batch := range slices.Chunk(span(0, n), 1000) {
		err := store.Update(func(tx *storage.Tx) error {
			for _, item := range batch {
				if _, err := tx.Append(string(item.Key), item.Href); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// add adds a batch in a transaction of its own.
func add(t *testing.T, store *storage.Store, g *seen.Gate, batch []seen.Item) []seen.Answer {
	t.Helper()
	var answers []seen.Answer
	err := store.Update(func(tx *storage.Tx) (err error) {
		answers, err = g.Add(tx, batch, answers)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != len(batch) {
		t.Fatalf("Add gave %d answers to %d items", len(answers), len(batch))
	}
	return answers
}

func fresh(answers []seen.Answer) int {
	n := 0
	for _, a := range answers {
		if a.Fresh {
			n++
		}
	}
	return n
}

func TestAddAnswersInOrderAndKnowsDuplicates(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{})
	for _, test := range []struct {
		name  string
		batch []seen.Item
		want  []seen.Answer
	}{
		{"no items, no answers", nil, nil},
		{"new keys are fresh", items("a", "b"), []seen.Answer{{1, true}, {2, true}}},
		{"known keys have the ID of their admission", items("b", "a"), []seen.Answer{{2, false}, {1, false}}},
		{"of equal keys in a batch the first is fresh", items("c", "c", "a", "c"), []seen.Answer{{3, true}, {3, false}, {1, false}, {3, false}}},
	} {
		if got := add(t, store, g, test.batch); !slices.Equal(got, test.want) {
			t.Errorf("%s: answers are %v, want %v", test.name, got, test.want)
		}
	}
	want := seen.Counters{NegativesTrusted: 3, TruePositives: 5}
	if got := g.Stats().Counters; got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
}

func TestAddAppendsToTheAnswersGiven(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{})
	err := store.Update(func(tx *storage.Tx) error {
		answers, err := g.Add(tx, items("a"), nil)
		if err != nil {
			return err
		}
		// The second Add of one transaction sees what the first has added, though nothing has committed.
		answers, err = g.Add(tx, items("a", "b"), answers)
		if got, want := fmt.Sprint(answers), "[{1 true} {1 false} {2 true}]"; got != want {
			t.Errorf("answers are %s, want %s", got, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAddFailsInAReadTransaction(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{})
	add(t, store, g, items("a"))
	err := store.View(func(tx *storage.Tx) error {
		answers, err := g.Add(tx, items("a", "b", "c"), nil)
		if got, want := fmt.Sprint(answers), "[{1 false}]"; got != want {
			t.Errorf("answers before the failure are %s, want %s", got, want)
		}
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "seen: b: ") {
		t.Errorf("error is %v, want one that names b", err)
	}
	if got := fresh(add(t, store, g, items("b", "c"))); got != 2 {
		t.Errorf("after the failure %d of 2 keys are fresh", got)
	}
}

func TestEqualHashesAreNoProof(t *testing.T) {
	store := openStore(t)
	g, err := seen.OpenWithHash(store, seen.Config{}, seen.Counters{}, func(string) uint64 { return 42 })
	if err != nil {
		t.Fatal(err)
	}
	const keys = 50
	for _, a := range add(t, store, g, span(0, keys)) {
		if !a.Fresh {
			t.Errorf("answer %+v to a new key", a)
		}
	}
	for i, a := range add(t, store, g, span(0, keys)) {
		if want := (seen.Answer{ID: storage.ID(i + 1)}); a != want {
			t.Errorf("answer %+v to a known key, want %+v", a, want)
		}
	}
	want := seen.Counters{NegativesTrusted: 1, FalsePositivesAvoided: keys - 1, TruePositives: keys}
	if got := g.Stats().Counters; got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	audit(t, store, g)
}

func TestPreparedCollisionsAreAdmitted(t *testing.T) {
	// Made so that what differs in the first stripe of xxHash64 cancels out in the second under two seeds of three.
	pair := items(
		"https://attacker.examplegcN54TzJ/abcdefghijklmnopqrstuvw4R94RW8G",
		"https://attacker.exampleDkmEpWxM/abcdefghijklmnopqrstuvw2rJq8ytf")
	tested := 0
	for seed := range uint64(10) {
		hash := seen.Seeded(seed)
		if hash(string(pair[0].Key)) != hash(string(pair[1].Key)) {
			continue
		}
		tested++
		store := openStore(t)
		g, err := seen.OpenWithHash(store, seen.Config{}, seen.Counters{}, hash)
		if err != nil {
			t.Fatal(err)
		}
		if got := fresh(add(t, store, g, pair)); got != 2 {
			t.Errorf("%d of 2 keys are fresh", got)
		}
		if got, want := g.Stats().Counters, (seen.Counters{NegativesTrusted: 1, FalsePositivesAvoided: 1}); got != want {
			t.Errorf("counters are %+v, want %+v", got, want)
		}
	}
	if tested == 0 {
		t.Error("the pair collides under none of ten seeds")
	}
}

func TestUncoveredNegativesAreNotTrusted(t *testing.T) {
	store := openStore(t)
	prefill(t, store, 1000)
	g, err := seen.OpenUncovered(store, seen.Config{}, seen.Counters{})
	if err != nil {
		t.Fatal(err)
	}
	if s := g.Stats().Filter; s.Covered || s.CoverageLag != 1000 || s.Keys != 0 {
		t.Errorf("filter is %+v, want uncovered, 1000 behind, no keys", s)
	}
	err = store.View(func(tx *storage.Tx) error {
		if got, want := g.Check(tx, key(7)), (seen.Verdict{Generation: 1, Known: true, ID: 8}); got != want {
			t.Errorf("Check of a known key is %+v, want %+v", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fresh(add(t, store, g, span(0, 1100))); got != 100 {
		t.Errorf("%d keys are fresh, want 100", got)
	}
	if got, want := g.Stats().Counters, (seen.Counters{NegativesUnproven: 1100}); got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	if err := g.Cover(); err != nil {
		t.Fatal(err)
	}
	if s := g.Stats().Filter; !s.Covered || s.CoverageLag != 0 || s.Keys != 1100 {
		t.Errorf("filter is %+v, want covered, not behind, 1100 keys", s)
	}
	if got := fresh(add(t, store, g, span(0, 1101))); got != 1 {
		t.Errorf("%d keys are fresh once covered, want 1", got)
	}
	if got, want := g.Stats().Counters, (seen.Counters{NegativesUnproven: 1100, TruePositives: 1100, NegativesTrusted: 1}); got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	audit(t, store, g)
}

func TestOpenFillsTheFilterFromTheLog(t *testing.T) {
	store := openStore(t)
	prefill(t, store, 9000) // more than one range of the scan
	g := openGate(t, store, seen.Config{Headroom: 2, MinCapacity: 1})
	s := g.Stats().Filter
	if !s.Covered || s.Keys != 9000 || s.Capacity != 18000 || s.Generation != 1 {
		t.Errorf("filter is %+v, want covered, 9000 keys, capacity 18000, generation 1", s)
	}
	if got := fresh(add(t, store, g, span(0, 9001))); got != 1 {
		t.Errorf("%d keys are fresh, want 1", got)
	}
}

func TestCoverageIsNotClaimedOverADamagedLog(t *testing.T) {
	for name, damage := range map[string]func(log *bbolt.Bucket, k []byte) error{
		"an entry is missing":    (*bbolt.Bucket).Delete,
		"an entry is unreadable": func(log *bbolt.Bucket, k []byte) error { return log.Put(k, []byte{0xff}) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			store, err := storage.OpenStore(path, storage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			prefill(t, store, 10)
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := bbolt.Open(path, 0o644, nil)
			if err != nil {
				t.Fatal(err)
			}
			err = db.Update(func(tx *bbolt.Tx) error {
				return damage(tx.Bucket([]byte("log")), []byte{0, 0, 0, 0, 0, 0, 0, 5})
			})
			if err = errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			store = openStoreAt(t, path)
			_, err = seen.Open(store, seen.Config{}, seen.Counters{})
			if !errors.Is(err, storage.ErrDamaged) || !strings.Contains(err.Error(), "entry 5 of 10") {
				t.Errorf("Open fails with %v, want ErrDamaged at entry 5 of 10", err)
			}
			g, err := seen.OpenUncovered(store, seen.Config{}, seen.Counters{})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Run(t.Context()); !errors.Is(err, storage.ErrDamaged) {
				t.Errorf("Run fails with %v, want ErrDamaged", err)
			}
			if got := fresh(add(t, store, g, span(0, 11))); got != 1 {
				t.Errorf("after that %d of 11 keys are fresh, want 1", got)
			}
		})
	}
}

func TestOpenRefusesAFaultyConfig(t *testing.T) {
	_, err := seen.Open(openStore(t), seen.Config{TargetFPR: 2, Headroom: 0.5}, seen.Counters{})
	if err == nil || !strings.Contains(err.Error(), "target_fpr") || !strings.Contains(err.Error(), "headroom") {
		t.Errorf("error is %v, want one that names both faults", err)
	}
}

func TestARolledBackKeyIsFreshAgain(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{})
	add(t, store, g, span(0, 10))
	failure := errors.New("rolled back")
	err := store.Update(func(tx *storage.Tx) error {
		if _, err := g.Add(tx, span(5, 30), nil); err != nil {
			t.Error(err)
		}
		return failure
	})
	if !errors.Is(err, failure) {
		t.Fatal(err)
	}
	if got, want := g.Stats().Filter.Keys, uint64(10); got != want {
		t.Errorf("after the rollback the filter counts %d keys, want %d", got, want)
	}
	if got := fresh(add(t, store, g, span(5, 30))); got != 20 {
		t.Errorf("%d keys are fresh the second time, want 20", got)
	}
	want := seen.Counters{NegativesTrusted: 30, TruePositives: 10, FalsePositivesAvoided: 20}
	if got := g.Stats().Counters; got != want {
		t.Errorf("counters are %+v, want %+v", got, want)
	}
	if got, want := g.Stats().Filter.Keys, uint64(30); got != want {
		t.Errorf("the filter counts %d keys, want %d", got, want)
	}
}

func TestOfConcurrentAdmitsExactlyOneIsFresh(t *testing.T) {
	const goroutines, batches, size = 8, 20, 25
	store := openStore(t)
	g := openGate(t, store, seen.Config{})
	all := make([][]seen.Answer, goroutines)
	var wg sync.WaitGroup
	for n := range goroutines {
		wg.Go(func() {
			for b := range batches {
				err := store.Update(func(tx *storage.Tx) (err error) {
					all[n], err = g.Add(tx, span(b*size, (b+1)*size), all[n])
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for i := range batches * size {
		told, ids := 0, map[storage.ID]bool{}
		for _, answers := range all {
			told += fresh(answers[i : i+1])
			ids[answers[i].ID] = true
		}
		if told != 1 || len(ids) != 1 {
			t.Errorf("key %d: %d were told that it is fresh, under %d IDs", i, told, len(ids))
		}
	}
}

func TestCountersGoOnFromEarlierRuns(t *testing.T) {
	earlier := seen.Counters{
		NegativesTrusted: 100, NegativesUnproven: 20, TruePositives: 300, FalsePositivesAvoided: 4, RecentHits: 5, Rebuilds: 6,
	}
	store := openStore(t)
	g, err := seen.Open(store, seen.Config{}, earlier)
	if err != nil {
		t.Fatal(err)
	}
	before := g.Stats()
	if got := before.Counters; got != earlier {
		t.Errorf("counters begin at %+v, want %+v", got, earlier)
	}
	add(t, store, g, items("a", "b", "a"))
	if err := g.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := seen.Counters{NegativesTrusted: 2, TruePositives: 1, Rebuilds: 1}
	if got := g.Stats().Sub(before); got.Counters != want || got.Filter.Keys != 2 {
		t.Errorf("since then %+v, want %+v and 2 keys", got, want)
	}
	if c := g.Stats().Counters; c.Checks() != 427 || c.Positives() != 305 || c.ExactLookups() != 320 || c.ExactLookupsAvoided() != 102 {
		t.Errorf("checks %d, positives %d, exact lookups %d, avoided %d; want 427, 305, 320, 102",
			c.Checks(), c.Positives(), c.ExactLookups(), c.ExactLookupsAvoided())
	}
	if got, want := (seen.Counters{NegativesTrusted: 90, NegativesUnproven: 8, FalsePositivesAvoided: 2}).FPRObserved(), 0.02; got != want {
		t.Errorf("FPRObserved() = %v, want %v", got, want)
	}
	if got := (seen.Counters{TruePositives: 1}).FPRObserved(); got != 0 {
		t.Errorf("FPRObserved() without absent keys = %v, want 0", got)
	}
}

func TestStatsDescribeTheFilter(t *testing.T) {
	store := openStore(t)
	g := openGate(t, store, seen.Config{TargetFPR: 0.001, MinCapacity: 10_000})
	add(t, store, g, span(0, 5000))
	filter := seen.NewFilter(10_000, 0.001)
	s := g.Stats()
	got := s.Filter
	if got.Occupancy < 0.15 || got.Occupancy > 0.35 {
		t.Errorf("occupancy is %v", got.Occupancy)
	}
	got.Occupancy = 0
	want := seen.FilterStats{
		Kind: "blocked", Generation: 1, Bits: filter.Bits(), Hashes: 8, Keys: 5000, Capacity: 10_000,
		BitsPerKey: float64(filter.Bits()) / 10_000, MemoryBytes: filter.Bits() / 8, Covered: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
	if s.FPRTarget != 0.001 || s.FPRPredicted != filter.FPR(5000) {
		t.Errorf("target %v, predicted %v; want 0.001, %v", s.FPRTarget, s.FPRPredicted, filter.FPR(5000))
	}
}

func TestFalsePositivesKeepsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t)
		g, err := seen.OpenWithHash(store, seen.Config{}, seen.Counters{}, func(string) uint64 { return 42 })
		if err != nil {
			t.Fatal(err)
		}
		if got := g.FalsePositives(); len(got) != 0 {
			t.Errorf("%d false positives at the start", len(got))
		}
		keys := func(list []seen.FalsePositive) []normalize.Key {
			var keys []normalize.Key
			for _, fp := range list {
				keys = append(keys, fp.Key)
			}
			return keys
		}
		add(t, store, g, span(0, 3))
		if got, want := keys(g.FalsePositives()), []normalize.Key{key(1), key(2)}; !slices.Equal(got, want) {
			t.Errorf("false positives are %v, want %v", got, want)
		}
		add(t, store, g, span(3, seen.MaxRing+300))
		add(t, store, g, span(0, 300)) // true positives
		got := g.FalsePositives()
		var want []normalize.Key
		for i := 300; i < seen.MaxRing+300; i++ {
			want = append(want, key(i))
		}
		if !slices.Equal(keys(got), want) {
			t.Errorf("%d false positives from %v to %v, want the last %d", len(got), got[0], got[len(got)-1], seen.MaxRing)
		}
	})
}

func TestHashIsSeededXXHash64(t *testing.T) {
	for _, k := range []string{"", "short", strings.Repeat("https://a.example/", 20)} {
		d := xxhash.NewWithSeed(7)
		_, _ = d.WriteString(k)
		if got, want := seen.Seeded(7)(k), d.Sum64(); got != want {
			t.Errorf("hash of %q is %#x, want %#x", k, got, want)
		}
		if seen.Seeded(7)(k) == seen.Seeded(8)(k) {
			t.Errorf("hash of %q does not depend on the seed", k)
		}
	}
	hash, k := seen.Seeded(7), strings.Repeat("https://a.example/", 5)
	if got := testing.AllocsPerRun(100, func() { hash(k) }); got != 0 {
		t.Errorf("a hash allocates %v times", got)
	}
}
