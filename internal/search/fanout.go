package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// arrival is the answer of the i-th source that was asked.
type arrival struct {
	i int
	answer
}

// errPending marks an answer that has not arrived yet.
var errPending = errors.New("pending")

// fanOut is one search that asks several sources at the same time. One goroutine owns it.
type fanOut struct {
	e    *Engine
	ctx  context.Context
	q    Query
	left route // not asked yet

	sources  []*source
	answers  []answer // of sources, in the same order
	since    []time.Time
	pending  int
	arrivals chan arrival // room for all, so that sending never blocks
	leave    []func()

	last   time.Time // when the last answer arrived
	quorum time.Time // when there were enough answers; zero until then
	hedge  time.Time // when to ask the next sources although these have not answered; zero: never
	paid   bool      // this search has been counted against its caller's limit
}

// gather asks as many sources at once as FanOut allows. It asks the next ones only if these fail or find nothing. It returns the sources it
// asked and one answer for each. An answer that did not come in time is a timeout.
func (e *Engine) gather(ctx context.Context, way route, q Query) ([]*source, []answer) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Timeout, defaultTimeout))
	defer cancel()
	f := &fanOut{e: e, ctx: ctx, q: q, left: way, arrivals: make(chan arrival, len(way.main)+len(way.fallback))}
	defer func() {
		for _, leave := range f.leave {
			leave()
		}
	}()
	detail := f.run()
	for i, s := range f.sources {
		if f.isPending(i) {
			f.answers[i] = answer{took: time.Since(f.since[i]), err: &Error{Backend: s.Name(), Code: turn.CodeTimeout, Detail: detail}}
		}
	}
	return f.sources, f.answers
}

// run returns when every source worth asking has answered, or when waiting no longer pays. It returns the reason.
func (f *fanOut) run() string {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		f.collect()
		if f.pending == 0 && (f.found() > 0 || !f.next()) {
			return ""
		}
		if f.pending == 0 {
			continue // the sources just asked have all answered or were refused
		}
		now := time.Now()
		wake := f.stop(now)
		if !wake.IsZero() && !wake.After(now) {
			return "not waited for: the others had found something"
		}
		if wake.IsZero() && f.found() == 0 && !f.hedge.IsZero() {
			if wake = f.hedge; !wake.After(now) {
				f.next()
				continue
			}
		}
		if wake.IsZero() {
			wake = now.Add(time.Hour) // ctx ends long before
		}
		timer.Reset(wake.Sub(now))
		select {
		case a := <-f.arrivals:
			f.take(a)
		case <-timer.C:
		case <-f.ctx.Done():
			f.collect()
			return "no answer in time"
		}
	}
}

// collect takes all answers that have arrived.
func (f *fanOut) collect() {
	for {
		select {
		case a := <-f.arrivals:
			f.take(a)
		default:
			return
		}
	}
}

func (f *fanOut) take(a arrival) {
	f.answers[a.i] = a.answer
	f.pending--
	f.last = time.Now()
}

// next asks the next group of sources and reports whether there was any to ask.
func (f *fanOut) next() bool {
	n, limit := 0, cmp.Or(f.e.FanOut, defaultFanOut)
	for _, group := range []*[]*source{&f.left.main, &f.left.fallback} {
		for n < limit && len(*group) > 0 {
			s := (*group)[0]
			*group = (*group)[1:]
			if f.ask(s) {
				n++
			}
		}
		if n > 0 {
			break // the fallback is asked only if there is no other source
		}
	}
	f.hedge = time.Time{}
	if end, ok := f.ctx.Deadline(); ok && !f.left.empty() {
		f.hedge = time.Now().Add(time.Until(end) / 2)
	}
	return n > 0
}

// ask asks one source and reports whether that was allowed.
func (f *fanOut) ask(s *source) bool {
	i := len(f.sources)
	f.sources, f.since = append(f.sources, s), append(f.since, time.Now())
	mayAsk := func(now time.Time) error { return f.mayAsk(s, now) }
	leave, err := f.e.ask(f.ctx, s, f.q, mayAsk, func(a answer) { f.arrivals <- arrival{i, a} })
	if err != nil {
		f.answers = append(f.answers, answer{err: err})
		return false
	}
	f.answers, f.leave, f.pending = append(f.answers, answer{err: errPending}), append(f.leave, leave), f.pending+1
	return true
}

