package search

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
	"strconv"
	"strings"
	"time"

	"familiar/internal/api"
)

// maxBody is how much of a reply is read: the largest honest one seen, ten full extracts, is a tenth of it.
const maxBody = 4 << 20

// service is one far end with a JSON API: what a backend needs of HTTP.
type service struct {
	backend string
	base    *url.URL     // without path's last slash
	client  *http.Client // of this origin; never follows a redirect
	agent   string
	// allowance reads the limits that the service tells in its headers; nil if it tells none there.
	allowance func(http.Header) Allowance
	// explain reads a reply more closely than its status does and names the failure that it is. Nil, or returning
	// "", leaves the status's word.
	explain func(status int, page []byte) (code, detail string)
}

// newService makes a service at base, an http or https URL that may hold a path and a login.
func newService(c Config, backend, base string) (*service, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("its address is not an http or https URL")
	}
	u.Path, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/"), "", ""
	// The caller's client is copied so that no redirect is followed whoever made it: the query would go to
	// whatever place the answer names.
	client := *c.Client(u.Scheme + "://" + u.Host)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &service{backend: backend, base: u, client: &client, agent: c.UserAgent}, nil
}

// request is one question to a service. Nothing of it but its JSON is in an error.
type request struct {
	method   string // empty: GET, or POST where there is a body
	path     string // behind the service's base
	params   url.Values
	header   http.Header // keys, mostly
	body     any         // sent as JSON; nil: none
	form     url.Values  // sent as a form, where there is no body
	language string      // BCP 47 tag for Accept-Language
}

// get asks for path with params; see [service.ask].
func (s *service) get(ctx context.Context, path string, params url.Values, language string, reply any) error {
	_, err := s.ask(ctx, request{path: path, params: params, language: language}, reply)
	return err
}

// ask sends a request and decodes the JSON reply into reply, a pointer to a struct. Where single fields are of
// another type than expected the rest is filled in all the same and the error is [Malformed]: a backend returns the
// hits it could make, and the error only if there are none.
func (s *service) ask(ctx context.Context, r request, reply any) (Allowance, error) {
	req, err := s.request(ctx, r)
	if err != nil {
		return Allowance{}, s.fail(Rejected, "the request could not be made")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return Allowance{}, s.broken(ctx, err)
	}
	defer res.Body.Close()
	var left Allowance
	if s.allowance != nil {
		left = s.allowance(res.Header)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	switch {
	case errors.Is(err, api.ErrTooLarge) || len(body) > maxBody:
		return left, s.fail(TooLarge, "the reply is larger than 4 MiB")
	case err != nil:
		return left, s.broken(ctx, err)
	}
	if failed := s.refusal(res, body); failed != nil {
		if failed.RetryAfter == 0 && failed.Code == RateLimited {
			failed.RetryAfter = left.wait()
		}
		return left, failed
	}
	return left, s.decode(body, reply)
}

func (s *service) request(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body, r.method = bytes.NewReader(text), cmp.Or(r.method, http.MethodPost)
	}
	if r.form != nil {
		body, r.method = strings.NewReader(r.form.Encode()), cmp.Or(r.method, http.MethodPost)
	}
	u := *s.base
	u.Path, u.User, u.RawQuery = u.Path+r.path, nil, r.params.Encode()
	req, err := http.NewRequestWithContext(ctx, cmp.Or(r.method, http.MethodGet), u.String(), body)
	if err != nil {
		return nil, err
	}
	// SearXNG's limiter turns away a request without these or with Go's own User-Agent. Accept-Encoding stays
	// unset: the transport asks for gzip by itself and then unpacks it too.
	req.Header.Set("Accept", "application/json, text/html;q=0.5")
	req.Header.Set("Accept-Language", languageTag(r.language, "en"))
	req.Header.Set("User-Agent", s.agent)
	switch {
	case r.body != nil:
		req.Header.Set("Content-Type", "application/json")
	case r.form != nil:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	maps.Copy(req.Header, r.header)
	if login := s.base.User; login != nil {
		password, _ := login.Password()
		req.SetBasicAuth(login.Username(), password)
	}
	return req, nil
}

func (s *service) fail(code, detail string) *Error {
	return &Error{Backend: s.backend, Code: code, Detail: detail}
}

// broken is a request or a reply that did not come through.
func (s *service) broken(ctx context.Context, err error) *Error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout():
		return s.fail(Timeout, "no answer in time")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return s.fail(Unreachable, "the reply broke off")
	}
	return s.fail(Unreachable, line(api.Cause(err).Error(), 200))
}

