package testweb

import (
	"sync"
	"time"
)

// record is one request that has been answered, or whose connection was closed.
type record struct {
	start, end time.Duration // since Web.epoch
	page       int32         // its number, or robotsPage, or strayPage minus the index in hostLog.strays
	bytes      int32         // of the answer, header included
	phase      uint32        // at the start
	status     int16         // 0: never answered
	final      bool          // a whole answer, and not a fault
	throttled  bool          // the answer asked the client to wait
}

const (
	robotsPage int32 = -1
	strayPage  int32 = -2 // a URL that is not of the web
)

// hostLog is what is recorded of one host.
type hostLog struct {
	mu     sync.Mutex
	done   []record      // in order of their ends; appended to only
	strays []string      // URLs that are not of the web; appended to only
	totals Totals        // of done
	asked  int           // requests for pages, while the host throttles
	failed map[int32]int // how often a faulty page has failed

	sending int // answers not yet recorded, that a client may have already
}

// send announces that a request is about to be answered.
func (l *hostLog) send() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending++
}

// add records the answer to a request, with its URL if it is a stray.
func (l *hostLog) add(r record, url string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sending--
	l.totals.Requests++
	l.totals.Bytes += int(r.bytes)
	switch {
	case r.page == strayPage:
		r.page -= int32(len(l.strays))
		l.strays = append(l.strays, url)
	case r.page == robotsPage:
		l.totals.Robots++
	case r.final:
		l.totals.Final++
	}
	l.done = append(l.done, r)
}

// throttle counts a request for a page and reports whether it is the third.
func (l *hostLog) throttle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	return l.asked == 3
}

// fail counts a failure of page i and returns true, unless the page has
// failed so many times already.
func (l *hostLog) fail(i, times int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed[int32(i)] >= times {
		return false
	}
	if l.failed == nil {
		l.failed = make(map[int32]int)
	}
	l.failed[int32(i)]++
	return true
}

// settle waits until no answer is being sent, or until the deadline.
func (l *hostLog) settle(deadline time.Time) {
	for l.isSending() && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
}

func (l *hostLog) isSending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sending > 0
}

// read returns what is recorded. It stays as it is while requests go on.
func (l *hostLog) read() (done []record, strays []string, totals Totals) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done, l.strays, l.totals
}

// reset forgets everything.
func (l *hostLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.strays, l.totals, l.asked, l.failed = nil, nil, Totals{}, 0, nil
}

// Totals counts requests that have been answered.
type Totals struct {
	Requests int `json:"requests"` // all, faults included
	Robots   int `json:"robots"`   // those for robots.txt
	Final    int `json:"final"`    // those for pages that got their whole answer, not a fault; repeats included
	Bytes    int `json:"bytes"`    // of all answers, headers included
}

// Sub returns the difference from earlier totals.
func (t Totals) Sub(earlier Totals) Totals {
	return Totals{
		Requests: t.Requests - earlier.Requests,
		Robots:   t.Robots - earlier.Robots,
		Final:    t.Final - earlier.Final,
		Bytes:    t.Bytes - earlier.Bytes,
	}
}

func (t Totals) add(more Totals) Totals {
	return Totals{
		Requests: t.Requests + more.Requests,
		Robots:   t.Robots + more.Robots,
		Final:    t.Final + more.Final,
		Bytes:    t.Bytes + more.Bytes,
	}
}

// Totals returns the totals since New or the last Reset. It is cheap.
func (w *Web) Totals() Totals {
	var sum Totals
	for h := range w.hosts {
		_, _, t := w.hosts[h].log.read()
		sum = sum.add(t)
	}
	return sum
}

// Reset forgets all requests, and which faults have happened: the web is as
// new.
func (w *Web) Reset() {
	for h := range w.hosts {
		w.hosts[h].log.reset()
	}
}

// NextPhase begins a new phase, for instance after the crawler was killed.
// A request belongs to the phase in which its connection was made: what a
// killed crawler has sent may be read only after its end. See [Repeat].
func (w *Web) NextPhase() { w.phase.Add(1) }
