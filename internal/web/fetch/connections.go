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

	"golang.org/x/sync/semaphore"

	"familiar/internal/context/turn"
)

// connections are the connections of one visit. Hops to the same host may share one. None outlives the visit.
type connections struct {
	ctx       context.Context // the visit's; without it, the transport would let a dial continue alone
	f         *Fetcher
	pins      *Pins
	transport *http.Transport

	mu     sync.Mutex
	closed bool       // guarded by mu
	open   []net.Conn // guarded by mu
	sum    Timings    // guarded by mu

	received  atomic.Int64 // bytes on all connections, including encryption
	atRequest atomic.Int64 // value of received when the latest request was written
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

// receiveWindow is the flow-control window of a stream, in bytes. It is large enough for the largest body to arrive in
// time at a round trip of 200 ms.
const receiveWindow = 1 << 20

func newConnections(ctx context.Context, f *Fetcher, pins *Pins) *connections {
	l := &connections{ctx: ctx, f: f, pins: pins}
	l.transport = &http.Transport{
		Proxy:           nil, // a proxy would resolve names without the guard
		DialContext:     l.dial,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: f.config.RootCAs},
		// Without this, a transport with its own DialContext speaks only HTTP/1.1. The firewalls of many sites let such clients hang.
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    f.limits.tls,
		ResponseHeaderTimeout:  f.limits.header,
		MaxResponseHeaderBytes: f.limits.headers,
		DisableCompression:     true, // decompressed by body, under limits
		// A stream may fill its window before anybody reads, so the window bounds the memory of one fetch. The default
		// is four times larger.
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: receiveWindow},
	}
	return l
}

// close closes all connections, including those that are still being dialled.
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
	d := Dialer{Guard: l.f.guard, Resolver: names, Dial: l.f.dial, Pins: l.pins, Now: l.f.config.Now}
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
		return e // a refusal, even after the deadline
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

// timedResolver records how long its lookups took. One goroutine uses it.
type timedResolver struct {
	Resolver
	took time.Duration
}

func (s *timedResolver) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	began := time.Now()
	defer func() { s.took += time.Since(began) }()
	return s.Resolver.LookupNetIP(ctx, network, host)
}

// limiter bounds how many fetches run at once, in all and per host. A fetch holds at most one host's place at a time, so
// deadlock is impossible.
type limiter struct {
	global  *semaphore.Weighted
	perHost int64

	mu    sync.Mutex
	hosts map[string]*hostLimiter // by canonical host, only those in use; guarded by mu
}

type hostLimiter struct {
	users int // holders and waiters; guarded by limiter.mu
	sem   *semaphore.Weighted
}

// acquire waits for a place among all fetches. The error is ctx's. If it is nil, release must be called once.
func (g *limiter) acquire(ctx context.Context) (release func(), err error) {
	if err := g.global.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	return func() { g.global.Release(1) }, nil
}

// acquireHost waits for a place at host.
func (g *limiter) acquireHost(ctx context.Context, host string) (release func(), err error) {
	g.mu.Lock()
	h, ok := g.hosts[host]
	if !ok {
		h = &hostLimiter{sem: semaphore.NewWeighted(g.perHost)}
		g.hosts[host] = h
	}
	h.users++
	g.mu.Unlock()
	leave := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if h.users--; h.users == 0 {
			delete(g.hosts, host)
		}
	}
	if err := h.sem.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() {
		h.sem.Release(1)
		leave()
	}, nil
}
