package rest

import (
	"cmp"
	"context"
	"log/slog"
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
	MaxWait   = time.Minute      // the longest limit that is waited for; a longer one is an error at once
	MaxClosed = 10 * time.Minute // the longest time that a route counts as closed, whatever Discord said
)

// Rank says which of the waiting requests goes first.
type Rank int

const (
	Create Rank = iota // a new message, for which somebody waits; also requests of the connection
	Final              // the last edit of a message
	Edit               // any other edit
	Back               // requests that nobody waits for
	ranks
)

// Pacer paces the requests of one bot. It learns route limits from headers only, so none is written down here.
type Pacer struct {
	rate  rate.Limit // requests per second of all processes together
	burst int

	mu      sync.Mutex
	until   map[string]time.Time   // route → when it opens again; guarded by mu
	scarce  map[string]time.Time   // route → until when it accepts only one more request; guarded by mu
	global  time.Time              // when all routes except that of interactions open again; guarded by mu
	all     *rate.Limiter          // used under mu only, and only for the request that is sent next
	waiting [ranks][]chan struct{} // requests by rank, oldest first; each is closed when it may be sent; guarded by mu
	timer   *time.Timer            // admits the next request; nil: none waits; guarded by mu
}

// newPacer allows n requests in any second: four fifths as a steady rate, the rest as a burst.
func newPacer(n int) *Pacer {
	burst := max(1, n/5)
	limit := rate.Limit(max(1, n-burst))
	return &Pacer{rate: limit, burst: burst, all: rate.NewLimiter(limit, burst), until: map[string]time.Time{}, scarce: map[string]time.Time{}}
}

// Share keeps to the nth part of the limit over all routes, because that many processes send requests.
func (p *Pacer) Share(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if part := p.rate / rate.Limit(n); part != p.all.Limit() {
		p.all.SetLimit(part)
		p.all.SetBurst(max(1, p.burst/n))
	}
}

// Wait returns when a request on the route may be sent. It returns an error at once if ctx would end before that.
// Waiting requests of a lower rank go first.
func (p *Pacer) Wait(ctx context.Context, route string, r Rank) error {
	for {
		if err := p.open(ctx, route); err != nil {
			return err
		}
		if exempt(route) {
			return nil // interactions do not count, and have only three seconds
		}
		if err := p.admit(ctx, r); err != nil {
			return &Error{Kind: RateLimited, Message: "too many requests are waiting", Cause: err}
		}
		if p.closed(route) <= 0 {
			return nil
		}
		p.pass() // the route was closed meanwhile
	}
}

// open waits until the route is open.
func (p *Pacer) open(ctx context.Context, route string) error {
	for {
		closed := p.closed(route)
		if closed <= 0 {
			return nil
		}
		end, ok := ctx.Deadline()
		if closed > MaxWait || ok && time.Until(end) < closed {
			return &Error{Kind: RateLimited, RetryAfter: closed, Message: "the limit outlasts the deadline", Cause: context.DeadlineExceeded}
		}
		if err := Sleep(ctx, closed); err != nil {
			return err
		}
	}
}

// Try reports whether a request on the route may be sent now without delaying another one. No request may wait, and half
// of the burst must be left.
func (p *Pacer) Try(route string) bool {
	if p.closed(route) > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timer == nil && p.all.Tokens() >= float64(1+p.all.Burst()/2) && p.all.Allow()
}

// AtOnce reports whether a request on the route may be sent now. It must not wait, nor use the last request that the route accepts for now.
func (p *Pacer) AtOnce(route string) bool {
	if p.closed(route) > 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.timer == nil && !p.scarce[route].After(time.Now()) && p.all.Allow()
}

// admit waits until the limit over all routes allows the request. It fails at once if ctx would end before that.
func (p *Pacer) admit(ctx context.Context, r Rank) error {
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

// leave gives up the place of a request that is not sent.
func (p *Pacer) leave(r Rank, turn chan struct{}) {
	p.mu.Lock()
	at := slices.Index(p.waiting[r], turn)
	if at >= 0 {
		p.waiting[r] = slices.Delete(p.waiting[r], at, at+1)
	}
	p.mu.Unlock()
	if at < 0 { // it was admitted just now
		p.pass()
	}
}

// pass gives an unused admission to the next request.
func (p *Pacer) pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitNext()
}

