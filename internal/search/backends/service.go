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
// service.withKey (failure.go), which words failures for the operator of that key. TestBackends walks the table, so it
// finds the new line by itself and fails until the archive is there.
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
	"slices"
	"strings"
	"time"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// service is the far end of a backend, an API in JSON, with what all backends have in common.
type service struct {
	name   string
	config Config
	keys   []Key // of its line in the table
	base   string
	far    *api.Endpoint
	second *service // at the line's second address; nil if it has none
	// allowance reads the limits that the service tells in its headers; nil if it tells none there.
	allowance func(http.Header) search.Allowance
	// explain reads a reply more closely than its status does and names the failure that it is. Nil, or returning
	// "", leaves the status's code.
	explain func(status int, page []byte) (code turn.Code, detail string)
	meaning func(status int, text string) turn.Code // see withKey
	hints   map[turn.Code]string                    // what else the operator should know of a failure; may be nil
}

// newService makes the service of a backend at base, an http or https URL that may hold a path and a login.
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

// inLanguage is an address for a language, where it has one for each.
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

// since is the oldest moment that q wants; zero if it sets no limit.
func (s *service) since(q search.Query) time.Time { return since(s.now(), q.Fresh) }

// request is one question to a service. Nothing of it but its JSON is in an error.
type request struct {
	path     string // behind the service's base
	params   url.Values
	header   http.Header // keys, mostly
	body     any         // sent by POST as JSON, mostly [fields]; nil: none
	form     url.Values  // sent by POST as a form, where there is no body
	language string      // BCP 47 tag for Accept-Language
}

// params are the parameters of a request, without those that are empty.
func params(all map[string]string) url.Values {
	values := url.Values{}
	for name, value := range all {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// fields are the fields of a JSON object, without the texts, lists and objects that are empty.
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

// ask sends a request and decodes the JSON reply into reply, a pointer to a struct. Where single fields are of
// another type than expected the rest is filled in all the same and the code is turn.CodeMalformed: a backend returns
// the hits it could make, and the error only if there are none.
func (s *service) ask(ctx context.Context, r request, reply any) (search.Allowance, error) {
	// SearXNG's limiter turns away a request without these or with Go's own User-Agent.
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

// expect is err, or turn.CodeMalformed with what the reply lacks, where it is none of the service's (ours is false).
func (s *service) expect(ours bool, lacks string, err error) error {
	if err == nil && !ours {
		return s.fail(turn.CodeMalformed, lacks)
	}
	return err
}

// noFields is what a reply lacks that is not one of the service's.
const noFields = "the reply has none of the fields agreed on"

// hit is a result in plain text, with the first of dates that says the most; see [dated].
func (s *service) hit(title, address, snippet string, dates ...string) turn.Hit {
	h := turn.Hit{Title: line(unmark(title), maxTitle), URL: strings.TrimSpace(address), Snippet: line(unmark(snippet), maxSnippet)}
	h.Published, h.DayOnly = dated(s.now(), dates...)
	return h
}

// textHit is a result whose text the service delivers, so that its page need not be read; the text is plain already.
func textHit(title, address, text string) turn.Hit {
	return turn.Hit{Title: line(title, maxTitle), URL: address, Snippet: line(text, maxSnippet), Text: text}
}

// outcome is the hits that have an address, whatever else was odd about the reply, or why there are none.
func outcome(hits []turn.Hit, left search.Allowance, err error) (search.Reply, error) {
	hits = slices.DeleteFunc(hits, func(h turn.Hit) bool { return h.URL == "" })
	if len(hits) > 0 {
		err = nil
	}
	return search.Reply{Hits: hits, Allowance: left}, err
}

// waitOf is how long a limit that is used up lasts: 0 if it is not used up, or if nobody knows.
func waitOf(a search.Allowance) time.Duration {
	if a.Of == 0 || a.Left > 0 || a.Resets.IsZero() {
		return 0
	}
	return max(0, time.Until(a.Resets).Round(time.Second))
}

// orMinute is err, with a minute to wait where it is one of codes and the service does not say how long.
func orMinute(err error, codes ...turn.Code) error {
	if failed, ok := errors.AsType[*search.Error](err); ok && failed.RetryAfter == 0 && slices.Contains(codes, failed.Code) {
		failed.RetryAfter = time.Minute
	}
	return err
}

// codeOf is the code of err, "" if it has none.
func codeOf(err error) turn.Code {
	if failed, ok := errors.AsType[*search.Error](err); ok {
		return failed.Code
	}
	return ""
}

// seconds is a duration as a service gives it, from none to a day.
func seconds(n float64) time.Duration {
	return time.Duration(min(max(n, 0), (24*time.Hour).Seconds()) * float64(time.Second))
}

// maxAddress is how long the address of a picture may be: what is longer is mostly the picture itself.
const maxAddress = 2048

// picture is the first address that a picture can be fetched from, or nothing.
func picture(addresses ...string) string {
	for _, a := range addresses {
		if a = strings.TrimSpace(a); len(a) <= maxAddress && (strings.HasPrefix(a, "https://") || strings.HasPrefix(a, "http://")) {
			return a
		}
	}
	return ""
}
