package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"familiar/internal/context/turn"
	"familiar/internal/test/memnet"
	"familiar/internal/test/webtest"
)

// TestConnections changes the last step of a dial.
func TestConnections(t *testing.T) {
	type dialer = func(ctx context.Context, network, address string) (net.Conn, error)
	for _, c := range []struct {
		name   string
		reason turn.Code
		dial   func(t *testing.T, w *webtest.Web) dialer
	}{
		{"refused", "connect", func(*testing.T, *webtest.Web) dialer {
			return func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused by 10.0.0.1") }
		}},
		{"no answer", "dial_timeout", func(*testing.T, *webtest.Web) dialer {
			return func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		}},
		{"no handshake", "tls_timeout", func(t *testing.T, _ *webtest.Web) dialer {
			return func(context.Context, string, string) (net.Conn, error) {
				near, far := memnet.Pipe() // nothing answers at the other end
				t.Cleanup(func() { far.Close() })
				return near, nil
			}
		}},
		{"clear text on 443", "tls", func(_ *testing.T, w *webtest.Web) dialer {
			return func(ctx context.Context, network, _ string) (net.Conn, error) {
				return w.Dial(ctx, network, "1.1.1.1:80")
			}
		}},
		{"TLS 1.1", "tls", func(t *testing.T, _ *webtest.Web) dialer {
			l := memnet.Listen()
			old := &httptest.Server{Listener: l, Config: &http.Server{ErrorLog: log.New(io.Discard, "", 0)}}
			old.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
			old.StartTLS()
			t.Cleanup(old.Close)
			return l.Dial
		}},
		{"unknown authority", "tls", func(t *testing.T, _ *webtest.Web) dialer { return webtest.InMemory(t, nil).Dial }},
	} {
		t.Run(c.name, virtually(func(t *testing.T) {
			f, _ := open(t, archive(t), quick)
			f.dial = c.dial(t, webtest.InMemory(t, []byte(archive(t))))
			_, err := f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{})
			if !is(err, c.reason) {
				t.Fatalf("got %v, want %s", err, c.reason)
			}
			checkNoLeak(t, err.(*Error))
		}))
	}
}

// TestProxiesAreIgnored sets proxies that do not exist.
func TestProxiesAreIgnored(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	f, w := open(t, archive(t), nil)
	for _, scheme := range []string{"http", "https"} {
		if _, err := f.Fetch(t.Context(), scheme+"://www.example.org/plain.html", Options{}); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	for _, d := range w.Dials() {
		if d == "127.0.0.1:1" {
			t.Error("dialled the proxy")
		}
	}
}
