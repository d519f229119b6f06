package search

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// record is what the engine observed of a backend since the start. Engine.mu guards it.
type record struct {
	latency  latencies
	requests int
	failures int
	failure  *Error // the last one; nil if there was none
	failedAt time.Time
	failing  bool      // since the last answer
	left     Allowance // the last that the service reported
}

// note updates the record and the breaker after a request. e.mu is held.
func (s *source) note(a answer, abandoned bool) {
	if a.unsent {
		s.breaker.release()
		return
	}
	r := &s.record
	r.requests++
	if a.left.Of > 0 {
		r.left = a.left
	}
	switch {
	case a.ok():
		r.latency.add(a.took)
		r.failing = false
		s.breaker.succeed()
	case abandoned:
		s.breaker.fail(a.at, &Error{Backend: s.Name(), Code: turn.CodeTimeout, Detail: "others were quicker, again and again"}, weightAbandoned)
	default:
		r.failure, r.failedAt = asError(s.Name(), a.err), a.at
		r.failures, r.failing = r.failures+1, true
		s.breaker.fail(a.at, r.failure, weightFailed)
	}
	if a.wait > 0 {
		s.breaker.pauseAsToldBy(a.at, &Error{Backend: s.Name(), Code: turn.CodeRateLimited, RetryAfter: a.wait})
	}
	if a.left.Of > 0 && a.left.Left <= 0 && a.left.Resets.After(a.at) {
		s.breaker.pauseAsToldBy(a.at, &Error{Backend: s.Name(), Code: turn.CodeQuota, Detail: "it reports that its limit is used up", RetryAfter: a.left.Resets.Sub(a.at)})
	}
}

// HealthState says whether a backend works.
type HealthState string

const (
	Untried HealthState = "untried" // not asked since the start
	Healthy HealthState = "ok"      // it answered its last request
	Failing HealthState = "failing" // its last request failed
	Resting HealthState = "resting" // not asked before Until, because it failed too often or asked us to wait
	UsedUp  HealthState = "used_up" // not asked: a daily or monthly limit is used up
)

// Health is the health of a backend. Its counts start with the process.
type Health struct {
	Backend string
	State   HealthState
	Until   time.Time // set for Resting

	Failure  turn.Code // code of the last failure; empty if there was none
	Detail   string    // its cause and cure, for the operator
	FailedAt time.Time // time of the last failure

	Requests, Failures int           // abandoned requests are not failures
	P50, P95           time.Duration // of the last 64 answers; 0 if there are none

	Left, Of int       // requests left of the limit closest to its end, as reported or counted. Of is 0 if no limit is known
	Resets   time.Time // when Left becomes Of again; zero if unknown
}

// Health returns the health of the backends in the order of Engine.Backends. It sends nothing over the network. If the
// ledger fails, the limits are left out.
func (e *Engine) Health(ctx context.Context) []Health {
	e.once.Do(e.open)
	now := e.now()
	all := make([]Health, len(e.sources))
	e.mu.Lock()
	for i, s := range e.sources {
		all[i] = s.health(now)
	}
	e.mu.Unlock()
	for i, s := range e.sources { // without mu: a ledger may be slow
		for _, q := range s.quotas {
			left, err := q.remaining(ctx, now)
			if h := &all[i]; err == nil && (h.Of == 0 || left < h.Left) {
				h.Left, h.Of, h.Resets = left, q.limit, q.ends(now)
			}
			if err == nil && left == 0 {
				all[i].State = UsedUp
			}
		}
	}
	return all
}

// health returns the health of s without its quotas. e.mu is held.
func (s *source) health(now time.Time) Health {
	r := &s.record
	h := Health{Backend: s.Name(), State: Healthy, Requests: r.requests, Failures: r.failures, P50: r.latency.percentile(0.5), P95: r.latency.percentile(0.95)}
	if r.failure != nil {
		h.Failure, h.Detail, h.FailedAt = r.failure.Code, r.failure.Detail, r.failedAt
	}
	if r.left.Of > 0 && (r.left.Resets.IsZero() || r.left.Resets.After(now)) {
		h.Left, h.Of, h.Resets = r.left.Left, r.left.Of, r.left.Resets
	}
	switch {
	case now.Before(s.breaker.until):
		h.State, h.Until = Resting, s.breaker.until
	case r.requests == 0:
		h.State = Untried
	case r.failing:
		h.State = Failing
	}
	return h
}

// Stats counts the work of an engine since the start.
type Stats struct {
	Searches int // that had a backend to ask
	Free     int // searches that sent nothing over the network
	Whole    int // free searches whose merged result was cached
	Stale    int // failed searches answered from older answers

	Requests int // to backends
	Shared   int // questions that joined a running request
	Cached   int // questions answered from the cache
	DiskHits int // cached answers that only the disk had
	Dropped  int // answer files that were unusable: damaged, foreign or of another version
	Faults   int // answer files that could not be written
}

