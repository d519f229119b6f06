package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAllowance(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	channel := Allowance{"channel", 30 * time.Minute, 2}
	person := Allowance{"person", 24 * time.Hour, 3}
	// take tries at a minute after noon; wait is how many minutes later the next is free, 0 if it was granted.
	take := func(minute, wait, refused int, all ...Allowance) {
		t.Helper()
		at := noon.Add(time.Duration(minute) * time.Minute)
		got, err := db.Take(t.Context(), at, all...)
		if err != nil || got.Refused != refused || refused >= 0 && !got.Free.Equal(at.Add(time.Duration(wait)*time.Minute)) {
			t.Errorf("minute %d: %+v, %v; want %d refused for %d min", minute, got, err, refused, wait)
		}
	}
	take(20, 0, -1, channel)
	take(28, 0, -1, channel)
	take(31, 19, 0, channel) // the clock's next half hour is none of its own
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir)
	take(49, 1, 0, channel)
	take(50, 0, -1, channel)
	take(51, 7, 0, channel)
	take(51, 29, 0, Allowance{"channel", 30 * time.Minute, 1}) // the limit was lowered
	take(51, 0, -1, Allowance{"channel", 30 * time.Minute, 0})

	take(60, 0, -1, person)
	take(60, 0, -1, person, Allowance{"other", 30 * time.Minute, 2})
	take(60, 0, -1, person)
	take(61, 24*60-1, 0, person, Allowance{"other", 30 * time.Minute, 2})
	take(61, 24*60-1, 1, Allowance{"other", 30 * time.Minute, 2}, person)
	take(62, 0, -1, Allowance{"other", 30 * time.Minute, 2}) // what was refused took nothing

	take(1000, 0, -1, Allowance{"clock", 30 * time.Minute, 1})
	take(100, 30, 0, Allowance{"clock", 30 * time.Minute, 1}) // it went back
	take(120, 10, 0, Allowance{"clock", 30 * time.Minute, 1})
	take(130, 0, -1, Allowance{"clock", 30 * time.Minute, 1})
}

// TestAllowanceIsNeverPassed: whatever the times, no span of that length holds more than the limit; and many who take
// at the same time get the limit.
func TestAllowanceIsNeverPassed(t *testing.T) {
	db := open(t, t.TempDir())
	name := 0
	rapid.Check(t, func(r *rapid.T) {
		name++
		a := Allowance{string(rune(name)), time.Minute, rapid.IntRange(1, 4).Draw(r, "limit")}
		var taken []time.Time
		at := time.Unix(1_000_000, 0)
		for _, after := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 30).Draw(r, "seconds") {
			at = at.Add(time.Duration(after) * time.Second)
			got, err := db.Take(t.Context(), at, a)
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
			got, err := db.Take(t.Context(), time.Unix(2_000_000_000, 0), Allowance{"crowd", time.Minute, 25})
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
