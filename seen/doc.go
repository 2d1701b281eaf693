// Package seen is the gate that every URL passes once: it says of a key whether the crawl has admitted it before, and
// admits it if not, in one step.
//
// A filter in memory stands before the exact store. Where it says no, and its coverage is proven, the key is new and
// no lookup is needed; where it says yes, the exact store decides. So the filter saves lookups and never loses a URL:
// its false positives are counted as avoided.
//
// A generation is one filter with its size and its coverage. It is uncovered until it contains every key of the
// store's log up to its birth, the newest ID when Add began to insert into it; then covered, since every later key is
// in it anyway. A generation that has grown too full is replaced by a larger one, filled beside the crawl.
//
// Invariants:
//
//   - No key is reported known unless the exact store holds exactly that key. A hash is never proof.
//   - A key is in every live generation before its transaction commits, so no committed key tests negative. What a
//     transaction that failed leaves behind costs a lookup at most.
//   - Check and add is one step inside the store's only write transaction: of concurrent admits of one key exactly
//     one is told that it is fresh.
//   - A new generation takes the keys of every transaction that began after its birth was read, and its birth is read
//     inside a write transaction, so that none is between the two.
//   - The negatives of an uncovered generation are never trusted.
//
// The gate must be the only one that appends to its store while it is open. It does not parse or judge URLs, does not
// write files, and never removes a key.
//
// Files: gate.go the gate and its step, generation.go generations and when they are due, rebuild.go filling and
// replacing them, filter.go the Bloom filter, stats.go what is counted, config.go the sizes.
package seen
