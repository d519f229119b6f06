package guard

import (
	"context"
	"net/netip"
	"slices"
	"time"
)

const (
	// nat64TTL is how long the answer to whether this network translates addresses is trusted, and nat64Retry how
	// long it is not asked for again when it did not come within nat64Wait.
	nat64TTL   = time.Hour
	nat64Retry = time.Minute
	nat64Wait  = 500 * time.Millisecond
)

// learnNAT64 asks once an hour by which prefixes this machine's network translates IPv6 to IPv4, if it does: an address
// under them reaches the IPv4 address inside it, which may be a private one. The well-known name ipv4only.arpa has
// IPv4 addresses only, so an IPv6 answer shows the prefix (RFC 7050 §3). No answer is the answer of most networks.
func (g *Guard) learnNAT64(ctx context.Context, r Resolver) {
	now := clock(g.Now)
	g.mu.Lock()
	known := now.Before(g.nat64Till)
	g.mu.Unlock()
	if known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, nat64Wait)
	defer cancel()
	addrs, err := r.LookupNetIP(ctx, "ip6", "ipv4only.arpa.")
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil && ctx.Err() != nil {
		g.nat64Till = now.Add(nat64Retry)
		return
	}
	g.nat64, g.nat64Till = translators(addrs), now.Add(nat64TTL)
}

// translators returns the prefixes that made addrs out of the addresses of ipv4only.arpa.
func translators(addrs []netip.Addr) []netip.Prefix {
	wellKnown := map[netip.Addr]bool{netip.AddrFrom4([4]byte{192, 0, 0, 170}): true, netip.AddrFrom4([4]byte{192, 0, 0, 171}): true}
	var found []netip.Prefix
	for _, a := range addrs {
		if !a.Is6() || a.Is4In6() {
			continue
		}
		for _, bits := range [...]int{32, 40, 48, 56, 64, 96} {
			if wellKnown[embedded(a, bits)] {
				found = append(found, netip.PrefixFrom(a.WithZone(""), bits).Masked())
			}
		}
	}
	return found
}

// embedded returns the IPv4 address inside addr under a translation prefix of so many bits. Byte 8 is never part of it
// (RFC 6052 §2.2).
func embedded(addr netip.Addr, bits int) netip.Addr {
	b, at := addr.As16(), bits/8
	if at > 8 {
		at-- // behind byte 8
	}
	return netip.AddrFrom4([4]byte(slices.Delete(b[:], 8, 9)[at:]))
}
