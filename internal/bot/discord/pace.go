package discord

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	maxLimit  = time.Minute      // the longest limit that is waited for; a longer one is an error at once
	maxClosed = 10 * time.Minute // the longest that a route is taken to be closed: then Discord is asked again, whatever it said
)

// rank says which of the requests that wait goes first.
type rank int

const (
	rankCreate rank = iota // a new message: somebody waits for it; also what the connection needs
	rankFinal              // the last edit of a message
	rankEdit               // any other edit
	rankBack               // what nobody waits for
	ranks
)

// pacer keeps requests within Discord's limits: so many a second over all routes, and for each route what the last
// answer said. It learns from headers alone, so no limit is written down twice.
// https://discord.com/developers/docs/topics/rate-limits
type pacer struct {
	mu      sync.Mutex
	until   map[string]time.Time   // route → when it opens again; guarded by mu
	scarce  map[string]time.Time   // route → until when it takes one request more; guarded by mu
	global  time.Time              // when all routes open again but those of interactions; guarded by mu
	all     *rate.Limiter          // reserved from under mu alone, and only for the request that is sent next
	waiting [ranks][]chan struct{} // requests by rank, the oldest first; each is closed when it may be sent; guarded by mu
	timer   *time.Timer            // admits the next one; nil: nobody waits; guarded by mu
}

// newPacer allows n requests in any one second: four fifths as a steady rate, the rest as a burst.
func newPacer(n int) *pacer {
	burst := max(1, n/5)
	return &pacer{all: rate.NewLimiter(rate.Limit(max(1, n-burst)), burst), until: map[string]time.Time{}, scarce: map[string]time.Time{}}
}

// wait returns when a request on the route may be sent, or at once if ctx would end before that. Of the requests that wait, those
// of a lower rank go first.
func (p *pacer) wait(ctx context.Context, route string, r rank) error {
	for {
		if err := p.open(ctx, route); err != nil {
			return err
		}
		if exempt(route) {
			return nil // they do not count, and have three seconds
		}
		if err := p.admit(ctx, r); err != nil {
			return &SendError{Kind: RateLimited, Message: "too many requests are waiting", err: err}
		}
		if p.closed(route) <= 0 {
			return nil
		}
		p.pass() // the route was closed meanwhile
	}
}

// open waits until the route is open.
func (p *pacer) open(ctx context.Context, route string) error {
	for {
		closed := p.closed(route)
		if closed <= 0 {
			return nil
		}
		end, ok := ctx.Deadline()
		if closed > maxLimit || ok && time.Until(end) < closed {
			return &SendError{Kind: RateLimited, RetryAfter: closed, Message: "the limit outlasts the deadline", err: context.DeadlineExceeded}
		}
		if err := sleep(ctx, closed); err != nil {
			return err
		}
	}
}

// try reports whether a request on the route may be sent right now without keeping another one waiting: nothing waits, and half of
// the burst is left.
func (p *pacer) try(route string) bool {
	if p.closed(route) > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timer == nil && p.all.Tokens() >= float64(1+p.all.Burst()/2) && p.all.Allow()
}

// atOnce reports whether a request on the route may be sent right now, without a wait and without taking the last that the route takes
// for now.
func (p *pacer) atOnce(route string) bool {
	if p.closed(route) > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timer == nil && !p.scarce[route].After(time.Now()) && p.all.Allow()
}

// admit waits for one of the requests that are allowed over all routes. It fails at once if ctx would end before that.
func (p *pacer) admit(ctx context.Context, r rank) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	if p.timer == nil && p.all.Allow() {
		p.mu.Unlock()
		return nil
	}
	ahead := 0
	for _, waiting := range p.waiting[:r+1] {
		ahead += len(waiting)
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) < p.time(float64(ahead)) {
		p.mu.Unlock()
		return context.DeadlineExceeded
	}
	turn := make(chan struct{})
	p.waiting[r] = append(p.waiting[r], turn)
	if p.timer == nil {
		p.timer = time.AfterFunc(p.due(), p.advance)
	}
	p.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	p.leave(r, turn)
	return ctx.Err()
}

// leave gives back the place of a request that is not sent.
func (p *pacer) leave(r rank, turn chan struct{}) {
	p.mu.Lock()
	at := slices.Index(p.waiting[r], turn)
	if at >= 0 {
		p.waiting[r] = slices.Delete(p.waiting[r], at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it was admitted in this moment
		p.pass()
	}
}

// pass hands an admission that is not used to the next request.
func (p *pacer) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitNext()
}

// advance admits the next request when its time has come, and waits for the one after it.
func (p *pacer) advance() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if !slices.ContainsFunc(p.waiting[:], func(w []chan struct{}) bool { return len(w) > 0 }) {
			p.timer = nil
			return
		}
		if wait := p.due(); wait > 0 {
			p.timer.Reset(wait)
			return
		}
		if p.all.Allow() {
			p.admitNext()
		}
	}
}

// admitNext admits the first of the requests that wait, if any. Its caller holds mu.
func (p *pacer) admitNext() {
	for r := range p.waiting {
		if len(p.waiting[r]) > 0 {
			close(p.waiting[r][0])
			p.waiting[r] = p.waiting[r][1:]
			return
		}
	}
}

// due returns how long it is until a request is allowed. Its caller holds mu.
func (p *pacer) due() time.Duration { return p.time(1 - p.all.Tokens()) }

// time returns how long n requests take.
func (p *pacer) time(n float64) time.Duration {
	return time.Duration(math.Ceil(max(0, n) / float64(p.all.Limit()) * float64(time.Second)))
}

// closed returns how long the route stays closed.
func (p *pacer) closed(route string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.until[route]
	if ok && !until.After(time.Now()) {
		delete(p.until, route)
	}
	if p.global.After(until) && !exempt(route) {
		until = p.global
	}
	return time.Until(until)
}

// learn closes the route for as long as the answer says. An answer 429 without a bucket, from Cloudflare, is about
// the address and closes everything.
func (p *pacer) learn(route string, h http.Header, failed *SendError) {
	var closed time.Duration
	everything, scarce := false, false
	seconds, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	reset := time.Duration(min(seconds, maxClosed.Seconds()) * float64(time.Second))
	switch {
	case failed != nil && failed.Kind == RateLimited && ofRoute(failed):
		closed = min(failed.RetryAfter, maxClosed)
		everything = h.Get("X-RateLimit-Global") != "" || h.Get("X-RateLimit-Bucket") == "" && h.Get("X-RateLimit-Scope") == ""
	case h.Get("X-RateLimit-Remaining") == "0":
		closed = reset
	case h.Get("X-RateLimit-Remaining") == "1":
		closed, scarce = reset, true
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
		if h.Get("X-RateLimit-Global") == "" {
			p.until[interactions] = until
		}
		return
	}
	routes := p.until
	if scarce {
		routes = p.scarce
	}
	routes[route] = until
	if len(routes) > 1000 {
		prune(routes)
	}
}

// prune forgets the routes whose time has passed.
func prune(routes map[string]time.Time) {
	now := time.Now()
	for route, until := range routes {
		if !until.After(now) {
			delete(routes, route)
		}
	}
}

// interactions is the route of all answers to interactions.
const interactions = "interactions/"

// exempt reports whether a route is not bound to Discord's limit over all routes. Cloudflare's it is.
// https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
func exempt(route string) bool { return route == interactions }

// bucket returns what Discord counts requests by: the method and the route, with ids kept where they stand for a
// channel, a server or a webhook.
func bucket(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	if parts[0] == "interactions" {
		return interactions
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
