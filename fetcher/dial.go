package fetcher

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"time"
)

// dialer resolves names and connects, past the guard to the proxy and through it to anything else.
type dialer struct {
	guarded net.Dialer
	open    net.Dialer
	resolve map[string]string // lower-case host without a trailing dot to address
}

// newDialer needs a timeout of its own because the transport may leave a dial running after its request has ended.
func newDialer(cfg Config, g guard) *dialer {
	d := &dialer{
		open:    net.Dialer{Timeout: cfg.Timeout, Resolver: newResolver(cfg.Resolver, cfg.Timeout)},
		resolve: make(map[string]string, len(cfg.Resolve)),
	}
	d.guarded = d.open
	d.guarded.ControlContext = g.control
	for host, addr := range cfg.Resolve {
		d.resolve[strings.ToLower(strings.TrimSuffix(host, "."))] = addr.String()
	}
	return d
}

// newResolver returns a resolver that asks server, or the system's if that is empty.
func newResolver(server string, timeout time.Duration) *net.Resolver {
	r := &net.Resolver{PreferGo: true}
	if server != "" {
		r.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: timeout}
			return d.DialContext(ctx, network, server)
		}
	}
	return r
}

func (d *dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(host, ".")
	if fixed, ok := d.resolve[strings.ToLower(name)]; ok {
		host = fixed
	} else if _, err := netip.ParseAddr(host); err != nil && strings.Contains(name, ".") {
		// With its dot a name is absolute: the resolver does not try it in the machine's own domains as well.
		host = name + "."
	}
	nd := &d.guarded
	if exchangeOf(ctx).proxy != nil {
		nd = &d.open
	}
	return nd.DialContext(ctx, network, net.JoinHostPort(host, port))
}
