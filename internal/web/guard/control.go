package guard

import (
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"familiar/internal/context/turn"
)

// interfacesTTL is how long the list of this machine's own addresses is trusted.
const interfacesTTL = time.Minute

// Guard says which addresses may be dialled from this machine: none that [CheckAddr] refuses, none that the operator
// denies, none of the machine's own, and none that its network would translate into one of those. The zero value is
// ready; it must not be copied after first use and is safe for concurrent use. Fields must not change after first use.
type Guard struct {
	// Deny adds prefixes to the fixed list: addresses by which this machine's network is reached from outside.
	Deny []netip.Prefix
	// Interfaces lists this machine's addresses; nil asks the system. While it fails, nothing may be dialled.
	Interfaces func() ([]netip.Addr, error)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	mu   sync.Mutex
	own  map[netip.Addr]struct{} // guarded by mu; replaced, never changed
	till time.Time               // guarded by mu; when own is to be listed again

	nat64     []netip.Prefix // guarded by mu; replaced, never changed
	nat64Till time.Time      // guarded by mu; when nat64 is to be learnt again
}

// Check returns nil if addr may be dialled, and otherwise a *[Error] that does not name it.
func (g *Guard) Check(addr netip.Addr) error {
	if err := CheckAddr(addr); err != nil {
		return err
	}
	mapped := netip.AddrFrom16(addr.As16()) // an operator may have written a prefix of IPv4 as one of IPv6
	if contains(g.Deny, addr) || contains(g.Deny, mapped) {
		return blocked(turn.CodeDeniedAddress)
	}
	own, nat64, err := g.machine()
	if err != nil {
		return blocked(turn.CodeDeniedAddress)
	}
	if _, ok := own[addr]; ok {
		return blocked(turn.CodeDeniedAddress)
	}
	for _, p := range nat64 {
		if p.Contains(addr) {
			return g.Check(embedded(addr, p.Bits())) // an IPv4 address, which is in no such prefix
		}
	}
	return nil
}

// Control is for [net.Dialer]: it sees the address that is about to be connected to, after every resolution and
// redirect, and refuses all but TCP to checked addresses on ports 80 and 443.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return blocked(turn.CodeDeniedAddress)
	}
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return blocked(turn.CodeDeniedAddress)
	}
	if ap.Port() != 80 && ap.Port() != 443 {
		return blocked(turn.CodeDeniedPort)
	}
	return g.Check(ap.Addr())
}

// machine returns this machine's own addresses and the prefixes by which its network translates.
func (g *Guard) machine() (map[netip.Addr]struct{}, []netip.Prefix, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := clock(g.Now)
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

func clock(now func() time.Time) time.Time {
	if now == nil {
		return time.Now()
	}
	return now()
}
