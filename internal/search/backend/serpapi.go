package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

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
