package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/test/memnet"
	"familiar/internal/test/wait"
	"familiar/internal/test/webtest"
)

// speaker is a server that reads a request and then breaks HTTP on the connection.
type speaker func(c halfCloser, gone <-chan struct{})

// halfCloser is a connection whose directions can be closed separately.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// network is where a server listens: in memory or on loopback.
type network func() (net.Listener, func(ctx context.Context, network, address string) (net.Conn, error))

func inMemory() (net.Listener, func(ctx context.Context, network, address string) (net.Conn, error)) {
	l := memnet.Listen()
	return l, l.Dial
}

func onLoopback() (net.Listener, func(ctx context.Context, network, address string) (net.Conn, error)) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	return l, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}
}

// serve calls say for every accepted connection.
func (say speaker) serve(t *testing.T, l net.Listener) {
	t.Helper()
	gone := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					say(c.(halfCloser), gone)
				}
			})
		}
	})
	t.Cleanup(func() {
		close(gone)
		l.Close()
		running.Wait()
	})
}

// repeat sends piece after each pause, until the other end or the test ends.
func repeat(c net.Conn, gone <-chan struct{}, piece string, pause time.Duration) {
	for {
		if _, err := io.WriteString(c, piece); err != nil {
			return
		}
		select {
		case <-gone:
			return
		case <-time.After(pause):
		}
	}
}

// halfClosed sends text and closes only its own direction of the connection.
func halfClosed(text string) speaker {
	return func(c halfCloser, gone <-chan struct{}) {
		io.WriteString(c, text)
		c.CloseWrite()
		<-gone
	}
}

// after sends text and then piece forever.
func after(text, piece string, pause time.Duration) speaker {
	return func(c halfCloser, gone <-chan struct{}) {
		io.WriteString(c, text)
		repeat(c, gone, piece, pause)
	}
}

const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

