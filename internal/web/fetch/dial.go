package fetch

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

const (
	// stagger is how long an attempt runs before the next address is tried in parallel (RFC 8305 §5).
	stagger = 250 * time.Millisecond
	// maxAttempts is how many of a host's addresses are tried.
	maxAttempts = 6
)

// Resolver is the part of [net.Resolver] that a [Dialer] needs.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer connects to public hosts by name. It resolves the name and checks every answer. If one of them may not be
// dialled, it refuses the host. It dials only checked addresses, never the name, so that DNS rebinding cannot change the
// address. All fields except Pins and Now are required.
type Dialer struct {
	Guard    *Guard
	Resolver Resolver
	// Dial connects to a literal address such as "93.184.216.34:443". Outside tests, it is the DialContext of a net.Dialer with the Guard's
	// Control. So the address is checked again just before connect(2).
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Pins, if not nil, keeps the checked addresses of hosts.
	Pins *Pins
	// Now is the clock for Pins; nil is time.Now.
	Now func() time.Time
}

// DialContext connects to address over TCP. address is a canonical host with port 80 or 443. The method fits
// http.Transport. Only ctx limits its time. The error is a *[Error]. Callers that need to know whether time ran out must
// check ctx.
func (d *Dialer) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, clean.Refuse(turn.CodeInvalidTarget)
	}
	if port != "80" && port != "443" {
		return nil, clean.Refuse(turn.CodeDeniedPort)
	}
	if name, err := clean.Host(host); err != nil {
		return nil, err
	} else if name != host {
		return nil, clean.Refuse(turn.CodeInvalidTarget)
	}
	addrs, err := d.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	return d.race(ctx, addrs, port)
}

// lookup returns host's addresses, all just checked.
func (d *Dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	now := timeOf(d.Now)
	addrs, pinned := d.Pins.get(host, now)
	if !pinned {
		var err error
		// The final dot prevents the system from trying its search domains first, where a name may be local.
		addrs, err = d.Resolver.LookupNetIP(ctx, "ip", host+".")
		if err != nil || len(addrs) == 0 {
			return nil, clean.Refuse(turn.CodeDNS)
		}
		addrs = slices.Clone(addrs)
		for i, a := range addrs {
			addrs[i] = a.Unmap() // the system's resolver may return IPv4 in IPv6 form
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

// interleave alternates between address families, IPv6 first (RFC 8305 §4), and returns at most maxAttempts addresses.
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

// race dials addrs in order and returns the first connection. It starts the next attempt when one fails or is slow. It
// cancels the other attempts, closes their connections, and waits for them before it returns.
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
	next, running := 0, 0
	slow := time.NewTimer(stagger)
	defer slow.Stop()
	begin := func() {
		if won == nil && next < len(addrs) && ctx.Err() == nil {
			go attempt(addrs[next])
			next, running = next+1, running+1
			slow.Reset(stagger)
		}
	}
	for begin(); running > 0; {
		select {
		case <-slow.C:
			begin()
		case c := <-results:
			running--
			switch {
			case c == nil:
				begin()
			case won == nil:
				won = c
				cancel()
			default:
				c.Close()
			}
		}
	}
	if won == nil {
		return nil, clean.Refuse(turn.CodeConnect)
	}
	return won, nil
}

const (
	pinTTL  = time.Minute
	maxPins = 64
)

// Pins keeps the checked addresses of one turn's hosts for 60 seconds each. So DNS rebinding cannot change an address between two lookups.
// It keeps at most 64 hosts and drops the oldest. The zero value and a nil *Pins are ready. A nil *Pins keeps nothing. Pins is safe for
// concurrent use.
type Pins struct {
	mu sync.Mutex
	m  map[string]pin // by canonical host; guarded by mu
}

type pin struct {
	addrs []netip.Addr // never changed
	till  time.Time
}

func (p *Pins) get(host string, now time.Time) ([]netip.Addr, bool) {
	if p == nil {
		return nil, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.m[host]
	return e.addrs, ok && now.Before(e.till)
}

// put pins addrs and returns the pinned addresses. If two lookups run at the same time, the first result is kept.
func (p *Pins) put(host string, addrs []netip.Addr, now time.Time) []netip.Addr {
	if p == nil {
		return addrs
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.m[host]; ok && now.Before(e.till) {
		return e.addrs
	}
	if p.m == nil {
		p.m = make(map[string]pin)
	}
	delete(p.m, host)
	for len(p.m) >= maxPins {
		p.dropOldest()
	}
	p.m[host] = pin{addrs: addrs, till: now.Add(pinTTL)}
	return addrs
}

func (p *Pins) dropOldest() {
	var oldest string
	for host, e := range p.m {
		if oldest == "" || e.till.Before(p.m[oldest].till) {
			oldest = host
		}
	}
	delete(p.m, oldest)
}
