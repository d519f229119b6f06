package search

import "time"

// record is what has been seen of a backend since the start. It is guarded by Engine.mu.
type record struct {
	pace     pace
	asked    int
	failed   int
	failure  *Error // the last one; nil: none
	failedAt time.Time
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
		s.breaker.good()
	case abandonedByAll:
		s.breaker.bad(a.at, &Error{Backend: s.Name(), Code: Timeout, Detail: "others were quicker, again and again"}, abandoned)
	default:
		r.failure, r.failedAt = typed(s.Name(), a.err), a.at
		r.failed++
		s.breaker.bad(a.at, r.failure, failed)
	}
	if a.left.Of > 0 && a.left.Left <= 0 && a.left.Resets.After(a.at) {
		s.breaker.away(a.at, &Error{Backend: s.Name(), Code: Quota, Detail: "it says that its limit is used up", RetryAfter: a.left.Resets.Sub(a.at)})
	}
}

// Stats counts what an engine has done since the start.
type Stats struct {
	Searches int // with a backend to ask
	Free     int // searches for which nothing left the machine
	Whole    int // of these, those whose merged result was kept
	Stale    int // searches that failed and were answered with what was known from before

	Asked  int // questions put to backends
	Shared int // questions that somebody else had just asked
	Cached int // questions to which the answer was kept
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
	return e.stats
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
