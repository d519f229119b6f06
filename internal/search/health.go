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