// Stats returns the counts so far.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	if e.Disk != nil {
		dropped, faults := e.Disk.answers.Stats()
		s.Dropped, s.Faults = int(dropped), int(faults)
	}
	return s
}

// LogValue implements [slog.LogValuer].
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("searches", s.Searches), slog.Int("free", s.Free), slog.Int("whole", s.Whole), slog.Int("stale", s.Stale),
		slog.Int("asked", s.Requests), slog.Int("shared", s.Shared), slog.Int("cached", s.Cached), slog.Int("disk_hits", s.DiskHits),
		slog.Int("dropped", s.Dropped), slog.Int("faults", s.Faults))
}

func (e *Engine) count(r Result, whole bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.Searches++
	if r.Cached {
		e.stats.Free++
	}
	if whole {
		e.stats.Whole++
	}
	if r.Stale > 0 {
		e.stats.Stale++
	}
}

// latencies holds the durations of a backend's last successful answers.
type latencies struct {
	took [64]time.Duration
	n    int // all answers so far
}

const (
	enoughLatencies = 5           // needed before the usual latency is known
	defaultLatency  = time.Second // for a profile without one
)

func (l *latencies) add(d time.Duration) {
	l.took[l.n%len(l.took)] = d
	l.n++
}

// percentile returns the longest duration of the given share of answers, or 0 if there are none.
func (l *latencies) percentile(share float64) time.Duration {
	n := min(l.n, len(l.took))
	if n == 0 {
		return 0
	}
	sorted := l.took
	slices.Sort(sorted[:n])
	return sorted[min(n-1, int(share*float64(n)))]
}

// breaker is a circuit breaker: it keeps the engine from asking a backend again that has just failed. Existing
// libraries support neither a service that says when it will be back, nor an abandoned request, which proves nothing.
// Engine.mu guards its fields.
type breaker struct {
	failures int           // since the last success, weighted
	pause    time.Duration // the last pause
	until    time.Time     // not asked before then
	probing  bool          // after a pause, one request is running to check whether the backend is back
	cause    *Error        // of the pause
}

const (
	breakAt         = 9 // weighted failures that start a pause
	weightFailed    = 3
	weightAbandoned = 1 // others were quicker, or the caller left

	minPause         = 15 * time.Second
	maxPause         = 5 * time.Minute
	pauseRateLimited = 5 * time.Second // if it says "too many requests" without a time
	pauseQuota       = time.Hour       // if it says that a limit is used up without a time
	maxRetryAfter    = 24 * time.Hour  // longest wait that a service may ask for
)

// refusal returns why the backend may not be asked now, or nil.
func (b *breaker) refusal(now time.Time) *Error {
	detail := ""
	switch {
	case now.Before(b.until):
		detail = fmt.Sprintf("not asked again for %s", b.until.Sub(now).Round(time.Second))
	case b.failures >= breakAt && b.probing:
		detail = "not asked while one question finds out whether it is back"
	default:
		return nil
	}
	return &Error{Backend: b.cause.Backend, Code: b.cause.Code, Detail: detail}
}

// begin records that a request starts.
func (b *breaker) begin() { b.probing = b.failures >= breakAt }

// release records a request whose outcome says nothing about the backend.
func (b *breaker) release() { b.probing = false }

// succeed records a successful request.
func (b *breaker) succeed() { b.failures, b.pause, b.probing = 0, 0, false }

// fail records a failed request with its weight.
func (b *breaker) fail(now time.Time, err *Error, weight int) {
	b.probing = false
	switch err.Code {
	case turn.CodeRejected, turn.CodeNotConfigured: // the question was to blame
		return
	case turn.CodeRateLimited, turn.CodeQuota:
		b.pauseAsToldBy(now, err)
		return
	}
	if b.failures = min(b.failures+weight, breakAt); b.failures >= breakAt {
		b.pause = min(max(2*b.pause, minPause), maxPause)
		b.pauseUntil(now.Add(b.pause), err)
	}
	if err.RetryAfter > 0 {
		b.pauseAsToldBy(now, err)
	}
}

// pauseAsToldBy pauses the backend for as long as it asked.
func (b *breaker) pauseAsToldBy(now time.Time, err *Error) {
	wait := err.RetryAfter
	switch {
	case wait > 0:
	case err.Code == turn.CodeQuota:
		wait = pauseQuota
	default:
		wait = pauseRateLimited
	}
	b.pauseUntil(now.Add(min(wait, maxRetryAfter)), err)
}

func (b *breaker) pauseUntil(until time.Time, cause *Error) {
	if until.After(b.until) {
		b.until, b.cause = until, cause
	}
}
