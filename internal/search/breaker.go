package search

import (
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// breaker is a circuit breaker: it keeps the engine from asking a backend that has just failed, again and again. The
// libraries for this know neither a service that says when it will be back nor a request that was abandoned, which is
// no proof of anything. Its fields are guarded by Engine.mu.
type breaker struct {
	failures int           // since the last answer, weighed
	pause    time.Duration // the last one
	until    time.Time     // not asked before
	probing  bool          // after a pause one question is on its way, to find out whether the backend is back
	cause    *Error        // of the pause
}

const (
	breakAt         = 9 // weighed failures at which the backend is left alone
	weightFailed    = 3
	weightAbandoned = 1 // others were quicker, or the caller went away

	minPause         = 15 * time.Second
	maxPause         = 5 * time.Minute
	pauseRateLimited = 5 * time.Second // where it says "too many requests" without a time
	pauseQuota       = time.Hour       // where it says that a limit is used up without a time
	maxRetryAfter    = 24 * time.Hour  // that a service may ask for
)

// refusal says why the backend may not be asked now, or is nil.
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

// begin is called when the backend is asked.
func (b *breaker) begin() { b.probing = b.failures >= breakAt }

// release is called when it was asked and what came of it says nothing about it.
func (b *breaker) release() { b.probing = false }

// succeed is called when it did its work.
func (b *breaker) succeed() { b.failures, b.pause, b.probing = 0, 0, false }

// fail is called when it did not, with how much the failure weighs.
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

// pauseAsToldBy leaves the backend alone for as long as it asks for.
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
