package backend

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// brave is a search engine with its own index: https://api-dashboard.search.brave.com/documentation. Pages, news,
// videos and images are separate searches, asked at the same time and billed separately. The advanced depth asks for
// passages of pages in place of their descriptions.
type brave struct{ *service }

func newBrave(s *service) search.Backend {
	s.allowance = func(h http.Header) search.Allowance { return braveAllowance(h, s.now()) }
	return brave{s.withKey(phrases(
		phrase{"subscription_token", turn.CodeUnauthorized}, // also with HTTP 422
		phrase{"quota", turn.CodeQuota},
	))}
}

// Paths of the searches.
const (
	braveWeb     = "/web/search"
	braveNews    = "/news/search"
	braveVideos  = "/videos/search"
	braveImages  = "/images/search"
	braveContext = "/llm/context"
)

type braveReply struct {
	Type      string
	Web       *struct{ Results []braveResult }
	Results   []braveResult // of all searches except the one for pages
	Grounding *struct{ Generic []bravePage }
	Sources   map[string]struct{ Age []string }
}

type braveResult struct {
	Title, URL, Description, Age, Language string

	PageAge    string   `json:"page_age"` // without a zone
	Extra      []string `json:"extra_snippets"`
	Thumbnail  struct{ Src string }
	Properties struct{ URL string } // of the image, where URL is its page
}

// bravePage holds a page's passages. A passage may be JSON: a table, a list of questions.
type bravePage struct {
	URL, Title string
	Snippets   []string
}

// Limits of one request.
const (
	maxBraveQuery = 400
	maxBraveWords = 50
	maxBraveCount = 20
)

func (b brave) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	text := withSites(q, maxBraveQuery, maxBraveWords)
	if text == "" {
		return search.Reply{}, nil
	}
	paths := b.paths(q)
	replies, errs := make([]search.Reply, len(paths)), make([]error, len(paths))
	var tasks sync.WaitGroup
	for i, path := range paths {
		tasks.Go(func() { replies[i], errs[i] = b.look(ctx, path, text, q) })
	}
	tasks.Wait()
	var all search.Reply
	for _, reply := range replies {
		all.Hits, all.Allowance = append(all.Hits, reply.Hits...), tighter(all.Allowance, reply.Allowance)
	}
	return all, cmp.Or(errs...)
}

// paths returns the searches to ask: one for the intent, and one for pages.
func (b brave) paths(q search.Query) []string {
	pages := braveWeb
	// Passages have no filter for age and no strict filter.
	if q.Depth == search.DepthAdvanced && span("", q.Fresh) == "" && q.Safe != "strict" {
		pages = braveContext
	}
	switch q.Intent {
	case turn.IntentNews:
		return []string{braveNews, pages}
	case turn.IntentVideo:
		return []string{braveVideos, pages}
	case turn.IntentImage:
		return []string{braveImages, pages}
	}
	return []string{pages}
}

// look asks one search. If Brave rejects the request, look asks again without some parameters. A plan may lack them, or they may have
// become unknown.
func (b brave) look(ctx context.Context, path, text string, q search.Query) (search.Reply, error) {
	params := b.params(path, text, q)
	reply, err := b.once(ctx, q, path, params)
	if codeOf(err) != turn.CodeRejected {
		return reply, err
	}
	if path == braveContext {
		path = braveWeb
		params = b.params(path, text, q)
	}
	maps.DeleteFunc(params, func(name string, _ []string) bool {
		return !slices.Contains([]string{"q", "count", "safesearch", "freshness"}, name)
	})
	return b.once(ctx, q, path, params)
}

func (b brave) once(ctx context.Context, q search.Query, path string, params url.Values) (search.Reply, error) {
	var reply braveReply
	left, err := b.ask(ctx, request{
		path: path, params: params, language: q.Language, header: http.Header{"X-Subscription-Token": {b.secret()}},
	}, &reply)
	return outcome(b.hits(reply, path == braveImages), left, b.expect(reply.ours(), noFields, err))
}

