package reply

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"familiar/internal/context/turn"
	"familiar/internal/evidence"
	"familiar/internal/factcheck"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// Marker checks the citations in a reply against the pages that were read. It is safe for concurrent use.
type Marker struct {
	Lookup *turn.Lookup // nil: no lookup, and nothing is marked

	mu      sync.Mutex
	pages   map[int]*evidence.Page // guarded by mu; by source, made on first use
	results map[statement]result   // guarded by mu; earlier results, because a growing reply is marked repeatedly
}

// statement is a group of citations and the words that it supports.
type statement struct{ group, words string }

// result is the marked form of a group, its refused citations, and the number of citations.
type result struct {
	marked  string
	refused []turn.Citation
	n       int
}

// result checks a group of citations once.
func (m *Marker) result(of statement) result {
	m.mu.Lock()
	r, ok := m.results[of]
	m.mu.Unlock()
	if ok {
		return r
	}
	r = m.check(of)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil {
		m.results = map[statement]result{}
	}
	m.results[statement{strings.Clone(of.group), strings.Clone(of.words)}] = r // clones, so as not to keep the whole text alive
	return r
}

// unchecked is the reason to mark a citation if the check panics.
const unchecked = "not checked"

// check returns a group of citations with their marks.
func (m *Marker) check(of statement) (r result) {
	numbers := oneCitation.FindAllStringSubmatchIndex(of.group, -1)
	why := make([]string, len(numbers))
	defer func() {
		if recover() != nil { // a panic ends only this check, and the record shows it
			for i := range why {
				why[i] = unchecked
			}
			r = of.refuse(numbers, why)
		}
	}()
	pages := make([]*evidence.Page, len(numbers))
	for i, at := range numbers {
		source, _ := strconv.Atoi(of.group[at[2]:at[3]])
		if pages[i] = m.page(source); pages[i] == nil { // an unknown source is left to the guard
			return result{marked: strings.Clone(of.group)}
		}
	}
	return of.refuse(numbers, evidence.CheckCitation(of.words, pages))
}

// refuse marks each citation in a group that has a reason for refusal. numbers are their positions.
func (of statement) refuse(numbers [][]int, why []string) result {
	r := result{n: len(numbers)}
	var out strings.Builder
	copied := 0
	for i, why := range why {
		if why == "" {
			continue
		}
		at := numbers[i]
		out.WriteString(of.group[copied:at[3]] + "?")
		copied = at[3]
		source, _ := strconv.Atoi(of.group[at[2]:at[3]])
		r.refused = append(r.refused, turn.Citation{Source: source, Text: strings.Clone(CutUnits(strings.TrimSpace(of.words), 200)), Refused: why})
	}
	r.marked = out.String() + of.group[copied:]
	return r
}

// page returns what was read of source n, or nil if there is no such source.
func (m *Marker) page(n int) *evidence.Page {
	m.mu.Lock()
	defer m.mu.Unlock()
	if w := m.pages[n]; w != nil {
		return w
	}
	var texts []string
	for _, s := range m.Lookup.Sources {
		if s.N == n {
			texts = append(texts, s.Title, s.Site)
			for _, at := range []time.Time{s.Published, s.Fetched} {
				if !at.IsZero() {
					texts = append(texts, day(at))
				}
			}
		}
	}
	if texts == nil {
		return nil
	}
	for _, p := range m.Lookup.Pages {
		if p.N == n {
			texts = append(texts, p.Text)
		}
	}
	for _, c := range m.Lookup.Summary {
		if c.Source == n {
			texts = append(texts, c.Text, c.Quote)
		}
	}
	if m.pages == nil {
		m.pages = map[int]*evidence.Page{}
	}
	m.pages[n] = evidence.NewPage(texts...)
	return m.pages[n]
}

