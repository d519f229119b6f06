package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

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
