package storage_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"crawler/storage"
)

// benchKey returns the key of the n-th URL, in no order.
func benchKey(n int) string {
	return fmt.Sprintf("https://www.host%d.example/articles/%016x.html", n%1000, uint64(n)*0x9e3779b97f4a7c15)
}

// benchBatch is the number of URLs that a commit admits.
const benchBatch = 10_000

func admitBatch(b *testing.B, s *storage.Store, first int) {
	update(b, s, func(tx *storage.Tx) {
		for n := first; n < first+benchBatch; n++ {
			key := benchKey(n)
			id, err := tx.Append(key, key)
			must(b, err)
			must(b, tx.SetRecord(id, uint32(n%1000), queued))
		}
	})
}

// benchStore makes a store of the given number of batches.
func benchStore(b *testing.B, batches int, opt storage.Options) *storage.Store {
	s := open(b, filepath.Join(b.TempDir(), "store.db"), opt)
	b.Cleanup(func() { must(b, s.Close()) })
	for n := range batches {
		admitBatch(b, s, n*benchBatch)
	}
	return s
}

// BenchmarkAdmit appends URLs and their records, a durable commit for each batch, to a store of 100,000.
func BenchmarkAdmit(b *testing.B) {
	s := benchStore(b, 10, storage.Options{})
	n := 10
	for b.Loop() {
		admitBatch(b, s, n*benchBatch)
		n++
	}
	perURL(b, benchBatch)
	b.ReportMetric(float64(s.Size())/float64(n*benchBatch), "B/URL")
}

func BenchmarkFind(b *testing.B) {
	const batches = 20
	for _, each := range []int{1, 100} {
		for name, from := range map[string]int{"present": 0, "absent": batches * benchBatch} {
			b.Run(fmt.Sprintf("%s/lookups=%d", name, each), func(b *testing.B) {
				s := benchStore(b, batches, storage.Options{NoSync: true})
				n := 0
				for b.Loop() {
					view(b, s, func(tx *storage.Tx) {
						for range each {
							n = (n + 7919) % (batches * benchBatch)
							if _, found := tx.Find(benchKey(from + n)); found != (from == 0) {
								b.Fatalf("%s: found %v", benchKey(from+n), found)
							}
						}
					})
				}
				perURL(b, each)
			})
		}
	}
}

func BenchmarkLog(b *testing.B) {
	const batches = 20
	s := benchStore(b, batches, storage.Options{NoSync: true})
	for b.Loop() {
		view(b, s, func(tx *storage.Tx) {
			if n := count2(tx.Log(0)); n != batches*benchBatch {
				b.Fatalf("got %d URLs", n)
			}
		})
	}
	perURL(b, batches*benchBatch)
}

func perURL(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/URL")
}
