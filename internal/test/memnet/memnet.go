// Package memnet is a network in memory, for tests in virtual time. In a bubble of testing/synctest a goroutine that waits for one of its
// connections is durably blocked. One that waits for a socket is not.
//
// [Listen] makes a [Listener] whose Dial connects to it. A connection behaves like one over TCP. A buffer holds what is not read yet, each
// direction ends on its own, and deadlines apply.
package memnet

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Listener accepts the connections that its Dial makes.
type Listener struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once // closes closed
}

// Listen starts a listener. The caller must close it.
func Listen() *Listener {
	return &Listener{dialled: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial connects to the listener, whatever the address. It has the signature of net.Dialer.DialContext.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := Pipe()
	select {
	case l.dialled <- far:
		return near, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.dialled:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *Listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "memory.invalid" }

// Conn is one end of a connection.
type Conn struct {
	in, out *stream
}

// Pipe returns both ends of a connection.
func Pipe() (near, far *Conn) {
	a, b := newStream(), newStream()
	return &Conn{in: a, out: b}, &Conn{in: b, out: a}
}

func (c *Conn) Read(p []byte) (int, error)  { return c.in.read(p) }
func (c *Conn) Write(p []byte) (int, error) { return c.out.write(p) }

// Close ends both directions. The other end reads what was written before, then the end; its writes fail.
func (c *Conn) Close() error {
	c.in.abandon()
	c.out.finish()
	return nil
}

// CloseWrite ends the direction in which this end writes.
func (c *Conn) CloseWrite() error {
	c.out.finish()
	return nil
}

func (c *Conn) LocalAddr() net.Addr  { return address{} }
func (c *Conn) RemoteAddr() net.Addr { return address{} }

func (c *Conn) SetDeadline(t time.Time) error {
	c.in.reading.set(c.in, t)
	c.out.writing.set(c.out, t)
	return nil
}

func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.reading.set(c.in, t)
	return nil
}

func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.writing.set(c.out, t)
	return nil
}

// room is how many unread bytes the buffer holds.
const room = 64 << 10

// stream is one direction of a connection.
type stream struct {
	mu        sync.Mutex
	changed   *sync.Cond // signals changes of the fields below; its lock is mu
	waiting   []byte     // written and not yet read; guarded by mu
	finished  bool       // nothing more will be written; guarded by mu
	abandoned bool       // nobody will read; guarded by mu
	reading   deadline   // guarded by mu
	writing   deadline   // guarded by mu
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.abandoned:
			return 0, net.ErrClosed
		case s.reading.over:
			return 0, os.ErrDeadlineExceeded
		case len(s.waiting) > 0:
			n := copy(p, s.waiting)
			s.waiting = s.waiting[n:]
			s.changed.Broadcast()
			return n, nil
		case s.finished:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.finished:
			return n, net.ErrClosed
		case s.writing.over:
			return n, os.ErrDeadlineExceeded
		case s.abandoned:
			return n, io.ErrClosedPipe
		case len(p) == 0:
			return n, nil
		}
		if some := min(len(p), room-len(s.waiting)); some > 0 {
			s.waiting = append(s.waiting, p[:some]...)
			p, n = p[some:], n+some
			s.changed.Broadcast()
			continue
		}
		s.changed.Wait()
	}
}

func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = true
	s.writing.stop()
	s.changed.Broadcast()
}

func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned, s.waiting = true, nil
	s.reading.stop()
	s.changed.Broadcast()
}

// deadline is a deadline for reads or writes of a stream. Its fields are guarded by the stream's lock.
type deadline struct {
	timer *time.Timer // the current timer; nil if there is none
	over  bool
}

// set replaces the deadline; the zero time removes it.
func (d *deadline) set(s *stream, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	d.over = !t.IsZero() && time.Until(t) <= 0
	if !t.IsZero() && !d.over {
		var timer *time.Timer
		timer = time.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.timer == timer {
				d.over = true
				s.changed.Broadcast()
			}
		})
		d.timer = timer
	}
	s.changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}
