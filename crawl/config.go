package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"crawler/fetcher"
	"crawler/frontier"
	"crawler/seen"
)

// Config says what is crawled and how. The zero value works: each zero field means its default.
type Config struct {
	// Scope says which URLs belong to the crawl.
	Scope Scope
	// Limits end the crawl or keep URLs out of it.
	Limits Limits
	// Concurrency is the number of fetches in flight in all. Default 64.
	Concurrency int
	// Partitions is the number of parts that hosts hash to; fixed once a data directory exists. Default 1.
	Partitions int
	// Retry says how failed fetches are tried again.
	Retry frontier.Retry
	// Politeness is obeyed per host. It may change while the crawl runs (Crawl.SetPoliteness).
	Politeness frontier.Rules
	// Seen sizes the URL-seen gate.
	Seen seen.Config
	// Fetch says how pages are fetched.
	Fetch fetcher.Config
	// Grace is how long fetches in flight may go on once the crawl is to stop. Default 10 s.
	Grace time.Duration
	// Log receives what a person should know while the crawl runs. Default: nothing is logged.
	Log *slog.Logger
}

// Limits bound a crawl. A zero field is no limit, except where said.
type Limits struct {
	// MaxPages is the number of URLs fetched in all runs over one data directory, exactly.
	MaxPages int
	// MaxTime is the duration of this run.
	MaxTime time.Duration
	// MaxURLsPerHost is the number of URLs admitted of one host.
	MaxURLsPerHost int
	// MinFreeDisk is the number of bytes that must stay free on the data directory's disk.
	MinFreeDisk int64
}

// Reach is how far from a seed a URL may lie to be in scope.
type Reach string

// The reaches, from narrow to wide.
const (
	ReachPage   Reach = "page"   // the seed alone
	ReachPrefix Reach = "prefix" // URLs that begin with the seed up to its last slash
	ReachHost   Reach = "host"   // the seed's host, whatever scheme and port
	ReachDomain Reach = "domain" // the seed's registrable domain
	ReachAny    Reach = "any"    // every http and https URL
)

// Reaches lists the valid values of Reach, from narrow to wide.
func Reaches() []Reach { return []Reach{ReachPage, ReachPrefix, ReachHost, ReachDomain, ReachAny} }

// Scope says which URLs belong to a crawl.
type Scope struct {
	// Reach is measured from every seed. Default ReachHost.
	Reach Reach
	// MaxDepth is the number of links from a seed, nil or negative for no limit.
	MaxDepth *int
	// Include, where not empty, lets only URLs in scope that match one of its patterns, seeds excepted.
	Include []*regexp.Regexp
	// Exclude keeps URLs out that match one of its patterns, seeds excepted.
	Exclude []*regexp.Regexp
}

// maxDepth returns the depth limit, -1 for none.
func (s Scope) maxDepth() int {
	if s.MaxDepth == nil || *s.MaxDepth < 0 {
		return -1
	}
	return *s.MaxDepth
}

func (c Config) withDefaults() Config {
	if c.Scope.Reach == "" {
		c.Scope.Reach = ReachHost
	}
	if c.Concurrency == 0 {
		c.Concurrency = 64
	}
	if c.Partitions == 0 {
		c.Partitions = 1
	}
	if c.Politeness.Default == (frontier.Politeness{}) {
		c.Politeness.Default = frontier.DefaultPoliteness()
	}
	if c.Grace == 0 {
		c.Grace = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Validate reports every value that is out of range, joined.
func (c Config) Validate() error {
	var errs []error
	if c.Concurrency < 0 {
		errs = append(errs, fmt.Errorf("concurrency: %d is negative", c.Concurrency))
	}
	if c.Partitions < 0 {
		errs = append(errs, fmt.Errorf("partitions: %d is negative", c.Partitions))
	}
	errs = append(errs, c.Seen.Validate(), c.Politeness.Default.Validate())
	for _, d := range c.Politeness.Domains {
		if err := d.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("politeness of %s: %w", d.Match, err))
		}
	}
	return errors.Join(errs...)
}
