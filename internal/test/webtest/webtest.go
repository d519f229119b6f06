// Package webtest is a small web with its own DNS and certificate authority, made from one txtar archive.
//
// Sites are real servers on loopback, or in memory, over plain HTTP/1.1 and HTTP/2 with TLS. Names resolve to addresses that look public,
// and [Web.Dial] connects such an address to the server. A client under test therefore resolves, checks and dials as it would outside, and
// only the last step differs.
//
// A file of the archive is a page, named by host and path:
//
//	-- example.org/index.html --
//	<title>Hello</title><p>Served as http://example.org/ and https://example.org/.
//	-- example.org/list?page=2 --
//	A page with a query wins over one without.
//
// A file named like a page with ".head" after it is its head: an optional status, headers, and behaviours. A page may
// have a head and no file.
//
//	-- example.org/old.head --
//	301
//	Location: https://example.org/
//	-- example.org/big.html.head --
//	Content-Type: text/html; charset=utf-8
//	!delay 300ms
//	!gzip
//
// The behaviours are
//
//	!delay 300ms       wait before the head
//	!drip 16 50ms      send the body in pieces of so many bytes with a pause after each
//	!size 6000000      a body of so many bytes, text repeated (or the page's own, repeated)
//	!endless           a body without end
//	!gzip              pack the body, whatever it is, and say so
//	!flood 65536       so many bytes of headers
//	!length 5000       declare a length, whatever is sent
//	!reset             break off before the head
//	!break 100         break off after so many bytes of the body
//	!hang              never answer
//
// The file "dns" has a line for each name. After the name it has what lookups answer in turn, the last from then on. An answer is one or more
// addresses with commas between, or a word: nxdomain, empty, fail, hang. A name that only has pages gets an address of its own.
//
//	-- dns --
//	rebind.org 93.184.216.40 127.0.0.1
//	mixed.org  93.184.216.41,10.0.0.1
//	gone.org   nxdomain
//
// [RunCases] and [Replies] are for clients of a single service. They play its replies from an archive, one case a folder.
package webtest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/memnet"
)

// Web is a running web. It is safe for concurrent use.
type Web struct {
	names  *names
	ca     *authority
	plain  *server
	secure *server
	closed chan struct{} // ends handlers that hang
	once   sync.Once

	mu       sync.Mutex
	pages    map[string]*page        // by host and path
	handlers map[string]http.Handler // by host and path; they take precedence
	requests []Request
	dials    []string
}

// Request is one request that a site got.
type Request struct {
	Method string
	URL    string // "https://example.org/a?b=c"
	Proto  string // "HTTP/2.0"
	Header http.Header
}

// New starts the web in archive. It is closed at the end of the test, or earlier by [Web.Close].
func New(tb testing.TB, archive []byte) *Web {
	tb.Helper()
	return begin(tb, archive, onLoopback)
}

// InMemory is New without a network. In a bubble of testing/synctest time is virtual for the sites too.
func InMemory(tb testing.TB, archive []byte) *Web {
	tb.Helper()
	return begin(tb, archive, inMemory)
}

func begin(tb testing.TB, archive []byte, listen listen) *Web {
	tb.Helper()
	w, err := start(archive, listen)
	if err != nil {
		tb.Fatalf("start web: %v", err)
	}
	tb.Cleanup(w.Close)
	return w
}

// listen makes a listener and the function that connects to it.
type listen func() (net.Listener, dial, error)

type dial func(ctx context.Context, network, address string) (net.Conn, error)

func onLoopback() (net.Listener, dial, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	return l, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
	}, nil
}

func inMemory() (net.Listener, dial, error) {
	l := memnet.Listen()
	return l, l.Dial, nil
}

func start(archive []byte, listen listen) (*Web, error) {
	w := &Web{closed: make(chan struct{}), handlers: make(map[string]http.Handler)}
	var err error
	ar := txtar.Parse(archive)
	if w.pages, err = readPages(ar); err != nil {
		return nil, err
	}
	if w.names, err = readNames(ar); err != nil {
		return nil, err
	}
	for at := range w.pages {
		host, _, _ := strings.Cut(at, "/")
		w.names.add(host)
	}
	if w.ca, err = newAuthority(); err != nil {
		return nil, err
	}
	if w.plain, err = w.serve(listen, "http", nil); err != nil {
		return nil, err
	}
	if w.secure, err = w.serve(listen, "https", &tls.Config{GetCertificate: w.ca.certificate, NextProtos: []string{"h2", "http/1.1"}}); err != nil {
		w.plain.close()
		return nil, err
	}
	return w, nil
}

