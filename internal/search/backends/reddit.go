package backends

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

// reddit is the search of Reddit's API for applications that it has approved: https://www.reddit.com/dev/api#GET_search.
// The addresses that need no application answer with a block page and are not asked.
type reddit struct {
	api, gate *service // posts are at one host, tokens at the other
	login     string   // header by which the application gets a token
	token     *token
}

const (
	redditID     = "REDDIT_CLIENT_ID"
	redditSecret = "REDDIT_CLIENT_SECRET"
	redditName   = "REDDIT_USERNAME"
	redditTokens = "https://www.reddit.com"
)

func newReddit(c Config, base string) (search.Backend, error) {
	tokens := redditTokens
	if c.Base["reddit"] != "" {
		tokens = base
	}
	api, err := newService(c, "reddit", base)
	if err != nil {
		return nil, err
	}
	gate, err := newService(c, "reddit", tokens)
	if err != nil {
		return nil, err
	}
	api.allowance = redditAllowance
	api.explain, gate.explain = explainReddit, explainRedditToken
	api.far.UserAgent = redditAgent(c.UserAgent, c.Keys[redditName])
	gate.far.UserAgent = api.far.UserAgent
	r := &reddit{api: api, gate: gate}
	r.login = "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Keys[redditID]+":"+c.Keys[redditSecret]))
	r.token = newToken(r.fetchToken)
	return r, nil
}

func (*reddit) Name() string { return "reddit" }

// redditAgent is "platform:application:version (by /u/name)", which Reddit wants, if the name is known.
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

// redditAllowance reads the limit, whose figures may have fractions. The reset is in so many seconds.
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
	_, err := r.gate.ask(ctx, request{
		path: "/api/v1/access_token", form: url.Values{"grant_type": {"client_credentials"}}, header: http.Header{"Authorization": {r.login}},
	}, &reply)
	switch {
	case err != nil:
		return "", 0, err
	case reply.Error != nil:
		return "", 0, r.gate.fail(turn.CodeUnauthorized, "it gives no token for "+redditID+" and "+redditSecret)
	case reply.Token == "":
		return "", 0, r.gate.fail(turn.CodeMalformed, "the reply has no token")
	}
	return reply.Token, max(seconds(reply.Expires.value)-time.Minute, time.Minute), nil // a minute for clocks and queues
}

func (r *reddit) Search(ctx context.Context, q search.Query) (search.Reply, error) {
	words := cutWords(withoutFields(problem(q)), 500)
	if words == "" || !allows(q, "www.reddit.com") {
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
	hits := reply.hits(q.Safe == "off")
	switch {
	case len(hits) > 0:
		err = nil
	case err == nil && reply.Data.Children == nil:
		err = r.api.fail(turn.CodeMalformed, "the reply is no listing")
	}
	return search.Reply{Hits: hits, Allowance: left}, err
}

// find searches, with a new token if the one there was is no longer taken.
func (r *reddit) find(ctx context.Context, params url.Values, language string) (reply redditReply, left search.Allowance, err error) {
	value := ""
	for range 2 {
		value, err = r.token.get(ctx, value)
		if err != nil {
			if ctx.Err() != nil {
				err = r.api.fail(turn.CodeTimeout, "no answer in time")
			}
			return reply, left, err
		}
		left, err = r.api.ask(ctx, request{
			path: "/search", params: params, header: http.Header{"Authorization": {"Bearer " + value}}, language: language,
		}, &reply)
		if code, _ := refusalOf(err); code != turn.CodeUnauthorized {
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
	Thumbnail        string // an address, or a word for why there is none
	Score            number
	At               number     `json:"created_utc"`
	Harmless         plainFalse `json:"over_18"`
}

// plainFalse is true if the JSON says false. Anything else, or nothing, is false: not known to be harmless.
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
		h := turn.Hit{
			Title: line(p.Title, maxTitle), URL: "https://www.reddit.com" + p.Permalink, Snippet: line(cmp.Or(text, p.Link), maxSnippet), Text: text,
			Given: p.Score.value, Published: unixAt(p.At, number{}).UTC(), Thumbnail: picture(p.Thumbnail),
		}
		if p.Hint == "image" {
			h.Media = picture(p.Link)
		}
		hits = append(hits, h)
	}
	return hits
}
