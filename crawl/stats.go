package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"crawler/frontier"
	"crawler/seen"
	"crawler/storage"
)

// State says whether a crawl goes on.
type State string

// The states of a crawl.
const (
	StateRunning  State = "running"
	StatePaused   State = "paused"
	StateFinished State = "finished" // nothing is left to do
	StateStopped  State = "stopped"  // it can go on
)

// Stats is a snapshot of a crawl, in the form that scripts rely on.
type Stats struct {
	Crawl   RunStats     `json:"crawl"`
	URLs    URLStats     `json:"urls"`
	Fetch   FetchStats   `json:"fetch"`
	Seen    SeenStats    `json:"seen"`
	Hosts   HostStats    `json:"hosts"`
	Store   StoreStats   `json:"store"`
	Archive ArchiveStats `json:"archive"`
}

// RunStats says how the crawl stands.
type RunStats struct {
	State    State     `json:"state"`
	Started  time.Time `json:"started"`
	ElapsedS float64   `json:"elapsed_s"` // time spent crawling, over all runs
}

// URLStats counts URLs. Discovered = Admitted + Duplicates + those refused before admission; Admitted = Queued + Leased
// + Fetched + Failed + those refused after.
type URLStats struct {
	Discovered    int64            `json:"discovered"`
	Admitted      int64            `json:"admitted"`
	Queued        int64            `json:"queued"`
	Leased        int64            `json:"leased"`
	Fetched       int64            `json:"fetched"`
	Failed        int64            `json:"failed"`
	Refused       map[string]int64 `json:"refused"` // by reason, before and after admission
	RefusedBefore int64            `json:"refused_before_admission"`
	RefusedAfter  int64            `json:"refused_after_admission"`
	Duplicates    int64            `json:"duplicates"`
}

// FetchStats counts requests and their answers.
type FetchStats struct {
	Requests       int64            `json:"requests"`
	Bytes          int64            `json:"bytes"`
	PagesPerS      float64          `json:"pages_per_s"`
	Status         map[string]int64 `json:"status"`
	Errors         map[string]int64 `json:"errors"`
	RobotsRequests int64            `json:"robots_requests"`
	NotModified    int64            `json:"not_modified"`
}

// SeenStats describes the URL-seen gate.
type SeenStats struct {
	Checks                uint64      `json:"checks"`
	NegativesTrusted      uint64      `json:"negatives_trusted"`
	NegativesUnproven     uint64      `json:"negatives_unproven"`
	Positives             uint64      `json:"positives"`
	TruePositives         uint64      `json:"true_positives"`
	FalsePositivesAvoided uint64      `json:"false_positives_avoided"`
	ExactLookups          uint64      `json:"exact_lookups"`
	ExactLookupsAvoided   uint64      `json:"exact_lookups_avoided"`
	RecentHits            uint64      `json:"recent_hits"`
	FPRTarget             float64     `json:"fpr_target"`
	FPRPredicted          float64     `json:"fpr_predicted"`
	FPRObserved           float64     `json:"fpr_observed"`
	Filter                FilterStats `json:"filter"`
}

// FilterStats describes the filter: the sum of those of all partitions, the worst where a sum has no meaning.
type FilterStats struct {
	Kind        string  `json:"kind"`
	Generation  uint64  `json:"generation"`
	Bits        uint64  `json:"bits"`
	Hashes      uint64  `json:"hashes"`
	Keys        uint64  `json:"keys"`
	Capacity    uint64  `json:"capacity"`
	Occupancy   float64 `json:"occupancy"`
	BitsPerKey  float64 `json:"bits_per_key"`
	MemoryBytes uint64  `json:"memory_bytes"`
	Rebuilds    uint64  `json:"rebuilds"`
	Covered     bool    `json:"covered"`
	CoverageLag uint64  `json:"coverage_lag"`
}

// HostStats counts hosts.
type HostStats struct {
	Known    int `json:"known"`
	Active   int `json:"active"`
	Deferred int `json:"deferred"`
}

// StoreStats describes the data directory. Commits counts those since the crawl was opened.
type StoreStats struct {
	URLs    int64  `json:"urls"`
	Bytes   int64  `json:"bytes"`
	Commits uint64 `json:"commits"`
}

// ArchiveStats counts archived records.
type ArchiveStats struct {
	Records  int64 `json:"records"`
	Bytes    int64 `json:"bytes"`
	Revisits int64 `json:"revisits"`
}

// Stats returns a snapshot of a crawl that is open.
func (c *Crawl) Stats() Stats {
	total := newCounters()
	gates := make([]seen.Stats, 0, len(c.parts))
	var commits uint64
	// The frontier is asked first: what it has leased stays queued in the counters until its outcome is committed.
	hosts := c.frontier.Stats()
	for _, p := range c.parts {
		total.add(p.counters.Load())
		gates = append(gates, p.gate.Stats())
		commits += p.store.Commits()
	}
	total.Elapsed, total.State = c.elapsed(), c.currentState()
	s := newStats(c.dir, total, gates, hosts)
	s.Store.Commits = commits
	return s
}

