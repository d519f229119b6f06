package factcheck

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"familiar/internal/text"
)

// matcher is a statement, prepared for being compared with the sentences of a page. Words are compared by their grams,
// which survive most endings and misspellings, and by the fields that they belong to (field.go).
type matcher struct {
	text   string          // the statement, amounts in digits
	keys   map[string]bool // all its words
	terms  []term          // its words of content, but for those of the page's title
	grams  map[string]int  // of its words of content, numbered
	fields map[int]int     // of its terms, numbered

	numbered bool // a term is a number
}

// term is one word of a statement.
type term struct {
	key           string
	name          bool
	grams, fields []int // the set of their numbers
}

// newMatcher prepares a statement for a page with that title. The words of the title say nothing in the page's
// sentences, which are all about them, unless the statement has no others.
func newMatcher(statement, title string) *matcher {
	m := &matcher{text: text.InDigits(statement), grams: map[string]int{}, fields: map[int]int{}}
	m.keys = text.Keys(text.Words(m.text))
	inTitle := map[string]bool{}
	for _, w := range text.ContentWords(title) {
		for _, g := range grams(w.Key) {
			inTitle[g] = true
		}
	}
	var titled []term
	seen := map[string]bool{}
	for _, w := range text.ContentWords(m.text) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		t, shared := term{key: w.Key, name: w.Upper && w.Start > 0}, 0
		all := grams(w.Key)
		for _, g := range all {
			if inTitle[g] {
				shared++
			}
			t.grams = append(t.grams, number(m.grams, g))
		}
		t.grams = text.Unique(t.grams)
		if shared*10 >= len(all)*7 {
			titled = append(titled, t)
		} else {
			m.terms = append(m.terms, t)
		}
	}
	if len(m.terms) == 0 {
		m.terms = titled
	}
	for i := range m.terms {
		t := &m.terms[i]
		m.numbered = m.numbered || !notNumber(*t)
		for _, f := range fieldsOf[text.Stem(t.key, "en")] {
			t.fields = append(t.fields, number(m.fields, f))
		}
	}
	return m
}

// number returns the number of a key, a new one if it has none.
func number[K comparable](numbers map[K]int, k K) int {
	n, is := numbers[k]
	if !is {
		n = len(numbers)
		numbers[k] = n
	}
	return n
}

// gramLength, in characters, is short enough for most endings and misspellings to leave a gram of a word.
const gramLength = 4

// grams returns the runs of a few characters of a word with its two ends.
func grams(key string) []string {
	if text.Unspaced(key) {
		return text.Pairs(key)
	}
	key = "#" + key + "#"
	out := make([]string, 0, len(key))
	from := 0
	for end, n := 0, 0; end < len(key); {
		_, size := utf8.DecodeRuneInString(key[end:])
		end += size
		if n++; n < gramLength {
			continue
		}
		out = append(out, key[from:end])
		_, size = utf8.DecodeRuneInString(key[from:])
		from += size
	}
	if len(out) == 0 {
		return append(out, key)
	}
	return out
}

// passage is a sentence as a matcher sees it.
type passage struct {
	index         int // among the sentences of its page
	text          string
	grams, fields []int // the set of the numbers of the statement's that are in it
	score         float64
}

// fieldWeight is what a word of the same field counts beside a gram.
const fieldWeight = 0.15

// passages returns the sentences by what of the statement they hold, rare things first, best first.
func (m *matcher) passages(sentences []string) []passage {
	out := make([]passage, len(sentences))
	for i, s := range sentences {
		out[i] = m.read(s)
		out[i].index = i
	}
	gramsIn, fieldsIn := m.count(out)
	weights, whole := make([]float64, len(m.grams)), 0.0
	for _, t := range m.terms {
		for _, g := range t.grams {
			weights[g] = text.IDF(gramsIn[g], len(out))
		}
	}
	for _, w := range weights {
		whole += w
	}
	for i := range out {
		p, held := &out[i], 0.0
		for _, g := range p.grams {
			held += weights[g]
		}
		p.score += held / max(whole, 1e-9)
		for _, f := range p.fields {
			p.score += fieldWeight * text.IDF(fieldsIn[f], len(out))
		}
	}
	slices.SortStableFunc(out, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return out
}

// read looks for the statement's pieces in one sentence. Long sentences and those with a number say more.
func (m *matcher) read(sentence string) passage {
	p := passage{text: sentence}
	numbers := false
	seen := map[string]bool{}
	for _, w := range text.ContentWords(text.InDigits(sentence)) {
		if seen[w.Key] {
			continue
		}
		seen[w.Key] = true
		numbers = numbers || text.Numeric(w.Key) || text.SpelledNumbers[w.Key]
		for _, g := range grams(w.Key) {
			if n, is := m.grams[g]; is {
				p.grams = append(p.grams, n)
			}
		}
		if len(m.fields) > 0 && utf8.RuneCountInString(w.Key) > 1 {
			for _, f := range fieldsOf[text.Stem(w.Key, "en")] {
				if n, is := m.fields[f]; is {
					p.fields = append(p.fields, n)
				}
			}
		}
	}
	p.grams, p.fields = text.Unique(p.grams), text.Unique(p.fields)
	p.score = 0.1*math.Log1p(float64(len(seen))) + 0.05*indicator(numbers)
	return p
}

// count counts the passages that have each gram and each field.
func (m *matcher) count(passages []passage) (grams, fields []int) {
	grams, fields = make([]int, len(m.grams)), make([]int, len(m.fields))
	for _, p := range passages {
		for _, g := range p.grams {
			grams[g]++
		}
		for _, f := range p.fields {
			fields[f]++
		}
	}
	return grams, fields
}

const (
	enough    = 0.5 // share of a word's grams from which on the word is there
	sameField = 0.7 // the share that a word of the same field counts for
)

// held returns how much of each term these passages hold together, from 0 to 1.
func (m *matcher) held(passages []passage) []float64 {
	grams, fields := m.count(passages)
	out := make([]float64, len(m.terms))
	for i, t := range m.terms {
		n := 0
		for _, g := range t.grams {
			n += min(1, grams[g])
		}
		out[i] = float64(n) / float64(max(1, len(t.grams)))
		if slices.ContainsFunc(t.fields, func(f int) bool { return fields[f] > 0 }) {
			out[i] = max(out[i], sameField)
		}
	}
	return out
}
