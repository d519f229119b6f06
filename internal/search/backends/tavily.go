package backends

import (
	"context"
	"encoding/json"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// tavily is a search made for models: https://docs.tavily.com/documentation/api-reference/endpoint/search. Its
// advanced depth costs twice as much and delivers the pages' text.
type tavily struct{ *service }

func newTavily(s *service) search.Backend {
	return tavily{s.withKey(func(status int, _ string) turn.Code {
		if status == 432 || status == 433 { // the limit of the key or the plan, and that of paying as one goes
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

// tavilyImage is an object where it is described, else a string.
type tavilyImage struct{ URL, Description string }

func (i *tavilyImage) UnmarshalJSON(b []byte) error {
	type object tavilyImage
	if json.Unmarshal(b, (*object)(i)) != nil && json.Unmarshal(b, &i.URL) != nil {
		*i = tavilyImage{}
	}
	return nil
}

// What Tavily takes in one request.
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

// body does not use auto_parameters, which lets Tavily choose the depth, maybe the more expensive one, nor
// include_answer: a model's summary is nothing that could be cited.
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

// hits are the images, if they were asked for, and then the pages. Tavily does not say on which page an image is.
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

// tavilyCountries are the countries whose pages Tavily can prefer, each with its region's code. It refuses unknown names,
// so countries with several are left out.
const tavilyCountries = "AR argentina,AU australia,AT austria,BD bangladesh,BE belgium,BG bulgaria,BR brazil,CA canada,CH switzerland,CL chile," +
	"CN china,CO colombia,CR costa rica,CU cuba,CY cyprus,DE germany,DK denmark,DZ algeria,EC ecuador,EE estonia,EG egypt,ES spain,ET ethiopia," +
	"FI finland,FR france,GB united kingdom,GE georgia,GH ghana,GR greece,GT guatemala,HN honduras,HR croatia,HU hungary,ID indonesia,IE ireland," +
	"IL israel,IN india,IQ iraq,IR iran,IS iceland,IT italy,JM jamaica,JO jordan,JP japan,KE kenya,KR south korea,KW kuwait,KZ kazakhstan," +
	"LB lebanon,LK sri lanka,LT lithuania,LU luxembourg,LV latvia,LY libya,MA morocco,MX mexico,MY malaysia,NG nigeria,NI nicaragua," +
	"NL netherlands,NO norway,NP nepal,NZ new zealand,OM oman,PA panama,PE peru,PH philippines,PK pakistan,PL poland,PT portugal,PY paraguay," +
	"QA qatar,RO romania,RS serbia,RU russia,SA saudi arabia,SE sweden,SG singapore,SI slovenia,SK slovakia,SN senegal,SV el salvador," +
	"SY syria,TH thailand,TN tunisia,TW taiwan,UA ukraine,UG uganda,US united states,UY uruguay,VE venezuela,VN vietnam,ZA south africa"

func tavilyCountry(region string) string {
	for country := range strings.SplitSeq(tavilyCountries, ",") {
		if code, name, _ := strings.Cut(country, " "); code == region {
			return name
		}
	}
	return ""
}
