package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"crawler/crawl"
)

// progress tells a person how a crawl goes on: one line rewritten on a terminal, a line now and then elsewhere.
type progress struct {
	out      io.Writer
	terminal bool
	period   time.Duration // 0: silent
}

const (
	terminalPeriod = 500 * time.Millisecond
	plainPeriod    = 10 * time.Second
	// widest is the width to which a line is cut where the terminal does not say its own.
	widest = 80
)

func (a *app) newProgress(mode string) (*progress, error) {
	p := &progress{out: a.err}
	file, ok := a.err.(*os.File)
	switch mode {
	case "auto":
		p.terminal = ok && term.IsTerminal(int(file.Fd()))
	case "plain":
	case "none":
		return p, nil
	default:
		return nil, &usageError{errors.New("--progress: " + mode + " is none of auto, plain and none")}
	}
	p.period = plainPeriod
	if p.terminal {
		p.period = terminalPeriod
	}
	return p, nil
}

// start shows how c goes on until the returned function is called.
func (p *progress) start(c *crawl.Crawl) (stop func()) {
	if p.period == 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(p.period)
		defer tick.Stop()
		last, at := c.Stats(), time.Now()
		for {
			select {
			case <-tick.C:
				now := c.Stats()
				p.show(progressLine(now, last, time.Since(at)))
				last, at = now, time.Now()
			case <-done:
				if p.terminal {
					fmt.Fprint(p.out, "\r\x1b[K")
				}
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

func (p *progress) show(line string) {
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	width := widest
	if file, ok := p.out.(*os.File); ok {
		if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	fmt.Fprint(p.out, "\r"+line[:min(len(line), width-1)]+"\x1b[K")
}

// progressLine says how a crawl stands, and how fast it went since the last snapshot.
func progressLine(now, last crawl.Stats, since time.Duration) string {
	perSecond := func(n int64) float64 { return float64(n) / max(since.Seconds(), 1e-3) }
	line := fmt.Sprintf("%s fetched  %.0f/s  %s/s  %s queued  %s in flight  %s hosts",
		count(now.URLs.Fetched), perSecond(now.URLs.Fetched-last.URLs.Fetched), size(int64(perSecond(now.Fetch.Bytes-last.Fetch.Bytes))),
		count(now.URLs.Queued), count(now.URLs.Leased), count(now.Hosts.Active+now.Hosts.Deferred))
	if now.Hosts.Deferred > 0 {
		line += fmt.Sprintf(" (%s deferred)", count(now.Hosts.Deferred))
	}
	if now.URLs.Failed > 0 {
		line += fmt.Sprintf("  %s failed", count(now.URLs.Failed))
	}
	return line
}

// printSummary says how a run ended.
func (a *app) printSummary(s crawl.Stats, reason error) {
	u := s.URLs
	fmt.Fprintf(a.out, "%s\n", reason)
	fmt.Fprintf(a.out, "  %s fetched, %s failed, %s refused, %s queued; %s in %s of crawling\n",
		count(u.Fetched), count(u.Failed), count(u.RefusedBefore+u.RefusedAfter), count(u.Queued+u.Leased),
		size(s.Fetch.Bytes), (time.Duration(s.Crawl.ElapsedS * 1e9)).Round(100*time.Millisecond))
	fmt.Fprintf(a.out, "  %s links met, %s new; %s false positives of the filter avoided, no page lost to them\n",
		count(u.Discovered), count(u.Admitted), count(s.Seen.FalsePositivesAvoided))
	if u.Queued+u.Leased > 0 {
		fmt.Fprintln(a.out, "  the same command goes on with what is queued")
	}
}
