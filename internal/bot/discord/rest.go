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
)

// newREST makes discordgo's client for REST calls alone, over a copy of the HTTP client that was given.
func (s *Session) newREST() (*discordgo.Session, error) {
	rest, err := discordgo.New("Bot " + s.token)
	if err != nil {
		return nil, fmt.Errorf("make REST client: %w", err)
	}
	client := *s.cfg.HTTP
	client.Transport = &transport{session: s, next: s.cfg.HTTP}
	rest.Client = &client
	rest.State, rest.StateEnabled = nil, false
	rest.LogLevel = -1 // it logs to a global, and the token with it: everything it knows comes back as an error
	rest.UserAgent = s.cfg.UserAgent
	if rest.UserAgent == "" {
		rest.UserAgent = "DiscordBot (https://github.com/bwmarrin/discordgo, " + discordgo.VERSION + ")"
	}
	return rest, nil
}

// transport sends discordgo's requests, which are for version 9 at discord.com, to version 10 at the configured
// server, lets the pacer learn from every answer, and returns one that is no success as an error.
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
	failed := s.sendError(resp)
	s.pace.learn(bucket(req.Method, path), resp.Header, failed)
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
	rank        rank
	attempt     time.Duration // how long one attempt may take; 0: attemptLimit
	once        bool          // not sent again, whatever happens
	spare       bool          // sent only if nothing else has to wait for it, else dropped without an error
	passing     bool          // sent once, and only if it need not wait, else dropped with errPassed
}

// route returns the bucket that a request is counted in.
func (r request) route() string {
	return bucket(r.method, strings.TrimPrefix(r.url, discordgo.EndpointAPI))
}

// How often a request is sent before its last failure is the answer.
const (
	maxFailures = 3 // attempts that ended in a transport error or a status of 500 or more
	maxHangs    = 2 // attempts that were not answered in time
	maxLimits   = 8 // attempts that ended in a 429, each followed by the wait that Discord asked for
)

// errPassed is what becomes of a passing request that would have to wait.
var errPassed = &SendError{Kind: RateLimited, Message: "others go first"}

// attemptLimit is how long Discord may take to answer a request.
const attemptLimit = 10 * time.Second

// call sends a request until it succeeds, cannot succeed, or ctx is done. Everything sent this way may safely arrive
// twice: what creates a message carries a nonce. The error is a *SendError.
func (s *Session) call(ctx context.Context, r request) ([]byte, error) {
	if r.contentType == "" {
		r.contentType = "application/json"
	}
	var failures, hangs, limits int
	for {
		if r.spare && !s.pace.try(r.route()) {
			return nil, nil
		}
		if r.passing && !s.pace.atOnce(r.route()) {
			return nil, errPassed
		}
		if !r.spare && !r.passing {
			if err := s.pace.wait(ctx, r.route(), r.rank); err != nil {
				return nil, s.failure(err)
			}
		}
		body, hung, err := s.attempt(ctx, r)
		if err == nil {
			return body, nil
		}
		e := s.failure(err)
		switch {
		case e.Kind == Unauthorized:
			s.refuse()
			return nil, e
		case r.once || r.spare || r.passing || ctx.Err() != nil:
			return nil, e
		case e.Kind == RateLimited && waitable(e) && limits < maxLimits:
			limits++ // the pacer waits
		case hung && hangs+1 < maxHangs:
			hangs++ // it has waited long enough
		case e.Kind == Unavailable && !hung && failures+1 < maxFailures:
			failures++
			if sleep(ctx, backoff(firstResend, 10*time.Second, failures)) != nil {
				return nil, e
			}
		default:
			if e.RetryAfter > maxLimit {
				s.log.Warn("a limit of Discord's is too long to wait for", "route", s.redact(r.route()), "wait", e.RetryAfter)
			}
			return nil, e
		}
	}
}

// attempt sends a request once, and reports whether it failed because no answer came in time.
func (s *Session) attempt(ctx context.Context, r request) (body []byte, hung bool, err error) {
	limit := r.attempt
	if limit == 0 {
		limit = attemptLimit
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err = s.rest.RequestWithLockedBucket(r.method, r.url, r.contentType, r.body,
		// A bucket for each request: discordgo's own would be kept for ever, and waits without regard to ctx.
		discordgo.NewRatelimiter().LockBucket(r.url), 0,
		discordgo.WithContext(limited), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	return body, err != nil && limited.Err() != nil && ctx.Err() == nil, err
}

// ofRoute reports whether a limit is one of the route, so that no request on it may be sent until it has passed. Slow mode and too
// many edits of an old message are not such limits, and a wait that ctx does not allow comes without a status.
func ofRoute(e *SendError) bool {
	return e.Status == http.StatusTooManyRequests && e.RetryAfter > 0 &&
		(e.Code == 0 || e.Code == discordgo.ErrCodeChannelHasHitWriteRateLimit)
}

// waitable reports whether the same request may be sent again when the limit has passed.
func waitable(e *SendError) bool { return ofRoute(e) && e.RetryAfter <= maxLimit }

// backoff returns the wait after the nth failure: it doubles from first up to most, and is spread over its upper half so
// that many bots do not come back at once.
func backoff(first, most time.Duration, n int) time.Duration {
	d := most
	if n < 20 {
		d = min(first<<(n-1), most)
	}
	return d/2 + rand.N(d/2+1)
}

// sleep waits for d, or gives the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// mustJSON encodes one of our own payloads, which cannot fail.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return b
}
