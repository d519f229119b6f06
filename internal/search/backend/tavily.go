package backend

import (
	"context"
	"encoding/json"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// tavily is a search service for models: https://docs.tavily.com/documentation/api-reference/endpoint/search. Its
// advanced depth costs twice as much and returns the text of pages.
type tavily struct{ *service }

func newTavily(s *service) search.Backend {
	return tavily{s.withKey(func(status int, _ string) turn.Code {
		if status == 432 || status == 433 { // the limit of the key or plan, and the pay-as-you-go limit
			return turn.CodeQuota
		}
		return ""
	})}
}

type tavilyReply struct {
	Results []struct {
		Title, URL, Content string
		Score               float64
		Raw                 string `json:"raw_content"`
		Published           string `json:"published_date"`
	}
	Images []tavilyImage
}

// tavilyImage is an object if the image has a description, else a string.
type tavilyImage struct{ URL, Description string }

func (i *tavilyImage) UnmarshalJSON(b []byte) error {
	type object tavilyImage
	if json.Unmarshal(b, (*object)(i)) != nil && json.Unmarshal(b, &i.URL) != nil {
		*i = tavilyImage{}
	}
	return nil
}

// Limits of one request.
const (
	maxTavilyQuery   = 400
	maxTavilyResults = 20
	maxTavilyInclude = 300
	maxTavilyExclude = 150
)

func (t tavily) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := cutWords(line(q.Text, len(q.Text)), maxTavilyQuery)
	if text == "" {
		return search.Reply{}, nil
	}
	var reply tavilyReply
	left, err := t.ask(ctx, request{path: "/search", body: t.body(text, q), language: q.Language, header: bearer(t.secret())}, &reply)
	return outcome(t.hits(reply), left, t.expect(reply.Results != nil, noFields, err))
}

// body does not set auto_parameters, with which Tavily may choose the more expensive depth. Nor does it set include_answer, since a model's
// summary cannot be cited.
func (t tavily) body(text string, q search.Query) map[string]any {
	all := map[string]any{
		"query": text, "search_depth": search.DepthBasic, "topic": "general", "max_results": min(q.Limit, maxTavilyResults), "include_answer": false,
		"include_domains": upTo(maxTavilyInclude, q.Include), "exclude_domains": upTo(maxTavilyExclude, q.Exclude),
	}
	if q.Depth == search.DepthAdvanced {
		all["search_depth"], all["include_raw_content"] = search.DepthAdvanced, "text"
	}
	if span("", q.Fresh) != "" {
		all["time_range"] = q.Fresh
	}
	if q.Intent == turn.IntentNews {
		all["topic"] = "news"
	} else {
		_, region := locale(q.Language)
		all["country"] = tavilyCountry(region)
	}
	if q.Intent == turn.IntentImage {
		all["include_images"], all["include_image_descriptions"] = true, true
	}
	return fields(all)
}

// hits returns the images, if they were requested, and then the pages. Tavily does not say which page an image is on.
func (t tavily) hits(r tavilyReply) []turn.Hit {
	var hits []turn.Hit
	for _, i := range r.Images {
		h := t.hit(i.Description, picture(i.URL), "")
		h.Media = h.URL
		hits = append(hits, h)
	}
	for _, p := range r.Results {
		h := t.hit(p.Title, p.URL, p.Content, p.Published)
		h.Given, h.Text = p.Score, prose(p.Raw, maxProse)
		hits = append(hits, h)
	}
	return hits
}

// tavilyCountries are the countries whose pages Tavily can prefer, by region code. It wants English names and rejects
// unknown ones. Countries with several English names are left out.
const tavilyCountries = "AR AU AT BD BE BG BR CA CH CL CN CO CR CU CY DE DK DZ EC EE EG ES ET FI FR GB GE GH GR GT HN HR HU ID IE IL IN IQ IR IS IT JM " +
	"JO JP KE KR KW KZ LB LK LT LU LV LY MA MX MY NG NI NL NO NP NZ OM PA PE PH PK PL PT PY QA RO RS RU SA SE SG SI SK SN SV SY TH " +
	"TN TW UA UG US UY VE VN ZA"

func tavilyCountry(region string) string {
	return strings.ToLower(countryName(oneOf(tavilyCountries, region)))
}
