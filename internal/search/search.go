// Package search asks several search services the same question and merges their answers into one ranked list.
//
// A [Query] goes to an [Engine] (engine.go). The engine picks the backends that serve the query's intent (search.go). It asks a few of them
// at the same time and waits as long as it pays (fanout.go). Callers with the same question share one request (ask.go). Answers are cached
// in memory and on disk (cache.go). Hits from different backends on the same page become one hit, ranked by all of them (merge.go). The
// advanced depth reads the pages before it ranks them (advanced.go). Rate limits and quotas (limit.go) and a circuit breaker (health.go)
// decide whether a backend is asked. The answer is a [Result]. A Result never says "found nothing" when a backend could not look.
//
// The engine knows no service. Its caller passes the backends and a [Profile] for each. Package search/backend has
// them, and its comment says how to add one.
package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// Query is a question. Backends see all fields except the last group, and must not change them.
type Query struct {
	Text     string      // what to look for; it leaves the machine
	Intent   turn.Intent // a general question if empty or named by no profile
	Depth    string      // [DepthBasic] (also if empty) or [DepthAdvanced]
	Safe     string      // "off", "moderate" (also if empty) or "strict"
	Language string      // BCP 47 tag such as "de" or "en-GB"; the region decides units and markets; empty: English, any market
	Fresh    string      // oldest page wanted: "day", "week", "month", "year"; anything else is no limit
	Place    string      // the place in question; if empty, a weather backend reads it from Text
	Limit    int         // hits wanted, 1 to 25; 0 means 10
	Include  []string    // host names: if there are any, only hits on these and their subdomains
	Exclude  []string    // host names: no hits on these and their subdomains

	// Only the engine sees these.
	Type      string   // "optimized" (also if empty): the operator's order; "general": wide indexes first
	Backends  []string // names of the backends that may be asked; empty: all
	NoCache   bool     // ask the backends again, even if there are cached answers
	Caller    string   // whose limit per minute this search counts against; empty: no limit
	PerMinute int      // searches per minute for the caller; 0: no limit
}

// Allows reports whether q wants hits on a host. A service whose hits are all on another host need not be asked.
func (q Query) Allows(host string) bool {
	domains, err := clean.NewDomains(q.Include, q.Exclude)
	return err == nil && domains.Allows(host)
}

// The depths of a query.
const (
	DepthBasic    = "basic"
	DepthAdvanced = "advanced" // more candidates, read and scored before they are ranked
)

// typeGeneral is the type of query that goes to the wide indexes first.
const typeGeneral = "general"

func (q Query) withDefaults() Query {
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	q.Limit = min(q.Limit, maxLimit)
	return q
}

// forBackend returns the part of the query that a backend may see.
func (q Query) forBackend() Query {
	q.Type, q.Backends, q.NoCache, q.Caller, q.PerMinute = "", nil, false, "", 0
	return q
}

// Backend is one search service. Search returns soon after ctx is done. Its error is an *[Error]. Hits returned beside
// an error are used; the error then says what is missing. No hits and no error means that there are none. URLs are
// exactly as the service gave them.
type Backend interface {
	Name() string
	Search(ctx context.Context, q Query) (Reply, error)
}

// Reply is what a backend found.
type Reply struct {
	Hits      []turn.Hit
	Allowance Allowance     // set beside an error too
	Wait      time.Duration // how long the backend asks not to be called again after this answer; 0: not at all
}

// Allowance is what the service says is left of a limit. The zero value means that it did not say.
type Allowance struct {
	Left, Of int       // requests; if Of is 0, nothing is known
	Resets   time.Time // when Left becomes Of again; zero if it did not say
}

// Error says why a backend failed. It holds nothing from the query, the key or the body of the reply.
type Error struct {
	Backend    string
	Code       turn.Code
	Detail     string        // cause and cure, for the operator
	RetryAfter time.Duration // how long the service asked us to wait; 0 if it did not say
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("search %s: %s", e.Backend, e.Code)
	}
	return fmt.Sprintf("search %s: %s: %s", e.Backend, e.Code, e.Detail)
}

// Result is the outcome of a search.
type Result struct {
	Hits    []turn.Hit   // merged, best first; the caller owns them
	Asked   []turn.Asked // every backend asked, in the order of asking
	State   turn.State   // turn.Found, turn.Empty (every backend looked and found nothing) or turn.LookupFailed
	Failure turn.Code    // of the first backend that failed, if State is LookupFailed
	Reason  string       // every backend that failed, with its code; set for LookupFailed and for stale results
	Cached  bool         // this search sent nothing over the network
	// Stale is the age of the oldest answer if all backends failed. Then cached answers of the last 24 hours were used instead. State is then
	// Found, and each entry of Asked says how old its hits are.
	Stale time.Duration

	complete bool      // no backend failed, not even in part
	oldest   time.Time // when the oldest answer arrived
}

// Profile tells the engine how to choose a backend, ask it and rank its hits.
type Profile struct {
	// Weight multiplies the score of the backend's hits; 0 means 1. The engine waits for the heaviest of the backends
	// it asks.
	Weight float64
	Only   []turn.Intent // intents that it serves; empty: all
	Best   []turn.Intent // intents for which it is asked first
	// Last lists intents for which it is asked only if no other backend serves them. It is also asked if the others fail or find nothing. They
	// may also be in Only.
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
	ledger Ledger
	quotas []*quota

	// Guarded by Engine.mu.
	breaker breaker
	record  record
}

func (e *Engine) newSource(b Backend) *source {
	s := &source{Backend: b, Profile: e.Profiles[b.Name()], ledger: &e.memory}
	s.Weight, s.bucket = cmp.Or(s.Weight, 1), s.Limit.bucket()
	if e.Ledger != nil {
		s.ledger = e.Ledger
	}
	if n := s.Limit.PerDay; n > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "day", limit: n, ledger: s.ledger})
	}
	if n := s.Limit.PerMonth; n > 0 {
		s.quotas = append(s.quotas, &quota{backend: b.Name(), span: "month", limit: n, ledger: s.ledger})
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
