package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
	"familiar/internal/flight"
	"familiar/internal/lru"
	"familiar/internal/web/guard"
)

// Engine asks its backends. The exported fields are set before the first search and not changed after; the zero
// values are useful. It is safe for concurrent use.
type Engine struct {
	Backends []Backend          // in the order in which they are reported; on a draw in the ranking the first wins
	Profiles map[string]Profile // by backend name; a backend without one serves every intent
	Timeout  time.Duration      // one backend's time to answer; 0 is 4 s
	Grace    time.Duration      // how long the others are waited for once the leading ones have found something; 0 is 300 ms
	Brief    time.Duration      // how long the last one is waited for where three have found something; 0 is 40 ms
	FanOut   int                // backends asked at once, 1 or more; 0 is 5
	// Read reads a page for the advanced depth, for a Query.Caller, and returns soon after ctx is done; nil: that depth is the basic
	// one.
	Read   func(ctx context.Context, caller, url string) (Page, error)
	Disk   *Disk            // closed by Close; nil: answers are forgotten with the process
	Ledger Ledger           // of daily and monthly limits; nil: they are forgotten with the process
	Now    func() time.Time // clock of the cache and the limits; nil is time.Now

	once    sync.Once
	sources []*source // made by once, as what follows: Backends
	answers *lru.Cache[key, answer]
	results *lru.Cache[key, cachedResult]
	memory  memoryLedger // the ledger, where there is no other
	flights flight.Group[key, answer]
	tasks   sync.WaitGroup // pages being read, answers being written to Disk

	mu      sync.Mutex
	bucket  *rate.Limiter            // guarded by mu: of all backends together
	callers map[string]*rate.Limiter // guarded by mu: by Query.Caller
	stats   Stats                    // guarded by mu
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
// fanOut.stop), or when ctx or Timeout ends, with what there is by then. It cannot fail: a failure is a state of the
// result.
func (e *Engine) Search(ctx context.Context, q Query) Result {
	e.once.Do(e.open)
	q = q.withDefaults()
	domains, err := guard.NewDomains(q.Include, q.Exclude)
	if err != nil {
		return Result{State: turn.LookupFailed, Failure: turn.CodeRejected, Reason: "a domain to search in, or not to, is not a host name"}
	}
	way := e.route(q)
	if way.empty() {
		return Result{State: turn.LookupFailed, Failure: turn.CodeNotConfigured, Reason: e.noBackend(q)}
	}
	k := resultKey(q)
	r, cached := e.cachedResult(k, q)
	if !cached {
		r = e.search(ctx, way, q, domains)
		e.cacheResult(k, r)
	}
	e.count(r, cached)
	return r
}

func (e *Engine) search(ctx context.Context, way route, q Query, domains guard.Domains) Result {
	if q.Depth == DepthAdvanced && e.Read != nil {
		return e.advanced(ctx, way, q, domains)
	}
	r, pages := e.basic(ctx, way, q, domains)
	r.Hits = top(pages, q.Limit)
	return r
}

// basic asks and merges, with earlier answers where nobody could look. The result has no hits yet: they are to be taken
// from the pages.
func (e *Engine) basic(ctx context.Context, way route, q Query, domains guard.Domains) (Result, []*candidate) {
	sources, answers := e.gather(ctx, way, q)
	pages := e.rank(q, domains, sources, answers)
	r := conclude(sources, answers, len(pages) > 0)
	if r.State != turn.LookupFailed {
		return r, pages
	}
	age := e.useStale(q, sources, answers)
	if age == 0 {
		return r, pages
	}
	pages = e.rank(q, domains, sources, answers)
	old := conclude(sources, answers, len(pages) > 0)
	if old.State != turn.Found {
		return r, nil
	}
	old.Stale, old.Reason = age, r.Reason
	return old, pages
}

// noBackend says why there is no backend for q.
func (e *Engine) noBackend(q Query) string {
	switch {
	case len(e.sources) == 0:
		return "no search backend is switched on"
	case len(q.Backends) > 0:
		return "none of the search backends allowed here is switched on for this kind of question"
	}
	return "no search backend that is switched on serves this kind of question"
}

// Close waits as Wait does, gives back what it holds of daily and monthly limits and closes Disk. No search may follow.
func (e *Engine) Close(ctx context.Context) error {
	e.Wait()
	errs := []error{e.Disk.Close()}
	for _, s := range e.sources {
		for _, q := range s.quotas {
			errs = append(errs, q.close(ctx))
		}
	}
	return errors.Join(errs...)
}

// Forget drops all answers and results, in memory and on disk: whose questions they answer is not known of them.
func (e *Engine) Forget() error {
	e.once.Do(e.open)
	e.answers.Clear()
	e.results.Clear()
	return e.Disk.Clear()
}

// Wait returns when no backend is being asked any more. It is for shutdown: a request that nobody waits for may outlive
// its search by as long as the backend takes to notice that.
func (e *Engine) Wait() {
	e.flights.Wait()
	e.tasks.Wait()
}

// conclude says what came of the answers, all together.
func conclude(sources []*source, answers []answer, found bool) Result {
	r := Result{State: turn.Empty, Cached: true, complete: true}
	var missing []string
	for i, a := range answers {
		report := a.report(sources[i].Name())
		r.Asked = append(r.Asked, report)
		r.Cached = r.Cached && a.cached
		r.complete = r.complete && a.err == nil
		if r.oldest.IsZero() || a.at.Before(r.oldest) {
			r.oldest = a.at
		}
		if a.ok() {
			continue
		}
		if r.Failure == "" {
			r.Failure = report.Status
		}
		missing = append(missing, report.Backend+": "+string(report.Status))
	}
	switch {
	case found:
		r.State, r.Failure = turn.Found, ""
	case len(missing) > 0:
		r.State, r.Reason = turn.LookupFailed, strings.Join(missing, ", ")
	}
	return r
}

// report is the answer of a backend as it stands in records.
func (a answer) report(backend string) turn.Asked {
	report := turn.Asked{Backend: backend, Status: turn.CodeOK, Hits: len(a.hits), Took: a.took}
	if err := asError(backend, a.err); err != nil {
		report.Status, report.Detail = err.Code, err.Detail
		if err.RetryAfter > 0 {
			report.Detail += fmt.Sprintf("; it asks to wait %s", err.RetryAfter)
		}
	}
	switch {
	case a.stale > 0:
		report.Stale = a.stale
	case len(a.hits) > 0:
		report.Status = turn.CodeOK
	case a.err == nil:
		report.Status = turn.CodeEmpty
	}
	if a.cached {
		report.Detail = strings.TrimSuffix(cachedDetail+"; "+report.Detail, "; ")
	}
	return report
}

const cachedDetail = "cached"

// FromCache reports whether a backend's part in a search is an earlier answer.
func FromCache(a turn.Asked) bool { return strings.HasPrefix(a.Detail, cachedDetail) }

// asError is err as one of ours: what a foreign one says is not shown.
func asError(backend string, err error) *Error {
	if err == nil {
		return nil
	}
	if ours, ok := errors.AsType[*Error](err); ok {
		return ours
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &Error{Backend: backend, Code: turn.CodeTimeout}
	}
	return &Error{Backend: backend, Code: turn.CodeUpstream, Detail: fmt.Sprintf("%T", err)}
}
