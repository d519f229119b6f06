package discord

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// pacer keeps requests within Discord's limits: so many a second over all routes, and for each route what the last
// answer said. It learns from headers alone, so no limit is written down twice.
// https://discord.com/developers/docs/topics/rate-limits
type pacer struct {
	all *rate.Limiter

	mu     sync.Mutex
	until  map[string]time.Time // route → when it opens again; guarded by mu
	global time.Time            // when all routes open again; guarded by mu
}

// newPacer allows n requests in any one second: four fifths as a steady rate, the rest as a burst.
func newPacer(n int) *pacer {
	burst := max(1, n/5)
	return &pacer{all: rate.NewLimiter(rate.Limit(max(1, n-burst)), burst), until: map[string]time.Time{}}
}

// wait returns when a request on the route may be sent, or at once if ctx would end before that.
func (p *pacer) wait(ctx context.Context, route string) error {
	for {
		closed := p.closed(route)
		if closed <= 0 {
			break
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < closed {
			return &SendError{Kind: RateLimited, RetryAfter: closed, Message: "the limit outlasts the deadline", err: context.DeadlineExceeded}
		}
		if err := sleep(ctx, closed); err != nil {
			return err
		}
	}
	if strings.HasPrefix(route, "interactions/") {
		return nil // they do not count, and have three seconds
	}
	if err := p.all.Wait(ctx); err != nil {
		return &SendError{Kind: RateLimited, Message: "too many requests are waiting", err: ctx.Err()}
	}
	return nil
}

// closed returns how long the route stays closed.
func (p *pacer) closed(route string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.until[route]
	if ok && !until.After(time.Now()) {
		delete(p.until, route)
	}
	if p.global.After(until) {
		until = p.global
	}
	return time.Until(until)
}

// learn closes the route for as long as the answer says. An answer 429 without a bucket, from Cloudflare, is about
// the address and closes everything.
func (p *pacer) learn(route string, h http.Header, failed *SendError) {
	var closed time.Duration
	everything := false
	switch {
	case failed != nil && failed.Kind == RateLimited && waitable(failed):
		closed = failed.RetryAfter
		everything = h.Get("X-RateLimit-Global") != "" || h.Get("X-RateLimit-Bucket") == "" && h.Get("X-RateLimit-Scope") == ""
	case h.Get("X-RateLimit-Remaining") == "0":
		seconds, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
		closed = time.Duration(seconds * float64(time.Second))
	}
	if closed <= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	until := time.Now().Add(closed)
	if everything {
		if until.After(p.global) {
			p.global = until
		}
		return
	}
	p.until[route] = until
	if len(p.until) > 1000 {
		p.prune()
	}
}

// prune forgets the routes that are open again. Its caller holds mu.
func (p *pacer) prune() {
	now := time.Now()
	for route, until := range p.until {
		if !until.After(now) {
			delete(p.until, route)
		}
	}
}

// bucket returns what Discord counts requests by: the method and the route, with ids kept where they stand for a
// channel, a server or a webhook.
func bucket(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	if parts[0] == "interactions" {
		return "interactions/"
	}
	kept := 2
	if parts[0] == "webhooks" {
		kept = 3
	}
	for i := kept; i < len(parts); i++ {
		if strings.Trim(parts[i], "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return method + " " + strings.Join(parts, "/")
}
