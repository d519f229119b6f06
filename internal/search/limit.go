package search

import (
	"cmp"
	"math"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
)

// Limit is how often a backend may be asked. A zero field is no limit of that kind.
type Limit struct {
	PerSecond float64 // on average
	Burst     int     // at once; 0 is as many as in a second, at least 1
	PerDay    int     // of UTC
	PerMonth  int     // of the calendar in UTC
}

// All searches together.
const (
	globalPerSecond = 10
	globalBurst     = 100
)

// maxCallers is how many callers' minutes are kept.
const maxCallers = 1000

// bucket is the token bucket of l, nil where l has no rate.
func (l Limit) bucket() *rate.Limiter {
	if l.PerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.PerSecond), cmp.Or(l.Burst, int(math.Ceil(l.PerSecond))))
}

// refusal says why s may not be asked now, or is nil. It takes nothing. e.mu is held.
func (e *Engine) refusal(s *source, now time.Time) error {
	if err := s.breaker.refusal(now); err != nil {
		return err
	}
	for _, q := range s.quotas {
		if q.isExhausted(now) {
			return q.exhaustedError()
		}
	}
	return e.tooOften(s, now)
}

// tooOften says which bucket is empty, or is nil. e.mu is held.
func (e *Engine) tooOften(s *source, now time.Time) error {
	switch {
	case s.bucket != nil && s.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: its limit of requests a second"}
	case e.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: the limit of requests a second to all backends"}
	}
	return nil
}

// charge takes what asking s costs, where nothing spoke against it. e.mu is held.
func (e *Engine) charge(s *source, now time.Time) {
	e.bucket.AllowN(now, 1)
	if s.bucket != nil {
		s.bucket.AllowN(now, 1)
	}
}

// chargeCaller takes one search from the minute of the query's caller and reports whether there was one. e.mu is held.
func (e *Engine) chargeCaller(q Query, now time.Time) bool {
	caller, limit := q.Caller, q.PerMinute
	if caller == "" || limit <= 0 {
		return true
	}
	b := e.callers[caller]
	if b == nil || b.Burst() != limit {
		if len(e.callers) >= maxCallers {
			clear(e.callers)
		}
		b = rate.NewLimiter(rate.Limit(limit)/60, limit)
		e.callers[caller] = b
	}
	return b.AllowN(now, 1)
}
