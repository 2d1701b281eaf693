package main

import (
	"errors"
	"io"
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

// exit says what the end of a command means: its exit code, and what to do about it where the error does not say.
type exit struct {
	err    error
	code   int
	remedy string
}

// exits lists the errors that have an exit code of their own. The first that matches counts.
var exits = []exit{
	{err: crawl.ErrFinished, code: exitDone},
	{err: crawl.ErrUnreachable, code: exitDone},
	{err: crawl.ErrInterrupted, code: exitDone, remedy: "the same command goes on with what is queued"},
	{err: crawl.ErrMaxPages, code: exitLimit, remedy: "the same command with a higher --max-pages goes on"},
	{err: crawl.ErrMaxTime, code: exitLimit, remedy: "the same command goes on with what is queued"},
	{err: crawl.ErrMinFreeDisk, code: exitLimit, remedy: "free some space, then the same command goes on"},
	{err: storage.ErrInUse, code: exitData},
	{err: storage.ErrDamaged, code: exitData},
	{err: storage.ErrFormat, code: exitData},
	{err: storage.ErrUnwritable, code: exitData, remedy: "choose a --data that this user can write"},
	{err: storage.ErrNoCrawl, code: exitUsage, remedy: "name its directory with --data, or start one with crawler run --seeds FILE"},
}

// exitOf returns what an error means.
func exitOf(err error) exit {
	if err == nil {
		return exit{code: exitDone}
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exit{err: err, code: exitUsage}
	}
	for _, e := range exits {
		if errors.Is(err, e.err) {
			return e
		}
	}
	return exit{err: err, code: exitFailed}
}

func exitCode(err error) int { return exitOf(err).code }

// isEnd reports whether an error is the reason for which a crawl ended, rather than a failure.
func isEnd(err error) bool {
	code := exitCode(err)
	return code == exitDone || code == exitLimit
}

// explainExit returns the last lines of a command that failed, "" if there is nothing to say.
func explainExit(err error) string {
	if isEnd(err) {
		return "" // the summary has said it
	}
	message := "crawler: " + strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "\ncrawler: ")
	if remedy := exitOf(err).remedy; remedy != "" {
		message += "; " + remedy
	}
	return message
}

// closing closes what a crawl held and returns the reason for which it ended, or what failed.
func closing(c io.Closer, reason error) error {
	err := c.Close()
	if err == nil {
		return reason
	}
	if isEnd(reason) {
		return err // it weighs more than the end it follows
	}
	return errors.Join(reason, err)
}
