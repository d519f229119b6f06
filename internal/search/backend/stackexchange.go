package backend

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// stackexchange searches the questions of one Stack Exchange site: https://api.stackexchange.com/docs/advanced-search.
// Without a key it allows few requests a day. The texts are under CC BY-SA; a hit's title and address are the required
// attribution.
type stackexchange struct{ *service }

const stackexchangeKey = "STACKEXCHANGE_KEY"

func newStackExchange(s *service) search.Backend {
	s.explain = explainStackExchange
	return stackexchange{s}
}

// explainStackExchange reads the errors of https://api.stackexchange.com/docs/error-handling. Most have status 400.
func explainStackExchange(_ int, page []byte) (code turn.Code, detail string) {
	var failure struct {
		Name    string `json:"error_name"`
		Message string `json:"error_message"`
	}
	if json.Unmarshal(page, &failure) != nil {
		return "", ""
	}
	switch failure.Name {
	case "throttle_violation":
		if strings.Contains(failure.Message, "more requests available in") {
			return turn.CodeQuota, "the day's requests are used up; " + stackexchangeKey + " gives more"
		}
		return turn.CodeRateLimited, "too many requests from this address"
	case "bad_parameter":
		if strings.HasPrefix(failure.Message, "`key`") {
			return turn.CodeUnauthorized, stackexchangeKey + " is wrong; without one it works too"
		}
		return turn.CodeRejected, "it refuses a parameter"
	case "temporarily_unavailable", "internal_error":
		return turn.CodeUpstream, "it says that it is out of order for now"
	}
	return "", ""
}

type stackexchangeReply struct {
	Items []struct {
		Title, Link, Body string
		Score             number
		At                number `json:"creation_date"`
	}
	Backoff   number // seconds until the next request
	QuotaMax  number `json:"quota_max"`
	QuotaLeft number `json:"quota_remaining"`
}

func (s stackexchange) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words, site := cutWords(withoutFields(problem(q)), 240), siteOf(q)
	if words == "" || !q.Allows(site) {
		return search.Reply{}, nil
	}
	all := map[string]string{
		"site": site, "q": words, "order": "desc", "sort": "relevance", "filter": "withbody", "pagesize": strconv.Itoa(q.Limit),
		"key": s.config.Keys[stackexchangeKey],
	}
	if oldest := s.since(q); !oldest.IsZero() {
		all["fromdate"] = strconv.FormatInt(oldest.Unix(), 10)
	}
	var reply stackexchangeReply
	_, err := s.ask(ctx, request{path: "/2.3/search/advanced", params: params(all), language: q.Language}, &reply)
	err = s.expect(reply.Items != nil, "the reply has no items field", orMinute(err, turn.CodeRateLimited))
	found, err := outcome(s.hits(reply, site), reply.allowance(), err)
	found.Wait = seconds(reply.Backoff.value)
	return found, err
}

// allowance returns what is left of the daily limit. The day is in UTC.
func (r *stackexchangeReply) allowance() search.Allowance {
	if !r.QuotaMax.valid || !r.QuotaLeft.valid {
		return search.Allowance{}
	}
	return search.Allowance{Left: int(r.QuotaLeft.value), Of: int(r.QuotaMax.value), Resets: time.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)}
}

func (s stackexchange) hits(r stackexchangeReply, site string) []turn.Hit {
	var hits []turn.Hit
	for _, i := range r.Items {
		h := s.hit(i.Title, i.Link, i.Body)
		h.Given, h.Published, h.Language = i.Score.value, unixAt(i.At, number{}).UTC(), siteLanguage(site)
		hits = append(hits, h)
	}
	return hits
}

// stackexchangeSites are the network's hosts that do not end in .stackexchange.com.
const stackexchangeSites = "stackoverflow.com superuser.com serverfault.com askubuntu.com mathoverflow.net stackapps.com " +
	"es.stackoverflow.com ja.stackoverflow.com pt.stackoverflow.com ru.stackoverflow.com"

// siteOf returns the site to ask. It is the one to which the query is limited, else Stack Overflow in the query's language.
func siteOf(q search.Query) string {
	sites := strings.Fields(stackexchangeSites)
	for _, host := range q.Include {
		host = strings.TrimPrefix(strings.ToLower(host), "www.")
		if slices.Contains(sites, host) || strings.HasSuffix(host, ".stackexchange.com") {
			return host
		}
	}
	base, _ := locale(languageOf(q.Language, q.Text))
	if local := base + ".stackoverflow.com"; slices.Contains(sites, local) {
		return local
	}
	return "stackoverflow.com"
}

// siteLanguage returns the language of a site's questions.
func siteLanguage(site string) string {
	if base, rest, _ := strings.Cut(site, "."); rest == "stackoverflow.com" && len(base) == 2 {
		return base
	}
	return "en"
}
