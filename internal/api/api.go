// Package api makes HTTP clients for services that the operator chose, such as the model, a search backend or Discord.
// It is one of the two doors to the network. The other, web/fetch, is for addresses that strangers chose; the two share
// nothing.
//
// A [Client] reaches one fixed origin, follows no redirect and honours the environment's proxy variables. It limits the
// bytes it reads and keeps addresses and secrets out of its errors. An [Endpoint] adds JSON, a closed set of error
// codes and an honest User-Agent.
package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
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

// Failure says why an endpoint did not answer. It holds nothing from the query, the key or the reply's body.
type Failure struct {
	Code       turn.Code     // may come from Endpoint.Explain
	Detail     string        // cause and cure for the operator
	RetryAfter time.Duration // how long the service asked us to wait; 0 if it did not say
}

func (f *Failure) Error() string { return string(f.Code) + ": " + f.Detail }

// Endpoint is a service that mostly answers in JSON. Make one with [NewEndpoint]; it is safe
// for concurrent use once its fields are set.
type Endpoint struct {
	UserAgent string
	MaxBody   int64 // limit of a reply's size in bytes; 0 means 4 MiB
	// Explain returns a more precise failure after reading the whole reply. If it is nil or returns no Code, the status
	// decides.
	Explain func(Reply) Failure

	base   *url.URL     // without a trailing slash
	client *http.Client // of this origin; never follows redirects
}

// Reply is a response.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Request is a request to an endpoint.
type Request struct {
	Method string // empty: GET, or POST if there is a body
	Path   string // appended to the endpoint's path
	Params url.Values
	Header http.Header // in addition to the User-Agent and the address's login
	Body   any         // sent as JSON; nil: none
	Form   url.Values  // sent as a form if Body is nil
}

// NewEndpoint makes an endpoint at base, an http or https URL that may have a path and a login. client returns the HTTP
// client for an origin.
func NewEndpoint(base string, client func(origin string) *http.Client) (*Endpoint, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its address is not an http or https URL")
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	// Copy the client so that no redirect is followed: it would send the query to another place.
	own := *client(u.Scheme + "://" + u.Host)
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Endpoint{base: u, client: &own}, nil
}

// TrimPath removes a suffix from the path of the endpoint's address, in case the operator gave too much of it.
func (e *Endpoint) TrimPath(suffix string) { e.base.Path = strings.TrimSuffix(e.base.Path, suffix) }

// Address returns the endpoint's address without the login.
func (e *Endpoint) Address() string {
	u := *e.base
	u.User = nil
	return u.String()
}

// JSON decodes the reply into v, a pointer to a struct. If some fields have another type than expected, it fills in the
// rest and fails with turn.CodeMalformed. It returns the headers beside an error too, if there was a reply. The error
// is always a *[Failure].
func (e *Endpoint) JSON(ctx context.Context, r Request, v any) (http.Header, error) {
	reply, err := e.send(ctx, r)
	if err != nil {
		return reply.Header, err
	}
	page := reply.webPage()
	failed := e.refusal(reply, page)
	if page && failed.Code == "" {
		failed.Code, failed.Detail = turn.CodeMalformed, "a web page came in place of JSON; check the address"
	}
	if failed = e.explained(reply, failed); failed.Code != "" {
		return reply.Header, &failed
	}
	return reply.Header, reply.decode(v)
}

// Text returns the reply's body. The error is always a *[Failure].
func (e *Endpoint) Text(ctx context.Context, r Request) ([]byte, error) {
	reply, err := e.send(ctx, r)
	if err != nil {
		return nil, err
	}
	// Articles may mention captchas, so only the status decides.
	page := reply.webPage() && reply.Status != http.StatusOK
	if failed := e.explained(reply, e.refusal(reply, page)); failed.Code != "" {
		return nil, &failed
	}
	return reply.Body, nil
}

