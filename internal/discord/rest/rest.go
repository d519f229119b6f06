package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/discord/pace"
)

// newREST makes discordgo's client, for REST calls only, over a copy of the given HTTP client.
func (s *Session) newREST() (*discordgo.Session, error) {
	rest, err := discordgo.New("Bot " + s.token)
	if err != nil {
		return nil, fmt.Errorf("make REST client: %w", err)
	}
	client := *s.cfg.HTTP
	client.Transport = &transport{session: s, next: s.cfg.HTTP}
	rest.Client = &client
	rest.State, rest.StateEnabled = nil, false
	rest.LogLevel = -1 // it logs to a global, with the token; all it knows comes back as an error
	rest.UserAgent = s.cfg.UserAgent
	if rest.UserAgent == "" {
		rest.UserAgent = "DiscordBot (https://github.com/bwmarrin/discordgo, " + discordgo.VERSION + ")"
	}
	return rest, nil
}

// transport sends discordgo's requests, which are for version 9 at discord.com, to version 10 at the configured server.
// The pacer learns from every response. A response that is no success becomes an error.
type transport struct {
	session *Session
	next    *http.Client
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	s := t.session
	path, ours := strings.CutPrefix(req.URL.String(), discordgo.EndpointAPI)
	if !ours {
		return nil, fmt.Errorf("request outside of Discord's API")
	}
	target, err := url.Parse(s.base + "/" + path)
	if err != nil {
		return nil, fmt.Errorf("parse request path: %w", err)
	}
	out := req.Clone(req.Context())
	out.URL, out.Host = target, ""
	resp, err := t.next.Do(out)
	if err != nil {
		return nil, err
	}
	s.clock.learn(resp.Header, s.log)
	failed := s.sendError(resp)
	var closed time.Duration
	if failed != nil && ofRoute(failed) {
		closed = failed.RetryAfter
	}
	s.pace.Learn(pace.Bucket(req.Method, path), resp.Header, closed)
	if failed != nil {
		return nil, failed
	}
	return resp, nil
}

// request is one call of the REST API.
type request struct {
	method, url string
	contentType string // empty: JSON
	body        []byte
	rank        pace.Rank
	attempt     time.Duration // how long one attempt may take; 0: attemptLimit
	doubt       func()        // called when the request failed and may take effect all the same; may be nil
	once        bool          // never sent again
	spare       bool          // sent only if no other request has to wait for it, otherwise dropped without an error
	passing     bool          // sent once and only if it need not wait, otherwise dropped with errPassed
}

// route returns the rate limit bucket of the request.
func (r request) route() string {
	return pace.Bucket(r.method, strings.TrimPrefix(r.url, discordgo.EndpointAPI))
}

// How often a request is sent until its last failure is returned.
const (
	maxFailures = 3 // attempts that ended in a transport error or a status of 500 or more
	maxHangs    = 2 // attempts that were not answered in time
	maxLimits   = 8 // attempts that ended in a 429, each followed by the wait that Discord asks for
)

// errPassed is the error of a passing request that would have to wait.
var errPassed = &SendError{Kind: RateLimited, Message: "the request would have to wait"}

// attemptLimit is how long Discord may take to answer a request.
const attemptLimit = 10 * time.Second

// call sends a request until it succeeds, cannot succeed, or ctx ends. Every request sent this way may arrive twice
// without harm: one that creates a message has a nonce. The error is a *SendError.
func (s *Session) call(ctx context.Context, r request) ([]byte, error) {
	if r.contentType == "" {
		r.contentType = "application/json"
	}
	var failures, hangs, limits int
	for {
		if r.spare && !s.pace.Try(r.route()) {
			return nil, nil
		}
		if r.passing && !s.pace.AtOnce(r.route()) {
			return nil, errPassed
		}
		if !r.spare && !r.passing {
			if err := s.pace.Wait(ctx, r.route(), r.rank); err != nil {
				return nil, s.failure(err)
			}
		}
		body, hung, err := s.attempt(ctx, r)
		if err == nil {
			return body, nil
		}
		e := s.failure(err)
		if r.doubt != nil && unknownFate(r, e) {
			r.doubt()
		}
		switch {
		case e.Kind == Unauthorized:
			s.refuse()
			return nil, e
		case r.once || r.spare || r.passing || ctx.Err() != nil:
			return nil, e
		case e.Kind == RateLimited && waitable(e) && limits < maxLimits:
			limits++ // the pacer waits
		case hung && hangs+1 < maxHangs:
			hangs++ // no further wait: the attempt took long enough
		case e.Kind == Unavailable && !hung && failures+1 < maxFailures:
			failures++
			if pace.Sleep(ctx, backoff(firstResend, 10*time.Second, failures)) != nil {
				return nil, e
			}
		default:
			if e.RetryAfter > pace.MaxWait {
				s.log.Warn("a limit of Discord's is too long to wait for", "route", s.redact(r.route()), "wait", e.RetryAfter)
			}
			return nil, e
		}
	}
}

// get reads an object into v with a request whose method is GET. The error is a *SendError.
func (s *Session) get(ctx context.Context, r request, v any) error {
	r.method = http.MethodGet
	body, err := s.call(ctx, r)
	if err != nil {
		return err
	}
	if err := decode(body, v); err != nil {
		return &SendError{Kind: Unavailable, Message: fmt.Sprintf("read answer: %v", err)}
	}
	return nil
}

// attempt sends a request once. hung means that no response came in time.
func (s *Session) attempt(ctx context.Context, r request) (body []byte, hung bool, err error) {
	limit := r.attempt
	if limit == 0 {
		limit = attemptLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err = s.rest.RequestWithLockedBucket(r.method, r.url, r.contentType, r.body,
		// Each request has its own bucket: discordgo would keep its buckets for ever, and waits without regard to ctx.
		discordgo.NewRatelimiter().LockBucket(r.url), 0,
		discordgo.WithContext(limited), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	return body, err != nil && limited.Err() != nil && ctx.Err() == nil, err
}

// ofRoute reports whether a rate limit closes the route, so that no request may be sent on it until the limit has
// passed. Slow mode and too many edits of an old message do not. A wait that ctx does not allow has no status.
func ofRoute(e *SendError) bool {
	return e.Status == http.StatusTooManyRequests && e.RetryAfter > 0 &&
		(e.Code == 0 || e.Code == discordgo.ErrCodeChannelHasHitWriteRateLimit)
}

// waitable reports whether the request may be sent again when the limit has passed.
func waitable(e *SendError) bool { return ofRoute(e) && e.RetryAfter <= pace.MaxWait }

// backoff returns the wait after the nth failure. It doubles from first up to most. A random half of it keeps many bots
// from coming back at once.
func backoff(first, most time.Duration, n int) time.Duration {
	d := most
	if n < 20 {
		d = min(first<<(n-1), most)
	}
	return d/2 + rand.N(d/2+1)
}

// mustJSON encodes one of the package's own payloads, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return b
}
