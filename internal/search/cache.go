package search

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"familiar/internal/cache"
	"familiar/internal/context/turn"
)

// The cache has two levels: the answer of each backend, and the merged result. It keeps only answers with hits, and only results that no
// backend is missing from. So an outage does not outlive itself. A Disk keeps answers after a restart.
const (
	keepAnswer = time.Hour
	keepResult = 30 * time.Minute
	keepNew    = 15 * time.Minute // for both levels, if the intent is weather or news
	// keepStale is how long an answer may replace a failure.
	keepStale = 24 * time.Hour

	maxAnswers = 6 << 20 // bytes of text, approximately
	maxResults = 2 << 20
)

// key holds everything that an answer depends on. Queries that differ only in case, spaces or Unicode normalization
// share a key. Letters are never dropped, or all Japanese queries would be equal.
type key struct {
	backend                       string // empty: the merged result; only then are kind and backends set
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
		return "" // the usual case
	}
	return strings.Join(slices.Sorted(slices.Values(names)), " ")
}

// cachedResult is a merged result.
type cachedResult struct {
	Result
	at time.Time
}

// cachedResult returns a copy of the result of an earlier search. The caller owns it.
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

// cacheResult keeps a result to which every backend contributed.
func (e *Engine) cacheResult(k key, r Result) {
	if r.State == turn.Found && r.complete {
		e.results.Set(k, cachedResult{r.clone(), e.now()})
	}
}

// clone returns a copy that shares no slice with r.
func (r Result) clone() Result {
	r.Hits, r.Asked = slices.Clone(r.Hits), slices.Clone(r.Asked)
	for i := range r.Hits {
		r.Hits[i].Also, r.Hits[i].Twins = slices.Clone(r.Hits[i].Also), slices.Clone(r.Hits[i].Twins)
	}
	return r
}

// useStale replaces failures by cached answers of the same backends to the same question, up to a day old. It returns
// the age of the oldest of them, or 0 if there is none.
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

// lifetime returns how long an answer counts as fresh.
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

// Disk keeps the answers of backends in a directory for keepStale, so that they survive a restart. A nil Disk keeps
// nothing.
//
// Its files hold neither queries nor keys. But answers reveal the question, so the directory is private like that of
// [cache.Disk].
type Disk struct{ answers *cache.Disk[file] }

// fileVersion is the version of the file format. Change it when the meaning of a [turn.Hit] changes.
const fileVersion = 1

// file is an answer on disk. It expires keepStale after the answer arrived.
type file struct {
	Hits   []fileHit
	Failed *Error // why hits are missing; nil if none are
}

// fileHit is a hit with its text, which turn.Hit leaves out of JSON.
type fileHit struct {
	turn.Hit
	Text string
}

// OpenDisk opens dir for at most bytes bytes of answers, and creates it if needed. setup names what answers depend on
// besides the query; answers of another setup are not found. It fails if dir cannot be created, or if other users may
// write to it.
func OpenDisk(dir, setup string, bytes int64) (*Disk, error) {
	answers, err := cache.OpenDisk[file](cache.DiskConfig{
		Dir: dir, Kind: "answer", Version: fileVersion, Policy: setup, Bytes: bytes, Longest: keepStale, Now: time.Now,
	})
	if err != nil {
		return nil, err
	}
	return &Disk{answers}, nil
}

// Clear removes all answers.
func (d *Disk) Clear() error {
	if d == nil {
		return nil
	}
	return d.answers.Clear()
}

// Close closes the directory.
func (d *Disk) Close() error {
	if d == nil {
		return nil
	}
	return d.answers.Close()
}

// get returns the answer to k. It drops hits that today's rules would not accept.
func (d *Disk) get(k key) (answer, bool) {
	if d == nil {
		return answer{}, false
	}
	var a answer
	entry, ok := d.answers.Get(fmt.Sprintf("%#v", k), func(f file) bool {
		for _, h := range f.Hits {
			h.Hit.Text = h.Text
			if c, ok := candidateOf(h.Hit); ok && h.Backend == k.backend {
				a.hits = append(a.hits, c)
			}
		}
		return len(a.hits) > 0
	})
	if !ok {
		return answer{}, false
	}
	a.at = entry.Till.Add(-keepStale)
	if entry.Value.Failed != nil {
		a.err = entry.Value.Failed
	}
	return a, true
}

// put writes an answer that has hits.
func (d *Disk) put(k key, a answer) {
	if d == nil || len(a.hits) == 0 {
		return
	}
	var f file
	for _, c := range a.hits {
		f.Hits = append(f.Hits, fileHit{c.Hit, c.Text})
	}
	if err := asError(k.backend, a.err); err != nil {
		f.Failed = &Error{Backend: err.Backend, Code: err.Code, Detail: err.Detail}
	}
	d.answers.Put(fmt.Sprintf("%#v", k), cache.Entry[file]{Value: f, Till: a.at.Add(keepStale)})
}

// recall loads an answer from disk if memory has no fresh one, and reports whether it did.
func (e *Engine) recall(k key) bool {
	if a, ok := e.answers.Get(k); ok && e.fresh(k, a) {
		return false
	}
	old, ok := e.Disk.get(k) // without the lock: a disk may be slow
	if !ok {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if a, ok := e.answers.Get(k); ok && !a.at.Before(old.at) {
		return false
	}
	e.answers.Set(k, old)
	return true
}

// fresh reports whether an answer can be used in place of a new one.
func (e *Engine) fresh(k key, a answer) bool {
	return e.now().Before(a.at.Add(lifetime(k.intent, keepAnswer)))
}
