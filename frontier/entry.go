package frontier

import "crawler/storage"

// Entry is one change to a partition. A partition's state follows from its entries, applied in order; applying one
// twice changes nothing.
type Entry interface{ entry() }

// Links are offered to the partition of their hosts.
type Links []Link

// Result closes a lease and offers the links that belong to the page's own partition.
type Result struct {
	ID   storage.ID
	Host string
	// Depth and Hops are those the lease had. Links for other partitions were offered with them; if the URL has been
	// met nearer since, they are to be offered again.
	Depth, Hops int
	Outcome     Outcome
	Links       []Link
	// Keep are all links of the page, kept to be offered again should the page turn out to lie nearer.
	Keep []storage.StoredLink
	// Robots, unless nil, was asked for under the lease.
	Robots *Robots
	Cost   Cost
}

// Relinked offers the links of a page again that turned out to lie nearer than was thought.
type Relinked struct {
	ID          storage.ID
	Depth, Hops int // of the page, with which the links for other partitions were offered
	Links       []Link
}

// Cost is what a lease cost in requests.
type Cost struct {
	Requests       int    // robots.txt included
	RobotsRequests int    // of them for robots.txt
	Bytes          int64  // of bodies, as received
	Error          string // the kind of error, "" for none
}

func (Links) entry()    {}
func (Result) entry()   {}
func (Relinked) entry() {}
