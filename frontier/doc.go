// Package frontier decides which link is fetched next, and when.
//
// A host is idle (nothing queued), waiting (due at a time), leased (as many requests in flight as it may have), or
// deferred (waiting because it fails, asks to be left alone, has no reachable robots.txt, or is outside its hours).
// Next hands out a lease on one URL of a host that is due; the lease is closed by committing its Outcome.
//
// All durable state is in the partition's storage and changes only in a Batch, whose transaction also holds the rest of
// what changes with it. What is in memory (which hosts are due when, and leases) follows from committed transactions
// alone, so that a transaction which fails leaves no trace. It takes about half a KiB for each host with queued URLs,
// whatever their number.
//
// Invariants. No URL leaves the queues but by a recorded outcome. Two requests to a host start no closer than its delay
// after the end of the last and after the start of the last, and no more than its connections are in flight; the delay
// holds across a restart, since after an unclean end every host waits out a whole one. Depth is the least over all paths
// met, and a host is crawled in its order.
//
// The package does not fetch, judge answers or look at pages. Its methods are not for use inside a read transaction: a
// store whose file must grow waits for its readers.
//
// Files: link.go and entry.go what goes in and out, politeness.go, hours.go and retry.go the rules, batch.go the durable
// changes, frontier.go the hosts in memory and leases, host.go one host, heap.go their order, status.go what can be asked.
package frontier
