package crawl

import (
	"encoding/json"
	"maps"
	"strconv"
	"time"

	"crawler/frontier"
	"crawler/seen"
	"crawler/storage"
)

// tally counts by name.
type tally map[string]int64

func (t tally) add(name string, n int64) {
	if t[name] += n; t[name] == 0 {
		delete(t, name)
	}
}

func (t tally) sum() int64 {
	var sum int64
	for _, n := range t {
		sum += n
	}
	return sum
}

// Counters are what a partition has counted since the crawl was made. They are committed with what they count.
type Counters struct {
	Discovered   int64 `json:"discovered"`
	Duplicates   int64 `json:"duplicates"`
	Refused      tally `json:"refused"` // before admission, by reason
	Admitted     int64 `json:"admitted"`
	Fetched      int64 `json:"fetched"`
	Failed       int64 `json:"failed"`
	RefusedLater tally `json:"refused_later"` // after admission, by reason

	Requests       int64 `json:"requests"`
	RobotsRequests int64 `json:"robots_requests"`
	Bytes          int64 `json:"bytes"`
	NotModified    int64 `json:"not_modified"`
	Status         tally `json:"status"`
	Errors         tally `json:"errors"`

	Seen    seen.Counters `json:"seen"`
	Elapsed time.Duration `json:"elapsed"`
	State   State         `json:"state"`
}

func newCounters() *Counters {
	return &Counters{Refused: tally{}, RefusedLater: tally{}, Status: tally{}, Errors: tally{}, State: StateStopped}
}

func (c *Counters) clone() *Counters {
	next := *c
	next.Refused, next.RefusedLater = maps.Clone(c.Refused), maps.Clone(c.RefusedLater)
	next.Status, next.Errors = maps.Clone(c.Status), maps.Clone(c.Errors)
	return &next
}

// narrowed reports whether URLs were queued and then refused because a later run had a narrower scope.
func (c *Counters) narrowed() bool {
	return c.RefusedLater[RefusedScope]+c.RefusedLater[RefusedExclude]+c.RefusedLater[RefusedInclude]+c.RefusedLater[RefusedDepth] > 0
}

// count takes over what a result says about requests.
func (c *Counters) count(e frontier.Result) {
	c.Requests += int64(e.Cost.Requests)
	c.RobotsRequests += int64(e.Cost.RobotsRequests)
	c.Bytes += e.Cost.Bytes
	if e.Cost.Error != "" {
		c.Errors.add(e.Cost.Error, 1)
	}
	if e.Outcome.Status != 0 {
		c.Status.add(strconv.Itoa(e.Outcome.Status), 1)
	}
	if e.Outcome.Status == 304 {
		c.NotModified++
	}
}

// add sums the counters of partitions.
func (c *Counters) add(more *Counters) {
	c.Discovered += more.Discovered
	c.Duplicates += more.Duplicates
	c.Admitted += more.Admitted
	c.Fetched += more.Fetched
	c.Failed += more.Failed
	c.Requests += more.Requests
	c.RobotsRequests += more.RobotsRequests
	c.Bytes += more.Bytes
	c.NotModified += more.NotModified
	c.Elapsed = max(c.Elapsed, more.Elapsed)
	for _, t := range [][2]tally{{c.Refused, more.Refused}, {c.RefusedLater, more.RefusedLater}, {c.Status, more.Status}, {c.Errors, more.Errors}} {
		for name, n := range t[1] {
			t[0].add(name, n)
		}
	}
	if more.State != StateStopped {
		c.State = more.State
	}
	c.Seen = c.Seen.Plus(more.Seen)
}

// close keeps how the crawl stands, for those who ask while it does not run.
func (p *partition) close() error {
	counters := p.counters.Load().clone()
	counters.Elapsed, counters.State = p.crawl.elapsed(), p.crawl.currentState()
	counters.Seen = p.gate.Stats().Counters
	text, err := json.Marshal(counters)
	if err != nil {
		return err
	}
	positives, err := json.Marshal(p.gate.FalsePositives())
	if err != nil {
		return err
	}
	stats, err := json.Marshal(p.gate.Stats())
	if err != nil {
		return err
	}
	return p.store.Update(func(tx *storage.Tx) error {
		if err := tx.SetMeta(metaCounters, text); err != nil {
			return err
		}
		if err := tx.SetMeta(metaGate, stats); err != nil {
			return err
		}
		return tx.SetMeta(metaFalsePositives, positives)
	})
}

// The gate as it was when the crawl was last closed.
const (
	metaGate           = "gate"
	metaFalsePositives = "false_positives"
)
