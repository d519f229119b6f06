package search

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/time/rate"

	"familiar/internal/context/turn"
	"familiar/internal/lru"
)

// The cache has two levels: the answer of each backend, and the merged result. Only what found something is kept, and of
// the results only those that no backend is missing from: an outage must not outlive itself. The answers may be on disk
// too (disk.go).
const (
	keepAnswer = time.Hour
	keepResult = 30 * time.Minute
	keepNew    = 15 * time.Minute // of both, for weather and news
	// keepStale is how long an answer may stand in where nobody can look.
	keepStale = 24 * time.Hour

	maxAnswers = 6 << 20 // bytes of text, about
	maxResults = 2 << 20
)

// key is everything that decides an answer. Queries share one that differ only in case, in spaces or in how Unicode
// spells them. Letters are never dropped, or every Japanese query would be the same.
type key struct {
	backend                       string // empty: the merged result, which the last line decides too
	text                          string
	intent                        turn.Intent
	language, fresh, place, depth string
	safe, include, exclude        string
	limit                         int
	kind, backends                string
}

func keyOf(backend string, q Query) key {
	fold := func(s string) string {
		return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(s), " ")))
	}
	return key{
		backend: backend, text: fold(q.Text), intent: q.Intent, language: strings.ToLower(q.Language), fresh: q.Fresh,
		place: fold(q.Place), depth: q.Depth, safe: q.Safe, include: sorted(q.Include), exclude: sorted(q.Exclude), limit: q.Limit,
	}
}

func resultKey(q Query) key {
	k := keyOf("", q)
	k.kind, k.backends = q.Type, sorted(q.Backends)
	return k
}

func sorted(names []string) string {
	if len(names) == 0 {
		return "" // as nearly always
	}
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// cachedResult is a result of the second level.
type cachedResult struct {
	Result
	at time.Time
}

// cachedResult returns the result of an earlier search, for its caller to own.
func (e *Engine) cachedResult(k key, q Query) (Result, bool) {
	r, ok := e.results.Get(k)
	now := e.now()
	age := now.Sub(r.at)
	if !ok || q.NoCache || age >= lifetime(q.Intent, keepResult) || now.Sub(r.oldest) >= lifetime(q.Intent, keepAnswer) {
		return Result{}, false
	}
	r.Result = r.clone()
	r.Cached = true
	for i := range r.Hits {
		r.Hits[i].Age += age
	}
	for i := range r.Asked {
		r.Asked[i].Took, r.Asked[i].Detail = 0, cachedDetail
	}
	return r.Result, true
}

// cacheResult keeps a result that no backend is missing from.
func (e *Engine) cacheResult(k key, r Result) {
	if r.State == turn.Found && r.complete {
		e.results.Set(k, cachedResult{r.clone(), e.now()})
	}
}

// clone returns a copy that shares nothing which a caller may change.
func (r Result) clone() Result {
	r.Hits, r.Asked = slices.Clone(r.Hits), slices.Clone(r.Asked)
	for i := range r.Hits {
		r.Hits[i].Also, r.Hits[i].Twins = slices.Clone(r.Hits[i].Also), slices.Clone(r.Hits[i].Twins)
	}
	return r
}

// useStale replaces failures by what the same backends answered to the same question within a day, and returns the age
// of the oldest of these answers: 0 if there is none.
func (e *Engine) useStale(q Query, sources []*source, answers []answer) (oldest time.Duration) {
	for i, s := range sources {
		old, ok := e.answers.Get(keyOf(s.Name(), q))
		age := e.now().Sub(old.at)
		if !ok || answers[i].ok() || age >= keepStale {
			continue
		}
		answers[i].hits, answers[i].at, answers[i].stale = old.hits, old.at, max(age, 1)
		oldest = max(oldest, answers[i].stale)
	}
	return oldest
}

// open makes the sources and the caches.
func (e *Engine) open() {
	e.memory.used = map[string]int{}
	for _, b := range e.Backends {
		e.sources = append(e.sources, e.newSource(b))
	}
	e.bucket = rate.NewLimiter(globalPerSecond, globalBurst)
	e.flights.Timeout = cmp.Or(e.Timeout, defaultTimeout)
	e.callers = map[string]*rate.Limiter{}
	e.answers = lru.New(maxAnswers, func(k key, a answer) int64 { return a.size() + int64(len(k.text)) + 200 })
	e.results = lru.New(maxResults, func(k key, r cachedResult) int64 { return r.size() + int64(len(k.text)) + 200 })
}

// lifetime is how long an answer is as good as a new one, given how long it usually is.
func lifetime(intent turn.Intent, usual time.Duration) time.Duration {
	if intent == turn.IntentWeather || intent == turn.IntentNews {
		return keepNew
	}
	return usual
}

func (a answer) size() int64 {
	n := 0
	for i := range a.hits {
		h := &a.hits[i]
		n += 2*len(h.Title) + 2*len(h.Snippet) + len(h.Text) + 3*len(h.URL) + 300
	}
	return int64(n)
}

func (r Result) size() int64 {
	n := 100 * len(r.Asked)
	for i := range r.Hits {
		h := &r.Hits[i]
		n += len(h.Title) + len(h.Snippet) + len(h.Text) + len(h.URL) + 300
	}
	return int64(n)
}

func (e *Engine) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}
