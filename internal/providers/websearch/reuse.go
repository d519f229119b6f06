package websearch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/question"
	"familiar/internal/lookup/utterance"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
	"familiar/internal/text/lang"
)

// reuseCache holds what lookups have found, for the like questions that come soon after. It is kept in the process alone:
// what is in it is old within the hour, and after a restart the pages that were read are asked for again. Its zero value
// is ready.
type reuseCache struct {
	mu      sync.Mutex
	entries []*reuseEntry // oldest first; guarded by mu
	bytes   int           // of their texts; guarded by mu
}

// reuseEntry is the search and the pages of one lookup that found something. It is not changed once it is kept.
type reuseEntry struct {
	scope   string // who may be given it, and under which rules it was made
	turn    string
	query   string
	intent  turn.Intent
	fresh   string
	lang    string
	at      time.Time
	hits    []turn.Hit
	pages   []turn.Page // those that the rules refused
	sources []source    // without their indexes
	bytes   int
}

const (
	maxReuseEntries = 64
	maxReuseBytes   = 4 << 20 // bytes of page text
	similarity      = 0.7     // Jaccard index above which two queries are one
)

// window is how long what was found is as good as new.
func window(intent turn.Intent, fresh string) time.Duration {
	switch {
	case intent == turn.IntentWeather || intent == turn.IntentNews || fresh == "day":
		return 15 * time.Minute
	case intent == turn.IntentForum || intent == turn.IntentGeneral || fresh != "":
		return 30 * time.Minute
	}
	return time.Hour
}

// scope names who may be given what a lookup found: those who can see the channel in which it was asked, for the record
// tells the question. A change of the rules, or of what people said of sources, ends it.
func (r *run) scope() string {
	return strings.Join([]string{r.req.Character, r.req.GuildID, r.req.ChannelID, r.req.Web.Site, r.pol.version(), r.feedback.version()}, "\n")
}

// recall gives the lookup the pages of an earlier one, if there is one whose query is like this one's.
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

// remember keeps what a search found.
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

// Forget forgets what lookups have found: what is asked next is looked up anew.
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

// find returns the newest recollection that serves the plan, or nil.
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

// similarQueries reports whether two queries ask the same in nearly the same words: most of them are shared, those of
// meaning are the same in the same order, and none of the others is a time, a question word or a denial.
func similarQueries(a, b string) bool {
	wa, wb := text.Words(a), text.Words(b)
	if text.Unspaced(a) || text.Unspaced(b) {
		return text.OneLine(strings.ToLower(a)) == text.OneLine(strings.ToLower(b))
	}
	inA, inB := text.Keys(wa), text.Keys(wb)
	return text.Jaccard(slices.Sorted(maps.Keys(inA)), slices.Sorted(maps.Keys(inB))) > similarity &&
		interchangeable(a, wa, inB) && interchangeable(b, wb, inA) && slices.Equal(contentKeys(wa), contentKeys(wb))
}

// contentKeys are the words of meaning of a query in their order, for "from Rome to Oslo" is another way than from Oslo to Rome.
func contentKeys(words []text.Word) []string {
	var keys []string
	for _, w := range words {
		if !text.StopWords[w.Key] && !idleWords[w.Key] {
			keys = append(keys, w.Key)
		}
	}
	return keys
}

// idleWords make no other question.
var idleWords = text.Set(lang.All().Reuse.Neutral)

// interchangeable reports whether the words that the other query lacks make no difference to what is asked.
func interchangeable(s string, words []text.Word, other map[string]bool) bool {
	for i, w := range words {
		_, isDay := calendar.Weekday(w.Key)
		switch {
		case other[w.Key]:
		case w.Upper && !text.StopWords[w.Key], strings.ContainsAny(w.Key, "0123456789"), decisive[w.Key], text.MonthNames[w.Key] > 0, isDay:
			return false
		case i > 0 && text.Prepositions[words[i-1].Key]:
			return false
		case len(utterance.Times.FindAll(s[w.Start:w.End], words[i:i+1])) > 0:
			return false
		}
	}
	return true
}

// decisive are small words that make another question: those that ask, those that deny, and those that turn a
// comparison around.
var decisive = text.Set(lang.All().Reuse.Decisive)

// version names the rules under which something was found: what was found under others is not given out.
func (p Policy) version() string {
	return fmt.Sprint(p.Domains.Version(), p.DeniedTopics, p.Pages, p.PerDomain, p.Queries, p.Depth, p.Backends, p.trustVersion())
}
