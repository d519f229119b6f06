package backend

import (
	"context"
	"net/http"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// exa searches by meaning: https://docs.exa.ai/reference/search. It has no operators, no languages and no images.
type exa struct{ *service }

func newExa(s *service) search.Backend {
	return exa{s.withKey(func(status int, text string) turn.Code {
		switch {
		case contains(text, "invalid_api_key"):
			return turn.CodeUnauthorized
		case status/100 == 4 && contains(text, "no_more_credits", "exceeded your credits"):
			return turn.CodeQuota
		}
		return ""
	})}
}

type exaReply struct {
	Results []struct {
		Title, URL, PublishedDate, Image, Text string
		Highlights                             []string
		Score                                  float64
	}
}

const (
	maxExaQuery   = 1000
	maxExaDomains = 100
)

func (e exa) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := cutWords(line(q.Text, len(q.Text)), maxExaQuery)
	if text == "" {
		return search.Reply{}, nil
	}
	var reply exaReply
	left, err := e.ask(ctx, request{path: "/search", body: e.body(text, q), language: q.Language, header: http.Header{"X-Api-Key": {e.secret()}}}, &reply)
	return outcome(e.hits(reply), left, e.expect(reply.Results != nil, noFields, err))
}

func (e exa) body(text string, q search.Query) map[string]any {
	include, exclude := includeOrExclude(q, maxExaDomains)
	_, region := locale(q.Language)
	contents := map[string]any{"highlights": true}
	all := map[string]any{
		"query": text, "type": "auto", "numResults": q.Limit, "includeDomains": include, "excludeDomains": exclude,
		"userLocation": region, "moderation": q.Safe != "off", "contents": contents,
	}
	if q.Depth == search.DepthAdvanced {
		all["type"], contents["text"] = "neural", map[string]int{"maxCharacters": maxProse}
	}
	if q.Intent == turn.IntentNews {
		all["category"] = "news"
	}
	// This drops pages without a date: they may be old.
	if oldest := since(e.now().UTC(), q.Fresh); !oldest.IsZero() {
		all["startPublishedDate"] = dayOf(oldest).Format(time.RFC3339)
	}
	return fields(all)
}

func (e exa) hits(r exaReply) []turn.Hit {
	var hits []turn.Hit
	for _, p := range r.Results {
		h := e.hit(p.Title, p.URL, strings.Join(p.Highlights, " "), p.PublishedDate)
		h.Given, h.Text, h.Thumbnail = p.Score, prose(p.Text, maxProse), picture(p.Image)
		hits = append(hits, h)
	}
	return hits
}
