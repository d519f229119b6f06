package search

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
)

// Profile tells the engine how to choose a backend, ask it and rank its hits.
type Profile struct {
	// Weight multiplies the score of the backend's hits; 0 means 1. The engine waits for the heaviest of the backends
	// it asks.
	Weight float64
	Only   []turn.Intent // intents that it serves; empty: all
	Best   []turn.Intent // intents for which it is asked first
	// Last lists intents for which it is asked only if no other backend serves them, or if the others fail or find
	// nothing. They may also be in Only.
	Last    []turn.Intent
	General bool // a wide web index of its own with pictures, videos and news: first for queries of type "general"
	// Latency is the expected time for an answer until enough answers were measured; 0 means a second. A backend that
	// itself asks other services needs more.
	Latency time.Duration
	Limit   Limit
}

// source is a backend with its profile and its record.
type source struct {
	Backend
	Profile
	bucket *rate.Limiter // nil: no limit per second
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

// route lists the sources that may be asked, best first.
type route struct {
	main     []*source
	fallback []*source // sources with the intent in Profile.Last
}

func (r route) empty() bool { return len(r.main)+len(r.fallback) == 0 }

// route orders the sources for q. Those that are best for the intent, or list it in Only, go first. For queries of type
// "general" the wide indexes follow. The others keep the operator's order.
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
