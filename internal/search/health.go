package search

import (
	"context"
	"log/slog"
	"time"

	"familiar/internal/context/turn"
)

// record is what has been seen of a backend since the start. It is guarded by Engine.mu.
type record struct {
	pace     pace
	asked    int
	failed   int
	failure  *Error // the last one; nil: none
	failedAt time.Time
	failing  bool      // since the last answer
	left     Allowance // as the service said last
}

// note learns from what came of a call. e.mu is held.
func (s *station) note(a answer, abandonedByAll bool) {
	if a.unasked {
		s.breaker.end()
		return
	}
	r := &s.record
	r.asked++
	if a.left.Of > 0 {
		r.left = a.left
	}
	switch {
	case a.looked():
		r.pace.add(a.took)
		r.failing = false
		s.breaker.good()
	case abandonedByAll:
		s.breaker.bad(a.at, &Error{Backend: s.Name(), Code: turn.CodeTimeout, Detail: "others were quicker, again and again"}, abandoned)
	default:
		r.failure, r.failedAt = typed(s.Name(), a.err), a.at
		r.failed, r.failing = r.failed+1, true
		s.breaker.bad(a.at, r.failure, failed)
	}
	if a.left.Of > 0 && a.left.Left <= 0 && a.left.Resets.After(a.at) {
		s.breaker.away(a.at, &Error{Backend: s.Name(), Code: turn.CodeQuota, Detail: "it says that its limit is used up", RetryAfter: a.left.Resets.Sub(a.at)})
	}
}

// The states of a backend.
const (
	Untried = "untried" // not asked since the start
	Well    = "ok"      // its last answer was one
	Failing = "failing" // its last answer was none
	Resting = "resting" // not asked before Until, as it failed too often or asked us to stay away
	UsedUp  = "used_up" // not asked: there is nothing left of a day's or a month's limit
)

// Health is how a backend does. Numbers are of the time since the start.
type Health struct {
	Backend string
	State   string    // one of the constants above
	Until   time.Time // of Resting; zero else

	Failure  turn.Code // code of the last failure, of those of an [Error]; empty: there was none
	Detail   string    // its cause and cure, for the operator
	FailedAt time.Time // when that was

	Asked, Failed int           // questions put to it, and those that it could not answer; given up ones are not failed
	P50, P95      time.Duration // of its last 64 answers; 0: none yet

	Left, Of int       // requests left of the limit that is nearest, as the service says or as we count; Of 0: no limit known
	Resets   time.Time // when they become Of again; zero: not known
}

// Health returns how the backends do, in the order of Engine.Backends. It asks the ledger, and nobody on the network.
// What the ledger cannot tell is left out.
func (e *Engine) Health(ctx context.Context) []Health {
	e.once.Do(e.open)
	now := e.now()
	all := make([]Health, len(e.stations))
	e.mu.Lock()
	for i, s := range e.stations {
		all[i] = s.health(now)
	}
	e.mu.Unlock()
	for i, s := range e.stations { // without the lock: a ledger may be slow
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
func (s *station) health(now time.Time) Health {
	r := &s.record
	h := Health{Backend: s.Name(), State: Well, Asked: r.asked, Failed: r.failed, P50: r.pace.percentile(0.5), P95: r.pace.percentile(0.95)}
	if r.failure != nil {
		h.Failure, h.Detail, h.FailedAt = r.failure.Code, r.failure.Detail, r.failedAt
	}
	if r.left.Of > 0 && (r.left.Resets.IsZero() || r.left.Resets.After(now)) {
		h.Left, h.Of, h.Resets = r.left.Left, r.left.Of, r.left.Resets
	}
	switch {
	case now.Before(s.breaker.until):
		h.State, h.Until = Resting, s.breaker.until
	case r.asked == 0:
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
	Whole    int // of these, those whose merged result was kept
	Stale    int // searches that failed and were answered with what was known from before

	Asked    int // questions put to backends
	Shared   int // questions that somebody else had just asked
	Cached   int // questions to which the answer was kept
	DiskHits int // of these, those to which it was on disk alone
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
		slog.Int("asked", s.Asked), slog.Int("shared", s.Shared), slog.Int("cached", s.Cached), slog.Int("disk_hits", s.DiskHits),
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
