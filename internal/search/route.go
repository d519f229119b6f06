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
	// Weight is that of the backend's ranks in the merged list; 0 is 1. The heaviest of those asked is waited for.
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

// station is a backend with its profile and what has been seen of it.
type station struct {
	Backend
	Profile
	bucket *rate.Limiter // nil: no limit a second
	quotas []*quota

	// Guarded by Engine.mu.
	breaker breaker
	record  record
}

func (s *station) Name() string { return s.Backend.Name() }

// station makes the station of a backend.
func (e *Engine) station(b Backend) *station {
	p := e.Profiles[b.Name()]
	p.Weight = cmp.Or(p.Weight, 1)
	limit := p.Limit
	s := &station{Backend: b, Profile: p, bucket: limit.bucket()}
	if limit.PerDay > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "day", limit: limit.PerDay, ledger: e.ledger()})
	}
	if limit.PerMonth > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "month", limit: limit.PerMonth, ledger: e.ledger()})
	}
	return s
}

// itinerary is who may be asked, best first.
type itinerary struct {
	served []*station // those made for the intent, then the others that serve it
	spared []*station // those that serve it only for want of a better one: asked last
}

// route orders the stations for q. Whoever is made for the intent goes first; for the "general" type the wide
// indexes follow, and then the order in which the operator named them.
func route(all []*station, q Query) itinerary {
	var way itinerary
	for _, s := range all {
		switch {
		case len(q.Backends) > 0 && !slices.Contains(q.Backends, s.Name()):
		case s.Only != nil && !slices.Contains(s.Only, q.Intent):
		case slices.Contains(s.Last, q.Intent):
			way.spared = append(way.spared, s)
		default:
			way.served = append(way.served, s)
		}
	}
	rank := func(s *station) int {
		switch {
		case slices.Contains(s.Only, q.Intent), slices.Contains(s.Best, q.Intent):
			return 0
		case q.Type == typeGeneral && s.General:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(way.served, func(a, b *station) int { return cmp.Compare(rank(a), rank(b)) })
	return way
}

func (w itinerary) empty() bool { return len(w.served)+len(w.spared) == 0 }
