package backend

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/search"
)

// reddit searches Reddit through the API for approved applications: https://www.reddit.com/dev/api#GET_search. Its
// second address issues tokens. The addresses for requests without an application answer with a block page, so they are
// not used.
type reddit struct {
	*service
	token *token
}

const (
	redditID     = "REDDIT_CLIENT_ID"
	redditSecret = "REDDIT_CLIENT_SECRET"
	redditName   = "REDDIT_USERNAME"
)

func newReddit(s *service) search.Backend {
	s.allowance = redditAllowance
	s.explain, s.second.explain = explainReddit, explainRedditToken
	s.far.UserAgent = redditAgent(s.config.UserAgent, s.config.Keys[redditName])
	s.second.far.UserAgent = s.far.UserAgent
	r := &reddit{service: s}
	r.token = newToken(r.fetchToken)
	return r
}

// redditAgent returns "platform:application:version (by /u/name)", the form that Reddit wants, if the name is known.
func redditAgent(agent, name string) string {
	if name == "" {
		return agent
	}
	product, _, _ := strings.Cut(agent, " ")
	return "server:" + strings.ReplaceAll(product, "/", ":") + " (by /u/" + strings.TrimPrefix(name, "/u/") + ")"
}

func explainReddit(status int, _ []byte) (code turn.Code, detail string) {
	switch status {
	case http.StatusUnauthorized:
		return turn.CodeUnauthorized, "it refuses its own token: the application may have been withdrawn"
	case http.StatusForbidden:
		return turn.CodeBlocked, "HTTP 403: it does not serve this application or address: its Responsible Builder Policy wants applications approved"
	}
	return "", ""
}

func explainRedditToken(status int, _ []byte) (code turn.Code, detail string) {
	if status == http.StatusUnauthorized {
		return turn.CodeUnauthorized, redditID + " or " + redditSecret + " is wrong"
	}
	return explainReddit(status, nil)
}

// redditAllowance reads the limit. Its figures may have fractions, and the reset is in seconds.
func redditAllowance(h http.Header) search.Allowance {
	used, err := strconv.ParseFloat(h.Get("X-Ratelimit-Used"), 64)
	left, errLeft := strconv.ParseFloat(h.Get("X-Ratelimit-Remaining"), 64)
	if err != nil || errLeft != nil || !(used >= 0 && left >= 0 && used+left < 1e9) {
		return search.Allowance{}
	}
	a := search.Allowance{Left: int(left), Of: int(used + left)}
	if reset, err := strconv.ParseFloat(h.Get("X-Ratelimit-Reset"), 64); err == nil {
		a.Resets = time.Now().Add(seconds(reset))
	}
	return a
}

// fetchToken gets a token for the application itself, without a user: RFC 6749 section 4.4.
func (r *reddit) fetchToken(ctx context.Context) (string, time.Duration, error) {
	var reply struct {
		Token   string `json:"access_token"`
		Expires number `json:"expires_in"`
		Error   any
	}
	login := base64.StdEncoding.EncodeToString([]byte(r.config.Keys[redditID] + ":" + r.config.Keys[redditSecret]))
	_, err := r.second.ask(ctx, request{
		path: "/api/v1/access_token", form: url.Values{"grant_type": {"client_credentials"}}, header: http.Header{"Authorization": {"Basic " + login}},
	}, &reply)
	switch {
	case err != nil:
		return "", 0, err
	case reply.Error != nil:
		return "", 0, r.fail(turn.CodeUnauthorized, "it gives no token for "+redditID+" and "+redditSecret)
	case reply.Token == "":
		return "", 0, r.fail(turn.CodeMalformed, "the reply has no token")
	}
	return reply.Token, max(seconds(reply.Expires.value)-time.Minute, time.Minute), nil // a minute for clock differences and queues
}

func (r *reddit) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(problem(q)), 500)
	if words == "" || !q.Allows("www.reddit.com") {
		return search.Reply{}, nil
	}
	params := url.Values{
		"q": {words}, "sort": {"relevance"}, "t": {"all"}, "type": {"link"}, "limit": {strconv.Itoa(q.Limit)}, "raw_json": {"1"},
	}
	if span("", q.Fresh) != "" {
		params.Set("t", q.Fresh)
	}
	if q.Safe == "off" {
		params.Set("include_over_18", "on")
	}
	reply, left, err := r.find(ctx, params, q.Language)
	return outcome(reply.hits(q.Safe == "off"), left, r.expect(reply.Data.Children != nil, "the reply is no listing", err))
}

// find searches. If the token is rejected, it fetches a new one and searches again.
func (r *reddit) find(ctx context.Context, params url.Values, language string) (reply redditReply, left search.Allowance, err error) {
	value := ""
	for range 2 {
		value, err = r.token.get(ctx, value)
		if err != nil {
			if ctx.Err() != nil {
				err = r.fail(turn.CodeTimeout, "no answer in time")
			}
			return reply, left, err
		}
		left, err = r.ask(ctx, request{path: "/search", params: params, header: bearer(value), language: language}, &reply)
		if codeOf(err) != turn.CodeUnauthorized {
			break
		}
	}
	return reply, left, err
}

type redditReply struct {
	Data struct {
		Children []struct{ Data redditPost }
	}
}

type redditPost struct {
	Title, Permalink string
	Text             string `json:"selftext"` // Markdown
	Link             string `json:"url"`
	Hint             string `json:"post_hint"`
	Thumbnail        string // an address, or a word that says why there is none
	Score            number
	At               number     `json:"created_utc"`
	Harmless         plainFalse `json:"over_18"`
}

// plainFalse is true if the JSON value is false, and false for anything else. A post is harmless only if Reddit says
// so.
type plainFalse bool

func (f *plainFalse) UnmarshalJSON(b []byte) error {
	*f = string(b) == "false"
	return nil
}

func (r *redditReply) hits(adult bool) []turn.Hit {
	var hits []turn.Hit
	for _, child := range r.Data.Children {
		p := child.Data
		text := prose(unmarkdown(p.Text), maxProse)
		if !strings.HasPrefix(p.Permalink, "/") || strings.HasPrefix(p.Permalink, "//") || text == "[removed]" || text == "[deleted]" || !bool(p.Harmless) && !adult {
			continue
		}
		h := textHit(p.Title, "https://www.reddit.com"+p.Permalink, text)
		h.Snippet = cmp.Or(h.Snippet, line(p.Link, maxSnippet))
		h.Given, h.Published, h.Thumbnail = p.Score.value, unixAt(p.At, number{}).UTC(), picture(p.Thumbnail)
		if p.Hint == "image" {
			h.Media = picture(p.Link)
		}
		hits = append(hits, h)
	}
	return hits
}