// Close ends all servers and connections, including pages that hang.
func (w *Web) Close() {
	w.once.Do(func() {
		close(w.closed)
		w.plain.close()
		w.secure.close()
	})
}

// RootCAs returns the authority that signed the sites' certificates.
func (w *Web) RootCAs() *x509.CertPool { return w.ca.pool }

// LookupNetIP answers as the web's DNS.
func (w *Web) LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error) {
	return w.names.lookup(ctx, host)
}

// Lookups counts the lookups of host.
func (w *Web) Lookups(host string) int { return w.names.count(host) }

// Dial connects to the web's server for a literal address with port 80 or 443. It accepts every address: a client that dials a forbidden one
// succeeds, and [Web.Dials] shows it.
func (w *Web) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dials = append(w.dials, address)
	w.mu.Unlock()
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %q is not a literal address", address)
	}
	switch ap.Port() {
	case 80:
		return w.plain.dial(ctx, network, address)
	case 443:
		return w.secure.dial(ctx, network, address)
	}
	return nil, errors.New("dial: connection refused")
}

// Dials lists every address that was dialled, in order.
func (w *Web) Dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.dials)
}

// Handle lets h answer at a host and path ("example.org/odd") instead of the archive. A path that ends with a slash includes all paths below
// it that have no handler of their own. The name gets an address.
func (w *Web) Handle(at string, h http.HandlerFunc) {
	host, _, _ := strings.Cut(at, "/")
	w.names.add(host)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handlers[at] = h
}

// Requests lists the requests that sites received, in order of arrival.
func (w *Web) Requests() []Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

// Hits counts the requests for a URL such as "https://example.org/a?b=c".
func (w *Web) Hits(url string) int {
	n := 0
	for _, r := range w.Requests() {
		if r.URL == url {
			n++
		}
	}
	return n
}

// server is one listener.
type server struct {
	dial dial
	http http.Server
	done chan struct{} // closed when the accept loop has ended
}

func (w *Web) serve(listen listen, scheme string, secure *tls.Config) (*server, error) {
	l, dial, err := listen()
	if err != nil {
		return nil, err
	}
	s := &server{dial: dial, done: make(chan struct{})}
	s.http = http.Server{
		Handler:   http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.answer(scheme, rw, r) }),
		TLSConfig: secure,
		ErrorLog:  log.New(io.Discard, "", 0), // tests break connections on purpose
	}
	go func() {
		defer close(s.done)
		if secure != nil {
			s.http.ServeTLS(l, "", "")
			return
		}
		s.http.Serve(l)
	}()
	return s, nil
}

func (s *server) close() {
	s.http.Close()
	<-s.done
}

func (w *Web) answer(scheme string, rw http.ResponseWriter, r *http.Request) {
	if h := w.arrive(scheme, r); h != nil {
		h.ServeHTTP(rw, r)
	} else {
		http.Error(rw, "no such page", http.StatusNotFound)
	}
}

// arrive records the request and returns its handler, or nil.
func (w *Web) arrive(scheme string, r *http.Request) http.Handler {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = append(w.requests, Request{
		Method: r.Method,
		URL:    scheme + "://" + r.Host + r.URL.RequestURI(),
		Proto:  r.Proto,
		Header: r.Header.Clone(),
	})
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	for _, at := range []string{host + r.URL.RequestURI(), host + r.URL.EscapedPath()} {
		if h, ok := w.handlers[at]; ok {
			return h
		}
		for _, index := range []string{"", "index.html"} {
			if p, ok := w.pages[at+index]; ok {
				return p.handler(w.closed)
			}
		}
	}
	for at := host + r.URL.EscapedPath(); strings.Contains(at, "/"); at = at[:strings.LastIndexByte(at, '/')] {
		if h, ok := w.handlers[at[:strings.LastIndexByte(at, '/')+1]]; ok {
			return h
		}
	}
	return nil
}
