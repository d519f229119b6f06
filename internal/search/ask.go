package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// answer is the answer of one backend. Searches share it, so nobody may change it.
type answer struct {
	hits   []candidate
	err    error
	took   time.Duration
	cached bool
	at     time.Time     // when it arrived
	stale  time.Duration // age of hits used in place of a failure
	left   Allowance
	wait   time.Duration // as in Reply
	unsent bool          // one of our own limits prevented the request
}

// ok reports whether the backend looked, with or without hits.
func (a answer) ok() bool { return a.err == nil || len(a.hits) > 0 }

// ask delivers the answer of s to q exactly once. It comes from the cache or from a request that is already running. If mayAsk allows it,
// it comes from a new one. leave ends the caller's interest; a request without any interested caller is cancelled.
func (e *Engine) ask(ctx context.Context, s *source, q Query, mayAsk func(now time.Time) error, deliver func(answer)) (leave func(), err error) {
	k := keyOf(s.Name(), q)
	recalled := !q.NoCache && e.recall(k)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.answers.Get(k); ok && !q.NoCache && e.fresh(k, a) {
		e.stats.Cached++
		if recalled {
			e.stats.DiskHits++
		}
		a.took, a.cached = 0, true
		deliver(a)
		return func() {}, nil
	}
	shared := true
	leave, err = e.flights.Join(ctx, k, deliver, func() (func(context.Context) answer, error) {
		if err := mayAsk(e.now()); err != nil {
			return nil, err
		}
		shared = false
		e.stats.Requests++
		return func(ctx context.Context) answer { return e.request(ctx, s, k, q.forBackend()) }, nil
	})
	if shared && err == nil {
		e.stats.Shared++
	}
	return leave, err
}

// request asks one backend and caches its hits. ctx ends at the backend's timeout, or is cancelled when the last caller
// leaves.
func (e *Engine) request(ctx context.Context, s *source, k key, q Query) answer {
	a := e.try(ctx, s, q)
	e.mu.Lock()
	defer e.mu.Unlock()
	a.at = e.now()
	s.note(a, errors.Is(ctx.Err(), context.Canceled))
	if len(a.hits) > 0 {
		e.answers.Set(k, a)
	}
	if len(a.hits) > 0 && e.Disk != nil {
		e.tasks.Go(func() { e.Disk.put(k, a) }) // no search waits for it
	}
	return a
}

// try asks one backend. It asks a second time if the backend said how long to wait and there is time left.
func (e *Engine) try(ctx context.Context, s *source, q Query) answer {
	for first := true; ; first = false {
		if err := s.spend(ctx, e.now()); err != nil {
			return answer{err: err, unsent: true}
		}
		a := call(ctx, s.Backend, q)
		wait, ok := e.retryAfter(ctx, s, a)
		if !first || !ok {
			return a
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return a
		}
		if !e.chargeRetry(s) {
			return a
		}
	}
}

// call asks one backend and turns a panic into an error.
func call(ctx context.Context, b Backend, q Query) (a answer) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: &Error{Backend: b.Name(), Code: turn.CodeMalformed, Detail: nameOfPanic(p)}}
		}
		a.took = time.Since(began)
	}()
	reply, err := b.Search(ctx, q)
	return answer{hits: candidates(b.Name(), reply.Hits), left: reply.Allowance, wait: reply.Wait, err: err}
}

// nameOfPanic describes a panic without the data it may hold.
func nameOfPanic(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return "panic: " + clean.Line(err.Error(), 120)
	}
	return fmt.Sprintf("panic: %T", p)
}

// retryAfter returns how long s asks to wait, and whether a second request can still be in time. It pauses s for other
// searches until then.
func (e *Engine) retryAfter(ctx context.Context, s *source, a answer) (time.Duration, bool) {
	err := asError(s.Name(), a.err)
	if a.ok() || err.RetryAfter <= 0 || err.Code != turn.CodeRateLimited && err.Code != turn.CodeUpstream {
		return 0, false
	}
	e.mu.Lock()
	s.breaker.pauseAsToldBy(e.now(), err)
	e.mu.Unlock()
	end, ok := ctx.Deadline()
	return err.RetryAfter, ok && time.Until(end) > err.RetryAfter+cmp.Or(e.Brief, defaultBrief)
}

// chargeRetry takes the cost of a second request from the limits and reports whether there was enough.
func (e *Engine) chargeRetry(s *source) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if e.tooOften(s, now) != nil {
		return false
	}
	e.charge(s, now)
	return true
}
