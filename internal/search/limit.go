package search

import (
	"cmp"
	"fmt"
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

// All searches together, and those of one asker.
const (
	globalPerSecond = 10
	globalBurst     = 100
	askerPerMinute  = 30
	maxAskers       = 1000
)

// bucket is the token bucket of l, nil where l has no rate.
func (l Limit) bucket() *rate.Limiter {
	if l.PerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.PerSecond), cmp.Or(l.Burst, int(math.Ceil(l.PerSecond))))
}

// refuse says why s may not be asked now, or nil. It takes nothing. e.mu is held.
func (e *Engine) refuse(s *station, now time.Time) *Error {
	if err := s.breaker.refuse(now); err != nil {
		return err
	}
	for _, q := range s.quotas {
		if q.spentIn(now) {
			return q.usedUp()
		}
	}
	return e.tooOften(s, now)
}

// tooOften says which bucket is empty, or nil. e.mu is held.
func (e *Engine) tooOften(s *station, now time.Time) *Error {
	switch {
	case s.bucket != nil && s.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: its limit of requests a second"}
	case e.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: the limit of requests a second to all backends"}
	}
	return nil
}

// charge takes what asking s costs, right after nothing spoke against it. e.mu is held.
func (e *Engine) charge(s *station, now time.Time) {
	e.bucket.AllowN(now, 1)
	if s.bucket != nil {
		s.bucket.AllowN(now, 1)
	}
}

// pay takes one search from an asker's minute and reports whether there was one. e.mu is held.
func (e *Engine) pay(asker string, now time.Time) bool {
	if asker == "" {
		return true
	}
	b := e.askers[asker]
	if b == nil {
		if len(e.askers) >= maxAskers {
			clear(e.askers)
		}
		b = rate.NewLimiter(rate.Limit(askerPerMinute)/60, askerPerMinute)
		e.askers[asker] = b
	}
	return b.AllowN(now, 1)
}

func overspent(s *station) *Error {
	return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: fmt.Sprintf("not asked: the %d searches a minute of this character are used up", askerPerMinute)}
}
