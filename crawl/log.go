package crawl

import (
	"context"
	"errors"

	"crawler/frontier"
)

// Log makes the entries of one partition durable and has them applied in order.
type Log interface {
	// Append returns when the entries are durable, in the order given.
	Append(ctx context.Context, entries ...frontier.Entry) error
	// Follow has apply called with the entries after the given sequence number, in order, and with the number of the
	// last of them, until ctx ends. It fails with the error of apply.
	Follow(ctx context.Context, after uint64, apply func(entries []frontier.Entry, last uint64) error) error
}

// errLogClosed means that a log is not followed any more.
var errLogClosed = errors.New("crawl: the partition is closed")

// localLog is the Log of a partition that lives on this machine alone: the commit that applies an entry also makes it
// durable. Entries that come while a commit runs share the next one.
type localLog struct {
	proposals chan proposal
	closed    chan struct{}
	err       error // with which Follow has ended; set before closed is closed
}

type proposal struct {
	entries []frontier.Entry
	done    chan error
}

// groupSize bounds the entries of one commit, and groupLinks the links in them.
const (
	groupSize  = 1024
	groupLinks = 5 * linkChunk
)

// weight returns the number of links in an entry.
func weight(entries []frontier.Entry) (links int) {
	for _, e := range entries {
		switch e := e.(type) {
		case frontier.Links:
			links += len(e)
		case frontier.Result:
			links += len(e.Links)
		case frontier.Relinked:
			links += len(e.Links)
		}
	}
	return links
}

func newLocalLog() *localLog {
	return &localLog{proposals: make(chan proposal, groupSize), closed: make(chan struct{})}
}

func (l *localLog) Append(ctx context.Context, entries ...frontier.Entry) error {
	p := proposal{entries: entries, done: make(chan error, 1)}
	select {
	case l.proposals <- p:
	case <-l.closed:
		return l.ended()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// From here on the entries may become durable, whatever becomes of ctx.
	select {
	case err := <-p.done:
		return err
	case <-l.closed:
	}
	select {
	case err := <-p.done:
		return err
	default:
		return l.ended()
	}
}

// ended returns what is told of entries that come after the end.
func (l *localLog) ended() error {
	if l.err != nil {
		return l.err
	}
	return errLogClosed
}

func (l *localLog) Follow(ctx context.Context, after uint64, apply func([]frontier.Entry, uint64) error) error {
	defer close(l.closed)
	var group []proposal
	var entries []frontier.Entry
	for {
		group, entries = group[:0], entries[:0]
		select {
		case p := <-l.proposals:
			group, entries = append(group, p), append(entries, p.entries...)
		case <-ctx.Done():
			return nil
		}
		links := weight(entries)
		for more := true; more && len(entries) < groupSize && links < groupLinks; {
			select {
			case p := <-l.proposals:
				group, entries = append(group, p), append(entries, p.entries...)
				links += weight(p.entries)
			default:
				more = false
			}
		}
		after += uint64(len(entries))
		err := apply(entries, after)
		for _, p := range group {
			p.done <- err
		}
		if err != nil {
			l.err = err
			return err
		}
	}
}
