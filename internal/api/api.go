// Package api makes HTTP clients for services that the operator chose, such as the model, a search backend or Discord.
// It is one of the two doors to the network. The other, web/fetch, is for addresses that strangers chose; the two share
// nothing.
//
// A [Client] reaches one fixed origin, follows no redirect and honours the environment's proxy variables. It limits the
// bytes it reads and keeps addresses and secrets out of its errors. An [Endpoint] adds JSON, a closed set of error
// codes and an honest User-Agent.
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
	Origin        string              // "https://host[:port]"; a path is ignored
	UserAgent     string              // sent if the request has none
	HeaderTimeout time.Duration       // until response headers arrive; 0 means 60 s, since models think before they answer
	MaxBody       int64               // bytes of a response body, whose Read fails with an *http.MaxBytesError past them; 0 is 16 MiB
	Redact        func(string) string // applied to error texts; may be nil
}

// ErrOrigin is the error of a request to another origin than the service's.
var ErrOrigin = errors.New("request leaves the service's origin")

// idleConnections is the number of connections in use on a busy bot. Closing one costs the next request a handshake.
const idleConnections = 32

// All requests to an origin share one HTTP/2 connection. If it dies silently, TCP retries for up to a quarter of an
// hour without an error. Pings detect that.
const (
	silence    = 10 * time.Second // after which a ping is sent
	answerTime = 5 * time.Second  // limit for its answer
)

// Client returns the HTTP client of one service. It returns redirect responses as they are. Deadlines come from the
// request's context, because a stream may last as long as its turn.
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

// CloseIdleConnections implements http.Client.CloseIdleConnections.
func (t *transport) CloseIdleConnections() { t.next.CloseIdleConnections() }

// failure is an error with redacted text. errors.Is and errors.As see its cause.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// Cause returns err without the URL that http.Client adds. Its query may hold a key.
func Cause(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
