package frontier

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Politeness says how one host is treated. The zero value is replaced by DefaultPoliteness where a Rules is built by hand.
type Politeness struct {
	// Delay is the least time from the end of one request to a host to the start of the next. Default 1 s.
	Delay time.Duration
	// Connections is the number of requests to a host that may be in flight at once. Default 1.
	Connections int
	// ObeyRobots says whether robots.txt is fetched and obeyed (RFC 9309). Default true.
	ObeyRobots bool
	// HonourCrawlDelay says whether a robots.txt Crawl-delay lengthens Delay; it never shortens it. Default true.
	HonourCrawlDelay bool
	// MaxCrawlDelay caps an honoured Crawl-delay. Default 60 s.
	MaxCrawlDelay time.Duration
	// Adaptive lengthens the delay of a host that answers more slowly than Delay to the time it takes to answer. It
	// never shortens the delay, and does nothing where Delay is 0. Default true.
	Adaptive bool
	// Hours are the times of day in which the host may be visited. Default: always.
	Hours Hours
}

// DefaultPoliteness is what a host gets for which nothing else is said.
func DefaultPoliteness() Politeness {
	return Politeness{
		Delay: time.Second, Connections: 1, ObeyRobots: true,
		HonourCrawlDelay: true, MaxCrawlDelay: time.Minute, Adaptive: true,
	}
}

// Validate reports every value that is out of range, joined.
func (p Politeness) Validate() error {
	var errs []error
	if p.Delay < 0 {
		errs = append(errs, fmt.Errorf("delay: %v is negative; want 0s or more", p.Delay))
	}
	if p.Connections < 1 {
		errs = append(errs, fmt.Errorf("connections: %d; want 1 or more", p.Connections))
	}
	if p.MaxCrawlDelay < 0 {
		errs = append(errs, fmt.Errorf("max_crawl_delay: %v is negative; want 0s or more", p.MaxCrawlDelay))
	}
	return errors.Join(errs...)
}

// Rules is the politeness of every host: a default and exceptions per domain.
type Rules struct {
	Default Politeness
	Domains []DomainRule
}

// DomainRule is the politeness of the hosts that Match names, complete: what the configuration leaves open there
// has been filled in from the default.
type DomainRule struct {
	// Match is a host name, meaning the host and its subdomains, or "*." and a host name, meaning the subdomains only.
	Match string
	Politeness
}

// For returns the politeness of host (a canonical host name): that of the most specific match, which is the longest
// one; of equal ones the last.
func (r *Rules) For(host string) Politeness {
	best, rule := -1, r.Default
	for _, d := range r.Domains {
		if n := d.specificity(host); n >= 0 && n >= best {
			best, rule = n, d.Politeness
		}
	}
	return rule
}

// specificity returns how closely the rule matches host: the length of the name that it has in common with it, -1 for not
// at all.
func (d DomainRule) specificity(host string) int {
	name, below := strings.CutPrefix(d.Match, "*.")
	if host == name && !below || strings.HasSuffix(host, "."+name) {
		return len(name)
	}
	return -1
}