var (
	// group matches adjacent citations, with the links that they may be.
	group        = text.NewLazyRegexp(`^\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?(?:,? ?\[\d{1,2}\](?:\(<[^\[<>\s]*>\))?)*`)
	openGroup    = text.NewLazyRegexp(`^(?:\(<?[^\[<>\s]*>?)?\s*,? ?(?:\[\d{0,2})?\s*$`) // the possible start of a longer group
	sentenceOver = text.NewLazyRegexp(`[.!?…]["'”’)*_]*\s|[。！？]`)
	sentenceEnd  = text.NewLazyRegexp(`[.!?…]["'”’)*_]*(?:\s|$)|[。！？]`)
	lettered     = text.NewLazyRegexp(`[\pL\d]`)
)

const (
	longestGroup = 4096 // bytes; a longer group counts as several
	longestWords = 2000 // bytes of the words before a citation; more is not a sentence
)

// Mark writes [n?] for each citation that its page does not support. It returns the refused citations and the number of all citations. The
// text has passed the guard. If it is still growing, Mark returns only the settled beginning. So marks do not change later, except through
// [Marker.Settle]. The work is linear in the length of the text.
func (m *Marker) Mark(text string, growing bool) (marked string, refused []turn.Citation, n int) {
	if m == nil || m.Lookup == nil || len(m.Lookup.Sources) == 0 {
		return text, nil, 0
	}
	w := m.mark(text, growing)
	return w.out.String(), w.refused, w.n
}

func (m *Marker) mark(text string, growing bool) *marking {
	w := &marking{marker: m, s: text, end: len(text), growing: growing}
	for w.i < w.end {
		switch text[w.i] {
		case '\n':
			w.i++
			w.chunk, w.before = w.i, ""
		case '`':
			w.backticks()
		case '[':
			w.citations()
		default:
			w.i++
		}
	}
	w.out.WriteString(text[w.copied:w.end])
	return w
}

// marking is one pass through a text. Unchanged text is copied in long pieces.
type marking struct {
	marker  *Marker
	s       string
	i       int // next byte to look at
	end     int // of the settled part
	copied  int // s up to here is in out
	out     strings.Builder
	growing bool
	refused []turn.Citation
	n       int

	statements []statement

	codes    codes
	unclosed bool   // there are backticks that may still be closed, which would change the code after them
	chunk    int    // start of the words since the last citation
	before   string // the words of the last citation
}

// stop ends the marking: the text from at on is not settled.
func (w *marking) stop(at int) { w.i, w.end = at, at }

// backticks skips code, which is not marked.
func (w *marking) backticks() {
	from := w.i
	ticks, end, open := w.codes.at(w.s, from)
	switch {
	case open:
		end, w.unclosed = len(w.s), true
	case end == 0 && w.growing && mayBecomeCode(w.s, from, ticks):
		w.stop(from)
		return
	case end == 0:
		end, w.unclosed = ticks, true
	}
	w.i = end
	if !w.growing || !w.unclosed {
		return
	}
	if first := firstReference(w.s[:end], ticks); first >= 0 {
		w.stop(first)
	}
}

func (w *marking) citations() {
	g := group.FindString(w.s[w.i:min(len(w.s), w.i+longestGroup)])
	end := w.i + len(g)
	if g == "" {
		w.i++
		return
	}
	if w.growing && len(w.s)-w.i < longestGroup && openGroup.MatchString(w.s[end:]) || !w.words(end) {
		w.stop(w.i)
		return
	}
	of := statement{g, lastOf(w.before, longestWords)}
	r := w.marker.result(of)
	w.statements = append(w.statements, of)
	w.out.WriteString(w.s[w.copied:w.i])
	w.out.WriteString(r.marked)
	w.refused, w.n = append(w.refused, r.refused...), w.n+r.n
	w.i, w.copied, w.chunk = end, end, end
}

// words finds the words that the citations s[i:end] support. These are the words before them, or the words of the
// previous citations. If the citations begin a line, it is the next sentence. words reports whether that is settled.
func (w *marking) words(end int) bool {
	words := w.s[w.chunk:w.i]
	switch {
	case lettered.MatchString(words) && (evidence.Checkable(words) || endsSentence(words)):
		w.before = words
	case w.before == "" || lettered.MatchString(words):
		length := following(w.s[end:], w.growing)
		if length < 0 && w.growing {
			return false
		}
		if length < 0 {
			length = len(w.s) - end
		}
		w.before = w.s[end : end+length]
	}
	return true
}

