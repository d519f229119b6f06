package search

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
)

// The depths of a SearXNG search.
const (
	depthBasic    = "basic"    // two large engines, moderate safe search
	depthAdvanced = "advanced" // two more, no safe search
)

// searxng is a metasearch instance that the operator runs: https://docs.searxng.org/dev/search_api.html.
type searxng struct {
	*service
	advanced bool
}

func newSearXNG(c Config, base string) (Backend, error) {
	if c.SearXNG != "" {
		base = c.SearXNG
	}
	if base == "" {
		return nil, errors.New("SEARXNG_URL is not set")
	}
	s, err := newService(c, "searxng", base)
	if err != nil {
		return nil, err
	}
	s.far.TrimPath("/search")
	s.explain = explainSearXNG
	return &searxng{service: s, advanced: c.Depth == depthAdvanced}, nil
}

func (*searxng) Name() string { return "searxng" }

func explainSearXNG(status int, _ []byte) (code, detail string) {
	switch status {
	case http.StatusForbidden:
		return ForbiddenJSON, "the instance does not give JSON: enable json under search.formats in settings.yml"
	case http.StatusTooManyRequests:
		return RateLimited, "the instance's limiter: add this machine to pass_ip in limiter.toml"
	}
	return "", ""
}

type searxngReply struct {
	Results []struct {
		URL, Title, Content string
		PublishedDate       string
		PubDate             string
	}
	Answers      []searxngAnswer
	Infoboxes    []searxngInfobox
	Unresponsive []json.RawMessage `json:"unresponsive_engines"`
}

// searxngAnswer is an object now and was a string in old versions, which then has no address.
type searxngAnswer struct{ Answer, URL string }

func (a *searxngAnswer) UnmarshalJSON(b []byte) error {
	type object searxngAnswer
	if json.Unmarshal(b, (*object)(a)) != nil {
		*a = searxngAnswer{}
	}
	return nil
}

type searxngInfobox struct {
	Infobox, ID, Content string
	URLs                 []struct{ URL string }
	Attributes           []struct{ Label, Value string }
}

func (s *searxng) Search(ctx context.Context, q Query) (Reply, error) {
	params := s.params(q)
	if params.Get("q") == "" {
		return Reply{}, nil
	}
	hits, err := s.find(ctx, params, q)
	if params.Has("time_range") && len(hits) == 0 && err == nil {
		// Engines that cannot filter by date are left out, all of them where none can, and the instance then answers
		// with an empty list as if it had looked.
		params.Del("time_range")
		hits, err = s.find(ctx, params, q)
	}
	return Reply{Hits: hits}, err
}

func (s *searxng) find(ctx context.Context, params url.Values, q Query) ([]turn.Hit, error) {
	var reply searxngReply
	err := s.get(ctx, "/search", params, q.Language, &reply)
	hits := reply.hits(q.Limit)
	var failed *Error
	switch {
	case err != nil && errors.As(err, &failed) && failed.Code != Malformed:
		return nil, err
	case err == nil && reply.Results == nil:
		return nil, s.fail(Malformed, "the reply has no results field")
	case len(reply.Unresponsive) > 0:
		return hits, s.unresponsive(reply.Unresponsive)
	}
	return hits, err
}

func (s *searxng) params(q Query) url.Values {
	text := neutral(q.Text)
	if text != "" {
		text += sites(q.Include, nil)
	}
	params := url.Values{
		"q":          {text},
		"format":     {"json"},
		"categories": {"general"},
		"engines":    {"google,bing"}, // besides those that the instance has switched on in the category
		"safesearch": {"1"},
		"language":   {languageTag(q.Language, "all")},
		"pageno":     {"1"},
	}
	if s.advanced {
		params.Set("engines", "google,bing,duckduckgo,wikipedia")
		params.Set("safesearch", "0")
	}
	switch q.Intent {
	case "news":
		params.Set("categories", "general,news")
	case "media":
		params.Set("categories", "general,videos")
	case "forum":
		params.Set("categories", "general,social media")
	}
	// No range unless it is asked for: it would hide every page that has been true for longer.
	switch q.Fresh {
	case "day", "week", "month", "year":
		params.Set("time_range", q.Fresh)
	}
	return params
}

