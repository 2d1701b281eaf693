// Package crawl is the life of one URL: workers take leases from the frontier, visit pages, judge the answers, and offer
// the links that they find; admission through the seen gate is the only door in.
//
// A crawl is made of partitions, to which hosts are hashed. A partition is a state machine: its entries come from a Log,
// in order, and are applied to its store in one transaction a batch, which holds the URL log, records, queues, host
// states and counters together. A worker offers the links of other partitions first and closes its lease after, so
// that a crash repeats a fetch rather than losing links.
//
// Invariants. discovered = admitted + duplicates + refused before admission, and admitted = queued + leased + fetched +
// failed + refused after admission, in every snapshot. Whatever is not crawled has a named reason that is kept and
// counted. The pages of a crawl do not depend on order or concurrency: the least depth counts, and a page met nearer
// than was known has its links offered again.
//
// Files: config.go, seeds.go and scope.go what is to be crawled; crawl.go the run and its end; log.go and partition.go
// entries and their application; reconsider.go and relink.go refused URLs, and links of pages, looked at anew; visit.go,
// robots.go and links.go one page; outcome.go what answers mean; budget.go and disk.go limits; counters.go and stats.go what
// is counted; view.go, explain.go and list.go what is told of it.
package crawl
