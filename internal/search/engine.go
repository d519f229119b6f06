package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/cache"
	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Engine asks its backends. Its exported fields are set before the first search and not changed afterwards. Their zero
// values are useful. An Engine is safe for concurrent use.
type Engine struct {
	Backends []Backend          // in the order of the report; the earlier one wins a tie in the ranking
	Profiles map[string]Profile // by backend name; a backend without one serves every intent
	Timeout  time.Duration      // per backend; 0 means 4 s
	Grace    time.Duration      // how long to wait for the others once the leading backends have found something; 0 means 300 ms
	Brief    time.Duration      // how long to wait for the last backend once three have found something; 0 means 40 ms
	FanOut   int                // backends asked at once, 1 or more; 0 means 5
	// Read reads a page for the advanced depth on behalf of Query.Caller. It returns soon after ctx is done. If it is
	// nil, the advanced depth equals the basic one.
	Read   func(ctx context.Context, caller, url string) (Page, error)
	Disk   *Disk            // closed by Close; nil: answers are kept in memory only
	Ledger Ledger           // of daily and monthly limits; nil: usage is kept in memory only
	Now    func() time.Time // clock of the caches and limits; nil means time.Now

	once    sync.Once
	sources []*source // made from Backends by once, like the fields below
	answers *cache.LRU[key, answer]
	results *cache.LRU[key, cachedResult]
	memory  memoryLedger // used if Ledger is nil
	flights cache.Group[key, answer]
	tasks   sync.WaitGroup // page reads and writes to Disk

	mu      sync.Mutex
	bucket  *rate.Limiter            // guarded by mu; shared by all backends
	callers map[string]*rate.Limiter // guarded by mu; by Query.Caller
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

// open makes the sources, limits and caches.
func (e *Engine) open() {
	e.memory.used = map[string]int{}
	for _, b := range e.Backends {
		e.sources = append(e.sources, e.newSource(b))
	}
	e.bucket = rate.NewLimiter(globalPerSecond, globalBurst)
	e.flights.Timeout = cmp.Or(e.Timeout, defaultTimeout)
	e.callers = map[string]*rate.Limiter{}
	e.answers = cache.NewLRU(maxAnswers, func(k key, a answer) int64 { return a.size() + int64(len(k.text)) + 200 })
	e.results = cache.NewLRU(maxResults, func(k key, r cachedResult) int64 { return r.size() + int64(len(k.text)) + 200 })
}

// Search asks the backends that serve q.Intent, FanOut of them at a time, and merges their answers. If these fail or find nothing, it asks
// the next ones. It returns when all have answered, or when waiting no longer pays (see fanOut.stop). It also returns when ctx or Timeout
// ends, with what has arrived by then. It cannot fail: a failure is a state of the result.
func (e *Engine) Search(ctx context.Context, q Query) Result {
	e.once.Do(e.open)
	q = q.withDefaults()
	domains, err := clean.NewDomains(q.Include, q.Exclude)
	if err != nil {
		return Result{State: turn.LookupFailed, Failure: turn.CodeRejected, Reason: "a domain to include or exclude is not a host name"}
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

// FindTime limits the duration of [Engine.Find].
const FindTime = 15 * time.Second

// Find searches, keeps the hits on hosts that domains allows, and returns the result with its record.
func (e *Engine) Find(ctx context.Context, q Query, domains clean.Domains) (Result, *turn.Lookup) {
	ctx, cancel := context.WithTimeout(ctx, FindTime)
	defer cancel()
	began := time.Now()
	r := e.Search(ctx, q)
	r.Hits = slices.DeleteFunc(r.Hits, func(hit turn.Hit) bool {
		u, err := url.Parse(hit.URL)
		return err != nil || !domains.Allows(u.Hostname())
	})
	if r.State == turn.Found && len(r.Hits) == 0 {
		r.State = turn.Empty
	}
	return r, &turn.Lookup{State: r.State, Failure: r.Failure, Reason: r.Reason, Intent: q.Intent, Question: q.Text, Query: q.Text, Asked: r.Asked,
		Hits: r.Hits, Cached: r.Cached, Stale: r.Stale, Began: began, Took: time.Since(began)}
}

func (e *Engine) search(ctx context.Context, way route, q Query, domains clean.Domains) Result {
	if q.Depth == DepthAdvanced && e.Read != nil {
		return e.advanced(ctx, way, q, domains)
	}
	r, pages := e.basic(ctx, way, q, domains)
	r.Hits = top(pages, q.Limit)
	return r
}

// basic asks and merges. If every backend fails it falls back to cached answers. The result has no hits yet; the caller
// takes them from the pages.
func (e *Engine) basic(ctx context.Context, way route, q Query, domains clean.Domains) (Result, []*candidate) {
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

// Close waits as Wait does, returns unused requests to the ledger and closes Disk. No search may follow.
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

// Forget drops all answers and results, in memory and on disk. They do not record who asked, so it cannot drop fewer.
func (e *Engine) Forget() error {
	e.once.Do(e.open)
	e.answers.Clear()
	e.results.Clear()
	return e.Disk.Clear()
}

// Wait returns when no request is running. It is for shutdown: an abandoned request may outlive its search until the
// backend notices that it was cancelled.
func (e *Engine) Wait() {
	e.flights.Wait()
	e.tasks.Wait()
}

// conclude sums up the answers of all sources.
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

// report returns the answer of a backend as records show it.
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

// FromCache reports whether a backend's answer came from a cache.
func FromCache(a turn.Asked) bool { return strings.HasPrefix(a.Detail, cachedDetail) }

// asError returns err as an *Error. It hides the text of errors that are not ours, since they may hold a secret.
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
