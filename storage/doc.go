// Package storage holds a node's data directory: one lock, one description of the crawl, and one bbolt file a
// partition with all of the partition's durable state.
//
// Words. The log holds the URLs of a partition in order of admission; a URL's place in it is its ID. The index leads
// from a key to its ID and compares whole keys. Each ID has a Record, which says where the URL stands. The queue holds
// the URLs to fetch, in order, per host; later holds those that wait for a retry time.
//
// Invariants. The log has no gaps; index, log and records name the same URLs, and none that is refused; a Record is
// queued if and only if the URL stands in exactly one of queue and later; a Host counts the URLs that it has there, and
// all hosts together those admitted. Tx methods keep tables in step where one table alone would be meaningless, and
// callers the counts of hosts; Store.Check reads everything and says where it disagrees. A transaction is durable when
// Update returns, and after a crash the file holds the state of a commit not older than the last one acknowledged.
//
// A damaged file fails with ErrDamaged when it is opened or used, and never ends the process; bytes changed within a
// text can go unnoticed, as bbolt has no checksums but those of its meta pages.
//
// The package knows bytes, not URLs: what is admitted, leased or refused is decided by its callers.
//
// Files: dir.go the data directory, describe.go its crawl.json, store.go the partition file and its transactions,
// urls.go log and index, record.go the state of a URL, queue.go the queues, host.go the state of a host, tables.go the
// smaller tables, codec.go the encoding, check.go the audit of tables, pages.go that of the file's pages.
// docs/formats.md describes what is on disk.
package storage
