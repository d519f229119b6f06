package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// answer is what one backend said. It is shared: nobody changes it.
type answer struct {
	hits   []candidate
	err    error
	took   time.Duration
	cached bool
	at     time.Time     // when it came
	stale  time.Duration // of hits that stand in for the failure: their age
	left   Allowance
	// unasked is whether one of our own limits kept it from being asked.
	unasked bool
}

// looked is whether the backend did its work, with or without hits.
func (a answer) looked() bool { return a.err == nil || len(a.hits) > 0 }

// arrival is an answer on its way to one search.
type arrival struct {
	i int
	answer
}

// errPending marks an answer that has not come yet.
var errPending = errors.New("pending")

// hunt is one search on its way to the backends. It belongs to one goroutine.
type hunt struct {
	e     *Engine
	ctx   context.Context
	q     Query
	way   itinerary // who is left to ask
	began time.Time

	asked    []*station
	answers  []answer // of asked, in its order
	since    []time.Time
	pending  int
	arrivals chan arrival // room for all: no answer ever waits for its reader
	leave    []func()

	last   time.Time // when the last answer came
	quorum time.Time // when there were enough; zero until then
	hedge  time.Time // when the next ones are asked though these have not answered; zero: never
	paid   bool      // whoever asks has paid for this search
}

// gather asks as many backends at once as may be, the next ones only if these fail or find nothing, and returns who
// was asked and one answer for each. One that did not come in time is a timeout.
func (e *Engine) gather(ctx context.Context, way itinerary, q Query) ([]*station, []answer) {
	ctx, cancel := context.WithTimeout(ctx, or(e.Timeout, defaultTimeout))
	defer cancel()
	h := &hunt{e: e, ctx: ctx, q: q, way: way, began: time.Now(), arrivals: make(chan arrival, len(way.served)+len(way.spared))}
	defer func() {
		for _, leave := range h.leave {
			leave()
		}
	}()
	detail := h.run()
	for i, s := range h.asked {
		if h.answers[i].err == errPending {
			h.answers[i] = answer{took: time.Since(h.since[i]), err: &Error{Backend: s.Name(), Code: turn.CodeTimeout, Detail: detail}}
		}
	}
	return h.asked, h.answers
}

// run returns when all have answered and there is nobody left worth asking, or when waiting on is not worth it, and
// says why it stopped.
func (h *hunt) run() string {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		h.collect()
		if h.pending == 0 && (h.found() > 0 || !h.next()) {
			return ""
		}
		if h.pending == 0 {
			continue // those just asked have all answered or been refused
		}
		now := time.Now()
		stop := h.stop(now)
		if !stop.IsZero() && !stop.After(now) {
			return "not waited for: the others had found something"
		}
		wake := stop
		if wake.IsZero() && h.found() == 0 && !h.hedge.IsZero() {
			if wake = h.hedge; !wake.After(now) {
				h.next()
				continue
			}
		}
		if wake.IsZero() {
			wake = now.Add(time.Hour) // ctx ends long before
		}
		timer.Reset(wake.Sub(now))
		select {
		case a := <-h.arrivals:
			h.take(a)
		case <-timer.C:
		case <-h.ctx.Done():
			h.collect()
			return "no answer in time"
		}
	}
}

// collect takes all that has arrived.
func (h *hunt) collect() {
	for {
		select {
		case a := <-h.arrivals:
			h.take(a)
		default:
			return
		}
	}
}

func (h *hunt) take(a arrival) {
	h.answers[a.i] = a.answer
	h.pending--
	h.last = time.Now()
}

// next asks those whose turn it is and reports whether there was anybody to ask.
func (h *hunt) next() bool {
	asked := 0
	for asked < h.e.fanOut() {
		group := &h.way.served
		if len(*group) == 0 {
			if asked > 0 || len(h.way.spared) == 0 {
				break
			}
			group = &h.way.spared
		}
		for asked < h.e.fanOut() && len(*group) > 0 {
			s := (*group)[0]
			*group = (*group)[1:]
			if h.ask(s) {
				asked++
			}
		}
	}
	h.hedge = time.Time{}
	if end, ok := h.ctx.Deadline(); ok && len(h.way.served)+len(h.way.spared) > 0 {
		h.hedge = time.Now().Add(time.Until(end) / 2)
	}
	return asked > 0
}

