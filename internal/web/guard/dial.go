package guard

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

const (
	// stagger is how long an address has for itself before the next is tried beside it (RFC 8305 §5).
	stagger = 250 * time.Millisecond
	// maxAttempts bounds how many of a host's addresses are tried.
	maxAttempts = 6
)

// Resolver is the part of [net.Resolver] that a [Dialer] needs.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to public hosts by name. It resolves the name, checks every answer, refuses the host if a single
// one may not be dialled, and dials only what it checked, never the name. All fields but Pins and Now are required.
type Dialer struct {
	Guard    *Guard
	Resolver Resolver
	// Dial connects to a literal address such as "93.184.216.34:443". Outside tests it is the DialContext of a
	// net.Dialer whose Control is the Guard's, so that the address is checked once more on its way to connect(2).
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Pins, if not nil, holds on to a host's checked addresses.
	Pins *Pins
	// Now is the clock for Pins; nil is time.Now.
	Now func() time.Time
}

// DialContext connects to address, a canonical host and port 80 or 443, over TCP. It fits http.Transport. The caller
// bounds it by ctx. The error is a *[Error]; whoever needs to know that time ran out asks ctx.
func (d *Dialer) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	if port != "80" && port != "443" {
		return nil, blocked(turn.CodeDeniedPort)
	}
	if name, err := Host(host); err != nil {
		return nil, err
	} else if name != host {
		return nil, blocked(turn.CodeInvalidTarget)
	}
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	return d.race(ctx, addrs, port)
}

// lookup returns host's addresses, all of them checked just now.
func (d *Dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	now := clock(d.Now)
	addrs, pinned := d.Pins.get(host, now)
	if !pinned {
		var err error
		// The final dot keeps the system from trying its search domains first, where a name may mean something local.
		addrs, err = d.Resolver.LookupNetIP(ctx, "ip", host+".")
		if err != nil || len(addrs) == 0 {
			return nil, blocked(turn.CodeDNS)
		}
		addrs = slices.Clone(addrs)
		for i, a := range addrs {
			addrs[i] = a.Unmap() // the system's resolver may dress IPv4 as IPv6
		}
		if slices.ContainsFunc(addrs, netip.Addr.Is6) {
			d.Guard.learnNAT64(ctx, d.Resolver)
		}
	}
	for _, a := range addrs {
		if err := d.Guard.Check(a); err != nil {
			return nil, err
		}
	}
	if pinned {
		return addrs, nil
	}
	addrs = interleave(addrs)
	return d.Pins.put(host, addrs, now), nil
}

// interleave alternates between the families, IPv6 first (RFC 8305 §4), and keeps as many as are tried.
func interleave(addrs []netip.Addr) []netip.Addr {
	var v4, v6, out []netip.Addr
	for _, a := range addrs {
		if a.Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	for i := range max(len(v4), len(v6)) {
		if i < len(v6) {
			out = append(out, v6[i])
		}
		if i < len(v4) {
			out = append(out, v4[i])
		}
	}
	return out[:min(len(out), maxAttempts)]
}

// race dials addrs one after the other, the next as soon as one fails or has been slow, and returns the first
// connection. It does not return before every attempt has ended; the others are cancelled and closed.
func (d *Dialer) race(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan net.Conn, len(addrs))
	attempt := func(a netip.Addr) {
		c, err := d.Dial(ctx, "tcp", net.JoinHostPort(a.String(), port))
		if err != nil {
			c = nil
		}
		results <- c
	}
	var won net.Conn
	slow := time.NewTimer(0)
	defer slow.Stop()
	for next, running := 0, 0; running > 0 || (won == nil && next < len(addrs) && ctx.Err() == nil); {
		select {
		case <-slow.C:
			if won == nil && next < len(addrs) {
				go attempt(addrs[next])
				next, running = next+1, running+1
				slow.Reset(stagger)
			}
		case c := <-results:
			running--
			switch {
			case c == nil:
				slow.Reset(0)
			case won == nil:
				won = c
				cancel()
			default:
				c.Close()
			}
		}
	}
	if won == nil {
		return nil, blocked(turn.CodeConnect)
	}
	return won, nil
}
