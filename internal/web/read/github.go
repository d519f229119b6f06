package read

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"familiar/internal/api"
	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/web/page"
)

var (
	githubOwner = text.NewLazyRegexp(`^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})$`)
	githubName  = text.NewLazyRegexp(`^[A-Za-z0-9._-]{1,100}$`) // a repository, branch, tag or commit
	// notOwners are pages of the site that look like names of owners.
	notOwners = strings.Fields("about apps codespaces collections contact customer-stories enterprise events explore features issues login " +
		"marketplace new notifications organizations orgs pricing pulls readme search security settings signup site solutions sponsors stars topics trending users")
)

// findGitHub recognises repositories, their issues, pull requests and files.
func findGitHub(u *url.URL, _ string) *request {
	parts := segments(u)
	if strings.TrimPrefix(u.Hostname(), "www.") != "github.com" || len(parts) < 2 || !githubOwner.MatchString(parts[0]) || slices.Contains(notOwners, strings.ToLower(parts[0])) {
		return nil
	}
	name := strings.TrimSuffix(parts[1], ".git")
	if !githubName.MatchString(name) || name == "." || name == ".." {
		return nil
	}
	repo := parts[0] + "/" + name
	req := &request{}
	switch {
	case len(parts) == 2:
		req.final = "https://github.com/" + repo
		req.read = func(ctx context.Context, s *session) (page.Page, error) { return readRepository(ctx, s, repo) }
	case len(parts) == 4 && (parts[2] == "issues" || parts[2] == "pull") && isNumber(parts[3]):
		req.final = "https://github.com/" + repo + "/" + parts[2] + "/" + parts[3]
		req.read = func(ctx context.Context, s *session) (page.Page, error) { return readIssue(ctx, s, repo, parts[3]) }
	case len(parts) > 4 && parts[2] == "blob" && githubName.MatchString(parts[3]) && filePath(parts[4:]):
		file := strings.Join(parts[4:], "/")
		req.final = address("github.com", "/"+repo+"/blob/"+parts[3]+"/"+file)
		req.read = func(ctx context.Context, s *session) (page.Page, error) {
			return readFile(ctx, s, repo, parts[3], file)
		}
	default:
		return nil
	}
	return req
}

// filePath reports whether parts form a path that cannot lead elsewhere.
func filePath(parts []string) bool {
	for _, p := range parts {
		if p == "" || p == "." || p == ".." || !utf8.ValidString(p) || strings.ContainsAny(p, `\?#%`) || strings.ContainsFunc(p, unicode.IsControl) {
			return false
		}
	}
	return len(strings.Join(parts, "/")) <= 500
}

// explainGitHub distinguishes a limit, which has status 403 or 429, from a refusal:
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api.
func explainGitHub(r api.Reply) api.Failure {
	switch {
	case r.Status == http.StatusUnauthorized:
		return api.Failure{Code: turn.CodeUnauthorized, Detail: "the token is wrong: check GITHUB_TOKEN"}
	case (r.Status == http.StatusForbidden || r.Status == http.StatusTooManyRequests) && r.Header.Get("X-RateLimit-Remaining") == "0":
		reset, _ := strconv.ParseInt(r.Header.Get("X-RateLimit-Reset"), 10, 64)
		return api.Failure{Code: turn.CodeRateLimited, Detail: "the hour's requests are used up: GITHUB_TOKEN allows more", RetryAfter: max(defaultCooldown, time.Until(time.Unix(reset, 0)))}
	case r.Status == http.StatusForbidden && r.Header.Get("Retry-After") != "":
		return api.Failure{Code: turn.CodeRateLimited, Detail: "too many requests just now"}
	}
	return explainMissing(r)
}

// Media types of a text: rendered, if it is Markdown or similar, or as it is in the file.
const (
	acceptHTML = "application/vnd.github.html+json"
	acceptRaw  = "application/vnd.github.raw+json"
)

// publicTTL is how long a repository counts as public after a check.
const publicTTL = 5 * time.Minute

// visibility says who may see a repository.
type visibility struct {
	FullName   string `json:"full_name"`
	Private    *bool
	Visibility string // "public", "internal" or "private"
}

