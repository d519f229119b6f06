package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/guard"
)

// connections are those of one visit. Hops to the same host may share one; none outlives the visit.
type connections struct {
	ctx       context.Context // the visit's; the transport's own would let a dial run on alone
	f         *Fetcher
	pins      *guard.Pins
	transport *http.Transport

	mu     sync.Mutex
	closed bool       // guarded by mu
	open   []net.Conn // guarded by mu
	sum    Timings    // guarded by mu

	received  atomic.Int64 // bytes, encryption included, on all connections
	atRequest atomic.Int64 // received when the latest request was written
}

// countingConn counts the bytes that are read from a connection.
type countingConn struct {
	net.Conn
	received *atomic.Int64
}

func (m countingConn) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p)
	m.received.Add(int64(n))
	return n, err
}

// receiveWindow is the flow-control window of a stream, in bytes: enough for a body of the largest size in time at a
// round trip of 200 ms.
const receiveWindow = 1 << 20

func newConnections(ctx context.Context, f *Fetcher, pins *guard.Pins) *connections {
	l := &connections{ctx: ctx, f: f, pins: pins}
	l.transport = &http.Transport{
		Proxy:           nil, // a proxy would resolve names out of the guard's sight
		DialContext:     l.dial,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.config.RootCAs},
		// Without it a transport with its own DialContext speaks HTTP/1.1 only, and firewalls in front of many sites
		// let such clients hang.
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    f.limits.tls,
		ResponseHeaderTimeout:  f.limits.header,
		MaxResponseHeaderBytes: f.limits.headers,
		DisableCompression:     true, // unpacked by us, under limits
		// A stream may fill its window before anybody reads: this much of the memory of one fetch, by default four times it.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: receiveWindow},
	}
	return l
}

// close ends every connection, also of dials that are still under way.
func (l *connections) close() {
	l.transport.CloseIdleConnections()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.open {
		c.Close()
	}
}

func (l *connections) dial(_ context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.f.limits.dial)
	defer cancel()
	began := time.Now()
	names := &timedResolver{Resolver: l.f.config.Resolver}
	d := guard.Dialer{Guard: l.f.guard, Resolver: names, Dial: l.f.dial, Pins: l.pins, Now: l.f.config.Now}
	conn, err := d.DialContext(ctx, network, address)
	l.addTiming(func(t *Timings) {
		t.DNS += names.took
		t.Connect += time.Since(began) - names.took
	})
	if err != nil {
		return nil, l.dialError(ctx, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		conn.Close()
		return nil, fail(turn.CodeCanceled)
	}
	l.open = append(l.open, conn)
	return countingConn{conn, &l.received}, nil
}

func (l *connections) dialError(ctx context.Context, err error) *Error {
	e := fromGuard(err)
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case e.Reason != turn.CodeDNS && e.Reason != turn.CodeConnect:
		return e // a refusal, whatever the clock says
	case l.ctx.Err() != nil:
		return fromContext(l.ctx)
	case late && e.Reason == turn.CodeDNS:
		return fail(turn.CodeDNSTimeout)
	case late:
		return fail(turn.CodeDialTimeout)
	}
	return e
}

func (l *connections) addTiming(add func(*Timings)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	add(&l.sum)
}

func (l *connections) timings() Timings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sum
}

// timedResolver is a resolver that records how long it took. It is used by one goroutine.
type timedResolver struct {
	guard.Resolver
	took time.Duration
}

func (s *timedResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	began := time.Now()
	defer func() { s.took += time.Since(began) }()
	return s.Resolver.LookupNetIP(ctx, network, host)
}
