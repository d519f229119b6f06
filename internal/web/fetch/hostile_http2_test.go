package fetch

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"familiar/internal/context/turn"
	"familiar/internal/test/webtest"
)

// framer answers the first request of an HTTP/2 connection with frames that a proper server would not send.
type framer func(f *http2.Framer, gone <-chan struct{})

// serve calls say for every accepted connection. It keeps reading, so that no write blocks.
func (say framer) serve(t *testing.T, l net.Listener) (roots *x509.CertPool) {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // lends its certificate
	defer lender.Close()
	roots = x509.NewCertPool()
	roots.AddCert(lender.Certificate())
	l = tls.NewListener(l, &tls.Config{Certificates: lender.TLS.Certificates, NextProtos: []string{"h2"}})
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
				say.answer(c, gone)
			})
		}
	})
	t.Cleanup(func() {
		close(gone)
		l.Close()
		running.Wait()
	})
	return roots
}

func (say framer) answer(c net.Conn, gone <-chan struct{}) {
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	f := http2.NewFramer(c, c)
	f.AllowIllegalWrites = true
	f.WriteSettings()
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		if frame.Header().Type == http2.FrameHeaders {
			break
		}
	}
	var reading sync.WaitGroup
	reading.Go(func() { io.Copy(io.Discard, c) })
	defer reading.Wait()
	defer c.Close()
	say(f, gone)
}

// fields encodes a block of headers.
func fields(pairs ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return b.Bytes()
}

// begin sends a valid beginning of an answer.
func begin(f *http2.Framer) {
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true,
		BlockFragment: fields(":status", "200", "content-type", "text/html")})
}

// again repeats a write after each pause, until the other end or the test ends.
func again(gone <-chan struct{}, pause time.Duration, write func() error) {
	for write() == nil {
		select {
		case <-gone:
			return
		case <-time.After(pause):
		}
	}
}

// hostile2 lists servers that break HTTP/2, and the expected results.
var hostile2 = []struct {
	name   string
	reason turn.Code
	say    framer
}{
	{"headers without end", "header_flood", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(":status", "200")})
		block := fields("x-secret", strings.Repeat("\xff", 8000))
		again(gone, 0, func() error { return f.WriteContinuation(1, false, block) })
	}},
	{"one header without end", "header_flood", func(f *http2.Framer, gone <-chan struct{}) {
		// A literal of 2 MB, cut off after 16 KB.
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: append(fields(":status", "200"),
			append([]byte("\x00\x01x\x7f\x81\xfe\x7f"), bytes.Repeat([]byte("s"), 16000)...)...)})
		again(gone, 0, func() error { return f.WriteContinuation(1, false, bytes.Repeat([]byte("s"), 16000)) })
	}},
	{"few bytes that unpack to many headers", "header_flood", func(f *http2.Framer, gone <-chan struct{}) {
		// One header of 3 KB that enters the table, and 12,000 bytes that each repeat it.
		block := append(fields(":status", "200", "x-secret", strings.Repeat("s", 3000)), bytes.Repeat([]byte{0xbe}, 12_000)...)
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: block})
		<-gone
	}},
	{"half an answer's headers", "header_timeout", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: fields(":status", "200")})
		<-gone
	}},
	{"half-closed before the headers", "transport", func(*http2.Framer, <-chan struct{}) {}},
	{"half-closed in a body", "transport", func(f *http2.Framer, _ <-chan struct{}) {
		begin(f)
		f.WriteData(1, false, []byte("<p>half"))
	}},
	{"a frame without a stream", "malformed", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteData(0, false, []byte("<p>text"))
		<-gone
	}},
	{"text of another protocol", "malformed", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteRawFrame('H', 'T', 'T'<<24, bytes.Repeat([]byte("HTTP/1.1 200 OK "), 2000))
		<-gone
	}},
	{"a reset stream", "peer_reset_stream", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteRSTStream(1, http2.ErrCodeInternal)
		<-gone
	}},
	{"an end of all", "peer_reset_stream", func(f *http2.Framer, _ <-chan struct{}) {
		f.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, []byte("secret"))
	}},
	{"only pings", "header_timeout", func(f *http2.Framer, gone <-chan struct{}) {
		again(gone, time.Millisecond, func() error { return f.WritePing(false, [8]byte{}) })
	}},
	{"body drip", "too_slow", func(f *http2.Framer, gone <-chan struct{}) {
		begin(f)
		again(gone, 20*time.Millisecond, func() error { return f.WriteData(1, false, []byte("a")) })
	}},
	{"only empty frames", "too_slow", func(f *http2.Framer, gone <-chan struct{}) {
		begin(f)
		again(gone, time.Millisecond, func() error { return f.WriteData(1, false, nil) })
	}},
	{"more than it may send", "malformed", func(f *http2.Framer, gone <-chan struct{}) {
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true,
			BlockFragment: fields(":status", "200", "content-type", "text/html", "content-length", "7")})
		again(gone, 0, func() error { return f.WriteData(1, false, []byte("<p>more than said")) })
	}},
}

// fetchHostile2 reads a page of such a server with short limits.
func fetchHostile2(t *testing.T, w *webtest.Web, at network, say framer) error {
	l, dial := at()
	roots := say.serve(t, l)
	f := on(t, w, func(c *Config, l *limits) {
		c.HumanSkipsRobots, c.RootCAs = true, roots
		l.dial, l.header, l.grace, l.total = 500*time.Millisecond, 400*time.Millisecond, 300*time.Millisecond, 3*time.Second
	})
	f.dial = dial
	_, err := f.Fetch(t.Context(), "https://example.com/", Options{Human: true})
	return err
}

func TestHostileServersOfHTTP2(t *testing.T) {
	for _, c := range hostile2 {
		t.Run(c.name, virtually(func(t *testing.T) {
			began := time.Now()
			err := fetchHostile2(t, webtest.InMemory(t, []byte("-- example.com/x --\nx\n")), inMemory, c.say)
			if !is(err, c.reason) {
				t.Fatalf("got %v, want %s", err, c.reason)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			checkNoLeak(t, err.(*Error))
		}))
	}
}
