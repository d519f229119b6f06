package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// Fault makes requests fail.
type Fault struct {
	Route  string        // "POST channels/*/messages"; * is any one part, or any method
	Times  int           // how many requests; 0: one
	Delay  time.Duration // before anything else; if nothing else is set, the request then succeeds
	Deaf   bool          // the delay goes on when the client has given up: the request takes effect late
	Status int           // 0 with Cut false: no failure
	Header map[string]string
	Body   string
	Cut    bool // the connection is closed without an answer
	After  bool // the request takes effect first
}

// TooMany returns Discord's own 429.
func TooMany(route string, times int, retryAfter time.Duration) Fault {
	seconds := fmt.Sprintf("%.3f", retryAfter.Seconds())
	return Fault{Route: route, Times: times, Status: http.StatusTooManyRequests,
		Header: map[string]string{
			"Content-Type": "application/json", "Retry-After": fmt.Sprintf("%.0f", max(1, retryAfter.Seconds())),
			"X-RateLimit-Limit": "5", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": seconds,
			"X-RateLimit-Bucket": "b0c4e7", "X-RateLimit-Scope": "user",
		},
		Body: `{"message":"You are being rate limited.","retry_after":` + seconds + `,"global":false}`}
}

// Global returns the 429 of Discord's limit over all routes.
func Global(route string, times int, retryAfter time.Duration) Fault {
	f := TooMany(route, times, retryAfter)
	f.Header["X-RateLimit-Global"], f.Header["X-RateLimit-Scope"] = "true", "global"
	f.Body = strings.Replace(f.Body, `"global":false`, `"global":true`, 1)
	return f
}

// Shared returns the 429 of a limit that several bots, or people, share.
func Shared(route string, times int, retryAfter time.Duration) Fault {
	f := TooMany(route, times, retryAfter)
	f.Header["X-RateLimit-Scope"] = "shared"
	return f
}

// Cloudflare returns the 429 of the proxy in front of Discord: a page, and a Retry-After in whole seconds.
func Cloudflare(route string, times, retryAfter int) Fault {
	return Fault{Route: route, Times: times, Status: http.StatusTooManyRequests,
		Header: map[string]string{"Content-Type": "text/html; charset=UTF-8", "Server": "cloudflare", "Retry-After": fmt.Sprint(retryAfter)},
		Body:   "<!DOCTYPE html><html><head><title>Access denied | discord.com used Cloudflare to restrict access</title></head><body>Error 1015</body></html>"}
}

// Page returns an error of a proxy, or of a server that is starting: a page, where Discord sends JSON.
func Page(route string, times, status int) Fault {
	return Fault{Route: route, Times: times, Status: status, Header: map[string]string{"Content-Type": "text/html"},
		Body: "<!DOCTYPE html><html><head><title>" + http.StatusText(status) + "</title></head><body>nginx</body></html>"}
}

// Fail adds a fault. Each request gets the oldest fault that matches it.
func (s *Server) Fail(f Fault) {
	f.Times = max(f.Times, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &f)
}

// fault takes the fault for a request, or returns nil. A fault that only delays has no status.
func (s *Server) fault(c *call) *Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.faults {
		if c.matches(f.Route) {
			if f.Times--; f.Times == 0 {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
			}
			return f
		}
	}
	return nil
}

// pause waits for the fault's delay, or until the client is gone.
func (f *Fault) pause(r *http.Request) {
	if f == nil || f.Delay == 0 {
		return
	}
	if f.Deaf {
		time.Sleep(f.Delay)
		return
	}
	select {
	case <-r.Context().Done():
	case <-time.After(f.Delay):
	}
}

// harmless reports whether the request succeeds in spite of the fault.
func (f *Fault) harmless() bool { return f == nil || f.Status == 0 && !f.Cut }

func (f *Fault) send(w http.ResponseWriter) int {
	if f.Cut {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // HTTP/2, where a request is one stream among many
			panic(http.ErrAbortHandler)
		}
		conn.Close()
		return 0
	}
	for name, value := range f.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write([]byte(f.Body))
	return f.Status
}

// window counts the use of one bucket.
type window struct {
	used int
	ends time.Time
}

// Limit limits the sending and editing of messages to n per duration in each channel. 0 removes the limit.
func (s *Server) Limit(n int, per time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit, s.per = n, per
	clear(s.windows)
}

