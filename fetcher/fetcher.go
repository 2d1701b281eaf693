package fetcher

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"

	"crawler/normalize"
)

const (
	maxHeader   = 1 << 20          // bytes of a response's head
	maxIdle     = 512              // connections kept in all
	idleTimeout = 30 * time.Second // how long one is kept

	// maxDials is how often one request may lead to a new connection: once more than it should. Left alone, net/http repeats a
	// request over HTTP/2 on one new connection after the other for as long as the server answers with PROTOCOL_ERROR, as
	// many do to a path like "/%u0041".
	maxDials = 2
)

// Fetcher makes HTTP requests. It is safe for concurrent use.
type Fetcher struct {
	cfg       Config
	header    http.Header // of every request; not changed once made
	guard     guard
	transport *http.Transport
	proxy     func(*url.URL) (*url.URL, error)
	readers   sync.Pool // of *bodyReader
}

// New returns a Fetcher, or what is wrong with the configuration, joined. Close it after use.
func New(cfg Config) (*Fetcher, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("fetcher: %w", err)
	}
	cfg = cfg.withDefaults()
	f := &Fetcher{
		cfg:     cfg,
		header:  requestHeader(cfg),
		guard:   newGuard(cfg.Allow),
		readers: sync.Pool{New: func() any { return new(bodyReader) }},
	}

	switch {
	case cfg.Proxy != "":
		proxy, err := parseProxy(cfg.Proxy)
		if err != nil {
			return nil, fmt.Errorf("fetcher: proxy: %w", err)
		}
		f.proxy = func(*url.URL) (*url.URL, error) { return proxy, nil }
	case cfg.Dial != nil:
		f.proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	default:
		f.proxy = httpproxy.FromEnvironment().ProxyFunc()
	}

	dial := cfg.Dial
	if dial == nil {
		dial = newDialer(cfg, f.guard).DialContext
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!cfg.DisableHTTP2)
	f.transport = &http.Transport{
		Proxy: func(r *http.Request) (*url.URL, error) { return exchangeOf(r.Context()).proxy, nil },
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			ex := exchangeOf(ctx)
			if ex.sent.Load() {
				return nil, &Error{KindReset, errors.New("the connection broke off after the request was sent")}
			}
			if ex.dials.Add(1) > maxDials {
				return nil, &Error{KindProtocol, errors.New("server does not take the request on any connection")}
			}
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, dialFailure(ex.proxy != nil, err)
			}
			return conn, nil
		},
		OnProxyConnectResponse: func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
			if resp.StatusCode != http.StatusOK {
				return &Error{KindProxy, fmt.Errorf("proxy answers CONNECT with %s", resp.Status)}
			}
			return nil
		},
		Protocols:              protocols,
		TLSHandshakeTimeout:    cfg.Timeout,
		DisableCompression:     true, // bodyReader decodes, to count what came over the wire and to keep what a bad end leaves
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    cfg.MaxPerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
	}
	return f, nil
}

func requestHeader(cfg Config) http.Header {
	h := http.Header{
		"User-Agent":      {cfg.UserAgent},
		"Accept":          {"text/html,application/xhtml+xml;q=0.9,*/*;q=0.5"},
		"Accept-Encoding": {"gzip"},
	}
	for name, values := range cfg.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// Close closes the connections that are kept. Fetches in flight end as they would.
func (f *Fetcher) Close() { f.transport.CloseIdleConnections() }

// Fetch makes a GET request and reads the response. The error, an *Error, means that there is none.
func (f *Fetcher) Fetch(ctx context.Context, u normalize.URL) (*Page, error) {
	return f.get(ctx, u, f.cfg.MaxBody)
}

func (f *Fetcher) get(parent context.Context, u normalize.URL, maxBody int64) (*Page, error) {
	ex := &exchange{start: time.Now()}
	ctx, cancel := context.WithTimeoutCause(parent, f.cfg.Timeout, errTimeout)
	defer cancel()
	req, err := f.request(ctx, u, ex)
	if err != nil {
		return nil, failure(parent, ctx, ex, err)
	}
	resp, err := f.transport.RoundTrip(req)
	if err != nil {
		return nil, failure(parent, ctx, ex, err)
	}
	defer resp.Body.Close()
	page := &Page{
		URL:        u,
		Status:     resp.StatusCode,
		Header:     resp.Header,
		MediaType:  mediaType(resp.Header.Get("Content-Type")),
		Proto:      resp.Proto,
		RemoteAddr: ex.remote,
		Start:      ex.start,
		Wait:       time.Duration(ex.wait.Load()),
	}
	page.setRedirect(resp)
	err = f.readBody(page, resp, maxBody)
	page.End = time.Now()
	page.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), page.End)
	switch {
	case err == nil:
	case parent.Err() != nil:
		return nil, failure(parent, ctx, ex, err)
	case ctx.Err() != nil:
		page.Truncation = TruncatedTime
	default:
		page.Truncation = TruncatedDisconnect
	}
	return page, nil
}

