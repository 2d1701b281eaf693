package fetcher_test

import (
	"net/netip"
	"testing"

	"crawler/fetcher"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		name  string
		addr  string
		allow string
		want  bool
	}{
		{name: "a public IPv4 address is dialled", addr: "93.184.215.14", want: true},
		{name: "a public IPv6 address is dialled", addr: "2606:2800:21f:cb07:6820:80da:af6b:8b2c", want: true},
		{name: "unspecified", addr: "0.0.0.0"},
		{name: "this network", addr: "0.1.2.3"},
		{name: "the first private network", addr: "10.255.255.255"},
		{name: "below carrier-grade NAT", addr: "100.63.255.255", want: true},
		{name: "carrier-grade NAT", addr: "100.64.0.0"},
		{name: "the end of carrier-grade NAT", addr: "100.127.255.255"},
		{name: "above carrier-grade NAT", addr: "100.128.0.0", want: true},
		{name: "loopback", addr: "127.0.0.1"},
		{name: "the end of loopback", addr: "127.255.255.255"},
		{name: "link-local, cloud metadata", addr: "169.254.169.254"},
		{name: "below the second private network", addr: "172.15.255.255", want: true},
		{name: "the second private network", addr: "172.16.0.1"},
		{name: "the end of the second private network", addr: "172.31.255.255"},
		{name: "above the second private network", addr: "172.32.0.0", want: true},
		{name: "protocol assignments", addr: "192.0.0.170"},
		{name: "documentation 1", addr: "192.0.2.1"},
		{name: "6to4 relays", addr: "192.88.99.1"},
		{name: "the third private network", addr: "192.168.1.1"},
		{name: "benchmarks", addr: "198.19.255.255"},
		{name: "documentation 2", addr: "198.51.100.1"},
		{name: "documentation 3", addr: "203.0.113.1"},
		{name: "the last unicast address", addr: "223.255.255.255", want: true},
		{name: "multicast", addr: "224.0.0.1"},
		{name: "reserved", addr: "240.0.0.1"},
		{name: "broadcast", addr: "255.255.255.255"},
		{name: "IPv6 unspecified", addr: "::"},
		{name: "IPv6 loopback", addr: "::1"},
		{name: "IPv4-compatible", addr: "::93.184.215.14"},
		{name: "mapped private", addr: "::ffff:10.0.0.1"},
		{name: "mapped public", addr: "::ffff:93.184.215.14", want: true},
		{name: "translated", addr: "::ffff:0:10.0.0.1"},
		{name: "NAT64 of a private address", addr: "64:ff9b::10.0.0.1"},
		{name: "NAT64 of a public address", addr: "64:ff9b::93.184.215.14", want: true},
		{name: "NAT64 for local use", addr: "64:ff9b:1::93.184.215.14"},
		{name: "discard-only", addr: "100::1"},
		{name: "Teredo", addr: "2001:0:1::1"},
		{name: "IPv6 benchmarks", addr: "2001:2::1"},
		{name: "ORCHID", addr: "2001:20::1"},
		{name: "above protocol assignments", addr: "2001:200::1", want: true},
		{name: "IPv6 documentation", addr: "2001:db8::1"},
		{name: "IPv6 documentation 2", addr: "3fff::1"},
		{name: "6to4 of a loopback address", addr: "2002:7f00:1::1"},
		{name: "6to4 of a public address", addr: "2002:5db8:d70e::1", want: true},
		{name: "segment routing", addr: "5f00::1"},
		{name: "unique-local", addr: "fd00:ec2::254"},
		{name: "IPv6 link-local with its zone", addr: "fe80::1%eth0"},
		{name: "site-local", addr: "fec0::1"},
		{name: "IPv6 multicast", addr: "ff02::1"},

		{name: "an allowed network is dialled", addr: "127.0.0.1", allow: "127.0.0.0/8", want: true},
		{name: "and nothing outside it", addr: "10.0.0.1", allow: "127.0.0.0/8"},
		{name: "an allowed network has its mapped form", addr: "::ffff:127.0.0.1", allow: "127.0.0.0/8", want: true},
		{name: "an allowed network has its NAT64 form", addr: "64:ff9b::127.0.0.1", allow: "127.0.0.0/8", want: true},
		{name: "an allowed network may be written mapped", addr: "127.0.0.1", allow: "::ffff:127.0.0.0/104", want: true},
		{name: "IPv6 may be allowed", addr: "fd00::1", allow: "fc00::/7", want: true},
		{name: "an allowed network has no zone", addr: "fe80::1%eth0", allow: "fe80::/10", want: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var allow []netip.Prefix
			if tt.allow != "" {
				allow = append(allow, netip.MustParsePrefix(tt.allow))
			}
			if got := fetcher.Permits(allow, netip.MustParseAddr(tt.addr)); got != tt.want {
				t.Errorf("%s with %v allowed: got %t, want %t", tt.addr, allow, got, tt.want)
			}
		})
	}
}