// Pace limits the requests over all routes to n per second, as Discord does. 0 means no limit.
func (s *Server) Pace(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace, s.latest = n, nil
}

// overPace counts a request against the limit over all routes. Discord does not apply that limit to interactions.
func (s *Server) overPace(c *call) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pace == 0 || c.parts[0] == "interactions" {
		return answer{}, false
	}
	now := time.Now()
	if len(s.latest) == s.pace {
		if wait := time.Second - now.Sub(s.latest[0]); wait > 0 {
			return answer{http.StatusTooManyRequests, object{"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": true}}, true
		}
		s.latest = s.latest[1:]
	}
	s.latest = append(s.latest, now)
	return answer{}, false
}

func limited(c *call) bool {
	return c.matches("POST channels/*/messages") || c.matches("PATCH channels/*/messages/*")
}

// overLimit counts a request against its bucket.
func (s *Server) overLimit(c *call) (answer, bool) {
	if !limited(c) {
		return answer{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit == 0 {
		return answer{}, false
	}
	now, key := time.Now(), c.method+c.parts[1]
	w := s.windows[key]
	if w == nil || !now.Before(w.ends) {
		w = &window{ends: now.Add(s.per)}
		s.windows[key] = w
	}
	if w.used == s.limit {
		return answer{http.StatusTooManyRequests, object{"message": "You are being rate limited.", "retry_after": time.Until(w.ends).Seconds(), "global": false}}, true
	}
	w.used++
	return answer{}, false
}

// rateHeaders adds the headers about limits that Discord sends with most answers.
func (s *Server) rateHeaders(h http.Header, c *call, a answer) {
	if body, _ := a.body.(object); a.status == http.StatusTooManyRequests && body["global"] == true {
		h.Set("X-RateLimit-Global", "true")
		h.Set("X-RateLimit-Scope", "global")
		h.Set("Retry-After", "1")
		return
	}
	if !limited(c) {
		return
	}
	limit, remaining, after := 5, 4, 1.0
	s.mu.Lock()
	if w := s.windows[c.method+c.parts[1]]; w != nil && s.limit > 0 {
		limit, remaining, after = s.limit, s.limit-w.used, max(0, time.Until(w.ends).Seconds())
	}
	s.mu.Unlock()
	h.Set("X-RateLimit-Limit", fmt.Sprint(limit))
	h.Set("X-RateLimit-Remaining", fmt.Sprint(remaining))
	h.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", after))
	h.Set("X-RateLimit-Bucket", "m"+c.parts[1])
	if a.status == http.StatusTooManyRequests {
		h.Set("Retry-After", fmt.Sprintf("%.0f", max(1, after)))
		h.Set("X-RateLimit-Scope", "user")
	}
}

// Request is one request that was answered.
type Request struct {
	Method, Path string // the path below the version: "/channels/1/messages"
	Body         string
	At           time.Time
	Status       int // 0: the connection was cut
}

// Quiet stops recording requests, for benchmarks.
func (s *Server) Quiet() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.quiet, s.requests = true, nil
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.quiet {
		s.requests = append(s.requests, r)
		s.bump()
	}
}

func (r Request) call() *call {
	return &call{method: r.Method, parts: strings.Split(strings.TrimPrefix(r.Path, "/"), "/")}
}

// Requests lists the requests so far that match a route ("POST channels/*/messages"; empty: all), oldest first.
func (s *Server) Requests(route string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Request
	for _, r := range s.requests {
		if route == "" || r.call().matches(route) {
			found = append(found, r)
		}
	}
	return found
}

// ClearFaults removes the faults that were not used yet.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Limits of the gateway for clients.
// https://discord.com/developers/docs/events/gateway#rate-limiting
const (
	maxPayload  = 4096                                 // bytes
	maxFrames   = 120                                  // in a minute of one connection
	identifyGap = 5*time.Second - 100*time.Millisecond // frames may arrive closer together than they were sent
)

// judge counts violations of Discord's rules.
type judge struct {
	refused    map[string]int // answers of the server's own, by method, route, status, message and fields; guarded by the server's mu
	accepted   []string       // parts of the refusals that the test asks for; guarded by the server's mu
	violations map[string]int // on the gateway; guarded by the gateway's mu
}

// Accept says which refusals a test asks for, by a part of what Refusals says of them. Any other makes the test fail when it ends.
func (s *Server) Accept(what ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judge.accepted = append(s.judge.accepted, what...)
}

// crossed are refusals of a sign of typing, which is sent beside a turn. Whether it crosses the loss of a channel or of a right is chance.
var crossed = []string{"POST channels/*/typing: 404 Unknown Channel", "POST channels/*/typing: 403 Missing Permissions"}

// complain reports the refusals that the test did not ask for.
func (s *Server) complain(tb testing.TB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	accepted := slices.Concat(s.judge.accepted, crossed)
	for what, n := range s.judge.refused {
		if !slices.ContainsFunc(accepted, func(part string) bool { return strings.Contains(what, part) }) {
			tb.Errorf("Discord refused, %d times, %s", n, what)
		}
	}
}

// Refusals counts the requests that the server refused by its own rules and not because of a Fault. They are counted by method, route,
// status, message and the fields at fault.
func (s *Server) Refusals() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.judge.refused)
}

