//go:build unix

package storage

import (
	"os"
	"syscall"
)

// unlock gives up bbolt's lock on a file that bbolt did not live to unmap. The mapping would hold the lock after the
// file is closed.
func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) } // fails where bbolt has closed the file
