package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// maxPages is the number of result pages requested in the advanced depth.
const maxPages = 3

// searxng is a metasearch instance run by the operator: https://docs.searxng.org/dev/search_api.html.
type searxng struct{ *service }

func newSearXNG(s *service) search.Backend {
	s.far.TrimPath("/search")
	s.explain = explainSearXNG
	return searxng{s}
}

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
	Image               string `json:"img_src"` // of an image result, the image; of others, a picture of the page
	Template            string
	Thumbnail           string
	ThumbnailSource     string `json:"thumbnail_src"`
}

// searxngAnswer is an object. In old versions it was a string without an address.
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

func (s searxng) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	params := s.params(q)
	if params.Get("q") == "" {
		return search.Reply{}, nil
	}
	hits, err := s.find(ctx, params, q)
	if params.Has("time_range") && len(hits) == 0 && err == nil {
		// SearXNG skips engines that cannot filter by date. If none can, it returns an empty list as if it had looked.
		params.Del("time_range")
		hits, err = s.find(ctx, params, q)
	}
	for page := 2; q.Depth == search.DepthAdvanced && page <= maxPages && err == nil && len(hits) > 0 && len(hits) < q.Limit; page++ {
		params.Set("pageno", strconv.Itoa(page))
		more, err := s.find(ctx, params, q)
		if len(more) == 0 || err != nil {
			break // the pages so far are enough
		}
		hits = append(hits, more...)
	}
	return search.Reply{Hits: hits}, err
}

func (s searxng) find(ctx context.Context, params url.Values, q search.Query) ([]turn.Hit, error) {
	var reply searxngReply
	_, err := s.ask(ctx, request{path: "/search", params: params, language: q.Language}, &reply)
	switch {
	case err != nil && codeOf(err) != turn.CodeMalformed:
		return nil, err
	case err == nil && reply.Results == nil:
		return nil, s.fail(turn.CodeMalformed, "the reply has no results field")
	case len(reply.Unresponsive) > 0:
		err = s.unresponsive(reply.Unresponsive)
	}
	return s.hits(reply, q.Limit), err
}

func (s searxng) params(q search.Query) url.Values {
	text := withoutCommands(q.Text)
	if text != "" {
		text += sites(q.Include, nil)
	}
	params := url.Values{
		"q":          {text},
		"format":     {"json"},
		"categories": {cmp.Or(searxngCategories[q.Intent], "general")},
		"safesearch": {cmp.Or(map[string]string{"off": "0", "strict": "2"}[q.Safe], "1")},
		"language":   {languageTag(languageOf(q.Language, q.Text), "all")},
		"pageno":     {"1"},
	}
	// These engines are asked in addition to the instance's own categories. They find pages, which do not belong among
	// pictures and videos.
	switch {
	case q.Intent == turn.IntentImage || q.Intent == turn.IntentVideo:
	case cmp.Or(q.Depth, s.config.Depth) == search.DepthAdvanced:
		params.Set("engines", "google,bing,duckduckgo,wikipedia")
	default:
		params.Set("engines", "google,bing")
	}
	// Set no range without need. It would hide every older page that is still true.
	if span("", q.Fresh) != "" {
		params.Set("time_range", q.Fresh)
	}
	return params
}

// searxngCategories are an instance's categories by intent. Other intents use the general one.
var searxngCategories = map[turn.Intent]string{
	turn.IntentNews: "general,news", turn.IntentImage: "images", turn.IntentVideo: "videos", turn.IntentForum: "general,social media",
	turn.IntentDocs: "general,it", turn.IntentHowTo: "general,it",
}

func (s searxng) hits(r searxngReply, limit int) []turn.Hit {
	var hits []turn.Hit
	for _, a := range r.Answers {
		if text := prose(unmark(a.Answer), maxProse); text != "" && a.URL != "" {
			h := textHit(line(text, 80), a.URL, text)
			h.Answer = true
			hits = append(hits, h)
		}
	}
	for _, box := range r.Infoboxes {
		if h, ok := box.hit(); ok {
			hits = append(hits, h)
		}
	}
	for _, p := range r.Results[:min(len(r.Results), limit)] {
		if p.URL != "" {
			hits = append(hits, s.page(p))
		}
	}
	return hits
}

func (s searxng) page(p searxngPage) turn.Hit {
	instance := s.far.Address()
	h := s.hit(p.Title, p.URL, p.Content, p.PublishedDate, p.PubDate)
	h.Given = p.Score.value
	for _, thumbnail := range []string{p.ThumbnailSource, p.Thumbnail, p.Image} {
		h.Thumbnail = cmp.Or(h.Thumbnail, searxngPicture(thumbnail, instance))
	}
	if p.Template == "images.html" {
		h.Media = searxngPicture(p.Image, instance)
	}
	return h
}

// searxngPicture returns the address of a picture, which may be relative to the instance. If it is the instance's
// proxy, which only its users can reach, the picture's own address is inside.
func searxngPicture(address, instance string) string {
	address = absolute(address, instance+"/")
	if u, err := url.Parse(address); err == nil && strings.HasSuffix(u.Path, "/image_proxy") {
		address = absolute(u.Query().Get("url"), instance+"/")
	}
	return picture(address)
}

// hit returns the box as a page that need not be fetched: its introduction, then "label: value." for each attribute.
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
	return textHit(unmark(b.Infobox), address, text), true
}

// unresponsive returns an error that names the engines that did not answer. Without hits from the others the search
// failed, because no engine looked.
func (s searxng) unresponsive(engines []json.RawMessage) error {
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
