package webtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sample = `
-- dns --
turns.example.org 93.184.216.40 10.0.0.1,::1
gone.example.org  nxdomain
none.example.org  empty
fail.example.org  fail
hang.example.org  hang
-- example.org/index.html --
<p>root
-- example.org/list?page=2 --
two
-- example.org/list --
one
-- example.org/old.head --
301
Location: /
-- example.org/notes.txt --
notes
-- example.org/typeless.head --
Content-Type:
-- example.org/typeless --
text
-- example.org/packed.head --
!gzip
-- example.org/packed --
packed
-- example.org/size.head --
!size 100000
-- example.org/endless.head --
!endless
-- example.org/drip.head --
!drip 1 1ms
-- example.org/drip --
abc
-- example.org/flood.head --
!flood 5000
-- example.org/reset.head --
!reset
-- example.org/break.head --
!break 2
-- example.org/break --
abcdef
-- example.org/hang.head --
!hang
-- example.org/delay.head --
!delay 1ms
-- example.org/delay --
late
`

// browse returns a client that trusts the web's authority and names.
func browse(t *testing.T, w *Web) *http.Client {
	tr := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: w.RootCAs()},
		ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			addrs, err := w.LookupNetIP(ctx, "ip", host)
			if err != nil {
				return nil, err
			}
			return w.Dial(ctx, network, net.JoinHostPort(addrs[0].String(), port))
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestPages(t *testing.T) {
	testPages(t, New(t, []byte(sample)))
	synctest.Test(t, func(t *testing.T) { testPages(t, InMemory(t, []byte(sample))) })
}

func testPages(t *testing.T, w *Web) {
	w.Handle("odd.example.org/x", func(rw http.ResponseWriter, r *http.Request) { fmt.Fprint(rw, "odd ", r.Proto) })
	c := browse(t, w)
	for _, p := range []struct {
		path, header, body string
		status             int
	}{
		{"example.org/", "text/html; charset=utf-8", "<p>root\n", 200},
		{"example.org/index.html", "text/html; charset=utf-8", "<p>root\n", 200},
		{"example.org/list?page=2", "text/html; charset=utf-8", "two\n", 200},
		{"example.org/list?page=3", "text/html; charset=utf-8", "one\n", 200},
		{"example.org/old", "text/html; charset=utf-8", "", 301},
		{"example.org/notes.txt", "text/plain; charset=utf-8", "notes\n", 200},
		{"example.org/typeless", "", "text\n", 200},
		{"example.org/packed", "text/html; charset=utf-8", "packed\n", 200},
		{"example.org/drip", "text/html; charset=utf-8", "abc\n", 200},
		{"example.org/delay", "text/html; charset=utf-8", "late\n", 200},
		{"example.org/missing", "text/plain; charset=utf-8", "no such page\n", 404},
	} {
		for _, scheme := range []string{"http://", "https://"} {
			resp, err := c.Get(scheme + p.path)
			if err != nil {
				t.Errorf("%s: %v", p.path, err)
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(body) != p.body || resp.StatusCode != p.status || resp.Header.Get("Content-Type") != p.header {
				t.Errorf("%s%s: %d %q %q, %v", scheme, p.path, resp.StatusCode, resp.Header.Get("Content-Type"), body, err)
			}
			if n := w.Hits(scheme + p.path); n != 1 {
				t.Errorf("%s%s: %d hits, want 1", scheme, p.path, n)
			}
			if want := map[string]string{"http://": "HTTP/1.1", "https://": "HTTP/2.0"}[scheme]; resp.Proto != want {
				t.Errorf("%s%s: %s, want %s", scheme, p.path, resp.Proto, want)
			}
		}
	}
	resp, err := c.Get("https://odd.example.org/x")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "odd HTTP/2.0" {
		t.Errorf("handler: %q", body)
	}
}

func TestBehaviours(t *testing.T) {
	testBehaviours(t, New(t, []byte(sample)))
	synctest.Test(t, func(t *testing.T) { testBehaviours(t, InMemory(t, []byte(sample))) })
}

func testBehaviours(t *testing.T, w *Web) {
	c := browse(t, w)
	for _, scheme := range []string{"http", "https"} {
		read := func(path string, most int64) (int, error) {
			resp, err := c.Get(scheme + "://example.org/" + path)
			if err != nil {
				return 0, err
			}
			defer resp.Body.Close()
			if path == "flood" && len(resp.Header) < 5 {
				t.Errorf("%s: flood has %d headers", scheme, len(resp.Header))
			}
			body, err := io.ReadAll(io.LimitReader(resp.Body, most))
			return len(body), err
		}
		if n, err := read("size", 1<<20); n != 100_000 || err != nil {
			t.Errorf("%s: size: %d, %v", scheme, n, err)
		}
		if n, err := read("endless", 1<<20); n != 1<<20 || err != nil {
			t.Errorf("%s: endless: %d, %v", scheme, n, err)
		}
		if _, err := read("flood", 1); err != nil {
			t.Errorf("%s: flood: %v", scheme, err)
		}
		if _, err := read("reset", 1); err == nil {
			t.Errorf("%s: reset answered", scheme)
		}
		if n, err := read("break", 100); n != 2 || err == nil {
			t.Errorf("%s: break: %d, %v", scheme, n, err)
		}
	}
}

func TestHangEndsWithClose(t *testing.T) {
	w := New(t, []byte(sample))
	c := browse(t, w)
	time.AfterFunc(20*time.Millisecond, w.Close)
	if resp, err := c.Get("http://example.org/hang"); err == nil {
		resp.Body.Close()
		t.Error("a page that hangs answered")
	}
}

func TestNames(t *testing.T) {
	w := New(t, []byte(sample))
	lookup := func(host string) string {
		addrs, err := w.LookupNetIP(t.Context(), "ip", host)
		var e *net.DNSError
		if errors.As(err, &e) {
			return e.Err
		}
		return strings.Trim(fmt.Sprint(addrs), "[]")
	}
	for _, want := range []string{"93.184.216.40", "10.0.0.1 ::1", "10.0.0.1 ::1"} {
		if got := lookup("Turns.example.org."); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if n := w.Lookups("turns.example.org"); n != 3 {
		t.Errorf("%d lookups, want 3", n)
	}
	for host, want := range map[string]string{"gone.example.org": "no such host", "none.example.org": "", "fail.example.org": "server misbehaving",
		"nobody.example.org": "no such host", "example.org": "93.184.215.1"} {
		if got := lookup(host); got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := w.LookupNetIP(ctx, "ip", "hang.example.org"); err == nil {
		t.Error("a name that hangs was answered")
	}
}

func TestDial(t *testing.T) {
	w := New(t, nil)
	for address, ok := range map[string]bool{"10.0.0.1:80": true, "[::1]:443": true, "1.2.3.4:22": false, "example.org:80": false} {
		c, err := w.Dial(t.Context(), "tcp", address)
		if (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
		if err == nil {
			c.Close()
		}
	}
	if n := len(w.Dials()); n != 4 {
		t.Errorf("%d dials recorded, want 4", n)
	}
}

func TestBadArchive(t *testing.T) {
	for _, archive := range []string{
		"-- dns --\nexample.org\n",
		"-- dns --\nexample.org 1.2.3\n",
		"-- example.org/a.head --\n!dance\n",
		"-- example.org/a.head --\n!delay long\n",
		"-- example.org/a.head --\n!drip\n",
		"-- example.org/a.head --\nwords\n",
	} {
		if w, err := start([]byte(archive), onLoopback); err == nil {
			w.Close()
			t.Errorf("%q was accepted", archive)
		}
	}
}
