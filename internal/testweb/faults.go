package testweb

import (
	"strconv"
	"time"
)

// answer is what one request is answered with.
type answer struct {
	status      int // 0: no answer
	contentType string
	header      string // further header lines
	body        func(dst []byte) []byte
	wait        time.Duration
	cut         bool // reset the connection in the middle of the body
	final       bool // what a crawl is after: not a fault
	throttled   bool // the next request to the host has to wait for retryAfter
}

const (
	html       = "text/html; charset=utf-8"
	plain      = "text/plain; charset=utf-8"
	retryAfter = time.Second
)

// answer says what to answer to a request for a path of host h, and to which
// page the path belongs. It uses up the faults that are to happen a number of times.
func (w *Web) answer(h int, path string, links *[]link) (answer, int32) {
	host := &w.hosts[h]
	switch {
	case h == w.cfg.Hosts:
		return answer{status: 421, contentType: html, body: text("no such host\n")}, strayPage
	case path == "/robots.txt":
		return w.robots(h), robotsPage
	}
	i, ok := w.find(h, path)
	if !ok {
		return answer{status: 404, contentType: html, body: text(notFound)}, strayPage
	}
	a := answer{wait: w.wait(h, i)}
	fault := w.faultOf(h, i)
	switch {
	case host.limits && host.log.throttle():
		a.status, a.contentType, a.body = 429+74*(h%2), plain, text("slow down\n")
		a.throttled = true
		a.header = "Retry-After: " + strconv.Itoa(int(retryAfter/time.Second)) + "\r\n"
		return a, int32(i)
	case fault == flaky && host.log.fail(i, w.cfg.FlakyTimes):
		a.status, a.contentType, a.body = 500, plain, text("out of order\n")
		return a, int32(i)
	case fault == resets && host.log.fail(i, 1):
		a.cut = true
	}
	a.status, a.contentType, a.final = 200, html, true
	a.body = func(dst []byte) []byte { return w.appendBody(dst, h, i, links) }
	switch w.kind(h, i) {
	case redirect:
		a.status = 301
		to := w.target(h, i)
		a.header = "Location: " + w.url(to.host, to.page) + "\r\n"
	case gone:
		a.status = 404
	case image:
		a.contentType = "image/png"
	case pdf:
		a.contentType = "application/pdf"
	}
	return a, int32(i)
}

func text(s string) func([]byte) []byte {
	return func(dst []byte) []byte { return append(dst, s...) }
}

// robots is the answer to /robots.txt of host h.
func (w *Web) robots(h int) answer {
	a := answer{status: 200, contentType: plain, wait: w.wait(h, 0), final: true}
	host := &w.hosts[h]
	switch host.robots {
	case robotsServed:
		rules := "# " + host.name + "\nUser-agent: *\nDisallow: /private/\n"
		if host.delay > 0 {
			rules += "Crawl-delay: " + strconv.FormatFloat(host.delay.Seconds(), 'f', -1, 64) + "\n"
		}
		a.body = text(rules)
	case robotsMissing:
		a.status, a.contentType, a.body = 404, html, text(notFound)
	case robotsFailing:
		a.status, a.body = 500, text("out of order\n")
	case robotsHanging:
		a.status = 0
	}
	return a
}

// fault is what is wrong with a page at first.
type fault uint8

const (
	sound fault = iota
	flaky
	resets
)

func (w *Web) faultOf(h, i int) fault {
	if w.cfg.Flaky+w.cfg.Resets == 0 || w.kind(h, i) != page {
		return sound
	}
	r := w.rng(h, i, forFault)
	switch u := r.float(); {
	case u < w.cfg.Flaky:
		return flaky
	case u < w.cfg.Flaky+w.cfg.Resets:
		return resets
	}
	return sound
}

// wait is the latency of page i of host h.
func (w *Web) wait(h, i int) time.Duration {
	if w.cfg.Jitter == 0 {
		return w.cfg.Latency
	}
	r := w.rng(h, i, forWait)
	return w.cfg.Latency + time.Duration(r.logNormal(float64(w.cfg.Jitter)*w.hosts[h].slow, 1))
}
