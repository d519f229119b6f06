package search

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Ledger keeps how much is used of limits that last longer than a process: of name in period, which is a day or a month
// as in "2026-11-21" or "2026-11". It need know only the newest period of each name.
type Ledger interface {
	// TakeQuota takes up to n of limit and returns how many it got, once a crash cannot undo that.
	TakeQuota(ctx context.Context, name, period string, n, limit int) (int, error)
	// ReturnQuota gives back what was taken and not used.
	ReturnQuota(ctx context.Context, name, period string, n int) error
	// QuotaUsed returns how many are taken.
	QuotaUsed(ctx context.Context, name, period string) (int, error)
}

// quota is a backend's limit of a day or a month. It takes requests from the ledger some at a time, so that a search
// rarely waits for a disk: a crash loses those at hand, and the limit is never passed.
type quota struct {
	backend, span string // span is "day" or "month"
	limit         int
	ledger        Ledger

	exhausted atomic.Pointer[string] // the period in which there are no more; read without waiting for the ledger

	mu     sync.Mutex // held while the ledger is asked
	period string     // guarded by mu: that of left
	left   int        // guarded by mu: taken from the ledger and not used
}

// batch is how many requests are taken at a time: a crash may lose as many.
func (q *quota) batch() int { return max(1, min(q.limit/50, 50)) }

func (q *quota) name() string { return q.backend + "/" + q.span }

func (q *quota) periodAt(now time.Time) string {
	if q.span == "day" {
		return now.UTC().Format(time.DateOnly)
	}
	return now.UTC().Format("2006-01")
}

// ends is when the period of now is over.
func (q *quota) ends(now time.Time) time.Time {
	y, m, d := now.UTC().Date()
	if q.span == "day" {
		return time.Date(y, m, d+1, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
}

// isExhausted reports whether it is known that there are no more in the period of now.
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
		n, err := q.ledger.TakeQuota(ctx, q.name(), q.period, q.batch(), q.limit)
		if err != nil {
			return &Error{Backend: q.backend, Code: turn.CodeQuota, Detail: "not asked: how much is left of its limit cannot be read: " + clean.Line(err.Error(), 200)}
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
	return &Error{Backend: q.backend, Code: turn.CodeQuota, Detail: fmt.Sprintf("not asked: the %d requests of this %s are used up; FAMILIAR_SEARCH_LIMITS changes that", q.limit, q.span)}
}

// giveBack returns one request that was not made.
func (q *quota) giveBack(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.period == q.periodAt(now) {
		q.left++
	}
}

// close gives the ledger back what is at hand.
func (q *quota) close(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.left
	if q.left = 0; n == 0 {
		return nil
	}
	return q.ledger.ReturnQuota(ctx, q.name(), q.period, n)
}

// remaining is how many requests there still are.
func (q *quota) remaining(ctx context.Context, now time.Time) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	period := q.periodAt(now)
	used, err := q.ledger.QuotaUsed(ctx, q.name(), period)
	if err != nil {
		return 0, err
	}
	left := max(0, q.limit-used)
	if q.period == period {
		left += q.left
	}
	return left, nil
}

// spend takes one request of each of the backend's quotas.
func (s *source) spend(ctx context.Context, now time.Time) error {
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

// memoryLedger is the ledger of an engine that was given none.
type memoryLedger struct {
	mu   sync.Mutex
	used map[string]int // guarded by mu; by name and period
}

func (m *memoryLedger) TakeQuota(_ context.Context, name, period string, n, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := name + " " + period
	n = max(0, min(n, limit-m.used[k]))
	m.used[k] += n
	return n, nil
}

func (m *memoryLedger) ReturnQuota(_ context.Context, name, period string, n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used[name+" "+period] -= n
	return nil
}

func (m *memoryLedger) QuotaUsed(_ context.Context, name, period string) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used[name+" "+period], nil
}
