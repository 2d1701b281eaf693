package fetcher

import "net/netip"

// Permits is the address guard, which cannot be asked about public addresses without dialling them.
func Permits(allow []netip.Prefix, addr netip.Addr) bool { return newGuard(allow).permits(addr) }
