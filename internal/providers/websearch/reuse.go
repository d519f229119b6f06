package websearch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/question"
	"familiar/internal/text"
)

// reuseCache keeps the results of lookups for similar questions that follow soon. It is in memory only, since results
// are old after an hour. The zero value is ready.
type reuseCache struct {
	mu      sync.Mutex
	entries []*reuseEntry // oldest first; guarded by mu
	bytes   int           // size of the texts; guarded by mu
}

// reuseEntry is the search and the pages of a successful lookup. It must not change.
type reuseEntry struct {
	scope   string // who may use it, and the rules that made it
	turn    string
	query   string
	intent  turn.Intent
	fresh   string
	lang    string
	at      time.Time
	hits    []turn.Hit
	pages   []turn.Page // refused by the rules
	sources []source    // without their indexes
	bytes   int
}

const (
	maxReuseEntries = 64
	maxReuseBytes   = 4 << 20 // size of page texts
	similarity      = 0.7     // least Jaccard index of similar queries
)

// window returns how long a result counts as fresh.
func window(intent turn.Intent, fresh string) time.Duration {
	switch {
	case intent == turn.IntentWeather || intent == turn.IntentNews || fresh == "day":
		return 15 * time.Minute
	case intent == turn.IntentForum || intent == turn.IntentGeneral || fresh != "":
		return 30 * time.Minute
	}
	return time.Hour
}

// scope identifies who may use a result: those who see the channel of the question, since the record shows it. A change
// of the rules or of feedback ends the reuse.
func (r *run) scope() string {
	return strings.Join([]string{r.req.Character, r.req.GuildID, r.req.ChannelID, r.req.Web.Site, r.pol.version(), r.feedback.version()}, "\n")
}

// recall uses the pages of an earlier lookup with a similar query, if there is one.
func (r *run) recall() ([]source, bool) {
	if len(r.plan.Queries) == 0 || r.plan.Refresh {
		return nil, false
	}
	e := r.p.reuse.find(r.scope(), &r.plan, r.now)
	if e == nil {
		return nil, false
	}
	r.look.Cached = true
	r.look.Reused = &turn.Reuse{Turn: e.turn, Query: e.query, Age: r.now.Sub(e.at)}
	r.look.Hits, r.look.Pages = slices.Clone(e.hits), append(r.look.Pages, e.pages...)
	sources := slices.Clone(e.sources)
	for i := range sources {
		if s := &sources[i]; s.good() {
			s.page.Cached = true
			s.prepare(s.forum)
		}
	}
	return sources, true
}

// remember keeps the result of a search.
func (r *run) remember(refused []turn.Page, sources []source) {
	if r.look.State != turn.Found || r.look.Reused != nil || r.look.Stale > 0 {
		return
	}
	e := &reuseEntry{scope: r.scope(), turn: r.req.ID, query: r.plan.Queries[0], intent: r.plan.Intent, fresh: r.plan.Fresh, lang: r.plan.Language,
		at: r.now, hits: slices.Clone(r.look.Hits), pages: refused, sources: slices.Clone(sources)}
	for i := range e.sources {
		e.sources[i].folded, e.sources[i].framing, e.sources[i].page.N = "", nil, 0
		e.bytes += len(e.sources[i].page.Text)
	}
	for i := range e.hits {
		e.bytes += len(e.hits[i].Text) + len(e.hits[i].Snippet)
	}
	r.p.reuse.add(e)
}

// Forget drops all kept results, so that the next questions are looked up again.
func (p *Provider) Forget() {
	p.reuse.mu.Lock()
	defer p.reuse.mu.Unlock()
	p.reuse.entries, p.reuse.bytes = nil, 0
}

func (m *reuseCache) add(e *reuseEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.bytes > maxReuseBytes/4 {
		return
	}
	m.entries = append(m.entries, e)
	m.bytes += e.bytes
	for len(m.entries) > maxReuseEntries || m.bytes > maxReuseBytes {
		m.bytes -= m.entries[0].bytes
		m.entries = slices.Delete(m.entries, 0, 1)
	}
}

// find returns the newest entry that serves the plan, or nil.
func (m *reuseCache) find(scope string, p *question.Plan, now time.Time) *reuseEntry {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range slices.Backward(m.entries) {
		age := now.Sub(e.at)
		if e.scope == scope && e.intent == p.Intent && e.fresh == p.Fresh && e.lang == p.Language &&
			0 <= age && age < window(e.intent, e.fresh) && similarQueries(e.query, p.Queries[0]) {
			return e
		}
	}
	return nil
}

// similarQueries reports whether two queries ask the same in nearly the same words. Words of meaning must be equal and
// in order. The others may differ, but not in times, question words and negations.
func similarQueries(a, b string) bool {
	wa, wb := text.Words(a), text.Words(b)
	if text.Unspaced(a) || text.Unspaced(b) {
		return text.OneLine(strings.ToLower(a)) == text.OneLine(strings.ToLower(b))
	}
	inA, inB := text.Keys(wa), text.Keys(wb)
	return text.Jaccard(slices.Sorted(maps.Keys(inA)), slices.Sorted(maps.Keys(inB))) > similarity &&
		interchangeable(a, wa, inB) && interchangeable(b, wb, inA) && slices.Equal(contentKeys(wa), contentKeys(wb))
}

// contentKeys returns the words of meaning of a query, in order. "from Rome to Oslo" is not "from Oslo to Rome".
func contentKeys(words []text.Word) []string {
	var keys []string
	for _, w := range words {
		if !text.StopWords()[w.Key] && !idleWords()[w.Key] {
			keys = append(keys, w.Key)
		}
	}
	return keys
}

// idleWords never make a difference.
var idleWords = text.LazySet(func() text.WordList { return text.AllTables().Reuse.Neutral })

// interchangeable reports whether the words that the other query lacks make no difference.
func interchangeable(s string, words []text.Word, other map[string]bool) bool {
	for i, w := range words {
		_, isDay := text.Weekday(w.Key)
		switch {
		case other[w.Key]:
		case w.Upper && !text.StopWords()[w.Key], strings.ContainsAny(w.Key, "0123456789"), decisive()[w.Key], text.MonthNames()[w.Key] > 0, isDay:
			return false
		case i > 0 && text.Prepositions()[words[i-1].Key]:
			return false
		case len(question.Times().FindAll(s[w.Start:w.End], words[i:i+1])) > 0:
			return false
		}
	}
	return true
}

// decisive are function words that change a question: question words, negations and comparisons.
var decisive = text.LazySet(func() text.WordList { return text.AllTables().Reuse.Decisive })

// version identifies the rules that a result was made by.
func (p Policy) version() string {
	return fmt.Sprint(p.Domains.Version(), p.DeniedTopics, p.Pages, p.PerDomain, p.Queries, p.Depth, p.Backends, p.trustVersion())
}