// ask asks one backend and reports whether it may be asked.
func (h *hunt) ask(s *station) bool {
	i := len(h.asked)
	h.asked, h.since = append(h.asked, s), append(h.since, time.Now())
	leave, refused := h.askFor(s, i)
	if refused != nil {
		h.answers = append(h.answers, answer{err: refused})
		return false
	}
	h.answers, h.leave, h.pending = append(h.answers, answer{err: errPending}), append(h.leave, leave), h.pending+1
	return true
}

// found is how many backends have found something.
func (h *hunt) found() int {
	n := 0
	for _, a := range h.answers {
		if len(a.hits) > 0 {
			n++
		}
	}
	return n
}

// stop is when waiting on is no longer worth it: zero while there is not enough. Enough is that somebody has found
// something, and most of the leading backends are in or late; leading are those of the greatest weight, without those
// that failed or found nothing, and late is who takes longer than usual (hunt.due). From then on each of the others is
// waited for until it is late, at least Brief and all together at most Grace.
//
// The only one missing where three have found something has Brief, from the first search on and whatever it usually takes,
// unless nobody can stand in for it, as for the only forecast among pages: then it weighs half again as much as any that
// found something, and is waited for until it is late.
func (h *hunt) stop(now time.Time) time.Time {
	found, best := 0, 0.0
	var missing *station
	for i, a := range h.answers {
		switch {
		case a.err == errPending:
			missing = h.asked[i]
		case len(a.hits) > 0:
			found, best = found+1, max(best, h.asked[i].Weight)
		}
	}
	brief := or(h.e.Brief, defaultBrief)
	switch {
	case found == 0:
		return time.Time{}
	case h.pending == 1 && found >= 3 && missing.Weight < 1.5*best:
		return h.last.Add(brief)
	case h.quorum.IsZero():
		due, ok := h.leaders(now)
		if !ok {
			return due
		}
		h.quorum = now
	}
	until := h.quorum
	for i := range h.asked {
		if h.answers[i].err == errPending {
			until = later(until, later(h.due(i), h.last.Add(brief)))
		}
	}
	return earlier(until, h.quorum.Add(or(h.e.Grace, defaultGrace)))
}

// leaders reports whether most of the leading backends are in or overdue, and if not, when the next of them will be.
func (h *hunt) leaders(now time.Time) (due time.Time, ok bool) {
	heaviest := 0.0
	for i, s := range h.asked {
		if h.counts(i) {
			heaviest = max(heaviest, s.Weight)
		}
	}
	all, done := 0, 0
	for i, s := range h.asked {
		if s.Weight < heaviest || !h.counts(i) {
			continue
		}
		all++
		until := h.due(i)
		switch {
		case h.answers[i].err != errPending || !until.After(now):
			done++
		case due.IsZero() || until.Before(due):
			due = until
		}
	}
	return due, 2*done > all
}

// counts is whether the i-th has found something or may yet.
func (h *hunt) counts(i int) bool {
	return h.answers[i].err == errPending || len(h.answers[i].hits) > 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// look asks one backend and survives it.
func look(ctx context.Context, b Backend, q Query) (a answer) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: &Error{Backend: b.Name(), Code: turn.CodeMalformed, Detail: panicked(p)}}
		}
		a.took = time.Since(began)
	}()
	reply, err := b.Search(ctx, q)
	return answer{hits: candidates(b.Name(), reply.Hits), left: reply.Allowance, err: err}
}

// panicked names a panic without the data that it may hold.
func panicked(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return "panic: " + clean.Line(err.Error(), 120)
	}
	return fmt.Sprintf("panic: %T", p)
}
