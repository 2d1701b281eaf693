package seen_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"crawler/normalize"
	"crawler/seen"
	"crawler/storage"
)

const benchKeys = 10_000_000

func fullFilter() *seen.Filter {
	f := seen.NewFilter(benchKeys, 0.01)
	rng := rand.New(rand.NewPCG(1, 2))
	for range benchKeys {
		f.Add(rng.Uint64())
	}
	return f
}

func BenchmarkFilterHas(b *testing.B) {
	f := fullFilter()
	for name, seed := range map[string]uint64{"present": 2, "absent": 3} {
		b.Run(fmt.Sprintf("keys=%d/%s", benchKeys, name), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, seed))
			hits, n := 0, 0
			for b.Loop() {
				if n++; n == benchKeys {
					rng, n = rand.New(rand.NewPCG(1, seed)), 0
				}
				if f.Has(rng.Uint64()) {
					hits++
				}
			}
			b.ReportMetric(100*float64(hits)/float64(b.N), "%positive")
			b.ReportMetric(float64(f.Bits())/benchKeys, "bits/key")
		})
	}
}

func BenchmarkFilterAdd(b *testing.B) {
	b.Run(fmt.Sprintf("keys=%d", benchKeys), func(b *testing.B) {
		f := seen.NewFilter(benchKeys, 0.01)
		rng := rand.New(rand.NewPCG(1, 2))
		for b.Loop() {
			f.Add(rng.Uint64())
		}
	})
}

func BenchmarkHash(b *testing.B) {
	hash, k := seen.Seeded(1), "https://www.example.org/a/path/of/some/length/article-2024-05-06.html?page=123456"
	b.SetBytes(int64(len(k)))
	b.ReportAllocs()
	for b.Loop() {
		hash(k)
	}
}

// BenchmarkGateAdd measures a link, of which 80 % are duplicates, in synced transactions of 10,000, on a store that
// begins with 200,000 URLs.
func BenchmarkGateAdd(b *testing.B) {
	const known, batchSize = 200_000, 10_000
	store, err := storage.OpenStore(filepath.Join(b.TempDir(), "store.db"), storage.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	g, err := seen.Open(store, seen.Config{}, seen.Counters{})
	if err != nil {
		b.Fatal(err)
	}
	var answers []seen.Answer
	add := func(batch []seen.Item) {
		err := store.Update(func(tx *storage.Tx) (err error) {
			answers, err = g.Add(tx, batch, answers[:0])
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	next := 0
	item := func(i int) seen.Item {
		k := normalize.Key(fmt.Sprintf("https://host-%d.example/section/%d/article-%d.html?page=1", i%1009, i%31, i))
		return seen.Item{Key: k, Href: string(k)}
	}
	for next < known {
		var batch []seen.Item
		for range batchSize {
			batch = append(batch, item(next))
			next++
		}
		add(batch)
	}
	if err := g.Rebuild(b.Context()); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	before := g.Stats()
	links := 0
	for b.Loop() {
		b.StopTimer()
		batch := make([]seen.Item, batchSize)
		for i := range batch {
			if i%5 == 0 {
				batch[i] = item(next)
				next++
			} else {
				batch[i] = item(rng.IntN(next))
			}
		}
		b.StartTimer()
		add(batch)
		links += batchSize
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(links), "ns/link")
	done := g.Stats().Sub(before)
	b.ReportMetric(100*float64(done.FalsePositivesAvoided)/float64(links), "%false-positive")
}

// BenchmarkRebuild measures the fill of a generation from the log, a key.
func BenchmarkRebuild(b *testing.B) {
	const known = 200_000
	store, err := storage.OpenStore(filepath.Join(b.TempDir(), "store.db"), storage.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	g, err := seen.Open(store, seen.Config{}, seen.Counters{})
	if err != nil {
		b.Fatal(err)
	}
	for from := 0; from < known; from += 5000 {
		err := store.Update(func(tx *storage.Tx) error {
			_, err := g.Add(tx, span(from, from+5000), nil)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := g.Rebuild(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/known, "ns/key")
}
