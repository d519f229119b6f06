package llmtest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// InMemory is New without a network: a client reaches the server through [Server.Dial]. In a bubble of testing/synctest
// time is virtual for both.
func InMemory(tb testing.TB) *Server {
	tb.Helper()
	s := newServer()
	l := &listener{dialled: make(chan net.Conn), closed: make(chan struct{})}
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: s.handler()}}
	srv.Start()
	tb.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	s.URL, s.Dial = srv.URL+"/v1", l.dial
	return s
}

// listener accepts what its dial connects.
type listener struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once // closes closed
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.dialled <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return address{} }

// address is that of the server in URLs.
type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "model.invalid" }
