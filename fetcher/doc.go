// Package fetcher fetches one URL over HTTP and states what came back.
//
// [Fetcher.Fetch] makes one GET request and returns a [Page], whatever its status, or an [Error] with a [Kind] when no response
// came. [Fetcher.Robots] fetches the robots.txt of a URL's origin and says what that leaves to do; the rules themselves are
// package robots.
//
// Invariants:
//   - A redirect is reported, never followed, except for robots.txt.
//   - The bytes of the URL go on the request line unchanged.
//   - Once the head of a response is read, its page is returned: what breaks off, is too long or too slow is marked
//     Truncated, not lost. Only the caller's own context ending loses it.
//   - No connection is made to an address that is not public unless Config.Allow names it. The address actually dialled is
//     checked, so that neither a redirect nor a DNS answer that changes gets around it.
//   - Time and memory of a fetch are bounded by Config.Timeout and Config.MaxBody.
//
// The package keeps no cookies and no pages, obeys no robots.txt, waits for nobody and repeats nothing, other than net/http, which
// sends a request again on a new connection, once or twice, when a kept one turns out to be closed or HTTP/2 fails. What a result means is for the caller to judge.
//
// Files: fetcher.go makes requests; page.go and body.go read responses; robots.go fetches robots.txt; dial.go
// and guard.go make connections; errors.go names failures; config.go has the options.
package fetcher
