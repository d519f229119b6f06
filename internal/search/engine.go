package search

import (
	"context"
	"errors"
	"fmt"
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
	Grace     time.Duration    // how long the others are waited for once the leading ones have found something; 0 is 300 ms
	Brief     time.Duration    // how long the last one is waited for where three have found something; 0 is 40 ms
	FanOut    int              // backends asked at once, 1 or more; 0 is 5
	PerDomain int              // hits of one registrable domain before those of others go first; 0 is 2
	Now       func() time.Time // clock of the cache; nil is time.Now

	once     sync.Once
	stations []*station                // made by once: Backends
	kept     *otter.Cache[key, answer] // made by once
	mu       sync.Mutex
	calls    map[key]*call  // guarded by mu: backends being asked right now
	tasks    sync.WaitGroup // one for each call
}

const (
	defaultTimeout = 4 * time.Second
	defaultGrace   = 300 * time.Millisecond
	defaultBrief   = 40 * time.Millisecond
	defaultFanOut  = 5
	defaultLimit   = 10
	maxLimit       = 25
)

// Search asks the backends that serve q.Intent, as many at once as FanOut says, and merges what they answer. The next
// ones are asked where those fail or find nothing. It returns when all have answered, when enough have (see
// hunt.stop), or when ctx or Timeout ends, with what there is by then. It cannot fail: a failure is a state of the
// result.
func (e *Engine) Search(ctx context.Context, q Query) Result {
	e.once.Do(e.open)
	q = q.withDefaults()
	domains, err := newFilter(q.Include, q.Exclude)
	if err != nil {
		return Result{State: turn.LookupFailed, Failure: Rejected, Reason: err.Error()}
	}
	way := route(e.stations, q)
	if way.empty() {
		return Result{State: turn.LookupFailed, Failure: NotConfigured, Reason: e.nobody(q)}
	}
	asked, answers := e.gather(ctx, way, q)
	return conclude(asked, answers, e.rank(q, domains, asked, answers))
}

// nobody says why there is no backend for q.
func (e *Engine) nobody(q Query) string {
	switch {
	case len(e.stations) == 0:
		return "no search backend is switched on"
	case len(q.Backends) > 0:
		return "none of the search backends allowed here is switched on for this kind of question"
	}
	return "no search backend that is switched on serves this kind of question"
}

func (e *Engine) fanOut() int {
	if e.FanOut > 0 {
		return e.FanOut
	}
	return defaultFanOut
}

// Wait returns when no backend is being asked any more. It is for shutdown: a backend that was not waited for may
// outlive its search by as long as it takes to notice that.
func (e *Engine) Wait() { e.tasks.Wait() }

// conclude says what came of it all.
func conclude(asked []*station, answers []answer, hits []turn.Hit) Result {
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
