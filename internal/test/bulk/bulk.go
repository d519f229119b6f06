// Package bulk decides how much work a test does: little for each push, all of it at night.
package bulk

import (
	"os"
	"testing"
	"time"
)

// Of returns few, or many if the environment variable FAMILIAR_TEST_FULL is set, as .ci/nightly does. Use it for runs of seeded noise and
// for sizes. What only many runs would find belongs in a fuzz target.
func Of(few, many int) int {
	if os.Getenv("FAMILIAR_TEST_FULL") != "" {
		return many
	}
	return few
}

const (
	tries    = 5
	leastFor = 2 * time.Millisecond // of measuring, so that the clock's resolution does not matter
)

// Linear fails a test if four times the size takes more than eight times the work. Work is processor time, which other programs affect less
// than the clock. Quadratic work takes sixteen times as much in each of several tries.
//
// prepare makes an input of the given size and returns the function to measure. Linear calls prepare before each measurement.
func Linear(tb testing.TB, what string, size int, prepare func(size int) (work func())) {
	tb.Helper()
	once := func(size int) time.Duration {
		var all time.Duration
		for n := 1; ; n++ {
			work := prepare(size)
			before := processorTime()
			work()
			all += processorTime() - before
			if all >= leastFor {
				return all / time.Duration(n)
			}
		}
	}
	cost := func(size int) time.Duration { return min(once(size), once(size), once(size)) } // what is more is noise
	var small, large time.Duration
	for range tries {
		if small, large = cost(size/4), cost(size); large <= 8*small {
			return
		}
	}
	tb.Errorf("%s: size %d takes %v of work, and size %d takes %v", what, size/4, small, size, large)
}
