// Package backend holds the search services that the engine asks. Each service has a file. The table (table.go) says what each is good for
// and how often it may be asked. It also says what it needs from the operator. [Open] makes the backends that the operator's [Config]
// switches on.
//
// # Adding a backend
//
// Add one file with one type, one line in the table, and testdata/<name>.txtar with replies as the service sends them. They have hits, no
// hits, an exhausted quota, a block page and a truncated reply. They also have a web page, fields of wrong types, and a reply that is too
// large. The type embeds a service (service.go), which does what all backends share. That is an honest User-Agent and a limit on the bytes
// read. It is also the check that JSON arrived and not a web page. It also has the closed set of error codes. The backend adds the
// parameters, a struct for the reply, and the hits made from it. A backend with a key calls service.withKey (failure.go), so that errors
// name the key. TestBackends ranges over the table and fails until the archive exists.
//
// A backend may use the query's text, place, language, freshness, safety and domains. The engine removes its own fields
// before it passes the query on.
package backend

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// service is a JSON API with what all backends share.
type service struct {
	name   string
	config Config
	keys   []Key // from its line in the table
	base   string
	far    *api.Endpoint
	second *service // at the second address of the line; nil if there is none
	// allowance reads limits from the reply's headers; nil if the service sends none.
	allowance func(http.Header) search.Allowance
	// explain reads the body of a failed reply and returns a more precise code. If it is nil or returns "", the code of
	// the status is used.
	explain func(status int, page []byte) (code turn.Code, detail string)
	meaning func(status int, text string) turn.Code // see withKey
	hints   map[turn.Code]string                    // what else the operator should know about a failure; may be nil
}

// newService makes the service of a backend at base. That is an http or https URL that may have a path and a login.
func newService(c Config, e Entry, base string) (*service, error) {
	s := &service{name: e.Name, config: c, keys: e.Keys, base: base}
	var err error
	if s.far, err = api.NewEndpoint(inLanguage(base, "en"), c.Client); err != nil {
		return nil, err
	}
	s.far.UserAgent = c.UserAgent
	s.far.Explain = func(r api.Reply) (f api.Failure) {
		if s.explain != nil {
			f.Code, f.Detail = s.explain(r.Status, r.Body)
		}
		return f
	}
	return s, nil
}

// inLanguage inserts a language into an address that has one host per language.
func inLanguage(base, language string) string {
	return strings.ReplaceAll(base, "{language}", language)
}

func (s *service) Name() string { return s.name }

func (s *service) now() time.Time {
	if s.config.Now != nil {
		return s.config.Now()
	}
	return time.Now()
}

// since returns the time of the oldest page that q wants; zero means no limit.
func (s *service) since(q search.Query) time.Time { return since(s.now(), q.Fresh) }

// request is one question to a service. Errors show none of it except its JSON.
type request struct {
	path     string // appended to the service's base
	params   url.Values
	header   http.Header // mostly keys
	body     any         // sent by POST as JSON, mostly made by [fields]; nil: none
	form     url.Values  // sent by POST as a form if body is nil
	language string      // BCP 47 tag for Accept-Language
}

