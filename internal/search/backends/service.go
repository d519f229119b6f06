// Package backends holds the search services that the engine asks: one file a service, and one table (table.go) that
// says what each of them is good for, how often it may be asked and what it wants from the operator. [Open] makes those
// that the operator's [Config] switches on.
//
// # Adding a backend
//
// One file with one type, one line in the table, one testdata/<name>.txtar with replies as the service gives them: hits,
// no hits, a full quota, a block page, half a reply, a web page, fields of odd types, too much. The type has a service
// (service.go) for its far end, an [api.Endpoint], which does everything that is the same for all: the honest
// User-Agent, the cap on what is read, the check that JSON came and not a web page, the closed error codes. What is left
// to write is the parameters, a struct for the reply, and the hits made from it. A backend with a key begins with
// newKeyed (keyed.go), which words failures for the operator of that key. TestBackends walks the table, so it finds the
// new line by itself and fails until the archive is there.
//
// A backend may use the query's text, place, language, freshness, safety and domains, and that is all it can know:
// what the engine needs beyond that for its own work is taken out of the query before it is handed on.
package backends

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// service is one far end with a JSON API: what a backend needs of HTTP.
type service struct {
	backend string
	far     *api.Endpoint
	// allowance reads the limits that the service tells in its headers; nil if it tells none there.
	allowance func(http.Header) search.Allowance
	// explain reads a reply more closely than its status does and names the failure that it is. Nil, or returning
	// "", leaves the status's word.
	explain func(status int, page []byte) (code turn.Code, detail string)
}

// newService makes a service at base, an http or https URL that may hold a path and a login.
func newService(c Config, backend, base string) (*service, error) {
	far, err := api.NewEndpoint(base, c.Client)
	if err != nil {
		return nil, err
	}
	s := &service{backend: backend, far: far}
	far.UserAgent = c.UserAgent
	far.Explain = func(r api.Reply) (f api.Failure) {
		if s.explain != nil {
			code, detail := s.explain(r.Status, r.Body)
			f.Code, f.Detail = code, detail
		}
		return f
	}
	return s, nil
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
func (s *service) ask(ctx context.Context, r request, reply any) (search.Allowance, error) {
	// SearXNG's limiter turns away a request without these or with Go's own User-Agent.
	header := http.Header{"Accept": {"application/json, text/html;q=0.5"}, "Accept-Language": {languageTag(r.language, "en")}}
	maps.Copy(header, r.header)
	got, err := s.far.JSON(ctx, api.Request{Method: r.method, Path: r.path, Params: r.params, Header: header, Body: r.body, Form: r.form}, reply)
	var left search.Allowance
	if s.allowance != nil && got != nil {
		left = s.allowance(got)
	}
	if f, ok := errors.AsType[*api.Failure](err); ok {
		failed := &search.Error{Backend: s.backend, Code: f.Code, Detail: f.Detail, RetryAfter: f.RetryAfter}
		if failed.RetryAfter == 0 && failed.Code == turn.CodeRateLimited {
			failed.RetryAfter = waitOf(left)
		}
		err = failed
	}
	return left, err
}

func (s *service) fail(code turn.Code, detail string) *search.Error {
	return &search.Error{Backend: s.backend, Code: code, Detail: detail}
}

// waitOf is how long a limit that is used up lasts: 0 if it is not used up, or if nobody knows.
func waitOf(a search.Allowance) time.Duration {
	if a.Of == 0 || a.Left > 0 || a.Resets.IsZero() {
		return 0
	}
	return max(0, time.Until(a.Resets).Round(time.Second))
}

// refusalOf is the code of err and how long it asks to wait.
func refusalOf(err error) (code turn.Code, wait time.Duration) {
	var failed *search.Error
	if errors.As(err, &failed) {
		return failed.Code, failed.RetryAfter
	}
	return "", 0
}

// seconds is a time as a service gives it; what is negative, or more than a day, is cut.
func seconds(n float64) time.Duration {
	return time.Duration(min(max(n, 0), (24*time.Hour).Seconds()) * float64(time.Second))
}
