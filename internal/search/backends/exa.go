package backends

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

type exaRequest struct {
	Query    string      `json:"query"`
	Type     string      `json:"type"`
	Category string      `json:"category,omitempty"`
	Results  int         `json:"numResults"`
	Include  []string    `json:"includeDomains,omitempty"`
	Exclude  []string    `json:"excludeDomains,omitempty"`
	Since    string      `json:"startPublishedDate,omitempty"`
	Region   string      `json:"userLocation,omitempty"`
	Safe     bool        `json:"moderation"`
	Contents exaContents `json:"contents"`
}

type exaContents struct {
	Highlights bool     `json:"highlights"`
	Text       *exaText `json:"text,omitempty"`
}

type exaText struct {
	Max int `json:"maxCharacters"`
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
	body := e.body(q)
	if body.Query == "" {
		return search.Reply{}, nil
	}
	var reply exaReply
	left, err := e.ask(ctx, request{path: "/search", body: body, language: q.Language, header: http.Header{"X-Api-Key": {e.secret()}}}, &reply)
	return outcome(e.hits(reply), left, e.expect(reply.Results != nil, noFields, err))
}

func (e exa) body(q search.Query) exaRequest {
	r := exaRequest{
		Query: cutWords(line(q.Text, len(q.Text)), maxExaQuery), Type: "auto", Results: q.Limit, Safe: q.Safe != "off",
		Contents: exaContents{Highlights: true},
	}
	r.Include, r.Exclude = includeOrExclude(q, maxExaDomains)
	if q.Depth == search.DepthAdvanced {
		r.Type, r.Contents.Text = "neural", &exaText{Max: maxProse}
	}
	if q.Intent == turn.IntentNews {
		r.Category = "news"
	}
	// Pages without a date are left out then: they may be old.
	if oldest := since(e.now().UTC(), q.Fresh); !oldest.IsZero() {
		r.Since = dayOf(oldest).Format(time.RFC3339)
	}
	_, r.Region = locale(q.Language)
	return r
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
