package search

import (
	"slices"
	"time"
)

// latencies is how long a backend took for its last answers, failures left out.
type latencies struct {
	took [64]time.Duration
	n    int // answers seen, ever
}

const (
	enoughLatencies = 5           // answers that it takes to know what is usual
	defaultLatency  = time.Second // of a backend whose profile says nothing
)

func (l *latencies) add(d time.Duration) {
	l.took[l.n%len(l.took)] = d
	l.n++
}

// percentile is how long the given share of the answers took at most: 0 where there are none.
func (l *latencies) percentile(share float64) time.Duration {
	n := min(l.n, len(l.took))
	if n == 0 {
		return 0
	}
	sorted := l.took
	slices.Sort(sorted[:n])
	return sorted[min(n-1, int(share*float64(n)))]
}
