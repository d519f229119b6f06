package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
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

func TestAllowance(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	channel := Allowance{Name: "channel", Span: 30 * time.Minute, Limit: 2}
	person := Allowance{Name: "person", Span: 24 * time.Hour, Limit: 3}
	// take makes an attempt some minutes after noon. wait is the number of minutes until the next attempt may succeed, 0 if this one did.
	take := func(minute, wait, refused int, all ...Allowance) {
		t.Helper()
		at := noon.Add(time.Duration(minute) * time.Minute)
		got, err := db.Quotas.TakeAllowances(t.Context(), at, all...)
		if err != nil || got.Refused != refused || refused >= 0 && !got.Free.Equal(at.Add(time.Duration(wait)*time.Minute)) {
			t.Errorf("minute %d: %+v, %v; want %d refused for %d min", minute, got, err, refused, wait)
		}
	}
	take(20, 0, -1, channel)
	take(28, 0, -1, channel)
	take(31, 19, 0, channel) // the clock's next half hour starts no new span
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	take(49, 1, 0, channel)
	take(50, 0, -1, channel)
	take(51, 7, 0, channel)
	take(51, 29, 0, Allowance{Name: "channel", Span: 30 * time.Minute, Limit: 1}) // the limit was lowered
	take(51, 0, -1, Allowance{Name: "channel", Span: 30 * time.Minute, Limit: 0})

	take(60, 0, -1, person)
	take(60, 0, -1, person, Allowance{Name: "other", Span: 30 * time.Minute, Limit: 2})
	take(60, 0, -1, person)
	take(61, 24*60-1, 0, person, Allowance{Name: "other", Span: 30 * time.Minute, Limit: 2})
	take(61, 24*60-1, 1, Allowance{Name: "other", Span: 30 * time.Minute, Limit: 2}, person)
	take(62, 0, -1, Allowance{Name: "other", Span: 30 * time.Minute, Limit: 2}) // the refused attempt counted for nothing

	take(1000, 0, -1, Allowance{Name: "clock", Span: 30 * time.Minute, Limit: 1})
	take(100, 30, 0, Allowance{Name: "clock", Span: 30 * time.Minute, Limit: 1}) // the clock went back
	take(120, 10, 0, Allowance{Name: "clock", Span: 30 * time.Minute, Limit: 1})
	take(130, 0, -1, Allowance{Name: "clock", Span: 30 * time.Minute, Limit: 1})
}

// TestAllowanceIsNeverPassed checks that no span of the length contains more than the limit, whatever the times, also for concurrent
// attempts.
func TestAllowanceIsNeverPassed(t *testing.T) {
	db := open(t, t.TempDir())
	name := 0
	rapid.Check(t, func(r *rapid.T) {
		name++
		a := Allowance{Name: string(rune(name)), Span: time.Minute, Limit: rapid.IntRange(1, 4).Draw(r, "limit")}
		var taken []time.Time
		at := time.Unix(1_000_000, 0)
		for _, after := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 30).Draw(r, "seconds") {
			at = at.Add(time.Duration(after) * time.Second)
			got, err := db.Quotas.TakeAllowances(t.Context(), at, a)
			if err != nil {
				r.Fatal(err)
			}
			within := 0
			for _, before := range taken {
				if at.Sub(before) < a.Span {
					within++
				}
			}
			if granted := got.Refused < 0; granted != (within < a.Limit) {
				r.Fatalf("granted %v with %d of %d", granted, within, a.Limit)
			} else if granted {
				taken = append(taken, at)
			}
		}
	})
	var sum atomic.Int64
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			got, err := db.Quotas.TakeAllowances(t.Context(), time.Unix(2_000_000_000, 0), Allowance{Name: "crowd", Span: time.Minute, Limit: 25})
			if err != nil {
				t.Error(err)
			} else if got.Refused < 0 {
				sum.Add(1)
			}
		})
	}
	all.Wait()
	if sum.Load() != 25 {
		t.Errorf("took %d of 25", sum.Load())
	}
}