// Violations counts the frames that the gateway does not allow, by reason.
func (s *Server) Violations() map[string]int {
	s.gateway.mu.Lock()
	defer s.gateway.mu.Unlock()
	return maps.Clone(s.judge.violations)
}

// refuse counts a refusal.
func (s *Server) refuse(c *call, a answer) {
	if a.status < 400 {
		return
	}
	parts := strings.Split(strings.Join(c.parts, "/"), "/")
	for i, p := range parts {
		if strings.Trim(p, "0123456789") == "" || strings.HasPrefix(p, "interaction-token-") {
			parts[i] = "*"
		}
	}
	body, _ := a.body.(object)
	key := fmt.Sprintf("%s %s: %d %v", c.method, strings.Join(parts, "/"), a.status, body["message"])
	if body["errors"] != nil {
		fields, _ := json.Marshal(body["errors"])
		key += " " + string(fields)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.judge.refused == nil {
		s.judge.refused = map[string]int{}
	}
	s.judge.refused[key]++
}

// connectionJudge checks what a client sends over one gateway connection.
type connectionJudge struct {
	frames   []time.Time // of the last minute
	begun    bool        // it has sent an IDENTIFY or a RESUME
	lastBeat time.Time
}

// frame checks one frame. The caller must hold the gateway's mu.
func (s *Server) frame(j *connectionJudge, op, size, bucket int) {
	now, g := time.Now(), &s.gateway
	violates := s.violates
	j.frames = append(j.frames, now)
	for now.Sub(j.frames[0]) > time.Minute {
		j.frames = j.frames[1:]
	}
	if len(j.frames) > maxFrames {
		violates("more than %d frames in a minute", maxFrames)
	}
	if size > maxPayload {
		violates("op %d has more than %d bytes", op, maxPayload)
	}
	switch op {
	case 1:
		if now.Sub(j.lastBeat) > g.interval+g.interval/2 {
			violates("a heartbeat is late")
		}
		j.lastBeat = now
	case 2, 6:
		if j.begun {
			violates("a second IDENTIFY or RESUME on a connection")
		}
		if op == 2 && now.Sub(g.identified[bucket]) < identifyGap {
			violates("two IDENTIFYs in 5 s")
		}
		if j.begun = true; op == 2 {
			g.identified[bucket] = now
		}
	case 3:
		if !j.begun {
			violates("op 3 before IDENTIFY")
		}
	default:
		violates("op %d, which no bot of this kind sends", op)
	}
}

// violates counts a frame that is not allowed. The caller must hold the gateway's mu.
func (s *Server) violates(format string, args ...any) {
	if s.judge.violations == nil {
		s.judge.violations = map[string]int{}
	}
	s.judge.violations[fmt.Sprintf(format, args...)]++
}

// hello begins checking a connection. The caller must hold the gateway's mu.
func (g *gateway) hello(ws *websocket.Conn) *connectionJudge {
	if !g.silent {
		g.op(ws, 10, object{"heartbeat_interval": g.interval.Milliseconds()})
	}
	return &connectionJudge{lastBeat: time.Now()}
}

// ForgetNonces makes the server forget which nonces it has seen, as Discord does after a few minutes.
func (s *Server) ForgetNonces() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.nonces)
}
