package testweb

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Options says what a crawl was meant to do.
type Options struct {
	Scope
	// MinDelay is the least time from the end of a request to the start of the
	// next one to the same host. A longer Crawl-delay takes its place, unless
	// robots.txt is to be ignored, and so does a Retry-After.
	MinDelay time.Duration
	// Tolerance is how much too short a gap may be, and how far two requests
	// may overlap without being in flight at a time. A gap never seems shorter
	// than it was: over sockets an answer ends just before its last bytes are
	// handed over, and over pipes in a synctest bubble times are exact.
	Tolerance time.Duration
}

// Report is the verdict on the requests since New or the last Reset. Lists are
// in the order of hosts and pages, gaps in the order of hosts and time.
type Report struct {
	// Expected is how many URLs are to be fetched, Fetched how many of them were: each got
	// its whole answer, be it a page, a redirect or a 404, by GET.
	Expected int `json:"expected"`
	Fetched  int `json:"fetched"`
	// Missing are the expected URLs not fetched.
	Missing []string `json:"missing,omitempty"`
	// Unexpected are the URLs asked for that are neither expected nor disallowed:
	// out of scope, or not of the web.
	Unexpected []string `json:"unexpected,omitempty"`
	// Duplicates are the URLs fetched more than once. A fault is no fetch.
	Duplicates []Repeat `json:"duplicates,omitempty"`
	// Disallowed are the URLs asked for that robots.txt disallows.
	Disallowed []string `json:"disallowed,omitempty"`
	// Gaps are the requests that came too early.
	Gaps []Gap `json:"gaps,omitempty"`
	// MaxInFlight is the greatest number of requests at a time to each host that was asked.
	MaxInFlight map[string]int `json:"max_in_flight"`
	// Statuses counts the requests by the status answered, 0 for those never
	// answered.
	Statuses map[int]int `json:"statuses"`
	Totals
}

// Repeat is a URL fetched more than once.
type Repeat struct {
	URL   string `json:"url"`
	Times int    `json:"times"`
	// Phases is the number of phases in which it was fetched. Times > Phases
	// means that one run of the crawler fetched it twice; otherwise it was only
	// repeated after a restart, as the fetches in flight must be when a crawler is killed.
	Phases int `json:"phases"`
}

// Gap is a request that came too early after the one before it.
type Gap struct {
	URL   string        `json:"url"`
	After string        `json:"after"`  // URL of the request that ended last before
	Gap   time.Duration `json:"gap_ns"` // negative if that had not ended
	Due   time.Duration `json:"due_ns"`
	At    time.Duration `json:"at_ns"` // start, since New
}

// Err returns what is wrong with the crawl, or nil.
func (r Report) Err() error {
	var errs []error
	for _, f := range []struct {
		what  string
		count int
		first func() any
	}{
		{"expected but not fetched", len(r.Missing), func() any { return r.Missing[0] }},
		{"fetched but not expected", len(r.Unexpected), func() any { return r.Unexpected[0] }},
		{"fetched more than once", len(r.Duplicates), func() any { return r.Duplicates[0] }},
		{"disallowed but fetched", len(r.Disallowed), func() any { return r.Disallowed[0] }},
		{"too early", len(r.Gaps), func() any { return r.Gaps[0] }},
	} {
		if f.count > 0 {
			errs = append(errs, fmt.Errorf("%d %s, the first: %+v", f.count, f.what, f.first()))
		}
	}
	return errors.Join(errs...)
}

// Report compares the requests that have been answered with what was to be
// done. It waits for the answers being sent, at most a second for all; other
// requests in flight are not looked at.
func (w *Web) Report(o Options) Report {
	r := Report{MaxInFlight: make(map[string]int), Statuses: make(map[int]int)}
	depths := w.depths(o.Scope)
	deadline := time.Now().Add(time.Second)
	for h := range w.hosts {
		w.hosts[h].log.settle(deadline)
	}
	for h := range w.cfg.Hosts {
		done, strays, totals := w.hosts[h].log.read()
		r.Totals = r.Totals.add(totals)
		w.judgePages(&r, o, h, done, depths[h*w.span:(h+1)*w.span])
		r.Unexpected = append(r.Unexpected, distinct(strays)...)
		if len(done) > 0 {
			done = slices.SortedStableFunc(slices.Values(done), func(a, b record) int { return cmp.Compare(a.start, b.start) })
			w.judgeGaps(&r, o, h, done, strays)
			r.MaxInFlight[w.hosts[h].name] = maxInFlight(done, o.Tolerance)
		}
	}
	done, strays, totals := w.hosts[w.cfg.Hosts].log.read()
	r.Totals = r.Totals.add(totals)
	if len(done) > 0 {
		r.Statuses[http.StatusMisdirectedRequest] = len(done)
	}
	r.Unexpected = append(r.Unexpected, distinct(strays)...)
	return r
}

func distinct(urls []string) []string { return slices.Compact(slices.Sorted(slices.Values(urls))) }

