package backends

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// github is the search for repositories and issues: https://docs.github.com/rest/search/search. It works without a
// token, ten times a minute. Only what is public is searched for: a token may see more than the channel should.
type github struct {
	*service
	token string
	now   func() time.Time
	rest  pause
}

const githubToken = "GITHUB_TOKEN"

func newGitHub(c Config, base string) (search.Backend, error) {
	s, err := newService(c, "github", base)
	if err != nil {
		return nil, err
	}
	s.allowance = githubAllowance
	s.explain = explainGitHub
	return &github{service: s, token: c.Keys[githubToken], now: c.now()}, nil
}

func (*github) Name() string { return "github" }

func explainGitHub(status int, page []byte) (code turn.Code, detail string) {
	switch {
	case status == http.StatusUnauthorized:
		return turn.CodeUnauthorized, githubToken + " is wrong or has expired; without one it works too"
	case status == http.StatusForbidden && contains(complaint(page), "rate limit"), status == http.StatusTooManyRequests:
		return turn.CodeRateLimited, "HTTP " + strconv.Itoa(status) + ": its limit of searches; " + githubToken + " makes it higher"
	case status == http.StatusUnprocessableEntity:
		return turn.CodeRejected, "HTTP 422: it does not understand the query"
	}
	return "", ""
}

// githubAllowance reads the primary limit, https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api.
func githubAllowance(h http.Header) search.Allowance {
	of, err := strconv.Atoi(h.Get("X-Ratelimit-Limit"))
	left, errLeft := strconv.Atoi(h.Get("X-Ratelimit-Remaining"))
	if err != nil || errLeft != nil {
		return search.Allowance{}
	}
	a := search.Allowance{Left: left, Of: of}
	if reset, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil {
		a.Resets = time.Unix(reset, 0)
	}
	return a
}

// The searches that there are.
const (
	githubRepositories = "repositories"
	githubIssues       = "issues"
)

func (g *github) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(problem(q)), 200)
	if words == "" || !allows(q, "github.com") {
		return search.Reply{}, nil
	}
	var found search.Reply
	var lists [][]turn.Hit
	var failed error
	for _, kind := range githubSearches(q.Intent) {
		hits, left, err := g.find(ctx, kind, words, q)
		lists, failed = append(lists, hits), cmp.Or(failed, err)
		if left.Of > 0 {
			found.Allowance = left
		}
		if err != nil {
			break // whatever it is, a second request would not make it better
		}
	}
	found.Hits = alternate(lists)
	return found, failed
}

// githubSearches are the searches worth one of the few requests.
func githubSearches(intent turn.Intent) []string {
	switch intent {
	case "forum":
		return []string{githubIssues}
	case "docs":
		return []string{githubRepositories}
	}
	return []string{githubRepositories, githubIssues}
}

type githubReply struct {
	Partial bool `json:"incomplete_results"`
	Items   []githubItem
}

// githubItem is a repository or an issue.
type githubItem struct {
	FullName    string `json:"full_name"`
	Title       string
	URL         string `json:"html_url"`
	Description string
	Body        string
	Score       number
	Stars       number `json:"stargazers_count"`
	Language    string // that it is written in
	State       string
	Created     string `json:"created_at"`
	Pushed      string `json:"pushed_at"`
}

func (g *github) find(ctx context.Context, kind, words string, q search.Query) ([]turn.Hit, search.Allowance, error) {
	if err := g.rest.check(g.service); err != nil {
		return nil, search.Allowance{}, err
	}
	words += " is:public"
	if kind == githubIssues {
		words += " is:issue"
	}
	if oldest := since(g.now(), q.Fresh); !oldest.IsZero() {
		changed := map[string]string{githubRepositories: "pushed", githubIssues: "updated"}[kind]
		words += fmt.Sprintf(" %s:>=%s", changed, oldest.Format(time.DateOnly))
	}
	header := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	if g.token != "" {
		header.Set("Authorization", "Bearer "+g.token)
	}
	var reply githubReply
	left, err := g.ask(ctx, request{
		path: "/search/" + kind, params: url.Values{"q": {words}, "per_page": {strconv.Itoa(q.Limit)}}, header: header, language: q.Language,
	}, &reply)
	g.heed(left, err)
	hits := reply.hits(g.now())
	switch {
	case err == nil && reply.Items == nil:
		err = g.fail(turn.CodeMalformed, "the reply has no items field")
	case err == nil && reply.Partial:
		err = g.fail(turn.CodeTimeout, "it ran out of time and found only a part")
	case len(hits) > 0:
		err = nil
	}
	return hits, left, err
}

// heed notes how long it wants to be left alone: until the limit's reset, or as long as it says; a minute if it does
// not say, as its documentation asks.
func (g *github) heed(left search.Allowance, err error) {
	wait := waitOf(left)
	code, asked := refusalOf(err)
	if code == turn.CodeRateLimited || code == turn.CodeBlocked {
		wait = max(wait, cmp.Or(asked, time.Minute))
	}
	g.rest.hold(turn.CodeRateLimited, wait)
}

func (r *githubReply) hits(now time.Time) []turn.Hit {
	var hits []turn.Hit
	for _, i := range r.Items {
		if i.URL == "" {
			continue
		}
		h := turn.Hit{
			Title: line(cmp.Or(i.FullName, i.Title), maxTitle), URL: i.URL, Snippet: line(unmarkdown(cmp.Or(i.Description, i.Body)), maxSnippet),
			Given: i.Score.value}
		h.Published, h.DayOnly = dated(now, i.Created)
		if i.FullName != "" {
			h.Published, h.DayOnly = dated(now, i.Pushed)
			h.Snippet = strings.TrimSpace(h.Snippet + " " + i.repository())
		} else if i.State != "" {
			h.Snippet = strings.TrimSpace("(" + line(i.State, 20) + ") " + h.Snippet)
		}
		hits = append(hits, h)
	}
	return hits
}

// repository is what one sees of it at a glance: "(Go, 5 stars)".
func (i githubItem) repository() string {
	var parts []string
	if i.Language != "" {
		parts = append(parts, line(i.Language, 40))
	}
	if i.Stars.known {
		parts = append(parts, fmt.Sprintf("%.0f stars", i.Stars.value))
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// alternate makes one list of several: the best of each, then the second best of each.
func alternate(lists [][]turn.Hit) []turn.Hit {
	var all []turn.Hit
	for i := 0; ; i++ {
		before := len(all)
		for _, l := range lists {
			if i < len(l) {
				all = append(all, l[i])
			}
		}
		if len(all) == before {
			return all
		}
	}
}
