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

// usualPace is that of a backend whose line in the table says nothing.
const usualPace = time.Second

// due is when the i-th of those asked is late: after a little more than it nearly always took. One of which too little has
// been seen has the pace that the table gives it, and at most half of the time that the search has.
func (h *hunt) due(i int) time.Time {
	s, since := h.asked[i], h.since[i]
	h.e.mu.Lock()
	defer h.e.mu.Unlock()
	if s.record.pace.n >= known {
		return since.Add(s.record.pace.percentile(0.95) + or(h.e.Brief, defaultBrief))
	}
	late := since.Add(or(s.Latency, usualPace))
	if end, ok := h.ctx.Deadline(); ok {
		late = earlier(late, since.Add(end.Sub(since)/2))
	}
	return late
}