// publicRepo returns the name of a repository if everybody may see it. A token may open private repositories, which must
// not be shown in the channel. Without a token, no check is needed.
func (s *session) publicRepo(ctx context.Context, repo string) (name string, err error) {
	if s.services.config.GitHubToken == "" {
		return repo, nil
	}
	if name, ok := s.services.seenPublic(repo); ok {
		return name, nil
	}
	var v visibility
	if err := s.json(ctx, s.github(acceptHTML, "/repos/"+repo, nil), &v); v.FullName == "" {
		return "", cmp.Or(err, malformed("the reply is not about a repository"))
	}
	return s.notePublic(repo, v)
}

// notePublic records that a repository is public, or fails if it is not.
func (s *session) notePublic(repo string, v visibility) (name string, err error) {
	if s.services.config.GitHubToken == "" {
		return v.FullName, nil
	}
	if v.Private == nil || *v.Private || v.Visibility != "" && v.Visibility != "public" {
		return "", missing() // as if there were no token
	}
	s.services.mu.Lock()
	defer s.services.mu.Unlock()
	if len(s.services.public) >= maxPublic {
		clear(s.services.public)
	}
	s.services.public[strings.ToLower(repo)] = publicRepo{v.FullName, s.services.config.Now().Add(publicTTL)}
	return v.FullName, nil
}

// maxPublic is how many public repositories are remembered.
const maxPublic = 1000

// publicRepo is a public repository, and until when it counts as public.
type publicRepo struct {
	name  string
	until time.Time
}

func (r *Services) seenPublic(repo string) (name string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.public[strings.ToLower(repo)]
	return p.name, r.config.Now().Before(p.until)
}

// github returns a request to GitHub's API, https://docs.github.com/rest.
func (s *session) github(form, path string, params url.Values) api.Request {
	h := http.Header{"Accept": {form}, "X-Github-Api-Version": {"2022-11-28"}}
	if token := s.services.config.GitHubToken; token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return api.Request{Path: path, Params: params, Header: h}
}

func readRepository(ctx context.Context, s *session, repo string) (page.Page, error) {
	var about struct {
		Description, Language string
		Topics                []string
		License               struct{ Name string }
		StargazersCount       int    `json:"stargazers_count"`
		PushedAt              string `json:"pushed_at"`
		Archived              bool
		Owner                 struct{ Login string }
		visibility
	}
	err := s.json(ctx, s.github(acceptHTML, "/repos/"+repo, nil), &about)
	if about.FullName == "" {
		return page.Page{}, cmp.Or(err, malformed("the reply is not about a repository"))
	}
	if _, err := s.notePublic(repo, about.visibility); err != nil {
		return page.Page{}, err
	}
	p := page.Page{Title: about.FullName, Author: about.Owner.Login, Site: "GitHub", Type: "page", Modified: parseTime(about.PushedAt)}
	text := []string{plainText(about.Description)}
	if text[0] != "" {
		p.Title += ": " + text[0]
	}
	facts := []string{fmt.Sprintf("%d stars", about.StargazersCount)}
	for _, f := range [][2]string{{"written in ", about.Language}, {"license: ", about.License.Name}, {"topics: ", strings.Join(about.Topics, ", ")}} {
		if f[1] != "" {
			facts = append(facts, f[0]+f[1])
		}
	}
	if about.Archived {
		facts = append(facts, "archived: no longer maintained")
	}
	text = append(text, strings.Join(facts, "; ")+".")
	ctx, cancel := context.WithTimeout(ctx, extrasTimeout)
	defer cancel()
	readme, err := s.text(ctx, s.github(acceptHTML, "/repos/"+repo+"/readme", nil))
	if err == nil { // many repositories have none
		base := &url.URL{Scheme: "https", Host: "github.com", Path: "/" + repo + "/blob/HEAD/"}
		if part, err := page.Part(readme, base, nil); err == nil {
			p.Links, p.Hidden, p.Doubtful = part.Links, part.Hidden, part.Doubtful
			text = append(text, part.Markdown)
		}
	}
	p.Markdown = strings.Join(text, "\n\n")
	return p, nil
}

// account is the author of something.
type account struct{ Login string }

