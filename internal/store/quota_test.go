package store

import (
	"sync"
	"sync/atomic"
	"testing"
)

func TestQuota(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	take := func(period string, n, limit, want int) {
		t.Helper()
		if got, err := db.Quotas.Take(t.Context(), "x/day", period, n, limit); err != nil || got != want {
			t.Errorf("took %d of %s, %v; want %d", got, period, err, want)
		}
	}
	used := func(period string, want int) {
		t.Helper()
		if got, err := db.Quotas.Used(t.Context(), "x/day", period); err != nil || got != want {
			t.Errorf("used in %s: %d, %v; want %d", period, got, err, want)
		}
	}
	used("2026-11-20", 0)
	take("2026-11-20", 3, 5, 3)
	take("2026-11-20", 3, 5, 2)
	take("2026-11-20", 3, 5, 0)
	take("2026-11-20", 3, 1, 0) // the limit was lowered
	if err := db.Quotas.Return(t.Context(), "x/day", "2026-11-20", 4); err != nil {
		t.Error(err)
	}
	used("2026-11-20", 1)
	if err := db.Quotas.Return(t.Context(), "x/day", "2026-11-20", 2); err != nil {
		t.Error(err)
	}
	used("2026-11-20", 1)
	take("2026-11-21", 4, 5, 4)
	take("2026-11-20", 4, 5, 1) // a clock that goes back starts no second day
	used("2026-11-21", 5)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	used("2026-11-21", 5)
	used("2026-11-22", 0)
}

// TestQuotaIsNeverPassed checks that concurrent attempts never get more than the limit.
func TestQuotaIsNeverPassed(t *testing.T) {
	db := open(t, t.TempDir())
	var sum atomic.Int64
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			n, err := db.Quotas.Take(t.Context(), "x/month", "2026-11", 7, 100)
			if err != nil {
				t.Error(err)
			}
			sum.Add(int64(n))
		})
	}
	all.Wait()
	if sum.Load() != 100 {
		t.Errorf("took %d of 100", sum.Load())
	}
}
