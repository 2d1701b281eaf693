//go:build !unix

package crawl

// freeDisk does not know how to ask this system.
func freeDisk(string) (free int64, ok bool) { return 0, false }
