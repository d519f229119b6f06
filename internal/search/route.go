package search

import (
	"cmp"
	"slices"

	"golang.org/x/time/rate"
)

// station is a backend with its line in the table and what has been seen of it.
type station struct {
	Backend
	entry
	bucket *rate.Limiter // nil: no limit a second
	quotas []*quota

	// Guarded by Engine.mu.
	breaker breaker
	record  record
}

func (s *station) Name() string { return s.Backend.Name() }

// station makes the station of a backend. One that is not in the table serves every intent.
func (e *Engine) station(b Backend) *station {
	line, known := lineOf(b.Name())
	if !known {
		line = entry{weight: 1}
	}
	limit := line.limit
	if own, ok := e.Limits[b.Name()]; ok {
		limit = own
	}
	s := &station{Backend: b, entry: line, bucket: limit.bucket()}
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
		case s.only != nil && !slices.Contains(s.only, q.Intent):
		case slices.Contains(s.not, q.Intent):
			way.spared = append(way.spared, s)
		default:
			way.served = append(way.served, s)
		}
	}
	rank := func(s *station) int {
		switch {
		case slices.Contains(s.only, q.Intent), slices.Contains(s.best, q.Intent):
			return 0
		case q.Type == typeGeneral && s.general:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(way.served, func(a, b *station) int { return cmp.Compare(rank(a), rank(b)) })
	return way
}

func (w itinerary) empty() bool { return len(w.served)+len(w.spared) == 0 }