// endsSentence reports whether s ends a statement that a citation can support, even a short one: "Yes. [1]".
func endsSentence(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, " *_\"'”’)"))
	return strings.ContainsRune(".!?…。！？", last)
}

// lastOf returns the last n bytes of s at most, without half a character.
func lastOf(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

// mayBecomeCode reports whether the unclosed backticks text[i:ticks] may begin code in a longer text.
func mayBecomeCode(text string, i, ticks int) bool {
	if ticks-i >= 3 && lineStart(text[:i]) {
		return true
	}
	return len(text)-ticks <= longestHold && !strings.Contains(text[ticks:], "\n")
}

// firstReference returns the position of the first reference in s[from:], to whatever source, or -1.
func firstReference(s string, from int) int {
	for i := from; i < len(s); i++ {
		next := strings.IndexAny(s[i:], clean.Brackets)
		if next < 0 {
			return -1
		}
		i += next
		if end, _ := clean.ReferenceAt(s, i); end > 0 {
			return i
		}
	}
	return -1
}

// following returns where the first sentence or line of s ends, or where the next citation begins. It returns -1 if there is neither. The
// end of a growing text ends no sentence.
func following(s string, growing bool) int {
	ended := sentenceEnd
	stop := strings.IndexAny(s, "\n[")
	if stop >= 0 {
		s = s[:stop]
	} else if growing {
		ended = sentenceOver
	}
	if m := ended.FindStringIndex(s); m != nil {
		return m[1]
	}
	return stop
}

// citing is a statement of a reply that cites sources.
type citing struct {
	factcheck.Citation
	sources []int
	of      statement
}

// verify has a model judge the citations of a guarded body, before they are finally marked. Its opinions are recorded. Without one, the
// rules' decision holds.
func (r Draft) verify(body string) {
	all := r.Marker.citing(body)
	asked := make([]factcheck.Citation, len(all))
	for i, c := range all {
		asked[i] = c.Citation
	}
	if !slices.ContainsFunc(asked, factcheck.Citation.Open) {
		return
	}
	began, record := time.Now(), &turn.Verified{}
	for i, o := range r.Verify(asked) {
		if o.Is == "" {
			continue
		}
		r.Marker.settle(all[i].of, factcheck.Decide(asked[i], o))
		record.Opinions = append(record.Opinions, turn.Opinion{
			Sources: all[i].sources, Text: CutUnits(strings.TrimSpace(asked[i].Words), 200), Words: strings.Join(asked[i].Refused, ","),
			Is: o.Is, Why: o.Why, Quote: o.Quote, Model: o.Model,
		})
	}
	if record.Took = time.Since(began); len(record.Opinions) > 0 {
		r.Trace.Verified = record
	}
}

// citing returns the statements of a guarded text that cite pages, each once, in order.
func (m *Marker) citing(text string) (all []citing) {
	if m == nil || m.Lookup == nil || len(m.Lookup.Sources) == 0 {
		return nil
	}
	w := m.mark(text, false)
	for _, of := range w.statements {
		if slices.ContainsFunc(all, func(c citing) bool { return c.of == of }) {
			continue
		}
		s := citing{Citation: factcheck.Citation{Words: of.words}, of: of}
		refused := map[int]string{}
		for _, c := range m.result(of).refused {
			refused[c.Source] = c.Refused
		}
		for _, at := range oneCitation.FindAllStringSubmatchIndex(of.group, -1) {
			source, _ := strconv.Atoi(of.group[at[2]:at[3]])
			s.sources, s.Pages, s.Refused = append(s.sources, source), append(s.Pages, m.page(source)), append(s.Refused, refused[source])
		}
		if !slices.Contains(s.Pages, nil) && !slices.Contains(s.Refused, unchecked) {
			all = append(all, s)
		}
	}
	return all
}

// settle makes [Marker.Mark] use refused for a statement from now on.
func (m *Marker) settle(of statement, refused []string) {
	r := of.refuse(oneCitation.FindAllStringSubmatchIndex(of.group, -1), refused)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results[of] = r
}