func (e *Endpoint) send(ctx context.Context, r Request) (Reply, error) {
	req, err := e.request(ctx, r)
	if err != nil {
		return Reply{}, &Failure{Code: turn.CodeRejected, Detail: "the request could not be made"}
	}
	res, err := e.client.Do(req)
	if err != nil {
		return Reply{}, broken(ctx, err)
	}
	defer res.Body.Close()
	most := cmp.Or(e.MaxBody, 4<<20)
	text, err := io.ReadAll(http.MaxBytesReader(nil, res.Body, most))
	if _, larger := errors.AsType[*http.MaxBytesError](err); larger {
		return Reply{Header: res.Header}, &Failure{Code: turn.CodeTooLarge, Detail: fmt.Sprintf("the reply is larger than %d MiB", most>>20)}
	}
	if err != nil {
		return Reply{Header: res.Header}, broken(ctx, err)
	}
	return Reply{res.StatusCode, res.Header, text}, nil
}

func (e *Endpoint) request(ctx context.Context, r Request) (*http.Request, error) {
	var body io.Reader
	if r.Body != nil {
		text, err := json.Marshal(r.Body)
		if err != nil {
			return nil, err
		}
		body, r.Method = bytes.NewReader(text), cmp.Or(r.Method, http.MethodPost)
	} else if r.Form != nil {
		body, r.Method = strings.NewReader(r.Form.Encode()), cmp.Or(r.Method, http.MethodPost)
	}
	u := *e.base
	u.Path, u.RawPath, u.User, u.RawQuery = u.Path+r.Path, "", nil, r.Params.Encode()
	req, err := http.NewRequestWithContext(ctx, cmp.Or(r.Method, http.MethodGet), u.String(), body)
	if err != nil {
		return nil, err
	}
	// Accept-Encoding stays unset, so that the transport asks for gzip and unpacks it.
	switch {
	case r.Body != nil:
		req.Header.Set("Content-Type", "application/json")
	case r.Form != nil:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	maps.Copy(req.Header, r.Header)
	req.Header.Set("User-Agent", e.UserAgent)
	if login := e.base.User; login != nil {
		password, _ := login.Password()
		req.SetBasicAuth(login.Username(), password)
	}
	return req, nil
}

// broken returns the failure for a request or reply that was not transferred.
func broken(ctx context.Context, err error) *Failure {
	var timeout net.Error
	switch {
	case ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout():
		return &Failure{Code: turn.CodeTimeout, Detail: "no answer in time"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Failure{Code: turn.CodeUnreachable, Detail: "the reply broke off"}
	}
	return &Failure{Code: turn.CodeUnreachable, Detail: brief(Cause(err).Error(), 200)}
}

// refusal returns the failure that a reply's status or page reports. Its Code is empty if the reply is good.
func (e *Endpoint) refusal(r Reply, page bool) Failure {
	failed := Failure{CodeOf(r.Status), "HTTP " + strconv.Itoa(r.Status), RetryAfter(r.Header, time.Now())}
	switch {
	case page && r.challenge():
		failed.Code, failed.Detail = turn.CodeBlocked, failed.Detail+": a page that tells robots from people"
	case r.Status/100 == 3:
		failed.Detail += ": a redirect, which is never followed; check the address (http or https, path)"
	}
	return failed
}

func (e *Endpoint) explained(r Reply, failed Failure) Failure {
	if e.Explain == nil {
		return failed
	}
	if better := e.Explain(r); better.Code != "" {
		better.RetryAfter = max(better.RetryAfter, failed.RetryAfter)
		return better
	}
	return failed
}

// CodeOf returns the code for a status alone; "" for success. DuckDuckGo sometimes answers with 202.
func CodeOf(status int) turn.Code {
	switch {
	case status == http.StatusOK || status == http.StatusAccepted:
		return ""
	case status == http.StatusUnauthorized:
		return turn.CodeUnauthorized
	case status == http.StatusPaymentRequired:
		return turn.CodeQuota
	case status == http.StatusForbidden:
		return turn.CodeBlocked
	case status == http.StatusTooManyRequests:
		return turn.CodeRateLimited
	case status >= 500:
		return turn.CodeUpstream
	case status >= 300:
		return turn.CodeRejected
	}
	return turn.CodeMalformed
}

// webPage reports whether the reply is HTML. The first byte decides if the header is wrong: DuckDuckGo declares its
// JSON as a script.
func (r Reply) webPage() bool {
	body := bytes.TrimLeft(r.Body, " \t\r\n\ufeff")
	if bytes.HasPrefix(body, []byte("{")) || bytes.HasPrefix(body, []byte("[")) {
		return false
	}
	return bytes.HasPrefix(body, []byte("<")) || strings.Contains(r.Header.Get("Content-Type"), "html")
}

// challenge recognises pages that stop robots, whatever their status, by typical words.
func (r Reply) challenge() bool {
	if r.Header.Get("Cf-Mitigated") == "challenge" {
		return true
	}
	page := bytes.ToLower(r.Body[:min(len(r.Body), 64<<10)])
	for _, mark := range []string{"captcha", "anomaly-modal", "just a moment...", "unusual traffic", "are you a robot"} {
		if bytes.Contains(page, []byte(mark)) {
			return true
		}
	}
	return false
}

func (r Reply) decode(v any) error {
	err := json.Unmarshal(bytes.TrimPrefix(r.Body, []byte("\ufeff")), v)
	var odd *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &odd) && odd.Field == "" && odd.Type.Kind() == reflect.Slice:
		return &Failure{Code: turn.CodeMalformed, Detail: "the reply is not a list"}
	case errors.As(err, &odd) && odd.Field == "":
		return &Failure{Code: turn.CodeMalformed, Detail: "the reply is not an object"}
	case errors.As(err, &odd):
		return &Failure{Code: turn.CodeMalformed, Detail: "a field of the reply is of an unexpected type: " + brief(odd.Field, 60)}
	}
	return &Failure{Code: turn.CodeMalformed, Detail: "the reply is not JSON"}
}

