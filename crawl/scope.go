package crawl

import (
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"crawler/frontier"
	"crawler/normalize"
	"crawler/storage"
)

// The reasons for which a URL is not crawled, as they are counted.
const (
	RefusedScope    = "scope"    // too far from every seed
	RefusedExclude  = "exclude"  // matches an exclude pattern
	RefusedInclude  = "include"  // matches no include pattern
	RefusedScheme   = "scheme"   // neither http nor https
	RefusedInvalid  = "invalid"  // not a URL
	RefusedDepth    = "depth"    // too many links from a seed
	RefusedLimit    = "limit"    // its host has all the URLs it may have
	RefusedTrap     = "trap"     // a chain of redirects without end
	RefusedNoFollow = "nofollow" // the page or the link asks not to follow it
	RefusedRobots   = "robots"   // robots.txt disallows it
	RefusedServer   = "server"   // the server answered 401 or 403
	RefusedBlocked  = "blocked"  // its address may not be dialled
)

// refusals are the reasons that are counted even where there are none.
var refusals = []string{RefusedRobots, RefusedScope, RefusedDepth, RefusedLimit, RefusedTrap, RefusedInvalid}

// judge says whether a URL is in scope, whatever its depth. It is safe for concurrent use.
type judge struct {
	scope Scope

	mu       sync.RWMutex    // guards all below
	anchors  map[string]bool // hrefs of seeds and of the targets of their redirects
	hosts    map[string]bool
	sites    map[string]bool
	prefixes map[string]bool
}

func newJudge(s Scope) *judge {
	return &judge{
		scope: s, anchors: map[string]bool{}, hosts: map[string]bool{},
		sites: map[string]bool{}, prefixes: map[string]bool{},
	}
}

// add has reach measured from further anchors too, and reports whether other URLs than those are in reach now that were not.
func (j *judge) add(anchors ...normalize.URL) (wider bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := len(j.reached())
	for _, u := range anchors {
		j.anchors[u.String()] = true
		j.hosts[u.Host()] = true
		j.sites[u.Site()] = true
		j.prefixes[prefixOf(u)] = true
	}
	return len(j.reached()) > before
}

// reached returns what the scope reaches, apart from the anchors themselves: hosts, domains or prefixes.
func (j *judge) reached() map[string]bool {
	switch j.scope.Reach {
	case ReachHost:
		return j.hosts
	case ReachDomain:
		return j.sites
	case ReachPrefix:
		return j.prefixes
	}
	return nil
}

// fingerprint returns a text that is another when another scope is in force.
func (j *judge) fingerprint() string {
	j.mu.RLock()
	defer j.mu.RUnlock()
	sum := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(j.reached())) {
		fmt.Fprintln(sum, name)
	}
	return fmt.Sprintf("%s %q %q %x", j.scope.Reach, patterns(j.scope.Include), patterns(j.scope.Exclude), sum.Sum64())
}

func patterns(list []*regexp.Regexp) []string {
	texts := make([]string, len(list))
	for i, re := range list {
		texts[i] = re.String()
	}
	return texts
}

// isAnchor reports whether u is a seed or the target of a seed's redirect.
func (j *judge) isAnchor(u normalize.URL) bool {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.anchors[u.String()]
}

// prefixOf returns the authority and path of u up to the last slash.
func prefixOf(u normalize.URL) string {
	path := u.Path()
	return u.Authority() + path[:strings.LastIndexByte(path, '/')+1]
}

// underPrefix reports whether u begins with a prefix, tried at each slash of its path.
func (j *judge) underPrefix(u normalize.URL) bool {
	whole := u.Authority() + u.Path()
	for i := len(u.Authority()); i < len(whole); i++ {
		if whole[i] == '/' && j.prefixes[whole[:i+1]] {
			return true
		}
	}
	return false
}

// refuse returns why u is not in scope; no reason if it is.
func (j *judge) refuse(u normalize.URL) frontier.Refusal {
	if j.isAnchor(u) {
		return frontier.Refusal{}
	}
	if detail := j.tooFar(u); detail != "" {
		return frontier.Refusal{Reason: RefusedScope, Detail: detail}
	}
	for _, re := range j.scope.Exclude {
		if re.MatchString(u.String()) {
			return frontier.Refusal{Reason: RefusedExclude, Detail: fmt.Sprintf("matches the exclude pattern %q", re)}
		}
	}
	for _, re := range j.scope.Include {
		if re.MatchString(u.String()) {
			return frontier.Refusal{}
		}
	}
	if len(j.scope.Include) > 0 {
		return frontier.Refusal{Reason: RefusedInclude, Detail: "matches no include pattern"}
	}
	return frontier.Refusal{}
}

// ofScope reports whether a reason is one of refuse, which may give way when the scope widens.
func ofScope(reason string) bool {
	return reason == RefusedScope || reason == RefusedExclude || reason == RefusedInclude
}

// givesWay reports whether a reason for which an admitted URL was refused may give way when the scope widens.
func givesWay(reason string) bool { return ofScope(reason) || reason == RefusedDepth }

// unwanted says why an admitted URL is out of the scope in force, no reason if it is not.
func (c *Crawl) unwanted(u normalize.URL, r storage.Record) frontier.Refusal {
	if refusal := c.scope.refuse(u); refusal.Reason != "" {
		return refusal
	}
	return c.tooDeep(frontier.Link{Depth: r.Depth, Hops: r.Hops})
}

// tooFar returns why u is not within reach of an anchor, "" if it is.
func (j *judge) tooFar(u normalize.URL) string {
	j.mu.RLock()
	defer j.mu.RUnlock()
	switch j.scope.Reach {
	case ReachAny:
		return ""
	case ReachDomain:
		if j.sites[u.Site()] {
			return ""
		}
		return fmt.Sprintf("no seed is of the domain %s (scope domain)", u.Site())
	case ReachPrefix:
		if j.underPrefix(u) {
			return ""
		}
		return "begins with no seed's prefix (scope prefix)"
	case ReachPage:
		return "not a seed (scope page)"
	}
	if j.hosts[u.Host()] {
		return ""
	}
	return fmt.Sprintf("no seed is on the host %s (scope host)", u.Host())
}

// Judge says whether a crawl from seeds would take u, whatever its depth: the reason why not, and that in words; both
// empty if it would.
func Judge(s Scope, seeds []Seed, u normalize.URL) (reason, detail string) {
	if s.Reach == "" {
		s.Reach = ReachHost
	}
	j := newJudge(s)
	for _, seed := range seeds {
		j.add(seed.URL)
	}
	refusal := j.refuse(u)
	return refusal.Reason, refusal.Detail
}
