package fetcher

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
)

// The networks that are no part of the public Internet, from the IANA IPv4 and IPv6 Special-Purpose Address Registries, the
// IPv4 multicast space and the IPv6 address space registry.
var (
	special4 = prefixes(
		"0.0.0.0/8",       // this network, RFC 791
		"10.0.0.0/8",      // private, RFC 1918
		"100.64.0.0/10",   // carrier-grade NAT, RFC 6598
		"127.0.0.0/8",     // loopback, RFC 1122
		"169.254.0.0/16",  // link-local, RFC 3927
		"172.16.0.0/12",   // private, RFC 1918
		"192.0.0.0/24",    // protocol assignments, RFC 6890
		"192.0.2.0/24",    // documentation, RFC 5737
		"192.88.99.0/24",  // 6to4 relays, RFC 7526
		"192.168.0.0/16",  // private, RFC 1918
		"198.18.0.0/15",   // benchmarks, RFC 2544
		"198.51.100.0/24", // documentation, RFC 5737
		"203.0.113.0/24",  // documentation, RFC 5737
		"224.0.0.0/4",     // multicast, RFC 5771
		"240.0.0.0/4",     // reserved, RFC 1112; broadcast, RFC 8190
	)
	// globalUnicast is all of IPv6 that is given out to be routed. Loopback, link-local, unique-local, site-local, multicast,
	// discard-only, segment routing and the forms that embed IPv4 are outside.
	globalUnicast = netip.MustParsePrefix("2000::/3")
	special6      = prefixes(
		"2001::/23",     // protocol assignments, RFC 2928: Teredo, benchmarks, ORCHID
		"2001:db8::/32", // documentation, RFC 3849
		"3fff::/20",     // documentation, RFC 9637
	)
	// Addresses in these are as public as the IPv4 address that they embed.
	nat64     = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour = netip.MustParsePrefix("2002::/16")    // RFC 3056
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// guard refuses connections to addresses that are not public.
type guard struct {
	allow []netip.Prefix // exceptions; IPv4-mapped ones as IPv4
}

func newGuard(allow []netip.Prefix) guard {
	var g guard
	for _, p := range allow {
		if p.Addr().Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		g.allow = append(g.allow, p)
	}
	return g
}

// control is a net.Dialer's ControlContext: it sees the address that is about to be dialled.
func (g guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return g.check(ap.Addr())
}

// check returns an error of KindBlocked if the address may not be dialled.
func (g guard) check(addr netip.Addr) error {
	if g.permits(addr) {
		return nil
	}
	return &Error{KindBlocked, fmt.Errorf("%v is not a public address and not allowed", addr)}
}

func (g guard) permits(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if in(g.allow, addr) {
		return true
	}
	if addr.Is4() {
		return !in(special4, addr)
	}
	b := addr.As16()
	switch {
	case nat64.Contains(addr):
		return g.permits(netip.AddrFrom4([4]byte(b[12:])))
	case sixToFour.Contains(addr):
		return g.permits(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return globalUnicast.Contains(addr) && !in(special6, addr)
}

func in(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}