// judgePages judges which pages of host h were asked for and fetched.
func (w *Web) judgePages(r *Report, o Options, h int, done []record, depths []int16) {
	type visits struct {
		asked   bool
		fetched int
		phases  []uint32
	}
	pages := make([]visits, w.span)
	for _, rec := range done {
		r.Statuses[int(rec.status)]++
		if rec.page < 0 {
			continue
		}
		v := &pages[rec.page]
		v.asked = true
		if rec.final {
			v.fetched++
			if !slices.Contains(v.phases, rec.phase) {
				v.phases = append(v.phases, rec.phase)
			}
		}
	}
	for i, v := range pages {
		if depths[i] >= 0 {
			r.Expected++
			if v.fetched > 0 {
				r.Fetched++
			} else {
				r.Missing = append(r.Missing, w.url(h, i))
			}
		}
		switch {
		case v.asked && !w.allowed(o.Scope, h, i):
			r.Disallowed = append(r.Disallowed, w.url(h, i))
		case v.asked && depths[i] < 0:
			r.Unexpected = append(r.Unexpected, w.url(h, i))
		}
		if v.fetched > 1 {
			r.Duplicates = append(r.Duplicates, Repeat{URL: w.url(h, i), Times: v.fetched, Phases: len(v.phases)})
		}
	}
}

// judgeGaps judges the requests to host h, which are sorted by their starts.
func (w *Web) judgeGaps(r *Report, o Options, h int, done []record, strays []string) {
	url := func(rec record) string {
		switch {
		case rec.page == robotsPage:
			return string(append(w.appendOrigin(nil, h), "/robots.txt"...))
		case rec.page <= strayPage:
			return strays[strayPage-rec.page]
		}
		return w.url(h, int(rec.page))
	}
	delay := o.MinDelay
	if !o.IgnoreRobots && w.hosts[h].robots == robotsServed {
		delay = max(delay, w.hosts[h].delay)
	}
	last := done[0]
	for _, rec := range done[1:] {
		due := delay
		if last.throttled {
			due = max(due, retryAfter)
		}
		if gap := rec.start - last.end; due > 0 && gap+o.Tolerance < due {
			r.Gaps = append(r.Gaps, Gap{
				URL: url(rec), After: url(last),
				Gap: gap, Due: due, At: rec.start,
			})
		}
		if rec.end >= last.end {
			last = rec
		}
	}
}

// maxInFlight returns how many requests there were at a time, of those sorted
// by their starts.
func maxInFlight(done []record, tolerance time.Duration) int {
	ends := make([]time.Duration, len(done))
	for n, rec := range done {
		ends[n] = rec.end - tolerance
	}
	slices.Sort(ends)
	most, ended := 0, 0
	for n, rec := range done {
		for ended < n && ends[ended] <= rec.start {
			ended++
		}
		most = max(most, n+1-ended)
	}
	return most
}

// JudgeHost is a host name that every server of a Web answers to, whatever
// the address, and that is no part of the web. Over it another process can
// ask the judge:
//
//	GET  /report   a Report as JSON
//	GET  /totals   Totals as JSON
//	POST /phase    NextPhase
//	POST /reset    Reset
//
// The query of /report gives the Options: max_depth (default -1), same_host,
// nofollow, ignore_robots, min_delay and tolerance, as in
// /report?max_depth=3&min_delay=250ms&tolerance=5ms.
const JudgeHost = "judge.test"

// judge answers a request to [JudgeHost].
func (w *Web) judge(q request) answer {
	u, err := url.ParseRequestURI(q.target)
	if err != nil {
		return plainText(http.StatusBadRequest, err.Error())
	}
	switch q.method + " " + u.Path {
	case "GET /report":
		o, err := parseOptions(u.Query())
		if err != nil {
			return plainText(http.StatusBadRequest, err.Error())
		}
		return jsonText(w.Report(o))
	case "GET /totals":
		return jsonText(w.Totals())
	case "POST /phase":
		w.NextPhase()
		return plainText(http.StatusOK, "ok")
	case "POST /reset":
		w.Reset()
		return plainText(http.StatusOK, "ok")
	}
	return plainText(http.StatusNotFound, "GET /report or /totals, or POST /phase or /reset")
}

func plainText(status int, s string) answer {
	return answer{status: status, contentType: plain, body: text(s + "\n")}
}

func jsonText(v any) answer {
	b, err := json.Marshal(v)
	if err != nil {
		return plainText(http.StatusInternalServerError, err.Error())
	}
	return answer{status: http.StatusOK, contentType: "application/json", body: text(string(b) + "\n")}
}

// parseOptions reports every fault of a query at once.
func parseOptions(query url.Values) (Options, error) {
	o := Options{Scope: Scope{MaxDepth: -1}}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		value := query.Get(name)
		var err error
		switch name {
		case "max_depth":
			o.MaxDepth, err = strconv.Atoi(value)
		case "same_host":
			o.SameHost, err = strconv.ParseBool(value)
		case "nofollow":
			o.Nofollow, err = strconv.ParseBool(value)
		case "ignore_robots":
			o.IgnoreRobots, err = strconv.ParseBool(value)
		case "min_delay":
			o.MinDelay, err = time.ParseDuration(value)
		case "tolerance":
			o.Tolerance, err = time.ParseDuration(value)
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("option %s: %w", name, err))
		}
	}
	return o, errors.Join(errs...)
}
