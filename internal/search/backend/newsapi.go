package backend

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
	"familiar/internal/text"
)

// newsapi searches articles: https://newsapi.org/docs/endpoints/everything. With a developer key, articles are a day late and at most a
// month old. The licence does not cover a bot that runs for others.
type newsapi struct{ *service }

func newNewsAPI(s *service) search.Backend {
	s.hints = map[turn.Code]string{turn.CodeRejected: "; " + newsapiPlan, turn.CodeQuota: "; a developer key's are 100 a day"}
	return newsapi{s.withKey(newsapiFailure)}
}

const newsapiPlan = "a developer key's articles come 24 hours late and reach a month back"

// newsapiFailure reads https://newsapi.org/docs/errors.
func newsapiFailure(status int, text string) turn.Code {
	switch {
	case contains(text, "apikeyexhausted") || contains(text, "ratelimited") && contains(text, "24 hour", "developer accounts"):
		return turn.CodeQuota
	case status == http.StatusUpgradeRequired, contains(text, "parameter", "sources", "maximumresultsreached"):
		return turn.CodeRejected
	}
	return ""
}

type newsapiReply struct {
	Status   string
	Articles []struct {
		Title, Description, Content, URL string
		Image                            string `json:"urlToImage"`
		At                               string `json:"publishedAt"`
	}
}

// newsapiLanguages are the languages that the service knows.
const newsapiLanguages = "ar de en es fr he it nl no pt ru sv ud zh"

func (n newsapi) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(topic(q.Text, q.Language)), 480)
	if words == "" {
		return search.Reply{}, nil
	}
	base, _ := locale(languageOf(q.Language, q.Text))
	if base == "nb" || base == "nn" {
		base = "no"
	}
	language := oneOf(newsapiLanguages, base)
	oldest := n.since(q)
	order := "relevancy"
	if q.Fresh == "day" {
		order = "publishedAt"
	}
	var reply newsapiReply
	left, err := n.ask(ctx, request{
		path: "/v2/everything", header: http.Header{"X-Api-Key": {n.secret()}}, language: q.Language, params: params(map[string]string{
			"q": words, "pageSize": strconv.Itoa(q.Limit), "sortBy": order, "language": language, "from": newsapiFrom(q.Fresh, oldest),
			"domains": strings.Join(q.Include, ","), "excludeDomains": strings.Join(q.Exclude, ","),
		}),
	}, &reply)
	if err == nil && reply.Status == "error" {
		err = n.fail(turn.CodeUpstream, "it tells a failure of its own")
	}
	if err == nil && len(reply.Articles) == 0 && q.Fresh == "day" { // the plan may hide the newest articles
		err = n.fail(turn.CodeRejected, "nothing of the last day: "+newsapiPlan)
	}
	return outcome(n.hits(reply, language, oldest), left, n.expect(reply.Articles != nil, noFields, err))
}

// newsapiFrom returns the oldest time to ask for. A developer key may not ask for more than a month. For a year it sets
// no limit, and hits drops what is too old.
func newsapiFrom(fresh string, oldest time.Time) string {
	switch fresh {
	case "month":
		oldest = oldest.AddDate(0, 0, 1)
	case "day", "week":
	default:
		return ""
	}
	return oldest.UTC().Format("2006-01-02T15:04:05")
}

// cutMark matches the end of every content: "… [+1234 chars]".
var cutMark = text.NewLazyRegexp(`\s*\[\+\d+ chars\]\s*$`)

// hits drops articles older than oldest, and removed ones, which stay in the list as "[Removed]".
func (n newsapi) hits(reply newsapiReply, language string, oldest time.Time) []turn.Hit {
	var hits []turn.Hit
	for _, a := range reply.Articles {
		text := a.Description
		if content := cutMark.ReplaceAllString(a.Content, ""); len(content) > len(text) {
			text = content
		}
		h := n.hit(a.Title, a.URL, text, a.At)
		if strings.Contains(h.Title, "[Removed]") || !h.Published.IsZero() && h.Published.Before(oldest) {
			continue
		}
		h.Thumbnail, h.Language = picture(absolute(a.Image, a.URL)), language
		hits = append(hits, h)
	}
	return hits
}
