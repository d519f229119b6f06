// Package rest sends requests to Discord's REST API. It keeps them within Discord's limits and sends them again after failures that may
// pass. It says what a failure means for the bot.
//
//   - rest.go sends a request until it succeeds or cannot succeed.
//   - pace.go lets requests wait for their turn. Its limits are those of https://discord.com/developers/docs/topics/rate-limits.
//   - fail.go turns a failed response into an [Error] of a closed set of kinds.
//   - The clock in pace.go knows Discord's time from the responses.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Config says where a client sends requests, and as whom. Token, Base and HTTP are required.
type Config struct {
	Token     string
	Base      string       // of the API, with its version and without a slash at the end
	UserAgent string       // empty: a plain DiscordBot user agent
	HTTP      *http.Client // for the origin of Base; it is not changed
	PerSecond int          // requests per second over all routes
	Log       *slog.Logger
	Redact    func(string) string // removes secrets from error texts
	Refused   func()              // is called when Discord does not accept the token any more
}

// Client sends the requests of one bot. Make it with New.
type Client struct {
	Config
	Pacer *Pacer
	Clock Clock
	// Limited counts the answers 429.
	Limited atomic.Int64
	api     *discordgo.Session // for REST calls only
}

// New makes a client. It does not touch the network.
func New(config Config) (*Client, error) {
	api, err := discordgo.New("Bot " + config.Token)
	if err != nil {
		return nil, fmt.Errorf("make REST client: %w", err)
	}
	c := &Client{Config: config, Pacer: newPacer(config.PerSecond), Clock: Clock{known: make(chan struct{})}, api: api}
	client := *config.HTTP
	client.Transport = transport{c}
	api.Client = &client
	api.State, api.StateEnabled = nil, false
	api.LogLevel = -1 // it logs to a global, with the token; all it knows comes back as an error
	c.UserAgent = cmp.Or(config.UserAgent, "DiscordBot (https://github.com/bwmarrin/discordgo, "+discordgo.VERSION+")")
	api.UserAgent = c.UserAgent
	return c, nil
}

// transport sends discordgo's requests, which are for version 9 at discord.com, to version 10 at the configured server.
// The pacer learns from every response. A response that is not a success becomes an error.
type transport struct{ client *Client }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.client
	path, ours := strings.CutPrefix(req.URL.String(), discordgo.EndpointAPI)
	if !ours {
		return nil, fmt.Errorf("request outside of Discord's API")
	}
	target, err := url.Parse(c.Base + "/" + path)
	if err != nil {
		return nil, fmt.Errorf("parse request path: %w", err)
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = target, ""
	resp, err := c.HTTP.Do(out)
	if err != nil {
		return nil, err
	}
	c.Clock.Learn(resp.Header, c.Log)
	failed := c.refusal(resp)
	if resp.StatusCode == http.StatusTooManyRequests {
		c.Limited.Add(1)
	}
	var closed time.Duration
	if failed != nil && ofRoute(failed) {
		closed = failed.RetryAfter
	}
	c.Pacer.Learn(Bucket(req.Method, path), resp.Header, closed)
	if failed != nil {
		return nil, failed
	}
	return resp, nil
}

// Request is one call of the API.
type Request struct {
	Method, URL string
	Type        string // of the body; empty: JSON
	Body        []byte
	Rank        Rank
	Attempt     time.Duration // how long one attempt may take; 0: AttemptLimit
	Doubt       func()        // called when the request failed and may take effect anyway; may be nil
	Mine        func() bool   // whether this process may still send it; nil: it may
	Once        bool          // never sent again
	Spare       bool          // sent only if no other request has to wait for it, otherwise dropped without an error
	Passing     bool          // sent once and only if it need not wait, otherwise dropped with an error
}

// route returns the rate limit bucket of the request.
func (r Request) route() string {
	return Bucket(r.Method, strings.TrimPrefix(r.URL, discordgo.EndpointAPI))
}

// How often a request is sent until its last failure is returned.
const (
	FirstResend = 250 * time.Millisecond // before a request is sent again; doubles

	MaxFailures = 3 // attempts that ended in a transport error or a status of 500 or more
	maxHangs    = 2 // attempts that were not answered in time
	MaxLimits   = 8 // attempts that ended in a 429, each followed by the wait that Discord asks for
)

// errPassed is the error of a passing request that would have to wait.
var errPassed = &Error{Kind: RateLimited, Message: "the request would have to wait"}

// AttemptLimit is how long Discord may take to answer a request.
const AttemptLimit = 10 * time.Second

// Call sends a request until it succeeds, cannot succeed, or ctx ends. Every request sent this way may arrive twice
// without harm: one that creates a message has a nonce. The error is a *Error.
func (c *Client) Call(ctx context.Context, r Request) ([]byte, error) {
	if r.Type == "" {
		r.Type = "application/json"
	}
	var failures, hangs, limits int
	for {
		if r.Spare && !c.Pacer.Try(r.route()) {
			return nil, nil
		}
		if r.Passing && !c.Pacer.AtOnce(r.route()) {
			return nil, errPassed
		}
		if !r.Spare && !r.Passing {
			if err := c.Pacer.Wait(ctx, r.route(), r.Rank); err != nil {
				return nil, c.failure(err)
			}
		}
		if r.Mine != nil && !r.Mine() { // asked last, because the wait may have been long
			return nil, NotMine()
		}
		body, hung, err := c.attempt(ctx, r)
		if err == nil {
			return body, nil
		}
		e := c.failure(err)
		if r.Doubt != nil && unknownFate(r, e) {
			r.Doubt()
		}
		switch {
		case e.Kind == Unauthorized:
			c.Refused()
			return nil, e
		case r.Once || r.Spare || r.Passing || ctx.Err() != nil:
			return nil, e
		case e.Waitable() && limits < MaxLimits:
			limits++ // the pacer waits
		case hung && hangs+1 < maxHangs:
			hangs++ // no further wait: the attempt took long enough
		case e.Kind == Unavailable && !hung && failures+1 < MaxFailures:
			failures++
			if Sleep(ctx, Backoff(FirstResend, 10*time.Second, failures)) != nil {
				return nil, e
			}
		default:
			if e.RetryAfter > MaxWait {
				c.Log.Warn("a rate limit of Discord is too long to wait for", "route", c.Redact(r.route()), "wait", e.RetryAfter)
			}
			return nil, e
		}
	}
}

