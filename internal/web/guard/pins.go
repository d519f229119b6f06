package guard

import (
	"net/netip"
	"sync"
	"time"
)

const (
	pinTTL  = time.Minute
	maxPins = 64
)

// Pins holds the checked addresses of the hosts of one turn for 60 seconds each, so that a name server cannot show one
// address to a check and another to a later look. It keeps at most 64 hosts and drops the oldest. The zero value and a
// nil *Pins are ready; the latter holds nothing. Safe for concurrent use.
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

// put pins addrs and returns what is pinned: of two looks at the same time, the first counts.
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
