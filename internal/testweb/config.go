package testweb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Config says which web it is. The zero value is a small web without any
// fault; [Mix] adds the usual trouble. Shares are from 0 to 1.
type Config struct {
	// Seed tells one web from another.
	Seed uint64
	// Hosts is the number of hosts. Default 10.
	Hosts int
	// Pages is the number of pages a host. Default 100.
	Pages int
	// Seeds is the number of hosts, from the first, whose front pages are
	// seeds. Default 1.
	Seeds int
	// Addresses names the hosts 127.0.1.1, 127.0.1.2, ... instead of
	// h000.test, h001.test, ...: one address each, and no DNS. On sockets
	// that takes Linux, where all of 127.0.0.0/8 is local.
	Addresses bool
	// MedianSize is the median size of a page in bytes. Default 35,000.
	MedianSize int

	// Latency is waited before each answer. Default 0.
	Latency time.Duration
	// Jitter is the median of a log-normal wait added to Latency, drawn for
	// each page, and scaled by a factor between 0.5 and 2 drawn for each host.
	// Default 0.
	Jitter time.Duration

	// Private is the share of pages that robots.txt disallows, and that
	// other pages link to all the same.
	Private float64
	// Redirects, Gone and Files are the shares of the pages without children in the tree
	// (about four fifths of all) that redirect with 301, that are links
	// to a 404, and that are images or PDF documents.
	Redirects, Gone, Files float64
	// Nofollow is the share of pages that have a print version, which only a
	// link with rel=nofollow leads to.
	Nofollow float64

	// Flaky is the share of HTML pages that answer 500 at first.
	Flaky float64
	// FlakyTimes is how often a flaky page answers 500. Default 1.
	FlakyTimes int
	// Resets is the share of HTML pages whose connection is reset in the
	// middle of the body, once.
	Resets float64

	// CrawlDelays gives the robots.txt of the hosts with these numbers a
	// Crawl-delay.
	CrawlDelays map[int]time.Duration
	// RobotsMissing, RobotsFailing and RobotsHanging are the numbers of the hosts whose
	// robots.txt is a 404 (so that everything is allowed), a 500, or never
	// answered (so that in both cases nothing is).
	RobotsMissing, RobotsFailing, RobotsHanging []int
	// Throttled are the numbers of the hosts that answer their third request
	// for a page with 429 or 503 and Retry-After: 1, once.
	Throttled []int
}

// Mix returns the web of the demo: 4 % private pages, 5 % redirects, 4 % of
// 404s, 4 % files, a Crawl-delay of 200 ms on host 1, and no robots.txt on
// host 2. Nothing in it needs a retry.
func Mix(seed uint64, hosts, pages int) Config {
	c := Config{
		Seed: seed, Hosts: hosts, Pages: pages,
		Private: 0.04, Redirects: 0.05, Gone: 0.04, Files: 0.04,
	}
	if hosts > 1 {
		c.CrawlDelays = map[int]time.Duration{1: 200 * time.Millisecond}
	}
	if hosts > 2 {
		c.RobotsMissing = []int{2}
	}
	return c
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *int
		value int
	}{{&c.Hosts, 10}, {&c.Pages, 100}, {&c.Seeds, 1}, {&c.MedianSize, 35_000}, {&c.FlakyTimes, 1}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return c
}

// Validate reports every fault of c. Zero values stand for their defaults.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	for _, f := range []struct {
		name       string
		value, max int
	}{
		{"Hosts", c.Hosts, maxHosts},
		{"Pages", c.Pages, 1 << 30},
		{"Seeds", c.Seeds, c.Hosts},
		{"MedianSize", c.MedianSize, maxSize},
		{"FlakyTimes", c.FlakyTimes, 1 << 30},
	} {
		if f.value < 1 || f.value > f.max {
			errs = append(errs, fmt.Errorf("%s is %d, not within 1 and %d", f.name, f.value, f.max))
		}
	}
	for _, f := range []struct {
		name  string
		value float64
	}{
		{"Private", c.Private},
		{"Redirects + Gone + Files", c.Redirects + c.Gone + c.Files},
		{"Redirects", c.Redirects},
		{"Gone", c.Gone},
		{"Files", c.Files},
		{"Nofollow", c.Nofollow},
		{"Flaky + Resets", c.Flaky + c.Resets},
		{"Flaky", c.Flaky},
		{"Resets", c.Resets},
	} {
		if !(f.value >= 0 && f.value <= 1) {
			errs = append(errs, fmt.Errorf("%s is %v, not a share within 0 and 1", f.name, f.value))
		}
	}
	for _, f := range []struct {
		name  string
		hosts []int
	}{
		{"CrawlDelays", slices.Sorted(maps.Keys(c.CrawlDelays))},
		{"RobotsMissing", c.RobotsMissing},
		{"RobotsFailing", c.RobotsFailing},
		{"RobotsHanging", c.RobotsHanging},
		{"Throttled", c.Throttled},
	} {
		for _, h := range f.hosts {
			if h < 0 || h >= c.Hosts {
				errs = append(errs, fmt.Errorf("%s names host %d of %d", f.name, h, c.Hosts))
			}
		}
	}
	return errors.Join(errs...)
}