// request makes the request for u, whose context carries ex.
func (f *Fetcher) request(ctx context.Context, u normalize.URL, ex *exchange) (*http.Request, error) {
	target := &url.URL{Scheme: u.Scheme(), Host: u.Authority()}
	proxy, err := f.proxy(target)
	if err != nil {
		return nil, &Error{KindProxy, err}
	}
	if proxy != nil && f.cfg.Dial == nil {
		if addr, err := netip.ParseAddr(strings.Trim(u.Host(), "[]")); err == nil {
			if err := f.guard.check(addr); err != nil {
				return nil, err
			}
		}
	}
	ex.proxy = proxy
	forward := proxy != nil && u.Scheme() == "http" && strings.HasPrefix(proxy.Scheme, "http")
	setTarget(target, u.RequestURI(), forward)

	ctx = context.WithValue(ctx, exchangeKey{}, ex)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			ex.remote = addrPort(info.Conn)
			if ex.sent.Load() { // the request is about to be repeated on another idle connection
				info.Conn.Close()
			}
		},
		WroteHeaders:         func() { ex.sent.Store(true) },
		GotFirstResponseByte: func() { ex.wait.Store(int64(time.Since(ex.start))) },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				ex.tlsFailed.Store(true)
			}
		},
	})
	req := &http.Request{
		Method: http.MethodGet, URL: target, Host: target.Host, Header: f.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return req.WithContext(ctx), nil
}

// setTarget makes u send uri byte for byte. Opaque is the way around the checks of net/url, which would refuse "/%u0041" and
// rewrite others. net/url takes an opaque part that begins with two slashes for "//authority/path" and sends it as
// "scheme://authority/path", the form for a proxy; so a path that itself begins with them goes without Opaque where it can,
// and in that longer form, which servers must accept (RFC 9112 section 3.2.2), where it cannot.
func setTarget(u *url.URL, uri string, forward bool) {
	if !forward && !strings.HasPrefix(uri, "//") {
		u.Opaque = uri
		return
	}
	if !forward {
		path, query, hasQuery := strings.Cut(uri, "?")
		plain := url.URL{RawPath: path, RawQuery: query, ForceQuery: hasQuery}
		var err error
		if plain.Path, err = url.PathUnescape(path); err == nil && plain.RequestURI() == uri {
			u.Path, u.RawPath, u.RawQuery, u.ForceQuery = plain.Path, plain.RawPath, plain.RawQuery, plain.ForceQuery
			return
		}
	}
	u.Opaque = "//" + u.Host + uri
}

// exchange is what a request tells the transport's callbacks, and they tell it.
type exchange struct {
	start  time.Time
	proxy  *url.URL       // nil for a direct connection
	remote netip.AddrPort // set while RoundTrip runs, in its goroutine

	// A dial may go on after its request has ended.
	wait      atomic.Int64 // ns from start to the first byte of the response
	tlsFailed atomic.Bool
	dials     atomic.Int32
	sent      atomic.Bool // net/http repeats a request at once whose connection breaks off; the delay between requests forbids it
}

type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }

func addrPort(conn net.Conn) netip.AddrPort {
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); ok {
		ap := tcp.AddrPort()
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
	}
	return netip.AddrPort{}
}
