package search

import (
	"context"
	"errors"
	"time"

	"familiar/internal/context/turn"
)

// call is one backend being asked, for everybody who wants the same at the same time.
type call struct {
	cancel  context.CancelFunc
	waiting map[*arrival]chan<- arrival // guarded by Engine.mu; by a token for each who waits, which holds its index
}

// ask sees to it that the answer of s to q, and nothing else, arrives with index i: from memory or the directory, from a call
// that is on its way already, or from a new one, if nothing is to be said against that. The function returned ends
// the interest in it; a call that nobody waits for any more is cancelled.
func (h *hunt) askFor(s *station, i int) (leave func(), refused *Error) {
	e, k := h.e, keyOf(s.Name(), h.q)
	recalled := !h.q.Anew && e.recall(k)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.answers.GetIfPresent(k); ok && !h.q.Anew && e.fresh(k, a) {
		e.stats.Cached++
		if recalled {
			e.stats.DiskHits++
		}
		a.took, a.cached = 0, true
		h.arrivals <- arrival{i, a}
		return func() {}, nil
	}
	c := e.calls[k]
	if c != nil {
		e.stats.Shared++
	} else {
		if err := h.mayCall(s, e.now()); err != nil {
			return nil, err
		}
		// The call must not end with whoever happened to be first; its deadline is its own.
		own, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), or(e.Timeout, defaultTimeout))
		c = &call{cancel: cancel, waiting: map[*arrival]chan<- arrival{}}
		e.calls[k] = c
		e.stats.Asked++
		e.tasks.Go(func() {
			a := e.consult(own, s, h.q.told())
			e.Disk.put(k, e.finish(k, s, c, a, own.Err()))
		})
	}
	token := &arrival{i: i}
	c.waiting[token] = h.arrivals
	return func() { e.leave(k, c, token) }, nil
}

// mayCall says why a backend may not be asked anew, or takes what that costs. e.mu is held.
func (h *hunt) mayCall(s *station, now time.Time) *Error {
	if err := h.e.refuse(s, now); err != nil {
		return err
	}
	if !h.paid {
		if h.paid = h.e.pay(h.q.For, now); !h.paid {
			h.way = itinerary{} // the others would be refused too
			return overspent(s)
		}
	}
	h.e.charge(s, now)
	s.breaker.begin()
	return nil
}

// consult asks one backend, a second time where it names a time for that and it comes in time.
func (e *Engine) consult(ctx context.Context, s *station, q Query) answer {
	for first := true; ; first = false {
		if err := s.spend(ctx, e.now()); err != nil {
			return answer{err: err, unasked: true}
		}
		a := look(ctx, s.Backend, q)
		wait, ok := e.again(ctx, s, a)
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
		if !e.chargeAgain(s) {
			return a
		}
	}
}

// again says how long s asks to wait, where it does and there is time for that; the others leave it alone until then.
func (e *Engine) again(ctx context.Context, s *station, a answer) (time.Duration, bool) {
	err := typed(s.Name(), a.err)
	if a.looked() || err.RetryAfter <= 0 || err.Code != turn.CodeRateLimited && err.Code != turn.CodeUpstream {
		return 0, false
	}
	e.mu.Lock()
	s.breaker.away(e.now(), err)
	e.mu.Unlock()
	end, ok := ctx.Deadline()
	return err.RetryAfter, ok && time.Until(end) > err.RetryAfter+or(e.Brief, defaultBrief)
}

// chargeAgain takes what a second request costs, if there is enough.
func (e *Engine) chargeAgain(s *station) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if e.tooOften(s, now) != nil {
		return false
	}
	e.charge(s, now)
	return true
}

// finish keeps an answer worth keeping, hands it to all who wait and returns it with its time. over is how the call's
// context ended, if it did.
func (e *Engine) finish(k key, s *station, c *call, a answer, over error) answer {
	c.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	a.at = e.now()
	s.note(a, errors.Is(over, context.Canceled))
	if len(a.hits) > 0 {
		e.answers.Set(k, a)
	}
	if e.calls[k] == c {
		delete(e.calls, k)
	}
	for token, arrivals := range c.waiting {
		arrivals <- arrival{token.i, a}
	}
	c.waiting = nil
	return a
}

func (e *Engine) leave(k key, c *call, token *arrival) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(c.waiting, token)
	if len(c.waiting) == 0 {
		c.cancel()
		if e.calls[k] == c { // whoever comes next must not be given a cancelled call
			delete(e.calls, k)
		}
	}
}