// refusal tells a reply that is none from one worth decoding, which gives nil.
func (s *service) refusal(res *http.Response, body []byte) *Error {
	failed := s.fail(codeOf(res.StatusCode), "HTTP "+strconv.Itoa(res.StatusCode))
	failed.RetryAfter = retryAfter(res.Header, time.Now())
	page := webPage(res.Header, body)
	switch {
	case page && challenge(res.Header, body):
		failed.Code, failed.Detail = Blocked, failed.Detail+": a page that tells robots from people"
	case page && failed.Code == "":
		failed.Code, failed.Detail = Malformed, "a web page came in place of JSON; check the address"
	case res.StatusCode/100 == 3:
		failed.Detail += ": a redirect, which is never followed; check the address (http or https, path)"
	}
	if s.explain != nil {
		if code, detail := s.explain(res.StatusCode, body); code != "" {
			failed.Code, failed.Detail = code, detail
		}
	}
	if failed.Code == "" {
		return nil
	}
	return failed
}

// codeOf is what a status alone says; "" is a reply. DuckDuckGo answers with 202 when it feels like it.
func codeOf(status int) string {
	switch {
	case status == http.StatusOK || status == http.StatusAccepted:
		return ""
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusPaymentRequired:
		return Quota
	case status == http.StatusForbidden:
		return Blocked
	case status == http.StatusTooManyRequests:
		return RateLimited
	case status >= 500:
		return Upstream
	case status >= 300:
		return Rejected
	}
	return Malformed
}

// webPage says whether HTML came. The first byte decides where the header is wrong: DuckDuckGo calls its JSON
// a script.
func webPage(h http.Header, body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n\ufeff")
	if bytes.HasPrefix(body, []byte("{")) {
		return false
	}
	return bytes.HasPrefix(body, []byte("<")) || strings.Contains(h.Get("Content-Type"), "html")
}

// challenge knows the pages that stop robots by words that stand in them whatever their status.
func challenge(h http.Header, body []byte) bool {
	if h.Get("Cf-Mitigated") == "challenge" {
		return true
	}
	page := bytes.ToLower(body[:min(len(body), 64<<10)])
	for _, mark := range []string{"captcha", "anomaly-modal", "just a moment...", "unusual traffic", "are you a robot"} {
		if bytes.Contains(page, []byte(mark)) {
			return true
		}
	}
	return false
}

func (s *service) decode(body []byte, reply any) error {
	err := json.Unmarshal(bytes.TrimPrefix(body, []byte("\ufeff")), reply)
	var odd *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &odd) && odd.Field == "" && odd.Type.Kind() == reflect.Slice:
		return s.fail(Malformed, "the reply is not a list")
	case errors.As(err, &odd) && odd.Field == "":
		return s.fail(Malformed, "the reply is not an object")
	case errors.As(err, &odd):
		return s.fail(Malformed, fmt.Sprintf("a field of the reply is of an unexpected type: %s", line(odd.Field, 60)))
	}
	return s.fail(Malformed, "the reply is not JSON")
}

// refusalOf is the code of err and how long it asks to wait.
func refusalOf(err error) (code string, wait time.Duration) {
	var failed *Error
	if errors.As(err, &failed) {
		return failed.Code, failed.RetryAfter
	}
	return "", 0
}

// seconds is a time as a service gives it; what is negative, or more than a day, is cut.
func seconds(n float64) time.Duration {
	return time.Duration(min(max(n, 0), (24*time.Hour).Seconds()) * float64(time.Second))
}

// retryAfter reads RFC 9110 section 10.2.3: seconds or a date. Nonsense is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now).Round(time.Second))
	}
	return 0
}
