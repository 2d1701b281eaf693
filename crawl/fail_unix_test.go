//go:build unix

package crawl_test

import (
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"crawler/internal/testweb"
)

// limitFileSize keeps every file of this process to a number of bytes, as a full disk does. An empty text is no limit.
func limitFileSize(text string) error {
	if text == "" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
}

func TestAFullDiskFailsTheRunAndLosesNothing(t *testing.T) {
	t.Parallel()
	web, server := startWeb(t, testweb.Config{Hosts: 12, Pages: 12})
	dir := filepath.Join(t.TempDir(), "data")
	c := startChild(t, dir, server, childFileSize+"="+strconv.Itoa(16*os.Getpagesize()))
	if err := <-c.ended; err == nil {
		t.Fatal("a crawl on a full disk has finished")
	}
	if !strings.Contains(c.out.String(), "file too large") {
		t.Errorf("the crawler says %q", &c.out)
	}
	if web.Totals().Final == 0 {
		t.Error("the disk was full before anything was fetched")
	}
	web.NextPhase()
	sound(t, dir)
	c = startChild(t, dir, server)
	if err := <-c.ended; err != nil {
		t.Fatalf("with room again: %v\n%s", err, &c.out)
	}
	sound(t, dir)
	report := web.Report(testweb.Options{Scope: testweb.Scope{MaxDepth: -1}})
	repeats := 0
	for _, r := range report.Duplicates {
		repeats += r.Times - 1
	}
	if repeats > childConcurrency {
		t.Errorf("%d fetches were repeated, of at most %d in flight", repeats, childConcurrency)
	}
	report.Duplicates = nil
	if err := report.Err(); err != nil {
		t.Error(err)
	}
}
