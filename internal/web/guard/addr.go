package guard

import (
	"net/netip"
	"slices"

	"familiar/internal/context/turn"
)

// globalUnicast is all of IPv6 that IANA has handed out (RFC 4291 §2.4). Everything outside is refused:
// loopback, mapped, translated, NAT64, unique local, link local, site local, multicast, and what comes next.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// fakeIP is where proxy tools in "fake IP" mode answer DNS from. It is refused like the rest of the list, but
// named, because its cure is in the operator's proxy and nowhere else.
var fakeIP = netip.MustParsePrefix("198.18.0.0/15") // benchmarking (RFC 2544)

// denied4 is the IANA special-purpose registry for IPv4 (RFC 6890) plus addresses that clouds use for
// metadata and look public.
var denied4 = prefixes(
	"0.0.0.0/8",        // this network (RFC 791)
	"10.0.0.0/8",       // private use (RFC 1918)
	"100.64.0.0/10",    // carrier-grade NAT (RFC 6598), Tailscale, Alibaba metadata
	"127.0.0.0/8",      // loopback (RFC 1122)
	"168.63.129.16/32", // Azure WireServer
	"169.254.0.0/16",   // link local (RFC 3927), cloud metadata
	"172.16.0.0/12",    // private use (RFC 1918)
	"192.0.0.0/24",     // protocol assignments (RFC 6890), old Oracle metadata
	"192.0.2.0/24",     // documentation (RFC 5737)
	"192.31.196.0/24",  // AS112 (RFC 7535)
	"192.52.193.0/24",  // AMT (RFC 7450)
	"192.88.99.0/24",   // 6to4 relay (RFC 7526)
	"192.168.0.0/16",   // private use (RFC 1918)
	"192.175.48.0/24",  // AS112 direct delegation (RFC 7534)
	"198.18.0.0/15",    // benchmarking (RFC 2544)
	"198.51.100.0/24",  // documentation (RFC 5737)
	"203.0.113.0/24",   // documentation (RFC 5737)
	"224.0.0.0/4",      // multicast (RFC 1112)
	"240.0.0.0/4",      // reserved, broadcast (RFC 1112)
)

// denied6 is what must not be dialled inside globalUnicast.
var denied6 = prefixes(
	"2001::/23",         // protocol assignments (RFC 2928): Teredo, ORCHID, AMT, benchmarking, …
	"2001:db8::/32",     // documentation (RFC 3849)
	"2002::/16",         // 6to4 (RFC 3056): carries any IPv4 address
	"2620:4f:8000::/48", // AS112 direct delegation (RFC 7534)
	"3fff::/20",         // documentation (RFC 9637)
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// CheckAddr returns nil if addr is an address of the public internet, and otherwise a *[Error] that does not
// name it. It fails closed: the zero Addr, any address with a zone and any IPv4 address dressed as IPv6 are
// refused. Resolvers answer in that dress, so their answers are unmapped first. What depends on this machine and
// its operator is [Guard.Check]'s.
func CheckAddr(addr netip.Addr) error {
	switch {
	case !addr.IsValid(), addr.Zone() != "":
	case fakeIP.Contains(addr):
		return blocked(turn.CodeFakeIP)
	case addr.Is4() && !contains(denied4, addr):
		return nil
	case globalUnicast.Contains(addr) && !contains(denied6, addr) && !isatap(addr):
		return nil
	}
	return blocked(turn.CodeDeniedAddress)
}

// isatap reports whether the interface identifier is one of ISATAP (RFC 5214 §6.1), which tunnels to the IPv4
// address in its last four bytes under any prefix.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}
