// Package normalize turns raw text into canonical URLs and keys.
//
// [Parse] and [URL.Resolve] follow the basic URL parser of the WHATWG URL
// Standard (https://url.spec.whatwg.org/) for http and https; every other
// scheme is refused. They are the only makers of a URL, so whoever holds a
// URL other than the zero value holds one that can be fetched. A URL drops what
// a server never sees or a crawler must not send: the fragment and the user
// name and password.
//
// A URL has two texts. [URL.String] is what is fetched: exactly what a browser
// would ask for. [URL.Key] is its identity in the seen gate: the same text
// with the spelling of its percent-escapes evened out.
//
// Invariants, for every URL u other than the zero value:
//
//   - u.String() is printable ASCII, at most [MaxLength] bytes, and parses to u.
//   - u.Key() parses to a URL with the same key.
//   - Two URLs that may serve different pages have different keys.
//
// The package sorts no queries, drops no parameters, collapses no slashes, and
// guesses no schemes. It knows neither the page's encoding (queries are always
// UTF-8) nor the network.
package normalize

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// MaxLength is the greatest length, in bytes, of a URL's String.
const MaxLength = 16 << 10

// URL is a canonical http or https URL without fragment and userinfo. It is
// comparable; the zero value is no URL, and all its texts are empty.
type URL struct {
	href string
	// Offsets into href; MaxLength lets them be small.
	hostStart uint8
	dropped   bool
	hostEnd   uint16
	pathStart uint16
	pathEnd   uint16 // where "?" stands, if there is a query
}

// IsZero reports whether u is the zero value, no URL.
func (u URL) IsZero() bool { return u.href == "" }

// String returns the URL to fetch: the WHATWG href without userinfo and
// fragment.
func (u URL) String() string { return u.href }

// Scheme returns "http" or "https".
func (u URL) Scheme() string { return strings.TrimSuffix(u.href[:u.hostStart], "://") }

// Host returns the host without port: a domain in lower-case ASCII (IDNA), an
// IPv4 address as four decimal numbers, or an IPv6 address in brackets.
func (u URL) Host() string { return u.href[u.hostStart:u.hostEnd] }

// Port returns the port in decimal, or "" for the scheme's default port.
func (u URL) Port() string { return strings.TrimPrefix(u.href[u.hostEnd:u.pathStart], ":") }

// Authority returns host[:port].
func (u URL) Authority() string { return u.href[u.hostStart:u.pathStart] }

// Origin returns scheme://host[:port].
func (u URL) Origin() string { return u.href[:u.pathStart] }

// Path returns the path, which starts with a slash.
func (u URL) Path() string { return u.href[u.pathStart:u.pathEnd] }

// Query returns what follows the "?". It is empty both without a query and with
// an empty one, which String tells apart.
func (u URL) Query() string { return strings.TrimPrefix(u.href[u.pathEnd:], "?") }

// RequestURI returns the path and, where there is one, "?" and the query: the
// target of an HTTP request in origin form (RFC 9112 section 3.2.1).
func (u URL) RequestURI() string { return u.href[u.pathStart:] }

// DroppedUserinfo reports whether the text that was parsed carried a user name
// or a password.
func (u URL) DroppedUserinfo() bool { return u.dropped }

// Site returns the registrable domain: the public suffix (from the ICANN and the
// private part of the list at publicsuffix.org) and one label more, without a
// trailing dot. IP addresses, single labels and public suffixes have none; their
// site is the host itself.
func (u URL) Site() string {
	host := u.Host()
	site, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimSuffix(host, "."))
	if err != nil {
		return host
	}
	return site
}
