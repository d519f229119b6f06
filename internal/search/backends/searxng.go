package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// maxPages is how many pages of results are asked for in the advanced depth of a query.
const maxPages = 3

// searxng is a metasearch instance that the operator runs: https://docs.searxng.org/dev/search_api.html.
type searxng struct {
	*service
	depth string // for queries that want none
	now   func() time.Time
}

func newSearXNG(c Config, base string) (search.Backend, error) {
	if c.SearXNG != "" {
		base = c.SearXNG
	}
	if base == "" {
		return nil, errors.New("SEARXNG_URL is not set: the address of a SearXNG, best your own, see https://docs.searxng.org")
	}
	s, err := newService(c, "searxng", base)
	if err != nil {
		return nil, err
	}
	s.far.TrimPath("/search")
	s.explain = explainSearXNG
	return &searxng{service: s, depth: c.Depth, now: c.now()}, nil
}

func (*searxng) Name() string { return "searxng" }

func explainSearXNG(status int, _ []byte) (code turn.Code, detail string) {
	switch status {
	case http.StatusForbidden:
		return turn.CodeForbiddenJSON, "the instance does not give JSON: enable json under search.formats in settings.yml"
	case http.StatusTooManyRequests:
		return turn.CodeRateLimited, "the instance's limiter: add this machine to pass_ip in limiter.toml"
	}
	return "", ""
}

type searxngReply struct {
	Results      []searxngPage
	Answers      []searxngAnswer
	Infoboxes    []searxngInfobox
	Unresponsive []json.RawMessage `json:"unresponsive_engines"`
}

type searxngPage struct {
	URL, Title, Content string
	PublishedDate       string
	PubDate             string
	Score               number
	Image               string `json:"img_src"` // of an image result the image, of others a picture of the page
	Template            string
	Thumbnail           string
	ThumbnailSource     string `json:"thumbnail_src"`
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

func (s *searxng) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	params := s.params(q)
	if params.Get("q") == "" {
		return search.Reply{}, nil
	}
	hits, err := s.find(ctx, params, q)
	if params.Has("time_range") && len(hits) == 0 && err == nil {
		// Engines that cannot filter by date are left out, all of them where none can, and the instance then answers
		// with an empty list as if it had looked.
		params.Del("time_range")
		hits, err = s.find(ctx, params, q)
	}
	for page := 2; q.Depth == search.DepthAdvanced && page <= maxPages && err == nil && len(hits) > 0 && len(hits) < q.Limit; page++ {
		params.Set("pageno", strconv.Itoa(page))
		more, err := s.find(ctx, params, q)
		if len(more) == 0 || err != nil {
			break // what there is will do
		}
		hits = append(hits, more...)
	}
	return search.Reply{Hits: hits}, err
}

func (s *searxng) find(ctx context.Context, params url.Values, q search.Query) ([]turn.Hit, error) {
	var reply searxngReply
	err := s.get(ctx, "/search", params, q.Language, &reply)
	hits := reply.hits(q.Limit, s.now(), s.far.Address())
	var failed *search.Error
	switch {
	case err != nil && errors.As(err, &failed) && failed.Code != turn.CodeMalformed:
		return nil, err
	case err == nil && reply.Results == nil:
		return nil, s.fail(turn.CodeMalformed, "the reply has no results field")
	case len(reply.Unresponsive) > 0:
		return hits, s.unresponsive(reply.Unresponsive)
	}
	return hits, err
}

func (s *searxng) params(q search.Query) url.Values {
	text := neutral(q.Text)
	if text != "" {
		text += sites(q.Include, nil)
	}
	params := url.Values{
		"q":          {text},
		"format":     {"json"},
		"categories": {searxngCategories(q.Intent)},
		"safesearch": {map[string]string{"off": "0", "strict": "2"}[q.Safe]},
		"language":   {languageTag(languageOf(q.Language, q.Text), "all")},
		"pageno":     {"1"},
	}
	if params.Get("safesearch") == "" {
		params.Set("safesearch", "1")
	}
	// Engines named are asked besides those that the instance has switched on in the categories. These two find pages:
	// among pictures and films they would put what is neither.
	switch {
	case q.Intent == "image" || q.Intent == "video":
	case cmp.Or(q.Depth, s.depth) == search.DepthAdvanced:
		params.Set("engines", "google,bing,duckduckgo,wikipedia")
	default:
		params.Set("engines", "google,bing")
	}
	// No range unless it is asked for: it would hide every page that has been true for longer.
	switch q.Fresh {
	case "day", "week", "month", "year":
		params.Set("time_range", q.Fresh)
	}
	return params
}

// searxngCategories are the tabs of an instance that serve an intent.
func searxngCategories(intent turn.Intent) string {
	switch intent {
	case "news":
		return "general,news"
	case "image":
		return "images"
	case "video":
		return "videos"
	case "forum":
		return "general,social media"
	case "docs", "howto":
		return "general,it"
	}
	return "general"
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

func (r *searxngReply) hits(limit int, now time.Time, instance string) []turn.Hit {
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
		if p.URL != "" {
			hits = append(hits, p.hit(now, instance))
		}
	}
	return hits
}

func (p searxngPage) hit(now time.Time, instance string) turn.Hit {
	h := turn.Hit{
		Title: line(unmark(p.Title), maxTitle), URL: strings.TrimSpace(p.URL), Snippet: line(unmark(p.Content), maxSnippet), Given: p.Score.value,
	}
	h.Published, h.DayOnly = dated(now, p.PublishedDate, p.PubDate)
	for _, thumbnail := range []string{p.ThumbnailSource, p.Thumbnail, p.Image} {
		h.Thumbnail = cmp.Or(h.Thumbnail, searxngPicture(thumbnail, instance))
	}
	if p.Template == "images.html" {
		h.Media = searxngPicture(p.Image, instance)
	}
	return h
}

// searxngPicture is the address of a picture, which may be relative to the instance. If the instance gives its own
// proxy for it, which none but its users can reach, the picture's own address is inside.
func searxngPicture(address, instance string) string {
	address = absolute(address, instance+"/")
	if u, err := url.Parse(address); err == nil && strings.HasSuffix(u.Path, "/image_proxy") {
		address = absolute(u.Query().Get("url"), instance+"/")
	}
	return picture(address)
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
func (s *searxng) unresponsive(engines []json.RawMessage) *search.Error {
	code, detail := turn.CodeUpstream, "engines that did not answer:"
	for i, raw := range engines {
		var pair []string
		if json.Unmarshal(raw, &pair) != nil || len(pair) == 0 {
			continue
		}
		reason := line(strings.Join(pair[1:], " "), 60)
		for _, word := range []string{"captcha", "denied", "suspended", "too many", "blocked"} {
			if strings.Contains(strings.ToLower(reason), word) {
				code = turn.CodeBlocked
			}
		}
		if i < 5 {
			detail += " " + line(pair[0], 40) + " (" + reason + ")"
		}
	}
	return s.fail(code, detail)
}