func (b brave) params(path, text string, q search.Query) url.Values {
	_, region := locale(q.Language)
	all := map[string]string{
		"q": text, "count": strconv.Itoa(min(q.Limit, maxBraveCount)), "country": oneOf(braveCountries, region), "search_lang": braveLanguage(q.Language),
	}
	if path == braveContext {
		return params(all)
	}
	all["safesearch"] = cmp.Or(oneOf("off strict", q.Safe), "moderate")
	if path == braveImages && q.Safe != "off" { // images know no moderate setting
		all["safesearch"] = "strict"
	}
	if path != braveImages {
		all["freshness"] = span("p", q.Fresh)
	}
	if path == braveWeb {
		all["result_filter"], all["text_decorations"] = "web", "false"
		if q.Depth == search.DepthAdvanced {
			all["extra_snippets"] = "true"
		}
	}
	return params(all)
}

// ours reports whether this is a reply of Brave. Without hits, the part that would hold them is missing.
func (r braveReply) ours() bool {
	return r.Type != "" || r.Web != nil || r.Results != nil || r.Grounding != nil
}

func (b brave) hits(r braveReply, images bool) []turn.Hit {
	var hits []turn.Hit
	results := r.Results
	if r.Web != nil {
		results = append(results, r.Web.Results...)
	}
	for _, p := range results {
		h := b.hit(p.Title, p.URL, strings.Join(append([]string{p.Description}, p.Extra...), " "), p.PageAge, p.Age)
		h.Language, h.Thumbnail = languageOfBrave(p.Language), picture(p.Thumbnail.Src)
		if images {
			h.Media = picture(p.Properties.URL)
		}
		hits = append(hits, h)
	}
	if r.Grounding == nil {
		return hits
	}
	for _, p := range r.Grounding.Generic {
		for i, passage := range p.Snippets {
			p.Snippets[i] = unmark(untable(passage))
		}
		text := strings.Join(p.Snippets, "\n")
		h := b.hit(p.Title, p.URL, "", r.Sources[p.URL].Age...)
		h.Snippet, h.Text = line(text, maxSnippet), prose(text, maxProse)
		hits = append(hits, h)
	}
	return hits
}

// Countries and languages that Brave knows. It rejects others.
const (
	braveCountries = "AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US"
	braveLanguages = "ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta te th tr uk vi"
)

// braveLanguage returns a language tag in Brave's spelling.
func braveLanguage(tag string) string {
	base, region := locale(tag)
	switch base {
	case "ja":
		return "jp"
	case "no", "nn":
		return "nb"
	case "zh":
		return "zh-" + script(tag)
	case "pt":
		return map[bool]string{true: "pt-pt", false: "pt-br"}[region == "PT"]
	}
	if base == "en" && region == "GB" {
		return "en-gb"
	}
	return oneOf(braveLanguages, base)
}

// languageOfBrave returns the standard tag for a language in Brave's spelling.
func languageOfBrave(language string) string {
	if language == "jp" {
		return "ja"
	}
	base, _ := locale(language)
	return base
}

// braveAllowance reads "X-RateLimit-Limit: 1, 15000", the limits per second and per month. It returns the longest
// window that is used up, or else the longest window. A limit of 0 is no limit.
func braveAllowance(h http.Header, now time.Time) (tightest search.Allowance) {
	column := func(name string) []string { return strings.Split(h.Get("X-RateLimit-"+name), ",") }
	limits, left, resets := column("Limit"), column("Remaining"), column("Reset")
	for i := range min(len(limits), len(left), len(resets)) {
		of, err := strconv.Atoi(strings.TrimSpace(limits[i]))
		rest, errLeft := strconv.Atoi(strings.TrimSpace(left[i]))
		seconds, errReset := strconv.ParseUint(strings.TrimSpace(resets[i]), 10, 31)
		if errors.Join(err, errLeft, errReset) != nil || of <= 0 {
			continue
		}
		if tightest.Of == 0 || tightest.Left > 0 || rest <= 0 {
			tightest = search.Allowance{Left: max(rest, 0), Of: of, Resets: now.Add(time.Duration(seconds) * time.Second)}
		}
	}
	return tightest
}

// tighter returns the allowance with less left, among those that are known.
func tighter(a, b search.Allowance) search.Allowance {
	if a.Of == 0 || b.Of > 0 && b.Left < a.Left {
		return b
	}
	return a
}
