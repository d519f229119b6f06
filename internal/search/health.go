package search

import (
	"context"
	"log/slog"
	"time"

	"familiar/internal/context/turn"
)

// record is what has been seen of a backend since the start. Engine.mu guards it.
type record struct {
	latency  latencies
	requests int
	failures int
	failure  *Error // the last one; nil: none
	failedAt time.Time
	failing  bool      // since the last answer
	left     Allowance // as the service said last
}

// note learns from what came of a request. e.mu is held.
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
		s.breaker.pauseAsToldBy(a.at, &Error{Backend: s.Name(), Code: turn.CodeQuota, Detail: "it says that its limit is used up", RetryAfter: a.left.Resets.Sub(a.at)})
	}
}

// HealthState is whether a backend works.
type HealthState string

const (
	Untried HealthState = "untried" // not asked since the start
	Healthy HealthState = "ok"      // its last request was answered
	Failing HealthState = "failing" // its last request was not
	Resting HealthState = "resting" // not asked before Until, as it failed too often or asked us to stay away
	UsedUp  HealthState = "used_up" // not asked: there is nothing left of a day's or a month's limit
)

// Health is how a backend does. Numbers are of the time since the start.
type Health struct {
	Backend string
	State   HealthState
	Until   time.Time // of Resting; zero else

	Failure  turn.Code // of the last failure; empty: there was none
	Detail   string    // its cause and cure, for the operator
	FailedAt time.Time // when that was

	Requests, Failures int           // abandoned requests are no failures
	P50, P95           time.Duration // of its last 64 answers; 0: none yet

	Left, Of int       // requests left of the limit that is nearest, as the service says or as we count; Of 0: no limit known
	Resets   time.Time // when they become Of again; zero: not known
}

// Health returns how the backends do, in the order of Engine.Backends. It asks the ledger, and nobody on the network.
// What the ledger cannot tell is left out.
func (e *Engine) Health(ctx context.Context) []Health {
	e.once.Do(e.open)
	now := e.now()
	all := make([]Health, len(e.sources))
	e.mu.Lock()
	for i, s := range e.sources {
		all[i] = s.health(now)
	}
	e.mu.Unlock()
	for i, s := range e.sources { // without the lock: a ledger may be slow
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

// health is how s does, without its quotas. e.mu is held.
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

// Stats counts what an engine has done since the start.
type Stats struct {
	Searches int // with a backend to ask
	Free     int // searches for which nothing left the machine
	Whole    int // of these, those whose merged result was cached
	Stale    int // searches that failed and were answered with earlier answers

	Requests int // to backends
	Shared   int // questions for a backend that joined a request under way
	Cached   int // questions for a backend whose answer was cached
	DiskHits int // of these, those whose answer was on disk alone
	Dropped  int // files of answers that could not be used: damaged, foreign, of another version
	Faults   int // files of answers that could not be written
}

// HitRate is the share of searches for which nothing left the machine, 0 to 1.
func (s Stats) HitRate() float64 {
	if s.Searches == 0 {
		return 0
	}
	return float64(s.Free) / float64(s.Searches)
}

// Stats returns what the engine has done so far.
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

// LogValue is for log/slog.
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