// hostile lists servers that break HTTP, and the expected results.
var hostile = []struct {
	name   string
	reason turn.Code
	say    speaker
}{
	{"half-closed at once", "transport", halfClosed("")},
	{"half-closed in the status", "malformed", halfClosed("HTTP/1.1 20")},
	{"half-closed in the headers", "transport", halfClosed(head)},
	{"half-closed in a body", "transport", halfClosed(head + "Content-Length: 1000\r\n\r\n<p>half")},
	{"half-closed in a chunk", "transport", halfClosed(head + "Transfer-Encoding: chunked\r\n\r\n100\r\n<p>half")},
	{"half-closed between chunks", "transport", halfClosed(head + "Transfer-Encoding: chunked\r\n\r\n7\r\n<p>half\r\n")},
	{"half-closed in a packed body", "transport", halfClosed(head + "Content-Encoding: gzip\r\n\r\n" + packed("<p>" + strings.Repeat("half ", 99))[:20])},
	{"a body that ends with the connection", "", halfClosed(head + "\r\n<p>whole")},

	{"status drip", "header_timeout", after("", "H", 50*time.Millisecond)},
	{"header drip", "header_timeout", after(head, "X: y\r\n", 50*time.Millisecond)},
	{"one header without end", "header_flood", after(head+"X: ", strings.Repeat("x", 1000), 0)},
	{"headers without end", "header_flood", after(head, "X: y\r\n"+strings.Repeat("Y: z\r\n", 100), 0)},
	{"early hints without end", "header_flood", after("", "HTTP/1.1 103 Early Hints\r\n\r\n", 0)},
	{"early hints now and then", "header_timeout", after("", "HTTP/1.1 103 Early Hints\r\n\r\n", 50*time.Millisecond)},
	{"trailers without end", "header_flood", after(head+"Transfer-Encoding: chunked\r\n\r\n7\r\n<p>text\r\n0\r\n", "X: "+strings.Repeat("y", 1000)+"\r\n", 0)},
	{"trailer drip", "too_slow", after(head+"Transfer-Encoding: chunked\r\n\r\n7\r\n<p>text\r\n0\r\n", "X: y\r\n", 50*time.Millisecond)},
	{"chunk size without end", "malformed", after(head+"Transfer-Encoding: chunked\r\n\r\n1;", strings.Repeat("x", 1000), 0)},
	{"more around chunks than in them", "malformed", after(head+"Transfer-Encoding: chunked\r\n\r\n", "1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 0)},
	{"chunk without a size", "malformed", after(head+"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", "a", time.Second)},

	{"body drip", "too_slow", after(head+"\r\n", "a", 20*time.Millisecond)},
	{"body without end", "too_large", after(head+"\r\n", strings.Repeat("endless ", 10_000), 0)},
	{"silence in a body", "too_slow", after(head+"Content-Length: 1000\r\n\r\n<p>", "", time.Second)},
	{"bomb", "decompression_bomb", after(head+"Content-Encoding: gzip\r\n\r\n"+packed(strings.Repeat("0", 4_000_000)), "", time.Second)},
	{"empty packs without end", "too_large", after(head+"Content-Encoding: gzip\r\n\r\n", strings.Repeat(packed(""), 1000), 0)},

	{"another protocol", "malformed", after("SSH-2.0-OpenSSH_9.9\r\n", "", time.Second)},
	{"two lengths", "malformed", halfClosed(head + "Content-Length: 7\r\nContent-Length: 8\r\n\r\n<p>text")},
	{"a length below zero", "malformed", halfClosed(head + "Content-Length: -1\r\n\r\n<p>text")},
	{"a switch of protocols", "unexpected_status", halfClosed("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")},
	{"a redirect with a body without end", "too_many_redirects", after("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", strings.Repeat("x", 10_000), 0)},
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// fetchHostile reads a page of such a server with short limits.
func fetchHostile(t *testing.T, w *webtest.Web, at network, say speaker) (doc *Document, err error) {
	f := on(t, w, func(c *Config, l *limits) {
		c.HumanSkipsRobots = true
		l.dial, l.header, l.grace, l.total = 500*time.Millisecond, 400*time.Millisecond, 300*time.Millisecond, 3*time.Second
		l.body = 500_000
	})
	l, dial := at()
	say.serve(t, l)
	f.dial = dial
	return f.Fetch(t.Context(), "http://www.example.org/plain.html", Options{Human: true})
}

func TestHostileServers(t *testing.T) {
	for _, c := range hostile {
		t.Run(c.name, virtually(func(t *testing.T) {
			began := time.Now()
			_, err := fetchHostile(t, webtest.InMemory(t, []byte(archive(t))), inMemory, c.say)
			if c.reason == "" && err != nil || c.reason != "" && !is(err, c.reason) {
				t.Fatalf("got %v, want %s", err, c.reason)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			if err != nil {
				checkNoLeak(t, err.(*Error))
			}
		}))
	}
}

// openFiles counts the file descriptors of this process.
func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no way to count open files here")
	}
	return len(entries)
}

// TestNoFileLeaks visits every page of the archive and every hostile server, with all their failures. Then it counts the open files.
func TestNoFileLeaks(t *testing.T) {
	http.Get("http://127.0.0.1:1/") // opens whatever the runtime opens once
	before := openFiles(t)
	t.Run("visits", func(t *testing.T) {
		f, w := openSockets(t, archive(t), quick)
		var all sync.WaitGroup
		for _, c := range pages {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
				defer cancel()
				f.Fetch(ctx, c.url, Options{})
			})
		}
		for _, c := range hostile {
			all.Go(func() { fetchHostile(t, w, onLoopback, c.say) })
		}
		for _, c := range hostile2 {
			all.Go(func() { fetchHostile2(t, w, onLoopback, c.say) })
		}
		all.Wait()
	})
	if !wait.Until(func() bool { return openFiles(t) <= before }) {
		t.Errorf("%d files are open, %d were before", openFiles(t), before)
	}
}

// TestConnectionsEndWithTheirVisit counts open files while the fetcher stays open.
func TestConnectionsEndWithTheirVisit(t *testing.T) {
	f, w := openSockets(t, archive(t), func(c *Config, _ *limits) { c.CacheBytes = -1 })
	f.Fetch(t.Context(), "https://www.example.org/plain.html", Options{})
	before := openFiles(t)
	for i := range 20 {
		if _, err := f.Fetch(t.Context(), fmt.Sprintf("https://www.example.org/plain.html?%d", i), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	// The server's side of a connection closes a little later.
	if !wait.Until(func() bool { return openFiles(t) <= before+1 }) {
		t.Errorf("%d files are open after 20 visits, %d were before; %d requests", openFiles(t), before, len(w.Requests()))
	}
}
