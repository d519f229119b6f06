// Package search asks several search services the same question and merges their answers into one ranked list.
//
// A [Query] goes to an [Engine] (engine.go). The engine picks the backends that serve the query's intent (route.go),
// asks a few of them at the same time and waits as long as it pays (fanout.go). Callers with the same question share
// one request (ask.go). Answers are cached in memory and on disk (cache.go). Hits from different backends on the same
// page become one hit, ranked by all of them (merge.go). The advanced depth reads the pages before it ranks them
// (advanced.go). Rate limits and quotas (limit.go) and a circuit breaker (health.go) decide whether a backend is asked.
// The answer is a [Result]. A Result never says "found nothing" when a backend could not look.
//
// The engine knows no service. Its caller passes the backends and a [Profile] for each. Package search/backend has
// them, and its comment says how to add one.
package search

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
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
	// Stale is the age of the oldest answer if all backends failed and cached answers of the last 24 hours were used
	// instead. State is then Found, and each entry of Asked says how old its hits are.
	Stale time.Duration

	complete bool      // no backend failed, not even in part
	oldest   time.Time // when the oldest answer arrived
}
