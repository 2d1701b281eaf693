package fetcher

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Config says how pages are fetched. The zero value works: each zero field means its default.
type Config struct {
	// UserAgent is sent with every request. Default "crawler".
	UserAgent string
	// Header is sent with every request, after the fetcher's own fields, which it may replace.
	Header http.Header
	// Timeout bounds one whole fetch, from dial to the end of the body. Default 30 s.
	Timeout time.Duration
	// MaxBody is the number of decoded body bytes kept; what follows is cut off and the page marked. Default 10 MiB.
	MaxBody int64
	// Allow lists the networks that may be dialled although they are loopback, private, link-local or otherwise
	// not public. Default none.
	Allow []netip.Prefix
	// Resolver is the IP:PORT of the DNS server to ask. Default: the system's. Either way the hosts file comes first.
	Resolver string
	// Resolve gives fixed addresses for host names, which are then not looked up. Default none.
	Resolve map[string]netip.Addr
	// Proxy is the URL of an http, https or socks5 proxy. Default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY of the environment.
	// The proxy may be at any address. What it connects to is out of reach of Allow, but for URLs whose host is an address.
	Proxy string
	// DisableHTTP2 keeps to HTTP/1.1.
	DisableHTTP2 bool
	// MaxPerHost bounds the connections kept to one host. Default 1.
	MaxPerHost int
	// Dial replaces the dialler, address guard and name resolution included, for networks that are not the machine's. The proxies
	// of the environment are then not used. Default nil.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Validate reports every value that is out of range, joined.
func (c Config) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !httpguts.ValidHeaderFieldValue(c.UserAgent) {
		fault("user agent: %q is no header value", c.UserAgent)
	}
	for name, values := range c.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			fault("header: %q is no field name", name)
		}
		if http.CanonicalHeaderKey(name) == "Host" {
			fault("header: Host is that of the URL")
		}
		if !slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			continue
		}
		fault("header: %q has a value that cannot be sent", name)
	}
	if c.Timeout < 0 {
		fault("timeout: %v is negative", c.Timeout)
	}
	if c.MaxBody < 0 {
		fault("max body: %d is negative", c.MaxBody)
	}
	if c.MaxPerHost < 0 {
		fault("max per host: %d is negative", c.MaxPerHost)
	}
	for _, p := range c.Allow {
		if !p.IsValid() {
			fault("allow: %v is no network", p)
		}
	}
	if c.Resolver != "" {
		if _, err := netip.ParseAddrPort(c.Resolver); err != nil {
			fault("resolver: %w", err)
		}
	}
	for host, addr := range c.Resolve {
		if host == "" || !addr.IsValid() {
			fault("resolve: %q=%v is no host and address", host, addr)
		}
	}
	if c.Proxy != "" {
		if _, err := parseProxy(c.Proxy); err != nil {
			fault("proxy: %w", err)
		}
	}
	return errors.Join(errs...)
}

func parseProxy(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) || u.Hostname() == "" {
		return nil, fmt.Errorf("%q is no http, https or socks5 URL with a host", u.Redacted())
	}
	return u, nil
}

func (c Config) withDefaults() Config {
	if c.UserAgent == "" {
		c.UserAgent = "crawler"
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.MaxBody == 0 {
		c.MaxBody = 10 << 20
	}
	if c.MaxPerHost == 0 {
		c.MaxPerHost = 1
	}
	return c
}
