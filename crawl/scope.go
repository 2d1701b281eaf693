package crawl

import (
	"fmt"
	"maps"
	"strings"

	"crawler/frontier"
	"crawler/normalize"
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

// judge says whether a URL is in scope, whatever its depth. It is a value: With returns another.
type judge struct {
	scope    Scope
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

// with returns a judge that measures from further anchors too.
func (j *judge) with(anchors ...normalize.URL) *judge {
	next := &judge{
		scope: j.scope, anchors: maps.Clone(j.anchors), hosts: maps.Clone(j.hosts),
		sites: maps.Clone(j.sites), prefixes: maps.Clone(j.prefixes),
	}
	for _, u := range anchors {
		next.anchors[u.String()] = true
		next.hosts[u.Host()] = true
		next.sites[u.Site()] = true
		next.prefixes[prefixOf(u)] = true
	}
	return next
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
	if j.anchors[u.String()] {
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

// tooFar returns why u is not within reach of an anchor, "" if it is.
func (j *judge) tooFar(u normalize.URL) string {
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
	anchors := make([]normalize.URL, len(seeds))
	for i, seed := range seeds {
		anchors[i] = seed.URL
	}
	refusal := newJudge(s).with(anchors...).refuse(u)
	return refusal.Reason, refusal.Detail
}