// advance admits requests whose time has come, and sets the timer for the next one.
func (p *Pacer) advance() {
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

// admitNext admits the first waiting request, if any. The caller holds mu.
func (p *Pacer) admitNext() {
	for r := range p.waiting {
		if len(p.waiting[r]) > 0 {
			close(p.waiting[r][0])
			p.waiting[r] = p.waiting[r][1:]
			return
		}
	}
}

// due returns how long it takes until a request is allowed. The caller holds mu.
func (p *Pacer) due() time.Duration { return p.time(1 - p.all.Tokens()) }

// time returns how long n requests take.
func (p *Pacer) time(n float64) time.Duration {
	return time.Duration(math.Ceil(max(0, n) / float64(p.all.Limit()) * float64(time.Second)))
}

// closed returns how long the route stays closed.
func (p *Pacer) closed(route string) time.Duration {
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

// Learn closes the route for as long as the response says. retryAfter is how long a 429 closes it, or 0 if the response is
// none. A 429 without a bucket comes from Cloudflare, is about the address, and closes all routes.
func (p *Pacer) Learn(route string, h http.Header, retryAfter time.Duration) {
	var closed time.Duration
	everything, scarce := false, false
	seconds, _ := strconv.ParseFloat(h.Get("X-RateLimit-Reset-After"), 64)
	reset := time.Duration(min(seconds, MaxClosed.Seconds()) * float64(time.Second))
	switch {
	case retryAfter > 0:
		closed = min(retryAfter, MaxClosed)
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

// prune forgets routes whose time has passed.
func prune(routes map[string]time.Time) {
	now := time.Now()
	for route, until := range routes {
		if !until.After(now) {
			delete(routes, route)
		}
	}
}

// interactions is the route of all responses to interactions.
const interactions = "interactions/"

// exempt reports whether a route is exempt from Discord's limit over all routes. No route is exempt from Cloudflare's.
// https://discord.com/developers/docs/topics/rate-limits#global-rate-limit
func exempt(route string) bool { return route == interactions }

// Bucket returns the key by which Discord counts requests. It is the method and the route, with the ids of channels, servers and webhooks.
func Bucket(method, path string) string {
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

// Sleep waits for d, or until ctx ends, and returns the context's error.
func Sleep(ctx context.Context, d time.Duration) error {
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

// MostSkew is how far the machine's clock may be from Discord's. A clock that jumps further is not believed.
const MostSkew = time.Hour

// Clock knows the time from the Date headers of Discord's responses. Between two responses it counts on the monotonic clock, which does not
// jump.
type Clock struct {
	Most time.Duration // by which the machine's clock may be off; 0: MostSkew. It is set before the first request

	mu    sync.Mutex
	date  time.Time // the latest header; zero: none came yet; guarded by mu, as is all that follows
	at    time.Time // when it came
	wrong bool      // the operator was told that the machine's clock is wrong
	known chan struct{}
}

// Learn reads a response's Date. A header that comes from a cache tells an old time.
func (c *Clock) Learn(h http.Header, log *slog.Logger) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" {
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() && c.known != nil {
		close(c.known)
	}
	c.date, c.at = date, now
	off := now.Round(0).Sub(date)
	if wrong := off.Abs() > cmp.Or(c.Most, MostSkew); wrong != c.wrong {
		c.wrong = wrong
		if wrong {
			log.Error("the clock of this machine is wrong: what depends on the time follows Discord's clock", "off", off.Round(time.Minute), "discord", date.UTC())
		} else {
			log.Info("the clock of this machine is right again")
		}
	}
}

// Now returns the machine's time, or Discord's if they differ by more than that.
func (c *Clock) Now() time.Time {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.date.IsZero() {
		return now
	}
	if theirs := c.date.Add(now.Sub(c.at)); now.Round(0).Sub(theirs).Abs() > cmp.Or(c.Most, MostSkew) {
		return theirs
	}
	return now
}

// Known returns a channel that is closed when Discord has told the time.
func (c *Clock) Known() <-chan struct{} { return c.known }
