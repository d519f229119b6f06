package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Limit says how often a backend may be asked. A zero field sets no limit.
type Limit struct {
	PerSecond float64 // on average
	Burst     int     // at once; 0 means the requests of one second, at least 1
	PerDay    int     // UTC
	PerMonth  int     // calendar month in UTC
}

// These limit all searches together.
const (
	globalPerSecond = 10
	globalBurst     = 100
)

// maxCallers is how many callers have a bucket at the same time.
const maxCallers = 1000

// bucket returns a token bucket for l, or nil if l sets no rate.
func (l Limit) bucket() *rate.Limiter {
	if l.PerSecond <= 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(l.PerSecond), cmp.Or(l.Burst, int(math.Ceil(l.PerSecond))))
}

// refusal returns why s may not be asked now, or nil. It charges nothing. e.mu is held.
func (e *Engine) refusal(s *source, now time.Time) error {
	if err := s.breaker.refusal(now); err != nil {
		return err
	}
	for _, q := range s.quotas {
		if q.isExhausted(now) {
			return q.exhaustedError()
		}
	}
	return e.tooOften(s, now)
}

// tooOften returns which bucket is empty, or nil. e.mu is held.
func (e *Engine) tooOften(s *source, now time.Time) error {
	switch {
	case s.bucket != nil && s.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: its limit of requests per second is reached"}
	case e.bucket.TokensAt(now) < 1:
		return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: the limit of requests per second to all backends is reached"}
	}
	return nil
}

// charge takes one request from the buckets. The caller has checked that they hold one. e.mu is held.
func (e *Engine) charge(s *source, now time.Time) {
	e.bucket.AllowN(now, 1)
	if s.bucket != nil {
		s.bucket.AllowN(now, 1)
	}
}

// chargeCaller takes one search from the caller's bucket and reports whether there was one. e.mu is held.
func (e *Engine) chargeCaller(q Query, now time.Time) bool {
	caller, limit := q.Caller, q.PerMinute
	if caller == "" || limit <= 0 {
		return true
	}
	b := e.callers[caller]
	if b == nil || b.Burst() != limit {
		if len(e.callers) >= maxCallers {
			clear(e.callers)
		}
		b = rate.NewLimiter(rate.Limit(limit)/60, limit)
		e.callers[caller] = b
	}
	return b.AllowN(now, 1)
}

// Ledger keeps how much of a limit has been used in a period. The period is a day such as "2026-11-21" or a month such as "2026-11". It
// needs to keep only the newest period of each name.
type Ledger interface {
	// Take takes up to n requests, never more than limit in total, and returns how many it got. They are stored when it
	// returns, so that a crash cannot return them.
	Take(ctx context.Context, name, period string, n, limit int) (int, error)
	// Return returns n unused requests.
	Return(ctx context.Context, name, period string, n int) error
	// Used returns how many requests have been taken.
	Used(ctx context.Context, name, period string) (int, error)
	// Within notes that something is done. It returns false if all processes together have done it that often within a span. If there is
	// only one process, it returns true, as with an error.
	Within(ctx context.Context, name string, most int, span time.Duration) (bool, error)
}

// quota is a backend's limit per day or month. It takes requests from the ledger in batches, so that a search rarely
// waits for a disk. A crash loses the unused rest of a batch; the limit is never exceeded.
type quota struct {
	backend, span string // span is "day" or "month"
	limit         int
	ledger        Ledger

	exhausted atomic.Pointer[string] // the period that has none left; read without waiting for the ledger

	mu     sync.Mutex // held while the ledger is asked
	period string     // guarded by mu: the period of left
	left   int        // guarded by mu: taken from the ledger and not used yet
}

// batch is how many requests are taken from the ledger at a time. A crash may lose as many.
func (q *quota) batch() int { return max(1, min(q.limit/50, 50)) }

func (q *quota) name() string { return q.backend + "/" + q.span }

func (q *quota) periodAt(now time.Time) string {
	if q.span == "day" {
		return now.UTC().Format(time.DateOnly)
	}
	return now.UTC().Format("2006-01")
}

// ends returns the end of the period that holds now.
func (q *quota) ends(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	if q.span == "day" {
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}

// isExhausted reports whether the period of now is known to have no requests left.
func (q *quota) isExhausted(now time.Time) bool {
	p := q.exhausted.Load()
	return p != nil && *p == q.periodAt(now)
}

// take takes one request.
func (q *quota) take(ctx context.Context, now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if period := q.periodAt(now); q.period != period {
		q.period, q.left = period, 0
	}
	if q.left == 0 {
		n, err := q.ledger.Take(ctx, q.name(), q.period, q.batch(), q.limit)
		if err != nil {
			return &Error{Backend: q.backend, Code: turn.CodeQuota, Detail: "not asked: read usage of its limit: " + clean.Line(err.Error(), 200)}
		}
		if n == 0 {
			period := q.period
			q.exhausted.Store(&period)
			return q.exhaustedError()
		}
		q.left = n
	}
	q.left--
	return nil
}

func (q *quota) exhaustedError() error {
	return &Error{Backend: q.backend, Code: turn.CodeQuota, Detail: fmt.Sprintf("not asked: the %d requests of this %s are used up; set FAMILIAR_SEARCH_LIMITS to change that", q.limit, q.span)}
}

// giveBack returns a request that was not sent.
func (q *quota) giveBack(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.period == q.periodAt(now) {
		q.left++
	}
}

// close returns the unused requests to the ledger.
func (q *quota) close(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.left
	if q.left = 0; n == 0 {
		return nil
	}
	return q.ledger.Return(ctx, q.name(), q.period, n)
}

// remaining returns how many requests are left.
func (q *quota) remaining(ctx context.Context, now time.Time) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	period := q.periodAt(now)
	used, err := q.ledger.Used(ctx, q.name(), period)
	if err != nil {
		return 0, err
	}
	left := max(0, q.limit-used)
	if q.period == period {
		left += q.left
	}
	return left, nil
}

// spend takes one request from each of the backend's quotas, or from none. The buckets of this process have let it through.
func (s *source) spend(ctx context.Context, now time.Time) error {
	if s.bucket != nil {
		burst := s.bucket.Burst()
		allowed, _ := s.ledger.Within(ctx, "search/"+s.Name(), burst, time.Duration(float64(burst)/s.Limit.PerSecond*float64(time.Second)))
		if !allowed {
			return &Error{Backend: s.Name(), Code: turn.CodeRateLimited, Detail: "not asked: its limit of requests per second is reached by all processes together"}
		}
	}
	for i, q := range s.quotas {
		if err := q.take(ctx, now); err != nil {
			for _, taken := range s.quotas[:i] {
				taken.giveBack(now)
			}
			return err
		}
	}
	return nil
}

// memoryLedger is the ledger of an engine without one.
type memoryLedger struct {
	mu   sync.Mutex
	used map[string]int // guarded by mu; key: name and period
}

func (m *memoryLedger) Take(_ context.Context, name, period string, n, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := name + " " + period
	n = max(0, min(n, limit-m.used[k]))
	m.used[k] += n
	return n, nil
}

func (m *memoryLedger) Return(_ context.Context, name, period string, n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[name+" "+period] -= n
	return nil
}

func (*memoryLedger) Within(context.Context, string, int, time.Duration) (bool, error) {
	return true, nil
}

func (m *memoryLedger) Used(_ context.Context, name, period string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[name+" "+period], nil
}