// mayAsk returns why a source may not be sent a request, or charges the request and returns nil. e.mu is held.
func (f *fanOut) mayAsk(s *source, now time.Time) error {
	if err := f.e.refusal(s, now); err != nil {
		return err
	}
	if !f.paid {
		if f.paid = f.e.chargeCaller(f.q, now); !f.paid {
			f.left = route{} // the others would be refused too
			return &Error{Backend: s.Name(), Code: turn.CodeCap, Detail: fmt.Sprintf("not asked: the %d searches a minute of this character are used up", f.q.PerMinute)}
		}
	}
	f.e.charge(s, now)
	s.breaker.begin()
	return nil
}

// found counts the sources that have found something.
func (f *fanOut) found() int {
	n := 0
	for _, a := range f.answers {
		if len(a.hits) > 0 {
			n++
		}
	}
	return n
}

func (f *fanOut) isPending(i int) bool { return f.answers[i].err == errPending }

// stop returns when to stop waiting, or zero if there is not enough yet. There is enough when a source has found something and most of the
// leading sources have answered or are late. The leading sources are the ones with the greatest weight that have not failed or come back
// empty. A source is late when it takes longer than usual (see fanOut.due). From then on stop waits for each of the others until it is
// late, at least Brief. It waits for all of them at most Grace.
//
// If three sources have found something and only one is missing, that one gets Brief. An exception is a source that no
// other can replace, such as the only forecast among pages. It weighs at least half again as much as any that found
// something, and stop waits until it is late.
func (f *fanOut) stop(now time.Time) time.Time {
	found, best := 0, 0.0
	var missing *source
	for i, a := range f.answers {
		switch {
		case f.isPending(i):
			missing = f.sources[i]
		case len(a.hits) > 0:
			found, best = found+1, max(best, f.sources[i].Weight)
		}
	}
	brief := cmp.Or(f.e.Brief, defaultBrief)
	switch {
	case found == 0:
		return time.Time{}
	case f.pending == 1 && found >= 3 && missing.Weight < 1.5*best:
		return f.last.Add(brief)
	case f.quorum.IsZero():
		due, ok := f.leaders(now)
		if !ok {
			return due
		}
		f.quorum = now
	}
	until := f.quorum
	for i := range f.sources {
		if f.isPending(i) {
			until = slices.MaxFunc([]time.Time{until, f.due(i), f.last.Add(brief)}, time.Time.Compare)
		}
	}
	return slices.MinFunc([]time.Time{until, f.quorum.Add(cmp.Or(f.e.Grace, defaultGrace))}, time.Time.Compare)
}

// leaders reports whether most of the leading sources have answered or are late. If not, it returns when the next one
// will be late.
func (f *fanOut) leaders(now time.Time) (due time.Time, ok bool) {
	heaviest := 0.0
	for i, s := range f.sources {
		if f.hasHope(i) {
			heaviest = max(heaviest, s.Weight)
		}
	}
	all, done := 0, 0
	for i, s := range f.sources {
		if s.Weight < heaviest || !f.hasHope(i) {
			continue
		}
		all++
		until := f.due(i)
		switch {
		case !f.isPending(i) || !until.After(now):
			done++
		case due.IsZero() || until.Before(due):
			due = until
		}
	}
	return due, 2*done > all
}

// hasHope reports whether the i-th source has found something or may yet.
func (f *fanOut) hasHope(i int) bool { return f.isPending(i) || len(f.answers[i].hits) > 0 }

// due returns when the i-th source is late: slightly after the 95th percentile of its latencies. With too few
// measurements it uses the latency of the profile, limited to half of the search's time.
func (f *fanOut) due(i int) time.Time {
	s, since := f.sources[i], f.since[i]
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	if s.record.latency.n >= enoughLatencies {
		return since.Add(s.record.latency.percentile(0.95) + cmp.Or(f.e.Brief, defaultBrief))
	}
	latency := cmp.Or(s.Latency, defaultLatency)
	if end, ok := f.ctx.Deadline(); ok {
		latency = min(latency, end.Sub(since)/2)
	}
	return since.Add(latency)
}
