package main

import (
	"errors"
	"strings"

	"crawler/crawl"
	"crawler/storage"
)

// usageError is a fault of the command line or of the configuration.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// The exit codes that scripts rely on.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitData   = 3
	exitLimit  = 4
)

// exits says what the end of a command means, for its exit code and for the person who reads its last line. The first
// that matches counts.
var exits = []struct {
	err    error
	code   int
	remedy string
}{
	{err: crawl.ErrFinished, code: exitDone},
	{err: crawl.ErrInterrupted, code: exitDone},
	{err: crawl.ErrUnreachable, code: exitDone},
	{err: crawl.ErrMaxPages, code: exitLimit, remedy: "the same command with a higher --max-pages goes on"},
	{err: crawl.ErrMaxTime, code: exitLimit, remedy: "the same command goes on"},
	{err: crawl.ErrMinFreeDisk, code: exitLimit, remedy: "free some space, then the same command goes on"},
	{err: storage.ErrInUse, code: exitData, remedy: "another crawler runs on it; choose another --data, or stop that one"},
	{err: storage.ErrUnwritable, code: exitData, remedy: "choose a --data that this user can write"},
	{err: storage.ErrFormat, code: exitData, remedy: "use the version of crawler that wrote it, or another --data"},
	{err: storage.ErrDamaged, code: exitData, remedy: "nothing was changed; restore the directory from a copy, or start again with another --data"},
	{err: storage.ErrNoCrawl, code: exitUsage, remedy: "start one with crawler run --seeds FILE --data DIR"},
}

func exitCode(err error) int {
	for _, e := range exits {
		if errors.Is(err, e.err) {
			return e.code
		}
	}
	if _, ok := errors.AsType[*usageError](err); ok || isUnknownCommand(err) {
		return exitUsage
	}
	if err != nil {
		return exitFailed
	}
	return exitDone
}

// isUnknownCommand recognizes the one usage error that cobra makes by itself.
func isUnknownCommand(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "unknown command")
}

// explainExit returns the last line of a command that failed, "" if there is nothing to say.
func explainExit(err error) string {
	if err == nil {
		return ""
	}
	for _, e := range exits {
		if errors.Is(err, e.err) {
			if e.code == exitDone {
				return "" // the summary says it
			}
			return "crawler: " + err.Error() + "\n" + strings.ToUpper(e.remedy[:1]) + e.remedy[1:] + "."
		}
	}
	return "crawler: " + err.Error()
}
