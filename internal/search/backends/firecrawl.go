package backends

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// firecrawl searches and, in its advanced depth, reads what it found, a credit a page:
// https://docs.firecrawl.dev/api-reference/endpoint/search (v2).
type firecrawl struct{ *service }

func newFirecrawl(s *service) search.Backend {
	return firecrawl{s.withKey(phrases(phrase{"insufficient credits", turn.CodeQuota}))}
}

type firecrawlRequest struct {
	Query   string           `json:"query"`
	Limit   int              `json:"limit"` // of each source
	Sources []string         `json:"sources"`
	Include []string         `json:"includeDomains,omitempty"`
	Exclude []string         `json:"excludeDomains,omitempty"`
	Since   string           `json:"tbs,omitempty"`
	Country string           `json:"country,omitempty"`
	Safe    bool             `json:"safe"`
	Scrape  *firecrawlScrape `json:"scrapeOptions,omitempty"`
}

type firecrawlScrape struct {
	Formats []string `json:"formats"`
	Main    bool     `json:"onlyMainContent"`
}

type firecrawlReply struct {
	Success *bool
	Error   json.RawMessage
	Data    *struct{ Web, News, Images []firecrawlResult }
}

type firecrawlResult struct {
	Title, URL, Description, Snippet, Date, ImageURL, Markdown string

	Metadata struct{ StatusCode int } // of the page, where it was read
}

const (
	maxFirecrawlQuery   = 500
	maxFirecrawlDomains = 100
)

func (f firecrawl) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	body := f.body(q)
	if body.Query == "" {
		return search.Reply{}, nil
	}
	var reply firecrawlReply
	left, err := f.ask(ctx, request{path: "/v2/search", body: body, language: q.Language, header: bearer(f.secret())}, &reply)
	if err == nil && reply.Success != nil && !*reply.Success {
		err = f.fail(f.failureOf(http.StatusOK, reply.Error))
	}
	return outcome(f.hits(reply, body.Sources), left, f.expect(reply.Data != nil, noFields, err))
}

func (f firecrawl) body(q search.Query) firecrawlRequest {
	r := firecrawlRequest{
		Query: cutWords(withoutOperators(q.Text), maxFirecrawlQuery), Limit: q.Limit, Sources: []string{"web"}, Safe: q.Safe != "off",
		Since: span("qdr:", q.Fresh),
	}
	r.Include, r.Exclude = includeOrExclude(q, maxFirecrawlDomains)
	switch {
	case q.Intent == turn.IntentImage:
		r.Sources = []string{"images", "web"}
	case q.Intent == turn.IntentNews:
		r.Sources = []string{"news", "web"}
	case q.Depth == search.DepthAdvanced:
		r.Sources = []string{"web", "news"}
	}
	if q.Depth == search.DepthAdvanced {
		r.Scrape = &firecrawlScrape{Formats: []string{"markdown"}, Main: true}
	}
	_, r.Country = locale(q.Language)
	return r
}

// hits are the results of each source that was asked for, in that order.
func (f firecrawl) hits(r firecrawlReply, sources []string) []turn.Hit {
	if r.Data == nil {
		return nil
	}
	var hits []turn.Hit
	for _, source := range sources {
		results := map[string][]firecrawlResult{"web": r.Data.Web, "news": r.Data.News, "images": r.Data.Images}[source]
		for _, p := range results {
			h := f.hit(p.Title, p.URL, cmp.Or(p.Description, p.Snippet), p.Date)
			if source == "images" {
				h.Media = picture(p.ImageURL)
			} else {
				h.Thumbnail = picture(p.ImageURL)
			}
			// The page's words say more than its description. They are a sample: the page is still to be read.
			if text := unmarkdown(p.Markdown); text != "" && p.Metadata.StatusCode < http.StatusBadRequest {
				h.Snippet = line(text, maxSnippet)
			}
			hits = append(hits, h)
		}
	}
	return hits
}
