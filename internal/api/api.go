// Package api is one of the two doors to the network: HTTP clients for services that the operator chose, such as
// the model, a search backend or Discord. The other door, web/fetch, is for addresses that strangers chose; the
// two share nothing.
//
// A [Client] reaches one fixed origin, follows no redirect, honours the proxy variables of the environment, caps
// what it reads and keeps addresses and secrets out of its errors.
package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Service describes one origin. Only Origin is required.
type Service struct {
	Origin        string              // "https://host[:port]"; a path behind it is ignored
	UserAgent     string              // sent where the request has none
	HeaderTimeout time.Duration       // until response headers arrive; 0 is 60 s. Models think before they speak
	MaxBody       int64               // bytes of a response body, whose Read fails with an *http.MaxBytesError past them; 0 is 16 MiB
	Redact        func(string) string // applied to the text of errors; nil changes nothing
}

// ErrOrigin is returned for a request to any other place than the service's origin.
var ErrOrigin = errors.New("request leaves the service's origin")

// idleConnections is as many as are in use when the bot is busy: each that is closed costs the next request a handshake.
const idleConnections = 32

// All requests to an origin share one connection of HTTP/2. Over one that is dead nothing comes, not even an error, for as long as TCP
// sends again, which may be a quarter of an hour.
const (
	silence    = 10 * time.Second // after which the other end is asked whether it is there
	answerTime = 5 * time.Second  // in which it has to say so, before the connection is given up
)

// Client returns the HTTP client of one service. A response with a redirect status is returned as it is.
// Deadlines are the request context's: a stream may last as long as its turn.
func Client(s Service) *http.Client {
	s.HeaderTimeout, s.MaxBody = cmp.Or(s.HeaderTimeout, time.Minute), cmp.Or(s.MaxBody, 16<<20)
	if s.Redact == nil {
		s.Redact = func(text string) string { return text }
	}
	return &http.Client{
		Transport: &transport{service: s, origin: Origin(s.Origin), next: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			ForceAttemptHTTP2:      true,
			HTTP2:                  &http.HTTP2Config{SendPingTimeout: silence, PingTimeout: answerTime},
			MaxIdleConnsPerHost:    idleConnections,
			IdleConnTimeout:        90 * time.Second,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  s.HeaderTimeout,
			ExpectContinueTimeout:  time.Second,
			MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Origin returns scheme and host of an address in lower case, or "" if it has none.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return originOf(u)
}

// Host returns the host of an address, with its port, for people: the address where it has none.
func Host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return address
}

func originOf(u *url.URL) string {
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

type transport struct {
	service Service
	origin  string
	next    *http.Transport
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.origin == "" || originOf(r.URL) != t.origin {
		return nil, fmt.Errorf("reach %s: %w", originOf(r.URL), ErrOrigin)
	}
	if r.Header.Get("User-Agent") == "" && t.service.UserAgent != "" {
		r = r.Clone(r.Context())
		r.Header.Set("User-Agent", t.service.UserAgent)
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, &failure{text: t.service.Redact(fmt.Sprintf("reach %s: %v", t.origin, err)), cause: err}
	}
	response.Body = http.MaxBytesReader(nil, response.Body, t.service.MaxBody)
	return response, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through to the pool.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// failure prints the redacted text and still answers errors.Is and errors.As for its cause.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// Cause returns an error without the request's URL, which http.Client puts around every error and which may hold
// a key in its query.
func Cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
