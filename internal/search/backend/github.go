package backend

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// github searches repositories and issues: https://docs.github.com/rest/search/search. Without a token it allows ten
// searches a minute. A token may see private things that the channel should not see. Repositories in a reply say
// whether they are public; issues do not, so they are searched without the token.
type github struct{ *service }

const githubToken = "GITHUB_TOKEN"

func newGitHub(s *service) search.Backend {
	s.allowance, s.explain = githubAllowance, explainGitHub
	return github{s}
}

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

// The kinds of search.
const (
	githubRepositories = "repositories"
	githubIssues       = "issues"
)

func (g github) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(problem(q)), 200)
	if words == "" || !q.Allows("github.com") {
		return search.Reply{}, nil
	}
	var all search.Reply
	var lists [][]turn.Hit
	for _, kind := range githubSearches(q.Intent) {
		if wait := waitOf(all.Allowance); wait > 0 {
			failed := g.fail(turn.CodeRateLimited, "it asked to be left alone for a while")
			failed.RetryAfter = wait
			return all, failed
		}
		reply, err := g.find(ctx, kind, words, q)
		lists = append(lists, reply.Hits)
		if reply.Allowance.Of > 0 {
			all.Allowance = reply.Allowance
		}
		all.Hits = alternate(lists)
		if err != nil {
			return all, err // a second request would not help
		}
	}
	return all, nil
}

// githubSearches returns the searches worth one of the few requests.
func githubSearches(intent turn.Intent) []string {
	switch intent {
	case turn.IntentForum:
		return []string{githubIssues}
	case turn.IntentDocs:
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
	Language    string // programming language
	State       string
	Created     string `json:"created_at"`
	Pushed      string `json:"pushed_at"`
	Private     *bool
	Visibility  string // "public", "internal" or "private"
}

// isPublic reports whether the reply says that the repository is public.
func (i githubItem) isPublic() bool {
	return i.Private != nil && !*i.Private && (i.Visibility == "" || i.Visibility == "public")
}

func (g github) find(ctx context.Context, kind, words string, q search.Query) (search.Reply, error) {
	words += " is:public"
	if kind == githubIssues {
		words += " is:issue"
	}
	if oldest := g.since(q); !oldest.IsZero() {
		changed := map[string]string{githubRepositories: "pushed", githubIssues: "updated"}[kind]
		words += fmt.Sprintf(" %s:>=%s", changed, oldest.Format(time.DateOnly))
	}
	header := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	token := g.config.Keys[githubToken]
	if kind == githubIssues {
		token = ""
	}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	var reply githubReply
	left, err := g.ask(ctx, request{
		path: "/search/" + kind, params: url.Values{"q": {words}, "per_page": {strconv.Itoa(q.Limit)}}, header: header, language: q.Language,
	}, &reply)
	err = orMinute(err, turn.CodeRateLimited, turn.CodeBlocked) // as GitHub's documentation asks
	reply.Items = slices.DeleteFunc(reply.Items, func(i githubItem) bool {
		return token != "" && !i.isPublic()
	})
	partial := err == nil && reply.Partial
	found, err := outcome(reply.hits(g.now()), left, g.expect(reply.Items != nil, "the reply has no items field", err))
	if partial && err == nil {
		err = g.fail(turn.CodeTimeout, "it ran out of time and found only a part")
	}
	return found, err
}

func (r *githubReply) hits(now time.Time) []turn.Hit {
	var hits []turn.Hit
	for _, i := range r.Items {
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

// repository describes a repository briefly: "(Go, 5 stars)".
func (i githubItem) repository() string {
	var parts []string
	if i.Language != "" {
		parts = append(parts, line(i.Language, 40))
	}
	if i.Stars.valid {
		parts = append(parts, fmt.Sprintf("%.0f stars", i.Stars.value))
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// alternate merges lists: the first of each, then the second of each, and so on.
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
