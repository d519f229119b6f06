package search

import (
	"slices"
	"time"
)

// pace is how long a backend took for the last answers that were any.
type pace struct {
	took [64]time.Duration
	n    int // answers seen, ever
}

func (p *pace) add(d time.Duration) {
	p.took[p.n%len(p.took)] = d
	p.n++
}

// percentile returns how long the given share of the answers took at most, 0 where there are none.
func (p *pace) percentile(share float64) time.Duration {
	n := min(p.n, len(p.took))
	if n == 0 {
		return 0
	}
	sorted := p.took
	slices.Sort(sorted[:n])
	return sorted[min(n-1, int(share*float64(n)))]
}

// known is how many answers it takes to know what is usual.
const known = 5

// usual is how long s may take before it is late: a little more than it nearly always took, or half of the time that
// there is for one that is not known yet.
func (e *Engine) usual(s *station) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.record.pace.n < known {
		return or(e.Timeout, defaultTimeout) / 2
	}
	return s.record.pace.percentile(0.95) + or(e.Brief, defaultBrief)
}
