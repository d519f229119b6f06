package api

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"familiar/internal/test/memnet"
)

// A silent connection, for example one that a router has forgotten, is closed soon. Otherwise all requests would use it
// for as long as TCP retries.
func TestADeadConnectionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		far := &httptest.Server{Listener: l, EnableHTTP2: true, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Proto)
		})}}
		far.StartTLS()
		defer far.Close()
		client := Client(Service{Origin: far.URL})
		defer client.CloseIdleConnections()
		roots := x509.NewCertPool()
		roots.AddCert(far.Certificate())
		var latest atomic.Pointer[deadly]
		next := client.Transport.(*transport).next
		next.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"}
		next.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := l.Dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			latest.Store(&deadly{Conn: conn, closed: make(chan struct{})})
			return latest.Load(), nil
		}
		get := func() (string, error) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			r, _ := http.NewRequestWithContext(ctx, http.MethodGet, far.URL, nil)
			res, err := client.Do(r)
			if err != nil {
				return "", err
			}
			defer res.Body.Close()
			proto, err := io.ReadAll(res.Body)
			return string(proto), err
		}
		if proto, err := get(); err != nil || proto != "HTTP/2.0" {
			t.Fatalf("%q, %v", proto, err)
		}
		latest.Load().dead.Store(true)
		if _, err := get(); err == nil {
			t.Error("an answer came over a dead connection")
		}
		time.Sleep(20 * time.Second)
		if _, err := get(); err != nil {
			t.Errorf("half a minute later: %v", err)
		}
	})
}

// deadly is a connection that can die: it then delivers nothing, and writes are lost.
type deadly struct {
	net.Conn
	dead   atomic.Bool
	once   sync.Once // closes closed
	closed chan struct{}
}

func (c *deadly) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.dead.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (c *deadly) Write(b []byte) (int, error) {
	if c.dead.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (c *deadly) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
