package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// Limits of the services that pass a query to Google. They cut a longer query.
const (
	maxGoogleQuery = 2048
	maxGoogleWords = 32
)

// googleLanguages are the languages of its pages, except the ones for which it has its own code.
const googleLanguages = "af ar be bg bn bs ca cs da de el en es et eu fa fi fr gl gu hi hr hu hy id is it ja ka kk km kn ko lt lv mk ml mn mr ms " +
	"ne nl no pa pl ro ru sk sl sq sr sv sw ta te th tr uk ur uz vi"

// google returns a language tag as Google's parameters hl and gl. Unknown languages are empty.
func google(tag string) (hl, gl string) {
	base, region := locale(tag)
	if gl = strings.ToLower(region); gl == "gb" {
		gl = "uk"
	}
	switch base {
	case "zh":
		return map[string]string{"hans": "zh-cn", "hant": "zh-tw"}[script(tag)], gl
	case "pt":
		return map[bool]string{true: "pt-pt", false: "pt-br"}[region == "PT"], gl
	case "nb", "nn":
		return "no", gl
	case "he":
		return "iw", gl
	}
	return oneOf(googleLanguages, base), gl
}

// googleSafe returns the parameter safe. Moderate is Google's default.
func googleSafe(safe string) string {
	return map[string]string{"strict": "active", "off": "off"}[safe]
}

// googleBox is the box that Google shows above all results, taken from the page at Link.
type googleBox struct{ Title, Answer, Snippet, Link string }

func (b googleBox) hits(s *service) []turn.Hit {
	if b.Link == "" {
		return nil
	}
	h := s.hit(cmp.Or(b.Title, b.Answer), b.Link, b.Answer+" "+b.Snippet)
	h.Text, h.Answer = h.Snippet, h.Snippet != ""
	return []turn.Hit{h}
}

// serper passes a query to Google: https://serper.dev.
type serper struct{ *service }

func newSerper(s *service) search.Backend {
	return serper{s.withKey(func(status int, text string) turn.Code {
		if status/100 == 4 && contains(text, "not enough credits") {
			return turn.CodeQuota
		}
		return ""
	})}
}

type serperReply struct {
	Parameters                    json.RawMessage `json:"searchParameters"` // of the request; in every reply
	Organic, News, Images, Videos []serperResult
	AnswerBox                     googleBox
	KnowledgeGraph                struct{ Title, Description, DescriptionLink, Website, ImageURL string }
}

type serperResult struct{ Title, Link, Snippet, Date, ImageURL, ThumbnailURL string }

// maxSerper is the number of results that cost one credit. More cost two.
const maxSerper = 10

func (s serper) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := withSites(q, maxGoogleQuery, maxGoogleWords)
	if text == "" {
		return search.Reply{}, nil
	}
	hl, gl := google(q.Language)
	body := fields(map[string]any{
		"q": text, "hl": hl, "gl": gl, "num": min(q.Limit, maxSerper), "tbs": span("qdr:", q.Fresh), "safe": googleSafe(q.Safe),
	})
	path := cmp.Or(map[turn.Intent]string{turn.IntentNews: "/news", turn.IntentImage: "/images", turn.IntentVideo: "/videos"}[q.Intent], "/search")
	var reply serperReply
	left, err := s.ask(ctx, request{path: path, body: body, language: q.Language, header: http.Header{"X-Api-Key": {s.secret()}}}, &reply)
	return outcome(s.hits(reply), left, s.expect(reply.Parameters != nil, noFields, err))
}

func (s serper) hits(r serperReply) []turn.Hit {
	hits := r.AnswerBox.hits(s.service)
	if k := r.KnowledgeGraph; k.Description != "" {
		h := s.hit(k.Title, cmp.Or(k.DescriptionLink, k.Website), k.Description)
		h.Thumbnail = picture(k.ImageURL)
		hits = append(hits, h)
	}
	for _, p := range r.Images {
		h := s.hit(p.Title, p.Link, p.Snippet, p.Date)
		h.Media, h.Thumbnail = picture(p.ImageURL), picture(p.ThumbnailURL)
		hits = append(hits, h)
	}
	for _, results := range [][]serperResult{r.News, r.Videos, r.Organic} {
		for _, p := range results {
			h := s.hit(p.Title, p.Link, p.Snippet, p.Date)
			h.Thumbnail = picture(p.ThumbnailURL, p.ImageURL)
			hits = append(hits, h)
		}
	}
	return hits
}

// serpapi passes a query to Google: https://serpapi.com/search-api. Its key is a parameter of the address, so errors
// must not show addresses.
type serpapi struct{ *service }

func newSerpAPI(s *service) search.Backend {
	return serpapi{s.withKey(phrases(
		phrase{"invalid api key", turn.CodeUnauthorized}, phrase{"run out of searches", turn.CodeQuota},
		phrase{"throughput", turn.CodeRateLimited}, phrase{"per hour", turn.CodeRateLimited},
	))}
}

type serpapiReply struct {
	Error    json.RawMessage
	Metadata struct{ Status string } `json:"search_metadata"`
	Organic  []serpapiResult         `json:"organic_results"`
	News     []serpapiResult         `json:"news_results"`
	Images   []serpapiResult         `json:"images_results"`
	Videos   []serpapiResult         `json:"video_results"`
	Box      googleBox               `json:"answer_box"`
	Graph    struct {
		Title, Description, Website string
		Source                      struct{ Link string }
	} `json:"knowledge_graph"`
}

type serpapiResult struct{ Title, Link, Snippet, Date, Thumbnail, Original string }

func (s serpapi) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	params := s.params(q)
	if params.Get("q") == "" {
		return search.Reply{}, nil
	}
	var reply serpapiReply
	left, err := s.ask(ctx, request{path: "/search.json", params: params, language: q.Language}, &reply)
	text := complaint(reply.Error)
	nothing := contains(text, "hasn't returned any results")
	status := reply.Metadata.Status
	// A search may fail without a reason, or still be running.
	if failed := text != "" || status != "" && status != "Success"; err == nil && failed && !nothing {
		err = s.fail(s.failureOf(http.StatusOK, reply.Error))
	}
	return outcome(s.hits(reply), left, s.expect(nothing || status != "", noFields, err))
}

func (s serpapi) params(q search.Query) url.Values {
	hl, gl := google(q.Language)
	engine := "google"
	if q.Intent == turn.IntentImage {
		engine = "google_images"
	}
	return params(map[string]string{
		"engine": engine, "q": withSites(q, maxGoogleQuery, maxGoogleWords), "hl": hl, "gl": gl, "safe": googleSafe(q.Safe),
		"tbs": span("qdr:", q.Fresh), "tbm": map[turn.Intent]string{turn.IntentNews: "nws", turn.IntentVideo: "vid"}[q.Intent], "api_key": s.secret(),
	})
}

func (s serpapi) hits(r serpapiReply) []turn.Hit {
	hits := r.Box.hits(s.service)
	if r.Graph.Description != "" {
		hits = append(hits, s.hit(r.Graph.Title, cmp.Or(r.Graph.Source.Link, r.Graph.Website), r.Graph.Description))
	}
	for _, results := range [][]serpapiResult{r.News, r.Images, r.Videos, r.Organic} {
		for _, p := range results {
			h := s.hit(p.Title, p.Link, p.Snippet, p.Date)
			h.Media, h.Thumbnail = picture(p.Original), picture(p.Thumbnail)
			hits = append(hits, h)
		}
	}
	return hits
}
