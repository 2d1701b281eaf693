package fetcher

import (
	"context"
	"fmt"
	"slices"
	"time"

	"crawler/fetcher/robots"
	"crawler/normalize"
)

// maxRobotsRedirects is the number of redirects followed from /robots.txt (RFC 9309 section 2.3.1.2).
const maxRobotsRedirects = 5

// RobotsResult is what a fetch of robots.txt has found. It holds for the origin that was asked, wherever redirects have led.
type RobotsResult struct {
	Access robots.Access
	// Status is that of the last response; 0 if there was none.
	Status int
	// Body holds the file, at most robots.MaxSize bytes, if Access is robots.AccessRules.
	Body []byte
	// Err says why Access is robots.AccessUnreachable where that is not the status: an *Error, or that the file broke off.
	Err error
	// RetryAfter is how long the last server asks to wait.
	RetryAfter time.Duration
	// Requests is the number of requests made.
	Requests int
	// URL is the one requested last.
	URL        normalize.URL
	Start, End time.Time
}

// Robots fetches /robots.txt of u's origin. It follows redirects, to other hosts too, each with Config.Timeout; before a
// further request to the same host it waits for gap. It never fails:
// what cannot be fetched is robots.AccessUnreachable. A file that breaks off is that too, for the rest may forbid more; one
// longer than robots.MaxSize is cut there.
func (f *Fetcher) Robots(ctx context.Context, u normalize.URL, gap time.Duration) RobotsResult {
	r := RobotsResult{Start: time.Now()}
	r.fetch(ctx, f, u, gap)
	r.End = time.Now()
	return r
}

func (r *RobotsResult) fetch(ctx context.Context, f *Fetcher, u normalize.URL, gap time.Duration) {
	r.Access = robots.AccessUnreachable
	next, err := u.Resolve("/robots.txt")
	if err != nil {
		r.Err = err
		return
	}
	var visited []normalize.URL
	for {
		r.URL = next
		r.Requests++
		page, err := f.get(ctx, next, robots.MaxSize)
		if err != nil {
			r.Status, r.Err = 0, err
			return
		}
		r.Status, r.RetryAfter = page.Status, page.RetryAfter
		visited = append(visited, next)
		next = page.Redirect
		if next.IsZero() {
			r.judge(page)
			return
		}
		if len(visited) > maxRobotsRedirects || slices.Contains(visited, next) {
			r.Access = robots.AccessAll
			return
		}
		asked := func(u normalize.URL) bool { return u.Host() == next.Host() }
		if slices.ContainsFunc(visited, asked) && !sleep(ctx, gap) {
			r.Err = &Error{KindCanceled, context.Cause(ctx)}
			return
		}
	}
}

// sleep waits for d and reports whether ctx has not ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// judge says what the page at the end of the redirects means.
func (r *RobotsResult) judge(page *Page) {
	r.Access = robots.AccessFor(page.Status)
	if r.Access != robots.AccessRules {
		return
	}
	if page.Truncation == TruncatedDisconnect || page.Truncation == TruncatedTime {
		r.Access = robots.AccessUnreachable
		r.Err = fmt.Errorf("robots.txt broke off after %d bytes: %s", len(page.Body), page.Truncation)
		return
	}
	r.Body = page.Body
}
