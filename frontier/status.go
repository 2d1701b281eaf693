package frontier

import (
	"time"

	"crawler/storage"
)

// Stats is a snapshot of a frontier.
type Stats struct {
	Known    int // hosts that ever had a URL admitted
	Active   int // hosts with URLs queued or leased that may be asked as soon as their delay is over
	Deferred int // hosts with URLs queued that are left alone for another reason
	Queued   int // URLs that wait for a lease
	Leased   int // URLs leased
}

// Stats returns a snapshot.
func (f *Frontier) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := Stats{Leased: f.leased, Queued: -f.leased}
	for _, p := range f.partitions {
		s.Known += p.known
	}
	now := time.Now()
	for _, h := range f.hosts {
		s.Queued += h.Queued
		if h.deferral(now) == "" {
			s.Active++
		} else {
			s.Deferred++
		}
	}
	return s
}

// deferral returns why the host is left alone beyond its delay, "" if it is not.
func (h *host) deferral(now time.Time) string {
	switch {
	case h.Until.After(now):
		return h.Why
	case h.polite.Hours.Next(now).After(now):
		return WhyHours
	case h.Parked > 0 && h.Parked >= h.waiting() && h.ready.After(now):
		return WhyRobots
	}
	return ""
}

// Idle reports whether nothing is queued or leased.
func (f *Frontier) Idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.hosts) == 0
}

// Stuck returns the number of hosts with queued URLs if every one of them has failed so often in a row that there is no point
// in waiting for it, and 0 otherwise.
func (f *Frontier) Stuck() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.leased > 0 {
		return 0
	}
	for _, h := range f.hosts {
		if !h.hopeless() {
			return 0
		}
	}
	return len(f.hosts)
}

// hopeless reports whether the host has failed so often in a row that a crawl need not wait for it.
func (h *host) hopeless() bool {
	parked := h.Parked == h.Queued && h.Unreachable >= stuckAfter
	return parked || h.Silent >= stuckAfter || h.Fails >= troubleAfter
}

// HostStatus says how a host stands.
type HostStatus struct {
	State  string        // idle, waiting, leased or deferred
	Why    string        // the reason, when deferred
	Due    time.Time     // when it may be asked next, as things stand, unless idle
	Delay  time.Duration // in force
	Queued int           // URLs that wait for a lease
	Leased int           // URLs leased
}

// Host returns how the named host stands.
func (f *Frontier) Host(name string) HostStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.hosts[name]
	if h == nil {
		return HostStatus{State: "idle", Delay: f.rules.For(name).Delay}
	}
	now := time.Now()
	s := HostStatus{
		State: "waiting", Due: h.polite.Hours.Next(latest(h.when(), now)), Delay: h.delay(),
		Queued: max(h.waiting(), 0), Leased: len(h.leased),
	}
	if why := h.deferral(now); why != "" {
		s.State, s.Why = "deferred", why
	} else if s.Queued == 0 || s.Leased >= h.polite.Connections {
		s.State = "leased"
	}
	return s
}

// Leases returns the URLs that are leased, in no order.
func (f *Frontier) Leases() []storage.Ref {
	f.mu.Lock()
	defer f.mu.Unlock()
	var refs []storage.Ref
	for _, h := range f.hosts {
		for id := range h.leased {
			refs = append(refs, storage.Ref{Partition: h.part.n, ID: id})
		}
	}
	return refs
}