// Get reads an object into v with a request whose method is GET. The error is a *Error.
func (c *Client) Get(ctx context.Context, r Request, v any) error {
	r.Method = http.MethodGet
	body, err := c.Call(ctx, r)
	if err != nil {
		return err
	}
	if err := Decode(body, v); err != nil {
		return &Error{Kind: Unavailable, Message: fmt.Sprintf("read answer: %v", err)}
	}
	return nil
}

// attempt sends a request once. hung means that no response came in time.
func (c *Client) attempt(ctx context.Context, r Request) (body []byte, hung bool, err error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(r.Attempt, AttemptLimit))
	defer cancel()
	body, err = c.api.RequestWithLockedBucket(r.Method, r.URL, r.Type, r.Body,
		// Each request has its own bucket: discordgo would keep its buckets for ever, and waits without regard to ctx.
		discordgo.NewRatelimiter().LockBucket(r.URL), 0,
		discordgo.WithContext(limited), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	return body, err != nil && limited.Err() != nil && ctx.Err() == nil, err
}

// ofRoute reports whether a rate limit closes the route. Then no request may be sent on it until the limit has passed. Slow mode and too
// many edits of an old message do not. A wait that ctx does not allow has no status.
func ofRoute(e *Error) bool {
	return e.Status == http.StatusTooManyRequests && e.RetryAfter > 0 &&
		(e.Code == 0 || e.Code == discordgo.ErrCodeChannelHasHitWriteRateLimit)
}

// Waitable reports whether the request may be sent again when a limit has passed. The limit must not be too long to wait for.
func (e *Error) Waitable() bool {
	return e.Kind == RateLimited && ofRoute(e) && e.RetryAfter <= MaxWait
}

// Backoff returns the wait after the nth failure. It doubles from first up to most. A random half of it keeps many bots
// from coming back at once.
func Backoff(first, most time.Duration, n int) time.Duration {
	d := most
	if n < 20 {
		d = min(first<<(n-1), most)
	}
	return d/2 + rand.N(d/2+1)
}

// JSON encodes a payload. Only payloads of a type that cannot fail may be given.
func JSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return b
}

// essentials are the fields without which a payload would be mistaken. It could be taken for another's, for a direct message, or for a
// person's. It could also be the end of a server, or a channel that everybody may read.
var essentials = []string{
	"id", "ids", "guild_id", "channel_id", "parent_id", "message_id", "user_id", "role_id", "webhook_id", "application_id", "author", "user", "bot", "system", "type", "token",
	"unavailable", "permission_overwrites", "authorizing_integration_owners",
}

// mostOdd is how many odd fields of one payload are left out.
const mostOdd = 8

// Decode reads a payload of Discord. It also reads ids that are numbers, which Discord itself writes as strings. A field of another type than
// expected, which is not essential, is left out.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	odd := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &odd) {
		return err
	}
	tree := any(nil)
	numbers := json.NewDecoder(bytes.NewReader(data))
	numbers.UseNumber()
	if numbers.Decode(&tree) != nil {
		return err
	}
	tree = quoteIDs("", tree)
	for range mostOdd {
		reflect.ValueOf(v).Elem().SetZero()
		if err = json.Unmarshal(JSON(tree), v); !errors.As(err, &odd) {
			return err
		}
		path := strings.Split(odd.Field, ".")
		if odd.Field == "" || slices.Contains(essentials, path[len(path)-1]) || slices.Contains(path, "permission_overwrites") {
			return err
		}
		leaveOut(tree, path)
	}
	return err
}

// leaveOut removes a field from a JSON value, in all elements of the lists on its path.
func leaveOut(tree any, path []string) {
	switch in := tree.(type) {
	case []any:
		for _, one := range in {
			leaveOut(one, path)
		}
	case map[string]any:
		if _, found := in[path[0]]; !found && len(path) > 1 && in[path[1]] != nil {
			path = path[1:] // the first is the name of an embedded struct
		}
		next, found := in[path[0]]
		switch {
		case found && len(path) == 1:
			delete(in, path[0])
		case found:
			leaveOut(next, path[1:])
		default: // the keys are ids, which the path leaves out
			for _, next := range in {
				leaveOut(next, path)
			}
		}
	}
}

// quoteIDs returns a JSON value in which the numbers under keys of ids are strings.
func quoteIDs(key string, value any) any {
	switch value := value.(type) {
	case json.Number:
		if key == "id" || key == "ids" || key == "mention_roles" || key == "permissions" || strings.HasSuffix(key, "_id") {
			return value.String()
		}
	case map[string]any:
		for k, v := range value {
			value[k] = quoteIDs(k, v)
		}
	case []any:
		for i, v := range value {
			value[i] = quoteIDs(key, v)
		}
	}
	return value
}

// unknownFate reports whether a failed request may have taken effect, or may do so later.
func unknownFate(r Request, e *Error) bool {
	return r.Method == http.MethodPatch && e.Kind == Unavailable && (e.Status == 0 || e.Status >= 500)
}