// neutral takes the commands out of a query: SearXNG reads words that begin with !, !!, : or < as orders to use
// an engine, to redirect to another site, to switch the language or the timeout (searx/query.py), and older
// versions also ?.
func neutral(text string) string {
	separator := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	var kept []string
	for _, word := range strings.FieldsFunc(text, separator) {
		for bare := ""; bare != word; {
			bare = word
			word = strings.TrimLeft(word, "!:?")
			if rest, cut := strings.CutPrefix(word, "<"); cut && strings.IndexFunc(rest, unicode.IsNumber) == 0 {
				word = rest
			}
		}
		if word != "" {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

func (r *searxngReply) hits(limit int) []turn.Hit {
	var hits []turn.Hit
	for _, a := range r.Answers {
		if text := prose(unmark(a.Answer), maxProse); text != "" && a.URL != "" {
			hits = append(hits, turn.Hit{Title: line(text, 80), URL: a.URL, Snippet: line(text, maxSnippet), Text: text, Answer: true})
		}
	}
	for _, box := range r.Infoboxes {
		if h, ok := box.hit(); ok {
			hits = append(hits, h)
		}
	}
	for _, p := range r.Results[:min(len(r.Results), limit)] {
		if p.URL == "" {
			continue
		}
		hits = append(hits, turn.Hit{
			Title: line(unmark(p.Title), maxTitle), URL: strings.TrimSpace(p.URL), Snippet: line(unmark(p.Content), maxSnippet),
			Published: published(p.PublishedDate, p.PubDate),
		})
	}
	return hits
}

// hit is the box as a page that need not be fetched: its introduction, then "label: value." for each attribute.
func (b searxngInfobox) hit() (turn.Hit, bool) {
	address := b.ID
	for _, u := range b.URLs {
		if !strings.HasPrefix(address, "http") {
			address = u.URL
		}
	}
	parts := []string{b.Content}
	for _, a := range b.Attributes {
		if a.Label != "" && a.Value != "" {
			parts = append(parts, strings.TrimRight(a.Label, ": ")+": "+a.Value+".")
		}
	}
	text := prose(unmark(strings.Join(parts, "\n")), maxProse)
	if text == "" || !strings.HasPrefix(address, "http") {
		return turn.Hit{}, false
	}
	return turn.Hit{Title: line(unmark(b.Infobox), maxTitle), URL: address, Snippet: line(text, maxSnippet), Text: text}, true
}

// unresponsive says which of the engines behind the instance did not answer. Without hits from the others this
// is a failure: nobody has looked.
func (s *searxng) unresponsive(engines []json.RawMessage) *Error {
	code, detail := Upstream, "engines that did not answer:"
	for i, raw := range engines {
		var pair []string
		if json.Unmarshal(raw, &pair) != nil || len(pair) == 0 {
			continue
		}
		reason := line(strings.Join(pair[1:], " "), 60)
		for _, word := range []string{"captcha", "denied", "suspended", "too many", "blocked"} {
			if strings.Contains(strings.ToLower(reason), word) {
				code = Blocked
			}
		}
		if i < 5 {
			detail += " " + line(pair[0], 40) + " (" + reason + ")"
		}
	}
	return s.fail(code, detail)
}

// published reads the first date that is one. Python writes them with or without zone and fraction.
func published(dates ...string) time.Time {
	for _, d := range dates {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05-0700", "2006-01-02 15:04:05", time.DateOnly} {
			if t, err := time.Parse(layout, strings.TrimSpace(d)); err == nil && t.Year() > 1900 {
				return t
			}
		}
	}
	return time.Time{}
}
