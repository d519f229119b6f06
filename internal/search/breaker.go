package search

import (
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// breaker keeps us from asking a backend that has just failed, again and again. The libraries for this know neither a
// service that names the time of its return nor a call that was given up, which is no proof of anything. Its fields
// are guarded by Engine.mu.
type breaker struct {
	strain  int           // failures since the last answer, weighed
	rest    time.Duration // of the last pause
	until   time.Time     // not asked before
	probing bool          // after a pause one question is on its way, to find out
	why     *Error        // what began the pause
}

const (
	tripAt    = 9 // strain at which it is left alone
	failed    = 3
	abandoned = 1 // others were quicker, or whoever asked went away

	firstRest   = 15 * time.Second
	longestRest = 5 * time.Minute
	shunned     = 5 * time.Second // where it says "too many requests" without a time
	noQuota     = time.Hour       // where it says that a limit is used up without a time
	longestWait = 24 * time.Hour  // what a service may ask for
)

// refuse says why it may not be asked now, or nil.
func (b *breaker) refuse(now time.Time) *Error {
	switch {
	case now.Before(b.until):
		return b.resting(fmt.Sprintf("not asked again for %s", b.until.Sub(now).Round(time.Second)))
	case b.strain >= tripAt && b.probing:
		return b.resting("not asked while one question finds out whether it is back")
	}
	return nil
}

func (b *breaker) resting(detail string) *Error {
	return &Error{Backend: b.why.Backend, Code: b.why.Code, Detail: detail}
}

// begin is called when it is asked.
func (b *breaker) begin() { b.probing = b.strain >= tripAt }

// end is called when it was asked and nothing can be learnt from what came of it.
func (b *breaker) end() { b.probing = false }

// good is called when it did its work.
func (b *breaker) good() { b.strain, b.rest, b.probing = 0, 0, false }

// bad is called when it did not.
func (b *breaker) bad(now time.Time, why *Error, strain int) {
	b.probing = false
	switch why.Code {
	case turn.CodeRejected, turn.CodeNotConfigured: // the question was to blame
		return
	case turn.CodeRateLimited, turn.CodeQuota:
		b.away(now, why)
		return
	}
	if b.strain = min(b.strain+strain, tripAt); b.strain >= tripAt {
		b.rest = min(max(2*b.rest, firstRest), longestRest)
		b.pause(now.Add(b.rest), why)
	}
	if why.RetryAfter > 0 {
		b.away(now, why)
	}
}

// away leaves it alone for as long as it asks for.
func (b *breaker) away(now time.Time, why *Error) {
	wait := why.RetryAfter
	switch {
	case wait > 0:
	case why.Code == turn.CodeQuota:
		wait = noQuota
	default:
		wait = shunned
	}
	b.pause(now.Add(min(wait, longestWait)), why)
}

func (b *breaker) pause(until time.Time, why *Error) {
	if until.After(b.until) {
		b.until, b.why = until, why
	}
}
