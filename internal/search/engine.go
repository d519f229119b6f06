package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"familiar/internal/context/turn"
)

// Engine asks its backends. The exported fields are set before the first search and not changed after; the zero
// values are useful. It is safe for concurrent use.
type Engine struct {
	Backends  []Backend        // in the order in which they are reported; on a draw in the ranking the first wins
	Timeout   time.Duration    // one backend's time to answer; 0 is 4 s
	Grace     time.Duration    // how long the others are waited for once the leading backends have found something; 0 is 300 ms
	PerDomain int              // hits of one registrable domain before those of others go first; 0 is 2
	Now       func() time.Time // clock of the cache; nil is time.Now

	once  sync.Once
	kept  *otter.Cache[key, answer] // made by once
	mu    sync.Mutex
	calls map[key]*call  // guarded by mu: backends being asked right now
	tasks sync.WaitGroup // one for each call
}

const (
	defaultTimeout = 4 * time.Second
	defaultGrace   = 300 * time.Millisecond
	defaultLimit   = 10
	maxLimit       = 25
)

// Search asks every backend that serves q.Intent, at once, and merges what they answer. It returns when all have
// answered, when the leading ones have found something and Grace has passed, or when ctx or Timeout ends, with
// what there is by then. It cannot fail: a failure is a state of the result.
func (e *Engine) Search(ctx context.Context, q Query) Result {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	domains, err := newFilter(q.Include, q.Exclude)
	if err != nil {
		return Result{State: turn.LookupFailed, Failure: Rejected, Reason: err.Error()}
	}
	asked := route(e.Backends, q.Intent)
	if len(asked) == 0 {
		return Result{State: turn.LookupFailed, Failure: NotConfigured, Reason: "no search backend is switched on"}
	}
	answers := e.gather(ctx, asked, q)
	return conclude(q, asked, answers, e.rank(q, domains, asked, answers))
}

// Wait returns when no backend is being asked any more. It is for shutdown: a backend that was not waited for may
// outlive its search by as long as it takes to notice that.
func (e *Engine) Wait() { e.tasks.Wait() }

// source is a backend with its line in the table.
type source struct {
	Backend
	entry
}

func (s source) Name() string { return s.Backend.Name() }

// route picks the backends for an intent. Those that serve it only for want of a better one are asked if
// there is none.
func route(all []Backend, intent string) []source {
	var first, second []source
	for _, b := range all {
		line, known := lineOf(b.Name())
		if !known {
			line = entry{weight: 1}
		}
		switch {
		case line.only != nil && !slices.Contains(line.only, intent):
		case slices.Contains(line.not, intent):
			second = append(second, source{b, line})
		default:
			first = append(first, source{b, line})
		}
	}
	if first == nil {
		return second
	}
	return first
}

// answer is what one backend said. It is shared: nobody changes it.
type answer struct {
	hits    []candidate
	err     error
	took    time.Duration
	cached  bool
	expires time.Time // of the cached one
}

// looked is whether the backend did its work, with or without hits.
func (a answer) looked() bool { return a.err == nil || len(a.hits) > 0 }

// arrival is an answer on its way to one search.
type arrival struct {
	i int
	answer
}

// gather returns one answer for each source, in their order; one that did not come in time is a timeout.
func (e *Engine) gather(ctx context.Context, asked []source, q Query) []answer {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, or(e.Timeout, defaultTimeout))
	defer cancel()
	arrivals := make(chan arrival, len(asked)) // room for all: no answer ever waits for its reader
	answers := make([]answer, len(asked))
	for i, s := range asked {
		answers[i].err = errPending
		defer e.ask(ctx, s, q, i, arrivals)()
	}
	detail := e.await(ctx, asked, answers, arrivals)
	for i, s := range asked {
		if answers[i].err == errPending {
			answers[i] = answer{took: time.Since(began), err: &Error{Backend: s.Name(), Code: Timeout, Detail: detail}}
		}
	}
	return answers
}

// errPending marks an answer that has not come yet.
var errPending = errors.New("pending")

// await fills answers from arrivals until all are there or waiting on is not worth it, and says why it stopped.
func (e *Engine) await(ctx context.Context, asked []source, answers []answer, arrivals <-chan arrival) string {
	var grace <-chan time.Time
	for range asked {
		select {
		case a := <-arrivals:
			answers[a.i] = a.answer
		default:
			select {
			case a := <-arrivals:
				answers[a.i] = a.answer
			case <-grace:
				return "not waited for: the others had found something"
			case <-ctx.Done():
				return "no answer in time"
			}
		}
		if grace == nil && quorum(asked, answers) {
			timer := time.NewTimer(or(e.Grace, defaultGrace))
			defer timer.Stop()
			grace = timer.C
		}
	}
	return ""
}

// quorum is whether the leading backends, those of the greatest weight among the asked, have all answered and one
// of them has found something: what the others have yet to say is then worth only a short wait.
func quorum(asked []source, answers []answer) bool {
	leading, found := 0.0, false
	for _, s := range asked {
		leading = max(leading, s.weight)
	}
	for i, s := range asked {
		if s.weight < leading {
			continue
		}
		if answers[i].err == errPending {
			return false
		}
		found = found || len(answers[i].hits) > 0
	}
	return found
}

// look asks one backend and survives it.
func look(ctx context.Context, b Backend, q Query) (a answer) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			a = answer{err: &Error{Backend: b.Name(), Code: Malformed, Detail: panicked(p)}}
		}
		a.took = time.Since(began)
	}()
	reply, err := b.Search(ctx, q)
	return answer{hits: candidates(b.Name(), reply.Hits), err: err}
}

// panicked names a panic without the data that it may hold.
func panicked(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return "panic: " + line(err.Error(), 120)
	}
	return fmt.Sprintf("panic: %T", p)
}

// conclude says what came of it all.
func conclude(q Query, asked []source, answers []answer, hits []turn.Hit) Result {
	r := Result{Hits: hits, State: turn.Empty, Cached: true}
	var failed []string
	for i, a := range answers {
		report := reported(asked[i].Name(), a)
		r.Asked = append(r.Asked, report)
		r.Cached = r.Cached && a.cached
		if a.looked() {
			continue
		}
		if r.Failure == "" {
			r.Failure = report.Status
		}
		failed = append(failed, report.Backend+": "+report.Status)
	}
	switch {
	case len(hits) > 0:
		r.State, r.Failure = turn.Found, ""
	case len(failed) > 0:
		r.State, r.Reason = turn.LookupFailed, strings.Join(failed, ", ")
	}
	return r
}

// reported is an answer in the words of the record.
func reported(name string, a answer) turn.Asked {
	report := turn.Asked{Backend: name, Status: "ok", Hits: len(a.hits), Took: a.took}
	var known *Error
	switch {
	case errors.As(a.err, &known):
		report.Status, report.Detail = known.Code, known.Detail
		if known.RetryAfter > 0 {
			report.Detail += fmt.Sprintf("; it asks to wait %s", known.RetryAfter)
		}
	case errors.Is(a.err, context.DeadlineExceeded) || errors.Is(a.err, context.Canceled):
		report.Status = Timeout
	case a.err != nil:
		report.Status, report.Detail = Upstream, fmt.Sprintf("%T", a.err)
	}
	switch {
	case len(a.hits) > 0:
		report.Status = "ok"
	case a.err == nil:
		report.Status = "empty"
	}
	if a.cached {
		report.Detail = strings.TrimSuffix("cached; "+report.Detail, "; ")
	}
	return report
}

// or is d, or otherwise if d is not set.
func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