func (c *Crawl) currentState() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func newStats(dir *storage.Dir, total *Counters, gates []seen.Stats, hosts frontier.Stats) Stats {
	s := Stats{
		Crawl: RunStats{State: total.State, Started: dir.Description().Created, ElapsedS: total.Elapsed.Seconds()},
		URLs: URLStats{
			Discovered: total.Discovered, Admitted: total.Admitted, Fetched: total.Fetched, Failed: total.Failed,
			Duplicates: total.Duplicates, Refused: map[string]int64{},
			RefusedBefore: total.Refused.sum(), RefusedAfter: total.RefusedLater.sum(),
		},
		Fetch: FetchStats{
			Requests: total.Requests, Bytes: total.Bytes, Status: total.Status, Errors: total.Errors,
			RobotsRequests: total.RobotsRequests, NotModified: total.NotModified,
		},
		Seen:  newSeenStats(total.Seen, gates),
		Hosts: HostStats{Known: hosts.Known, Active: hosts.Active, Deferred: hosts.Deferred},
		Store: StoreStats{URLs: total.Admitted, Bytes: dir.Size()},
	}
	for _, reason := range refusals { // scripts find the common ones even if there are none
		s.URLs.Refused[reason] = 0
	}
	for _, t := range []tally{total.Refused, total.RefusedLater} {
		for reason, n := range t {
			s.URLs.Refused[reason] += n
		}
	}
	open := total.Admitted - total.Fetched - total.Failed - s.URLs.RefusedAfter
	s.URLs.Leased = min(int64(hosts.Leased), open)
	s.URLs.Queued = open - s.URLs.Leased
	if total.Elapsed > 0 {
		s.Fetch.PagesPerS = float64(total.Fetched) / total.Elapsed.Seconds()
	}
	return s
}

func newSeenStats(c seen.Counters, gates []seen.Stats) SeenStats {
	s := SeenStats{
		Checks: c.Checks(), NegativesTrusted: c.NegativesTrusted, NegativesUnproven: c.NegativesUnproven,
		Positives: c.Positives(), TruePositives: c.TruePositives, FalsePositivesAvoided: c.FalsePositivesAvoided,
		ExactLookups: c.ExactLookups(), ExactLookupsAvoided: c.ExactLookupsAvoided(), RecentHits: c.RecentHits,
		FPRObserved: c.FPRObserved(), Filter: FilterStats{Covered: true, Rebuilds: c.Rebuilds},
	}
	f := &s.Filter
	for _, g := range gates {
		s.FPRTarget = g.FPRTarget
		s.FPRPredicted = max(s.FPRPredicted, g.FPRPredicted)
		f.Kind, f.Hashes = g.Filter.Kind, g.Filter.Hashes
		f.Generation = max(f.Generation, g.Filter.Generation)
		f.Bits += g.Filter.Bits
		f.Keys += g.Filter.Keys
		f.Capacity += g.Filter.Capacity
		f.Occupancy = max(f.Occupancy, g.Filter.Occupancy)
		f.MemoryBytes += g.Filter.MemoryBytes
		f.Covered = f.Covered && g.Filter.Covered
		f.CoverageLag += g.Filter.CoverageLag
	}
	if f.Capacity > 0 {
		f.BitsPerKey = float64(f.Bits) / float64(f.Capacity)
	}
	return s
}

// storedStats returns a snapshot of a crawl that nobody has open for writing.
func storedStats(dir *storage.Dir) (Stats, error) {
	total := newCounters()
	var gates []seen.Stats
	var hosts frontier.Stats
	for n, store := range dir.Stores() {
		counters, err := loadCounters(store)
		if err != nil {
			return Stats{}, fmt.Errorf("partition %d: %w", n, err)
		}
		total.add(counters)
		err = store.View(func(tx *storage.Tx) error {
			for _, h := range tx.Hosts() {
				hosts.Known++
				switch {
				case h.Queued == 0:
				case h.Until.After(time.Now()), h.Parked == h.Queued:
					hosts.Deferred++
				default:
					hosts.Active++
				}
			}
			var gate seen.Stats
			if text := tx.Meta(metaGate); len(text) > 0 {
				gates = append(gates, gate)
				return json.Unmarshal(text, &gates[len(gates)-1])
			}
			return nil
		})
		if err != nil {
			return Stats{}, fmt.Errorf("partition %d: %w", n, err)
		}
	}
	if total.State == StateRunning { // it was killed
		total.State = StateStopped
	}
	return newStats(dir, total, gates, hosts), nil
}

// errInconsistent means that counters do not add up.
var errInconsistent = errors.New("crawl: counters do not add up")

// Check reports whether the counts of a snapshot add up.
func (s Stats) Check() error {
	u := s.URLs
	if u.Discovered != u.Admitted+u.Duplicates+u.RefusedBefore {
		return fmt.Errorf("%w: %d discovered; %d admitted + %d duplicates + %d refused before admission",
			errInconsistent, u.Discovered, u.Admitted, u.Duplicates, u.RefusedBefore)
	}
	if u.Admitted != u.Queued+u.Leased+u.Fetched+u.Failed+u.RefusedAfter {
		return fmt.Errorf("%w: %d admitted; %d queued + %d leased + %d fetched + %d failed + %d refused after admission",
			errInconsistent, u.Admitted, u.Queued, u.Leased, u.Fetched, u.Failed, u.RefusedAfter)
	}
	return nil
}
