package search

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
)

// Profile is what the engine goes by when it chooses among backends, asks them and merges their answers.
type Profile struct {
	// Weight is that of the backend's ranks in the merged list; 0 is 1. The heaviest of those asked are waited for.
	Weight float64
	Only   []turn.Intent // intents that it serves; nil: all
	Best   []turn.Intent // intents for which it is asked before others
	// Last are intents that it serves only where no other backend does, or where the others fail or find nothing. They
	// may be among those in Only.
	Last    []turn.Intent
	General bool // a wide index of the web of its own, with pictures, videos and news: first for queries of that type
	// Latency is how long it may take before it is late, until it is known how long it takes; 0 is a second. A backend
	// that asks other services itself needs more.
	Latency time.Duration
	Limit   Limit
}

// source is a backend with its profile and what has been seen of it.
type source struct {
	Backend
	Profile
	bucket *rate.Limiter // nil: no limit a second
	quotas []*quota

	// Guarded by Engine.mu.
	breaker breaker
	record  record
}

func (e *Engine) newSource(b Backend) *source {
	s := &source{Backend: b, Profile: e.Profiles[b.Name()]}
	s.Weight, s.bucket = cmp.Or(s.Weight, 1), s.Limit.bucket()
	var ledger Ledger = &e.memory
	if e.Ledger != nil {
		ledger = e.Ledger
	}
	if n := s.Limit.PerDay; n > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "day", limit: n, ledger: ledger})
	}
	if n := s.Limit.PerMonth; n > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "month", limit: n, ledger: ledger})
	}
	return s
}

// route is who may be asked, best first.
type route struct {
	main     []*source
	fallback []*source // those that have the intent in Profile.Last
}

func (r route) empty() bool { return len(r.main)+len(r.fallback) == 0 }

// route orders the sources for q. Those that are best for the intent, or serve nothing else, go first; for the
// "general" type the wide indexes follow, and then the others in the operator's order.
func (e *Engine) route(q Query) route {
	var way route
	for _, s := range e.sources {
		switch {
		case len(q.Backends) > 0 && !slices.Contains(q.Backends, s.Name()):
		case s.Only != nil && !slices.Contains(s.Only, q.Intent):
		case slices.Contains(s.Last, q.Intent):
			way.fallback = append(way.fallback, s)
		default:
			way.main = append(way.main, s)
		}
	}
	rank := func(s *source) int {
		switch {
		case slices.Contains(s.Only, q.Intent), slices.Contains(s.Best, q.Intent):
			return 0
		case q.Type == typeGeneral && s.General:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(way.main, func(a, b *source) int { return cmp.Compare(rank(a), rank(b)) })
	return way
}
