package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/text/unicode/norm"
)

// How long an answer that found something is kept. One that failed or found nothing is not kept at all: an outage
// must not outlive itself.
const (
	keepFor      = 30 * time.Minute
	keepFreshFor = 15 * time.Minute // weather and news
	maxKept      = 8 << 20          // bytes of text, about
)

// key is everything that decides a backend's answer. Queries that differ only in case, in spaces or in how Unicode
// spells them share one; letters are never dropped, or every Japanese query would be the same.
type key struct {
	backend, text, intent, language, fresh, place, include string
	limit                                                  int
}

func keyOf(backend string, q Query) key {
	fold := func(s string) string {
		return strings.ToLower(norm.NFC.String(strings.Join(strings.Fields(s), " ")))
	}
	return key{
		backend: backend, text: fold(q.Text), intent: q.Intent, language: strings.ToLower(q.Language),
		fresh: q.Fresh, place: fold(q.Place), include: strings.Join(slices.Sorted(slices.Values(q.Include)), " "), limit: q.Limit,
	}
}

// call is one backend being asked, for everybody who wants the same at the same time.
type call struct {
	cancel  context.CancelFunc
	waiting map[*arrival]chan<- arrival // guarded by Engine.mu; by a token for each who waits, which holds its index
}

// ask sees to it that the answer of s to q, and nothing else, arrives with index i: from the cache, from a call
// that is on its way already, or from a new one. The function returned ends the interest in it; a call that nobody
// waits for any more is cancelled.
func (e *Engine) ask(ctx context.Context, s *station, q Query, i int, arrivals chan<- arrival) (leave func()) {
	k := keyOf(s.Name(), q)
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.kept.GetIfPresent(k); ok && e.now().Before(a.at.Add(lifetime(q.Intent))) {
		a.took, a.cached = 0, true
		arrivals <- arrival{i, a}
		return func() {}
	}
	c := e.calls[k]
	if c == nil {
		// The call must not end with whoever happened to be first; its deadline is its own.
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), or(e.Timeout, defaultTimeout))
		c = &call{cancel: cancel, waiting: map[*arrival]chan<- arrival{}}
		e.calls[k] = c
		e.tasks.Go(func() { e.finish(k, s, c, look(own, s.Backend, q.told())) })
	}
	token := &arrival{i: i}
	c.waiting[token] = arrivals
	return func() { e.leave(k, c, token) }
}

// finish keeps an answer worth keeping and hands it to all who wait.
func (e *Engine) finish(k key, s *station, c *call, a answer) {
	c.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	if a.looked() {
		s.pace.add(a.took)
	}
	if a.at = e.now(); len(a.hits) > 0 {
		e.kept.Set(k, a)
	}
	if e.calls[k] == c {
		delete(e.calls, k)
	}
	for token, arrivals := range c.waiting {
		arrivals <- arrival{token.i, a}
	}
	c.waiting = nil
}

func (e *Engine) leave(k key, c *call, token *arrival) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(c.waiting, token)
	if len(c.waiting) == 0 {
		c.cancel()
		if e.calls[k] == c { // whoever comes next must not be given a cancelled call
			delete(e.calls, k)
		}
	}
}

// open makes the cache. Times are checked on reading, so that it needs no goroutine of its own.
func (e *Engine) open() {
	e.calls = map[key]*call{}
	for _, b := range e.Backends {
		e.stations = append(e.stations, stationOf(b))
	}
	e.kept = otter.Must(&otter.Options[key, answer]{
		MaximumWeight: maxKept,
		Weigher:       func(k key, a answer) uint32 { return a.size() + uint32(len(k.text)) + 200 },
		Executor:      func(f func()) { f() },
	})
}

// lifetime is how long an answer is as good as a new one.
func lifetime(intent string) time.Duration {
	if intent == "weather" || intent == "news" {
		return keepFreshFor
	}
	return keepFor
}

func (a answer) size() uint32 {
	n := 0
	for i := range a.hits {
		h := &a.hits[i]
		n += 2*len(h.Title) + 2*len(h.Snippet) + len(h.Text) + 3*len(h.URL) + 300
	}
	return uint32(n)
}

func (e *Engine) now() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}
