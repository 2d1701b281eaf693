package frontier_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"crawler/frontier"
	"crawler/storage"
)

// BenchmarkLease leases and finishes URLs in batches of 100, with as many hosts due as it says. Every URL is admitted
// again as another, so that no host runs dry. The store does not sync.
func BenchmarkLease(b *testing.B) {
	for _, hosts := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			w := newWorld(b, eager, filepath.Join(b.TempDir(), "store.db"))
			defer func() { w.must(w.store.Close()) }()
			links := make([]frontier.Link, 0, hosts)
			for i := range hosts {
				links = append(links, frontier.Link{URL: parse(b, page(fmt.Sprintf("host%d.example", i), 0))})
			}
			w.batch(func(tx *storage.Tx, batch *frontier.Batch) error {
				for _, l := range links {
					for n := range 2 {
						id, err := tx.Append(fmt.Sprintf("%s%d", l.URL, n), l.URL.String())
						if err != nil {
							return err
						}
						if err := batch.Admit(id, l); err != nil {
							return err
						}
					}
				}
				return nil
			})
			leases := make([]*frontier.Lease, 0, 100)
			var leasing time.Duration
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				leases = append(leases, w.lease())
				leasing += time.Since(start)
				n++
				if len(leases) < cap(leases) {
					continue
				}
				w.batch(func(tx *storage.Tx, batch *frontier.Batch) error {
					for _, l := range leases {
						if _, _, err := batch.Finish(l.ID, l.Host, frontier.Outcome{End: time.Now()}); err != nil {
							return err
						}
						id, err := tx.Append(fmt.Sprintf("%s.%d", l.URL, l.ID), l.URL.String())
						if err != nil {
							return err
						}
						if err := batch.Admit(id, frontier.Link{URL: l.URL}); err != nil {
							return err
						}
					}
					return nil
				})
				leases = leases[:0]
			}
			b.ReportMetric(float64(leasing.Nanoseconds())/float64(n), "ns-leasing/op")
		})
	}
}
