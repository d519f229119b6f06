package backend

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// firecrawl searches and, in its advanced depth, reads the pages for one credit each:
// https://docs.firecrawl.dev/api-reference/endpoint/search (v2).
type firecrawl struct{ *service }

func newFirecrawl(s *service) search.Backend {
	return firecrawl{s.withKey(phrases(phrase{"insufficient credits", turn.CodeQuota}))}
}

type firecrawlReply struct {
	Success *bool
	Error   json.RawMessage
	Data    *struct{ Web, News, Images []firecrawlResult }
}

type firecrawlResult struct {
	Title, URL, Description, Snippet, Date, ImageURL, Markdown string

	Metadata struct{ StatusCode int } // of the page, if it was read
}

const (
	maxFirecrawlQuery   = 500
	maxFirecrawlDomains = 100
)

func (f firecrawl) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := cutWords(withoutOperators(q.Text), maxFirecrawlQuery)
	if text == "" {
		return search.Reply{}, nil
	}
	sources := firecrawlSources(q)
	var reply firecrawlReply
	left, err := f.ask(ctx, request{path: "/v2/search", body: f.body(text, sources, q), language: q.Language, header: bearer(f.secret())}, &reply)
	if err == nil && reply.Success != nil && !*reply.Success {
		err = f.fail(f.failureOf(http.StatusOK, reply.Error))
	}
	return outcome(f.hits(reply, sources), left, f.expect(reply.Data != nil, noFields, err))
}

func firecrawlSources(q search.Query) []string {
	switch {
	case q.Intent == turn.IntentImage:
		return []string{"images", "web"}
	case q.Intent == turn.IntentNews:
		return []string{"news", "web"}
	case q.Depth == search.DepthAdvanced:
		return []string{"web", "news"}
	}
	return []string{"web"}
}

func (f firecrawl) body(text string, sources []string, q search.Query) map[string]any {
	include, exclude := includeOrExclude(q, maxFirecrawlDomains)
	_, country := locale(q.Language)
	all := map[string]any{
		"query": text, "limit": q.Limit, "sources": sources, "includeDomains": include, "excludeDomains": exclude, // limit is that of each source
		"tbs": span("qdr:", q.Fresh), "country": country, "safe": q.Safe != "off",
	}
	if q.Depth == search.DepthAdvanced {
		all["scrapeOptions"] = map[string]any{"formats": []string{"markdown"}, "onlyMainContent": true}
	}
	return fields(all)
}

// hits returns the results of the requested sources, in the order of sources.
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
			// The page's text says more than its description. It is a sample: the page is still to be read.
			if text := unmarkdown(p.Markdown); text != "" && p.Metadata.StatusCode < http.StatusBadRequest {
				h.Snippet = line(text, maxSnippet)
			}
			hits = append(hits, h)
		}
	}
	return hits
}
