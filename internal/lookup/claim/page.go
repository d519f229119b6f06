// Package claim checks whether pages bear out what is said of them. It has rules and one small model, and errs towards refusing.
//
// A [Page] is the text of a page, prepared for checks. [CheckCitation] (cite.go, number.go) checks a sentence of a reply
// that cites pages: what is exact must be on one of them, as it is or rounded, and no page may say the opposite.
//
// polarity.go tells a statement from its denial, here and for the fact check.
package claim

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/text"
)

// Page is the text of a page, prepared for checks. What they look up in it is made when the first of them does, and
// never changed. A Page is safe for concurrent use.
type Page struct {
	text  string // white space folded
	lines string // as it came

	index            func() *index
	values           func() []float64          // of its numbers
	spoken           func() string             // its words without what stands between them
	undated          func() map[text.Date]bool // days and months that it has without a year
	places           func() map[string][]int32 // of its words of content, by stem
	language         func() string
	clauses, denials func() []clause // of all its sentences, and of those with a word that denies
}

// index is what stands on a page.
type index struct {
	words   map[string]bool // by key
	keys    []string        // each once
	order   []int32         // all words, as places in keys
	numbers map[string]bool // canonical
	dates   map[text.Date]bool
}

// NewPage prepares the text of a page, together with what else is known of it: its title, its date.
func NewPage(texts ...string) *Page {
	lines := strings.Join(texts, "\n")
	folded := text.OneLine(lines)
	p := &Page{text: folded, lines: lines}
	p.index = sync.OnceValue(func() *index { return newIndex(folded) })
	p.values = sync.OnceValue(func() []float64 { return append(valuesOf(folded), spelledValues(folded)...) })
	p.undated = sync.OnceValue(func() map[text.Date]bool { return undatedOf(folded) })
	p.spoken = sync.OnceValue(func() string { return spoken(folded) })
	p.places = sync.OnceValue(func() map[string][]int32 { return placesOf(p.index().order, p.index().keys) })
	p.language = sync.OnceValue(func() string {
		start := text.Truncate(lines, 2000)
		return text.Language(start, text.Words(start))
	})
	p.clauses = sync.OnceValue(func() []clause { return clausesOf(lines, nil) })
	p.denials = sync.OnceValue(func() []clause {
		if !text.Intersects(p.index().words, denialWords) {
			return nil
		}
		return clausesOf(lines, denialWords)
	})
	return p
}

func newIndex(s string) *index {
	x := &index{words: make(map[string]bool, len(s)/20), numbers: map[string]bool{}, dates: map[text.Date]bool{}}
	words := text.Words(s)
	numbers := make(map[string]int32, len(s)/20)
	x.order = make([]int32, len(words))
	for i, w := range words {
		n, is := numbers[w.Key]
		if !is {
			n = int32(len(x.keys))
			numbers[w.Key], x.words[w.Key], x.keys = n, true, append(x.keys, w.Key)
		}
		x.order[i] = n
	}
	for _, n := range text.Numbers(s) {
		x.numbers[n] = true
	}
	dates, _ := text.Dates(s)
	for _, d := range dates {
		x.dates[d.Date] = true
		if d.Year > 0 && d.Day > 0 { // the page has the less exact ones, too
			x.dates[text.Date{Year: d.Year, Month: d.Month}] = true
			x.dates[text.Date{Month: d.Month, Day: d.Day}] = true
		}
	}
	return x
}

// valuesOf returns the values of a text's numbers, and of those with a word for millions behind them also the product.
func valuesOf(s string) []float64 {
	seen := map[float64]bool{}
	for _, at := range text.NumberSpans(s) {
		v, err := strconv.ParseFloat(text.CanonicalNumber(s[at.From:at.To]), 64)
		if err != nil {
			continue
		}
		seen[v] = true
		if w, ok := text.WordBehind(s[at.To:]); ok && text.Scales[w.Key] > 0 {
			seen[v*text.Scales[w.Key]] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}
