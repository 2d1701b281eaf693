package fetcher

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"crawler/normalize"
)

// MaxRetryAfter caps Page.RetryAfter.
const MaxRetryAfter = 24 * time.Hour

// Page is the response to one request.
type Page struct {
	URL    normalize.URL
	Status int
	// Header is as received, but without Content-Encoding and Content-Length where Body was decoded.
	Header http.Header
	// Body is decoded from gzip, and at most Config.MaxBody bytes.
	Body []byte
	// Encoding is the Content-Encoding that Body was decoded from, "gzip" or none.
	Encoding string
	// MediaType is the type/subtype of the Content-Type field in lower case, empty if it is missing or malformed.
	MediaType string
	// Redirect is where a status of 301, 302, 303, 307 or 308 points, resolved against URL; zero if nowhere.
	Redirect normalize.URL
	// RedirectErr says why the Location of such a status cannot be followed, and RedirectRaw holds that Location.
	RedirectErr error
	RedirectRaw string
	// RetryAfter is how long the server asks to wait, from End on, at most MaxRetryAfter; 0 if it does not.
	RetryAfter time.Duration
	// Truncation says why Body is not the whole body.
	Truncation Truncation
	// Proto is the protocol of the response: "HTTP/1.1", "HTTP/2.0".
	Proto string
	// RemoteAddr is the other end of the connection: the server or the proxy. It is zero where Config.Dial gives no TCP address.
	RemoteAddr netip.AddrPort
	// Received is the number of bytes of the body that were read before decoding, without the framing of chunks.
	Received int64
	// Start and End are when the fetch began and when the body had been read.
	Start, End time.Time
	// Wait is the time from Start to the first byte of the response.
	Wait time.Duration
}

// Truncation says why a body is cut short, in the words of the WARC-Truncated field.
type Truncation string

// The reasons for a body to be cut short.
const (
	TruncatedLength     Truncation = "length"     // it is longer than Config.MaxBody
	TruncatedTime       Truncation = "time"       // Config.Timeout has passed
	TruncatedDisconnect Truncation = "disconnect" // the connection or the gzip stream broke off
)

func (p *Page) setRedirect(resp *http.Response) {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return
	}
	locations := resp.Header["Location"]
	if len(locations) == 0 {
		return
	}
	target, err := p.URL.Resolve(locations[0])
	if err != nil {
		p.RedirectErr = fmt.Errorf("redirect: %w", err)
		p.RedirectRaw = locations[0]
		return
	}
	p.Redirect = target
}

// mediaType returns the essence of a Content-Type, as in the WHATWG MIME Sniffing Standard section 4.4.
func mediaType(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	essence = strings.Trim(essence, " \t\r\n")
	typ, subtype, _ := strings.Cut(essence, "/")
	// A token is what a field name is.
	if !httpguts.ValidHeaderFieldName(typ) || !httpguts.ValidHeaderFieldName(subtype) {
		return ""
	}
	return strings.ToLower(essence)
}

// retryAfter reads a Retry-After field, in seconds or as a date (RFC 9110 section 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0
	}
	if strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(0, date.Sub(now)), MaxRetryAfter)
}
