package outgoing

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/claim"
)

// Marker checks what a reply cites against the pages that were read. It may be used by several goroutines.
type Marker struct {
	Lookup *turn.Lookup // nil: there was none, and nothing is marked

	mu      sync.Mutex
	pages   map[int]*claim.Page  // by source, made when it is first cited; guarded by mu
	results map[statement]result // what was checked before: a growing reply is marked again and again; guarded by mu
}

// statement is a group of citations and the words that they stand for.
type statement struct{ group, words string }

// result is how a group is written, what was refused of it, and how many citations it has.
type result struct {
	marked  string
	refused []turn.Citation
	n       int
}

// result checks a group of citations, once.
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
	m.results[statement{strings.Clone(of.group), strings.Clone(of.words)}] = r // not the whole text with it
	return r
}

// unchecked is why a citation is marked if the check itself panics.
const unchecked = "not checked"

// check writes a group of citations with their marks.
func (m *Marker) check(of statement) (r result) {
	numbers := oneCitation.FindAllStringSubmatchIndex(of.group, -1)
	why := make([]string, len(numbers))
	defer func() {
		if recover() != nil { // it ends this check alone, and is on record
			for i := range why {
				why[i] = unchecked
			}
			r = of.refuse(numbers, why)
		}
	}()
	pages := make([]*claim.Page, len(numbers))
	for i, at := range numbers {
		source, _ := strconv.Atoi(of.group[at[2]:at[3]])
		if pages[i] = m.page(source); pages[i] == nil { // not ours: the guard's matter
			return result{marked: strings.Clone(of.group)}
		}
	}
	return of.refuse(numbers, claim.CheckCitation(of.words, pages))
}

// refuse writes the group, in which the citations stand at numbers, with a mark on each that there is a reason to refuse.
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

// page returns what was read of a source; nil if there is no such source.
func (m *Marker) page(n int) *claim.Page {
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
		m.pages = map[int]*claim.Page{}
	}
	m.pages[n] = claim.NewPage(texts...)
	return m.pages[n]
}