type issue struct {
	Title, State  string
	StateReason   string `json:"state_reason"`
	BodyHTML      string `json:"body_html"`
	User          account
	Labels        []struct{ Name string }
	Comments      int
	RepositoryURL string `json:"repository_url"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
	PullRequest   *struct {
		MergedAt string `json:"merged_at"`
	} `json:"pull_request"`
}

// maxComments is how many comments of an issue are read.
const maxComments = 50

func readIssue(ctx context.Context, s *session, repo, id string) (page.Page, error) {
	name, err := s.publicRepo(ctx, repo)
	if err != nil {
		return page.Page{}, err
	}
	where := "/repos/" + repo + "/issues/" + id
	var it issue
	err = s.json(ctx, s.github(acceptHTML, where, nil), &it)
	if it.Title == "" {
		return page.Page{}, cmp.Or(err, malformed("the reply is not an issue"))
	}
	if s.services.config.GitHubToken != "" && !strings.HasSuffix(strings.ToLower(it.RepositoryURL), "/repos/"+strings.ToLower(name)) {
		return page.Page{}, missing() // it moved to another repository, which may not be public
	}
	var comments []struct {
		User      account
		BodyHTML  string `json:"body_html"`
		CreatedAt string `json:"created_at"`
	}
	if it.Comments > 0 {
		ctx, cancel := context.WithTimeout(ctx, extrasTimeout)
		defer cancel()
		_ = s.json(ctx, s.github(acceptHTML, where+"/comments", url.Values{"per_page": {strconv.Itoa(maxComments)}}), &comments)
	}
	what, state := it.kind()
	posts := []post{{what: what + " #" + id, author: it.User.Login, at: parseTime(it.CreatedAt), facts: []string{state}, body: it.BodyHTML}}
	if len(it.Labels) > 0 {
		var names []string
		for _, l := range it.Labels {
			names = append(names, plainText(l.Name))
		}
		posts[0].facts = append(posts[0].facts, "labels: "+strings.Join(names, ", "))
	}
	for _, c := range comments {
		posts = append(posts, post{what: "Comment", author: c.User.Login, at: parseTime(c.CreatedAt), body: c.BodyHTML})
	}
	p := thread(posts, max(0, it.Comments-len(comments)), &url.URL{Scheme: "https", Host: "github.com", Path: "/" + repo})
	p.Title = fmt.Sprintf("%s · %s #%s · %s", it.Title, what, id, repo)
	p.Author, p.Site, p.Published = it.User.Login, "GitHub", parseTime(it.CreatedAt)
	p.Modified = ifAfter(parseTime(it.UpdatedAt), p.Published)
	return p, nil
}

// kind returns whether it is an issue or a pull request, and its state.
func (it *issue) kind() (what, state string) {
	what, state = "Issue", cmp.Or(it.State, "open")
	if it.PullRequest != nil {
		what = "Pull request"
		if it.PullRequest.MergedAt != "" {
			state = "merged " + it.PullRequest.MergedAt[:min(10, len(it.PullRequest.MergedAt))]
		}
	}
	if it.StateReason == "not_planned" || it.StateReason == "duplicate" {
		state += " as " + strings.ReplaceAll(it.StateReason, "_", " ")
	}
	return what, state
}

// renderedExtensions are the extensions of files that GitHub renders.
var renderedExtensions = strings.Fields(".md .markdown .mdown .rst .adoc .asciidoc .org .textile .rdoc .mediawiki")

func readFile(ctx context.Context, s *session, repo, ref, file string) (page.Page, error) {
	if _, err := s.publicRepo(ctx, repo); err != nil {
		return page.Page{}, err
	}
	form, isRendered := acceptRaw, slices.Contains(renderedExtensions, strings.ToLower(path.Ext(file)))
	if isRendered {
		form = acceptHTML
	}
	text, err := s.text(ctx, s.github(form, "/repos/"+repo+"/contents/"+file, url.Values{"ref": {ref}}))
	if err != nil {
		return page.Page{}, err
	}
	p := page.Page{Type: "text"}
	if isRendered {
		base := &url.URL{Scheme: "https", Host: "github.com", Path: "/" + repo + "/blob/" + ref + "/" + file}
		if p, err = page.Part(text, base, nil); err != nil {
			return page.Page{}, err
		}
		p.Type = "page"
	} else {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return page.Page{}, malformed("the file is not a text")
		}
		p.Markdown = strings.ReplaceAll(text, "\r\n", "\n")
	}
	p.Title, p.Site = file+" · "+repo, "GitHub"
	return p, nil
}
