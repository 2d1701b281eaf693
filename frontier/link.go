package frontier

import (
	"time"

	"crawler/normalize"
	"crawler/storage"
)

// Link is one URL offered to the partition of its host.
type Link struct {
	// URL is what is offered; the zero URL if the reference cannot be made into one, and then Refused says why and
	// Raw what was written.
	URL normalize.URL
	Raw string
	// Depth is the number of links from a seed. In a Result it is left 0 and follows from the page's own depth.
	Depth int
	// Redirect says that the link is the target of a redirect: it has the depth of the page it was found on.
	Redirect bool
	// Hops counts the redirects in a row that lead to URL. In a Result it is left 0 and follows from the page's own.
	Hops int
	// Via is the page the link was found on; the zero Ref for a seed.
	Via storage.Ref
	// Seed marks a seed and the target of a seed's redirect.
	Seed bool
	// Fallback marks a seed written without a scheme: URL has https, and http is tried should that not answer.
	Fallback bool
	// Refused, unless its Reason is empty, says why the URL is not to be crawled whatever its depth.
	Refused Refusal
}

// Refusal is the reason why a URL is not crawled.
type Refusal struct {
	Reason string // a short name that is counted
	Detail string // in words
}

// Verdict is what an outcome means for the URL.
type Verdict int

// The verdicts.
const (
	// Settled: an answer was taken; the URL is fetched.
	Settled Verdict = iota
	// GiveUp: the URL failed for good.
	GiveUp
	// Refuse: the URL is not to be crawled after all.
	Refuse
	// TryAgain: the URL is tried again later, or fails if it has had all its tries.
	TryAgain
	// PutBack: the URL was not fetched and goes back as it was.
	PutBack
	// Park: the URL was not fetched, since the robots.txt that governs it cannot be had; it waits until Outcome.Until. The
	// other URLs of its host do not.
	Park
)

// Outcome is what became of a lease.
type Outcome struct {
	Verdict Verdict
	// Until is when a parked URL may be tried, and Fails how often in a row its robots.txt could not be had.
	Until time.Time
	Fails int
	// Reason and Detail say why, for every verdict but Settled and PutBack.
	Reason, Detail string
	// Status, Bytes and MediaType are those of the answer.
	Status    int
	Bytes     int64
	MediaType string
	// End is when the last request under the lease ended; zero if there was none.
	End time.Time
	// Answer is the time from the request to the first byte of the answer; 0 if there was none.
	Answer time.Duration
	// HostFailed says that the host as a whole is in trouble: it backs off.
	HostFailed bool
	// RetryAfter is how long the host asks to be left alone; 0 if it does not ask.
	RetryAfter time.Duration
}

// Robots is a robots.txt that was asked for under a lease.
type Robots struct {
	Origin string
	// Robots is what came of it. Fails counts this failure too, 0 says that it was no failure; Next is left zero.
	storage.Robots
	// RetryAfter is how long the host asks to wait before it is asked again, 0 if it does not.
	RetryAfter time.Duration
}
