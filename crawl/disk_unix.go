//go:build unix

package crawl

import "golang.org/x/sys/unix"

// freeDisk returns the bytes that an unprivileged user may still write at path.
func freeDisk(path string) (free int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // the types differ between systems
}
