// Package search asks many search services one question at once and makes one ranked list of the answers.
//
// A [Query] goes to an [Engine] (engine.go). The engine orders the backends that serve the query's intent (route.go),
// asks a few of them at the same time and waits for as long as it is worth it (fanout.go). Callers who ask the same
// thing at the same time share one request (ask.go), and answers are kept for a while (cache.go, disk.go). What came
// back is merged: one hit a page, ranked by all who found it (merge.go). Limits, failures and latencies of a backend
// decide whether it is asked (limit.go, quota.go, breaker.go) and are there to be seen (health.go). The answer is a
// [Result], and a Result never says "found nothing" when somebody could not look.
//
// The engine knows no service. It is given its backends, with a [Profile] each; they are in search/backends, whose
// comment says how to add one.
package search

import (
	"context"
	"fmt"
	"time"

	"familiar/internal/context/turn"
)

// Query is a question. Backends see all of it but the last group. They must not change it.
type Query struct {
	Text     string      // what to look for; it leaves the machine
	Intent   turn.Intent // an intent that no profile names, or none, is a general question
	Depth    string      // [DepthBasic] (also if empty) or [DepthAdvanced]
	Safe     string      // "off", "moderate" (also if empty) or "strict"
	Language string      // BCP 47 tag as in "de" or "en-GB"; the region decides units and markets. Empty: English, any market
	Fresh    string      // oldest page wanted: "day", "week", "month", "year"; anything else is no limit
	Place    string      // the place in question, where the caller knows it; else a weather backend reads it from Text
	Limit    int         // hits wanted, 1 to 25; 0 is 10
	Include  []string    // host names: if any, only hits on these and their subdomains
	Exclude  []string    // host names: no hits on these or their subdomains

	// For the engine alone.
	Type      string   // "optimized" (also if empty): in the operator's order; "general": the wide indexes first
	Backends  []string // names: only these may be asked; empty: all
	NoCache   bool     // earlier answers are not good enough: the backends are asked again
	Caller    string   // whose searches a minute this one counts among; empty: nobody's
	PerMinute int      // searches that the caller has in a minute; 0: any number
}

// The depths of a query.
const (
	DepthBasic    = "basic"
	DepthAdvanced = "advanced" // more candidates, which are read and scored before they are ranked
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

// forBackend is what a backend sees of the query.
func (q Query) forBackend() Query {
	q.Type, q.Backends, q.NoCache, q.Caller, q.PerMinute = "", nil, false, "", 0
	return q
}

// Backend is one search service. Search returns soon after ctx is done. Its error is an *[Error]; hits returned
// beside an error are used, and the error then only says what is missing. Neither hits nor an error means that it
// looked and there is nothing. The URLs are as the service gave them.
type Backend interface {
	Name() string
	Search(ctx context.Context, q Query) (Reply, error)
}

// Reply is what a backend found.
type Reply struct {
	Hits      []turn.Hit
	Allowance Allowance     // also beside an error
	Wait      time.Duration // how long it asks to be left alone though it has answered; 0: not at all
}

// Allowance is how much of a limit the service says is left. The zero value is a service that did not say.
type Allowance struct {
	Left, Of int       // requests; Of 0: nothing is known
	Resets   time.Time // when Left becomes Of again; zero if it did not say
}

// Error is why a backend could not look. Nothing in it comes from the query, the key or the reply's body.
type Error struct {
	Backend    string
	Code       turn.Code
	Detail     string        // cause and cure for the operator
	RetryAfter time.Duration // how long it asked us to stay away; 0 if it did not say
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("search %s: %s", e.Backend, e.Code)
	}
	return fmt.Sprintf("search %s: %s: %s", e.Backend, e.Code, e.Detail)
}

// Result is what came of a search.
type Result struct {
	Hits    []turn.Hit   // merged, best first; the caller owns them
	Asked   []turn.Asked // every backend asked, in the order of asking
	State   turn.State   // turn.Found, turn.Empty (all have looked and found nothing) or turn.LookupFailed
	Failure turn.Code    // for LookupFailed: of the first backend that failed
	Reason  string       // for LookupFailed, and where Stale is not 0: every backend that failed, with its code
	Cached  bool         // nothing left the machine for this result
	// Stale is the age of the oldest answer, where nobody could look and earlier answers of the last 24 hours stand in:
	// State is then Found, and each of Asked says how old its hits are.
	Stale time.Duration

	complete bool      // no backend failed, not even in part
	oldest   time.Time // when the first of the answers came
}