// params returns the parameters of a request that are not empty.
func params(all map[string]string) url.Values {
	values := url.Values{}
	for name, value := range all {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// fields removes empty strings, lists and objects from a JSON object and returns it.
func fields(all map[string]any) map[string]any {
	maps.DeleteFunc(all, func(_ string, value any) bool {
		switch value := value.(type) {
		case string:
			return value == ""
		case []string:
			return len(value) == 0
		case map[string]any:
			return len(value) == 0
		}
		return false
	})
	return all
}

func bearer(secret string) http.Header { return http.Header{"Authorization": {"Bearer " + secret}} }

// ask sends a request and decodes the JSON reply into reply, a pointer to a struct. If some fields have another type
// than expected, it fills in the rest and returns turn.CodeMalformed. A backend then returns the hits it could make,
// and the error only if there are none.
func (s *service) ask(ctx context.Context, r request, reply any) (search.Allowance, error) {
	// SearXNG's limiter rejects requests without these headers, or with Go's own User-Agent.
	header := http.Header{"Accept": {"application/json, text/html;q=0.5"}, "Accept-Language": {languageTag(r.language, "en")}}
	maps.Copy(header, r.header)
	got, err := s.far.JSON(ctx, api.Request{Path: r.path, Params: r.params, Header: header, Body: r.body, Form: r.form}, reply)
	var left search.Allowance
	if s.allowance != nil && got != nil {
		left = s.allowance(got)
	}
	if f, ok := errors.AsType[*api.Failure](err); ok {
		failed := s.fail(f.Code, f.Detail)
		if failed.RetryAfter = f.RetryAfter; failed.RetryAfter == 0 && failed.Code == turn.CodeRateLimited {
			failed.RetryAfter = waitOf(left)
		}
		err = failed
	}
	return left, err
}

func (s *service) fail(code turn.Code, detail string) *search.Error {
	return &search.Error{Backend: s.name, Code: code, Detail: detail}
}

// expect returns err. If err is nil but the reply is not the service's own, it returns turn.CodeMalformed with what is
// missing.
func (s *service) expect(ours bool, lacks string, err error) error {
	if err == nil && !ours {
		return s.fail(turn.CodeMalformed, lacks)
	}
	return err
}

// noFields says that a reply is not the service's own.
const noFields = "the reply has none of the fields agreed on"

// hit makes a hit of plain text. It uses the most precise of the dates; see [dated].
func (s *service) hit(title, address, snippet string, dates ...string) turn.Hit {
	h := turn.Hit{Title: line(unmark(title), maxTitle), URL: strings.TrimSpace(address), Snippet: line(unmark(snippet), maxSnippet)}
	h.Published, h.DayOnly = dated(s.now(), dates...)
	return h
}

// textHit makes a hit whose text comes from the service, so that nobody needs to fetch the page. The text is plain
// already.
func textHit(title, address, text string) turn.Hit {
	return turn.Hit{Title: line(title, maxTitle), URL: address, Snippet: line(text, maxSnippet), Text: text}
}

// outcome returns the hits with an address and no error, or err if there are no such hits.
func outcome(hits []turn.Hit, left search.Allowance, err error) (search.Reply, error) {
	hits = slices.DeleteFunc(hits, func(h turn.Hit) bool { return h.URL == "" })
	if len(hits) > 0 {
		err = nil
	}
	return search.Reply{Hits: hits, Allowance: left}, err
}

// waitOf returns how long an exhausted limit lasts; 0 if it is not exhausted or if that is unknown.
func waitOf(a search.Allowance) time.Duration {
	if a.Of == 0 || a.Left > 0 || a.Resets.IsZero() {
		return 0
	}
	return max(0, time.Until(a.Resets).Round(time.Second))
}

// orMinute returns err. If its code is one of codes and it has no waiting time, that is set to a minute.
func orMinute(err error, codes ...turn.Code) error {
	if failed, ok := errors.AsType[*search.Error](err); ok && failed.RetryAfter == 0 && slices.Contains(codes, failed.Code) {
		failed.RetryAfter = time.Minute
	}
	return err
}

// codeOf returns the code of err, or "" if it has none.
func codeOf(err error) turn.Code {
	if failed, ok := errors.AsType[*search.Error](err); ok {
		return failed.Code
	}
	return ""
}

// seconds converts a service's number of seconds to a duration from zero to a day.
func seconds(n float64) time.Duration {
	return time.Duration(min(max(n, 0), (24*time.Hour).Seconds()) * float64(time.Second))
}

// maxAddress limits the address of a picture. A longer one usually holds the picture itself.
const maxAddress = 2048

// picture returns the first address from which a picture can be fetched, or "".
func picture(addresses ...string) string {
	for _, a := range addresses {
		if a = strings.TrimSpace(a); len(a) <= maxAddress && (strings.HasPrefix(a, "https://") || strings.HasPrefix(a, "http://")) {
			return a
		}
	}
	return ""
}

// token is a temporary credential that a service issues for a key. One search fetches it; searches that arrive
// meanwhile share the result, even an error.
type token struct {
	// fetch asks the service. Only one search at a time calls it, under its own deadline.
	fetch func(ctx context.Context) (value string, lasts time.Duration, err error)
	// fetching holds an element while a search fetches. It is a lock whose waiters can give up when their context ends.
	fetching chan struct{}

	mu      sync.Mutex
	value   string    // guarded by mu
	expires time.Time // guarded by mu
	err     error     // guarded by mu; of the last fetch
	fetches int       // guarded by mu; completed fetches, so that a waiter can tell whether err is new
}

func newToken(fetch func(ctx context.Context) (string, time.Duration, error)) *token {
	return &token{fetch: fetch, fetching: make(chan struct{}, 1)}
}

// get returns a valid token other than refused.
func (t *token) get(ctx context.Context, refused string) (string, error) {
	value, before, _ := t.last(refused)
	if value != "" {
		return value, nil
	}
	select {
	case t.fetching <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-t.fetching }()
	value, now, err := t.last(refused)
	if value != "" || now != before && err != nil {
		return value, err
	}
	value, lasts, err := t.fetch(ctx)
	if err != nil && ctx.Err() != nil {
		return "", err // only this search's context ended; the others may still succeed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value, t.expires, t.err = value, time.Now().Add(lasts), err
	t.fetches++
	return value, err
}

// last returns the token if it is valid, the number of completed fetches and the error of the last.
func (t *token) last(refused string) (value string, fetches int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.value != refused && time.Now().Before(t.expires) {
		value = t.value
	}
	return value, t.fetches, t.err
}
