package discordtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// NewVirtual starts a server for the virtual time of a testing/synctest bubble. Clients reach it only through Dial, in memory: a goroutine
// that waits for a socket would stop virtual time.
func NewVirtual(tb testing.TB) *Server {
	s := empty()
	s.network = &network{dialled: make(chan net.Conn), closed: make(chan struct{})}
	s.http = &httptest.Server{Listener: s.network, Config: &http.Server{Handler: http.HandlerFunc(s.serve)}}
	s.http.Start()
	s.begin(tb)
	return s
}

// Dial connects to a server that NewVirtual made. It fits http.Transport and websocket.Dialer.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if err := s.network.plugged(ctx); err != nil {
		return nil, err
	}
	near, far := newPipe()
	select {
	case s.network.dialled <- far:
		s.network.keep(near)
		return near, nil
	case <-s.network.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Unplug disconnects the network: connections break, and new ones are refused or, with hang, wait for Plug.
func (s *Server) Unplug(hang bool) {
	n := s.network
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away, n.hang = make(chan struct{}), hang
	for _, c := range n.near {
		c.Close()
	}
	n.near = nil
}

// Plug reconnects the network.
func (s *Server) Plug() {
	s.network.mu.Lock()
	defer s.network.mu.Unlock()
	close(s.network.away)
	s.network.away = nil
}

// network is a listener in memory.
type network struct {
	dialled chan net.Conn
	once    sync.Once
	closed  chan struct{}

	mu   sync.Mutex
	near []*pipe       // the clients' ends; guarded by mu, like the field below
	away chan struct{} // closed by Plug; nil: the network is up
	hang bool
}

// plugged waits until the network is up.
func (n *network) plugged(ctx context.Context) error {
	n.mu.Lock()
	away, hang := n.away, n.hang
	n.mu.Unlock()
	switch {
	case away == nil:
		return nil
	case !hang:
		return syscall.ECONNREFUSED
	}
	select {
	case <-away:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *network) keep(p *pipe) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.near = append(n.near, p)
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.dialled:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *network) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "127.0.0.1:1" } // loopback, for which clients use no proxy

// newPipe makes both ends of a connection. Unlike those of net.Pipe, they buffer what is written, as sockets do.
func newPipe() (near, far *pipe) {
	there, back := newStream(), newStream()
	return &pipe{in: back, out: there}, &pipe{in: there, out: back}
}

type pipe struct{ in, out *stream }

func (p *pipe) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.write(b) }

func (p *pipe) Close() error {
	p.in.end(net.ErrClosed)
	p.out.end(io.EOF)
	return nil
}

func (p *pipe) LocalAddr() net.Addr                { return address{} }
func (p *pipe) RemoteAddr() net.Addr               { return address{} }
func (p *pipe) SetWriteDeadline(time.Time) error   { return nil } // a write never waits
func (p *pipe) SetReadDeadline(at time.Time) error { return p.in.setDeadline(at) }
func (p *pipe) SetDeadline(at time.Time) error     { return p.in.setDeadline(at) }

// stream is one direction of a connection.
type stream struct {
	mu       sync.Mutex
	changed  *sync.Cond   // wakes readers; guarded by mu, like all fields below
	data     bytes.Buffer // written and not read yet
	ended    error        // what a read returns when there is no more data; nil: more may come
	deadline time.Time    // of reads; zero: none
	timer    *time.Timer  // wakes the reader at the deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.ended == net.ErrClosed:
			return 0, s.ended
		case !s.deadline.IsZero() && !time.Now().Before(s.deadline):
			return 0, os.ErrDeadlineExceeded
		case s.data.Len() > 0:
			return s.data.Read(b)
		case s.ended != nil:
			return 0, s.ended
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return 0, io.ErrClosedPipe
	}
	s.changed.Broadcast()
	return s.data.Write(b)
}

// end closes the stream. The reader's side passes net.ErrClosed, the writer's side io.EOF.
func (s *stream) end(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != net.ErrClosed {
		s.ended = why
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.changed.Broadcast()
}

func (s *stream) setDeadline(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = at
	if s.timer != nil {
		s.timer.Stop()
	}
	// A deadline in the past needs no timer. Two timers of a bubble that end as they are made can crash the race detector of Go 1.26.
	if wait := time.Until(at); !at.IsZero() && wait > 0 {
		s.timer = time.AfterFunc(wait, s.changed.Broadcast)
	}
	s.changed.Broadcast()
	return nil
}

// NewTLS is New behind TLS, for the name localhost, with a certificate from config. Like Discord it speaks HTTP/2 too, unless config's
// protocols exclude it.
func NewTLS(tb testing.TB, config *tls.Config) *Server {
	s := empty()
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.TLS, s.http.EnableHTTP2 = config, true
	s.http.StartTLS()
	s.http.URL = strings.Replace(s.http.URL, "127.0.0.1", "localhost", 1)
	s.begin(tb)
	return s
}

// CutOff makes a server on loopback unreachable: connections break and new ones are refused. Sessions keep their events for a RESUME.
func (s *Server) CutOff() {
	s.http.Listener.Close()
	s.gateway.shut()
	s.http.CloseClientConnections()
}

// Reopen ends CutOff.
func (s *Server) Reopen() error {
	l, err := net.Listen("tcp", s.http.Listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen again: %w", err)
	}
	if s.http.TLS != nil {
		l = tls.NewListener(l, s.http.TLS)
	}
	s.http.Listener = l // Close closes it
	s.conns.Go(func() { _ = s.http.Config.Serve(l) })
	return nil
}

// WaitReply waits for the bot's next message in a channel. It returns each message once, as it is at that moment.
func (s *Server) WaitReply(channel string, timeout time.Duration) (Message, bool) {
	var found Message
	ok := s.until(timeout, func() bool {
		c := s.find(channel)
		own := 0
		for _, m := range c.messages {
			if !m.Own {
				continue
			}
			if own++; own > c.taken {
				c.taken, found = own, m.Message
				return true
			}
		}
		return false
	})
	return found, ok
}

// bump wakes everything that waits for a change. The caller must hold mu.
func (s *Server) bump() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// until waits for a condition, which it checks under mu, and reports whether the condition became true in time.
func (s *Server) until(timeout time.Duration, ok func() bool) bool {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		s.mu.Lock()
		done, changed := ok(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		}
	}
}
