package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/term"

	"crawler/crawl"
)

// progress tells a person how a crawl goes on: one line rewritten on a terminal, a line now and then elsewhere. What else
// is to be said meanwhile is written to it, so that the two do not mix.
type progress struct {
	out      io.Writer
	terminal bool
	rewrite  bool          // the line in place
	period   time.Duration // 0: silent
	width    func() int    // of the terminal

	mu   sync.Mutex // guards what is written, and below
	line string     // what stands on the terminal's last line
}

const (
	terminalPeriod = 500 * time.Millisecond
	plainPeriod    = 10 * time.Second
	// usualWidth is that of a terminal that does not say its own.
	usualWidth = 80
	clearLine  = "\r\x1b[K"
)

const progressUsage = "show progress as `S`: auto (one line in place on a terminal, else plain), plain (a line now and then) or none"

func (a *app) newProgress(mode string) (*progress, error) {
	p := &progress{out: a.err, period: plainPeriod, width: func() int { return usualWidth }}
	if file, ok := a.err.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.terminal = true
		p.width = func() int {
			if w, _, err := term.GetSize(int(file.Fd())); err == nil && w > 0 {
				return w
			}
			return usualWidth
		}
	}
	switch mode {
	case "auto":
		if p.terminal {
			p.rewrite, p.period = true, terminalPeriod
		}
	case "plain":
	case "none":
		p.period = 0
	default:
		return nil, &usageError{errors.New("--progress: " + mode + " is none of auto, plain and none")}
	}
	return p, nil
}

// Write writes whole lines above the line of progress.
func (p *progress) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.out, clearLine) // of progress, or of the ^C that the terminal shows
	}
	n, err := p.out.Write(text)
	fmt.Fprint(p.out, p.line)
	return n, err
}

// start shows how a crawl goes on until the returned function is called.
func (p *progress) start(stats func() crawl.Stats) (stop func()) {
	if p.period == 0 {
		return func() {}
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(p.period)
		defer tick.Stop()
		last, at := stats(), time.Now()
		for {
			select {
			case <-tick.C:
				now := stats()
				p.show(progressLine(now, last, time.Since(at)))
				last, at = now, time.Now()
			case <-done:
				p.show("")
				return
			}
		}
	})
	return func() {
		close(done)
		wg.Wait()
	}
}

// show makes line the line of progress, "" for none.
func (p *progress) show(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.rewrite:
		p.line = line[:min(len(line), p.width()-1)]
		fmt.Fprint(p.out, clearLine+p.line)
	case line != "":
		fmt.Fprintln(p.out, line)
	}
}

// progressLine says how a crawl stands, and how fast it went since the last snapshot.
func progressLine(now, last crawl.Stats, since time.Duration) string {
	perSecond := func(n int64) float64 { return float64(n) / max(since.Seconds(), 1e-3) }
	line := fmt.Sprintf("%s fetched  %.0f/s  %s/s  %s queued  %s in flight  %s",
		count(now.URLs.Fetched), perSecond(now.URLs.Fetched-last.URLs.Fetched), size(int64(perSecond(now.Fetch.Bytes-last.Fetch.Bytes))),
		count(now.URLs.Queued), count(now.URLs.Leased), plural(now.Hosts.Active+now.Hosts.Deferred, "host"))
	if now.Hosts.Deferred > 0 {
		line += fmt.Sprintf(" (%s deferred)", count(now.Hosts.Deferred))
	}
	if now.URLs.Failed > 0 {
		line += fmt.Sprintf("  %s failed", count(now.URLs.Failed))
	}
	return line
}

// printSummary says how a run on a data directory ended, and how it can go on.
func (a *app) printSummary(s crawl.Stats, data string, reason error) {
	u := s.URLs
	end, remedy := "failed", "" // the error is told at the end
	if isEnd(reason) {
		end, remedy = reason.Error(), exitOf(reason).remedy
	}
	fmt.Fprintln(a.out, end)
	fmt.Fprintf(a.out, "  %s fetched, %s failed, %s refused, %s queued\n  %s in %s of crawling; %s met, %s new\n",
		count(u.Fetched), count(u.Failed), count(u.RefusedBefore+u.RefusedAfter), count(u.Queued+u.Leased),
		size(s.Fetch.Bytes), time.Duration(s.Crawl.ElapsedS*1e9).Round(100*time.Millisecond),
		plural(u.Discovered, "link"), count(u.Admitted))
	fmt.Fprintf(a.out, "  %s of the filter avoided, no page lost to them\n",
		plural(s.Seen.FalsePositivesAvoided, "false positive"))
	if u.Fetched == 0 && u.Failed+u.RefusedBefore+u.RefusedAfter > 0 {
		fmt.Fprintln(a.out, "  nothing could be fetched; "+whyNot(u, data)+" lists why")
	}
	if remedy != "" && (u.Queued+u.Leased > 0 || u.Admitted == 0) {
		fmt.Fprintln(a.out, "  "+remedy)
	}
}

// whyNot returns the command that lists why no URL was fetched.
func whyNot(u crawl.URLStats, data string) string {
	state := "failed"
	if u.Failed == 0 {
		state = "refused"
	}
	command := "crawler urls --state " + state
	if filepath.Clean(data) != filepath.Clean(defaultData) {
		command += " --data " + data
	}
	return command
}