// brief returns text on one line, cut to at most most bytes.
func brief(text string, most int) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// RetryAfter parses the header of RFC 9110 section 10.2.3: seconds or a date. It returns 0 for anything else.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now).Round(time.Second))
	}
	return 0
}

// wikipediaLanguages lists the languages with a large Wikipedia.
const wikipediaLanguages = "en de fr es it pt nl pl ru uk ja zh ar fa he tr ko vi id ms th hi bn ta te ur sv da no nn fi et lv lt " +
	"cs sk sl hr sr bs bg mk ro hu el ca eu gl cy ga is af sw eo la hy ka az kk be sq ceb war"

// HasWikipedia reports whether a language such as "en" has a large Wikipedia. The list is closed because the language
// becomes part of a host name.
func HasWikipedia(language string) bool {
	return slices.Contains(strings.Fields(wikipediaLanguages), language)
}

// ExplainMediaWiki returns the errors of MediaWiki's Action API, which have status 200; see [Endpoint.Explain]. The
// detail ends with the API's error code.
func ExplainMediaWiki(r Reply) Failure {
	var reply struct{ Error struct{ Code string } }
	// Quotes in an article's text would be escaped.
	if !bytes.Contains(r.Body, []byte(`"error"`)) || json.Unmarshal(r.Body, &reply) != nil || reply.Error.Code == "" {
		return Failure{}
	}
	failed := Failure{Code: turn.CodeRejected, Detail: "the API answered with the error " + brief(reply.Error.Code, 60)}
	switch code := reply.Error.Code; {
	case code == "maxlag" || strings.Contains(code, "busy") || strings.Contains(code, "internal"):
		failed.Code = turn.CodeUpstream
	case code == "ratelimited":
		failed.Code = turn.CodeRateLimited
	}
	return failed
}
