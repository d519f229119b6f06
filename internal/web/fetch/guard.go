package fetch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// globalUnicast is the part of IPv6 that IANA has allocated (RFC 4291 §2.4). Everything else is refused: loopback,
// mapped, translated, NAT64, unique local, link local, site local, multicast, and future allocations.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// fakeIP is the range from which proxy tools in "fake IP" mode answer DNS. It has its own error, because only a change
// to the operator's proxy helps.
var fakeIP = netip.MustParsePrefix("198.18.0.0/15") // benchmarking (RFC 2544)

// denied4 is the IANA special-purpose registry for IPv4 (RFC 6890), with public addresses that clouds use for metadata.
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

// denied6 are the ranges inside globalUnicast that must not be dialled.
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

// CheckAddr returns nil if addr is an address of the public internet. Otherwise it returns an *[Error] that does not contain it. When in
// doubt, it refuses: the zero Addr, addresses with a zone, and IPv4 addresses in IPv6 form. Callers must unmap the answers of resolvers
// first, because these may have that form. [Guard.Check] adds the rules that depend on the machine and its operator.
func CheckAddr(addr netip.Addr) error {
	switch {
	case !addr.IsValid(), addr.Zone() != "":
	case fakeIP.Contains(addr):
		return clean.Refuse(turn.CodeFakeIP)
	case addr.Is4() && !contains(denied4, addr):
		return nil
	case globalUnicast.Contains(addr) && !contains(denied6, addr) && !isatap(addr):
		return nil
	}
	return clean.Refuse(turn.CodeDeniedAddress)
}

// isatap reports whether the interface identifier is an ISATAP one (RFC 5214 §6.1). ISATAP tunnels to the IPv4 address
// in the last four bytes, under any prefix.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// interfacesTTL is how long the list of this machine's addresses is used before it is read again.
const interfacesTTL = time.Minute

// Guard decides which addresses may be dialled from this machine. It refuses the addresses that [CheckAddr] refuses, those that the
// operator denies, and the machine's own. It also refuses those that its network translates into one of these. The zero value is ready. A
// Guard must not be copied after first use, and its fields must not change. It is safe for concurrent use.
type Guard struct {
	// Deny adds prefixes to the fixed list, for example the addresses by which this machine's network is reached from
	// outside.
	Deny []netip.Prefix
	// Interfaces returns this machine's addresses. nil asks the system. While it fails, nothing may be dialled.
	Interfaces func() ([]netip.Addr, error)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	mu   sync.Mutex
	own  map[netip.Addr]struct{} // guarded by mu; replaced, never changed
	till time.Time               // guarded by mu; expiry of own

	nat64     []netip.Prefix // guarded by mu; replaced, never changed
	nat64Till time.Time      // guarded by mu; expiry of nat64
}

// Check returns nil if addr may be dialled, and otherwise a *[Error] that does not contain it.
func (g *Guard) Check(addr netip.Addr) error {
	if err := CheckAddr(addr); err != nil {
		return err
	}
	mapped := netip.AddrFrom16(addr.As16()) // an operator may have written an IPv4 prefix in IPv6 form
	if contains(g.Deny, addr) || contains(g.Deny, mapped) {
		return clean.Refuse(turn.CodeDeniedAddress)
	}
	own, nat64, err := g.machine()
	if err != nil {
		return clean.Refuse(turn.CodeDeniedAddress)
	}
	if _, ok := own[addr]; ok {
		return clean.Refuse(turn.CodeDeniedAddress)
	}
	for _, p := range nat64 {
		if p.Contains(addr) {
			return g.Check(embedded(addr, p.Bits())) // an IPv4 address, which no such prefix contains
		}
	}
	return nil
}

// Control is the Control function of a [net.Dialer]. It sees the address that will be connected to, after all resolution
// and redirects. It allows only TCP to checked addresses on ports 80 and 443.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return clean.Refuse(turn.CodeDeniedAddress)
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return clean.Refuse(turn.CodeDeniedAddress)
	}
	if ap.Port() != 80 && ap.Port() != 443 {
		return clean.Refuse(turn.CodeDeniedPort)
	}
	return g.Check(ap.Addr())
}

// machine returns this machine's addresses and its network's translation prefixes.
func (g *Guard) machine() (map[netip.Addr]struct{}, []netip.Prefix, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := timeOf(g.Now)
	if g.own != nil && now.Before(g.till) {
		return g.own, g.nat64, nil
	}
	list := g.Interfaces
	if list == nil {
		list = systemAddrs
	}
	addrs, err := list()
	if err != nil {
		return nil, nil, err
	}
	own := make(map[netip.Addr]struct{}, len(addrs))
	for _, a := range addrs {
		own[a.Unmap().WithZone("")] = struct{}{}
	}
	g.own, g.till = own, now.Add(interfacesTTL)
	return own, g.nat64, nil
}

func systemAddrs() ([]netip.Addr, error) {
	nets, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, n := range nets {
		if p, ok := n.(*net.IPNet); ok {
			if a, ok := netip.AddrFromSlice(p.IP); ok {
				addrs = append(addrs, a)
			}
		}
	}
	return addrs, nil
}

func timeOf(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}

const (
	// nat64TTL is how long a known result is used. If no answer comes within nat64Wait, the next attempt is made after
	// nat64Retry.
	nat64TTL   = time.Hour
	nat64Retry = time.Minute
	nat64Wait  = 500 * time.Millisecond
)

// learnNAT64 finds the prefixes by which this machine's network translates IPv6 to IPv4. An address under such a prefix
// reaches the IPv4 address inside it, which may be private. The well-known name ipv4only.arpa has only IPv4 addresses,
// so an IPv6 answer reveals the prefix (RFC 7050 §3). Most networks give no such answer.
func (g *Guard) learnNAT64(ctx context.Context, r Resolver) {
	now := timeOf(g.Now)
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

// translators returns the prefixes by which addrs were made from the addresses of ipv4only.arpa.
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

// embedded returns the IPv4 address inside addr, for a translation prefix of the given number of bits. Byte 8 is never
// part of it (RFC 6052 §2.2).
func embedded(addr netip.Addr, bits int) netip.Addr {
	b, at := addr.As16(), bits/8
	if at > 8 {
		at-- // after byte 8
	}
	return netip.AddrFrom4([4]byte(slices.Delete(b[:], 8, 9)[at:]))
}
