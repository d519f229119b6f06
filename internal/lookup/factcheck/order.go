package factcheck

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

//go:embed order.model
var orderFile []byte

//go:embed verify.model
var verifyFile []byte

// Models are what was learned: which sentences of a page speak of a statement, and whether they bear it out.
type Models struct{ Order, Verify *linear.Model }

var builtIn = sync.OnceValue(func() Models { return Models{linear.MustParse(orderFile), linear.MustParse(verifyFile)} })

// maxOrdered is how many passages, the best by what they hold, are put in order by all that is seen of them.
const maxOrdered = 12

// sight is one of them as it is seen beside the others.
type sight struct {
	*passage
	m     *matcher
	words []text.Word
	keys  map[string]bool
	held  []float64 // of each of the statement's terms
	below float64   // how much less it holds than the best
	worth float64
}

// sights are what is looked at. It is not how many of the words are the same: who words a statement anew avoids those of the page, and
// what has most of them is often another thing.
var sights = []linear.Trait[sight]{
	{Name: "holds", Value: func(s *sight) float64 { return s.score }},
	{Name: "holds less than the best", Value: func(s *sight) float64 { return s.below }},
	{Name: "share of terms", Value: (*sight).terms},
	{Name: "share of what is no name", Value: (*sight).nameless},
	{Name: "number where one is claimed", Value: func(s *sight) float64 { return indicator(s.m.numbered && s.numbered()) }},
	{Name: "other names", Value: (*sight).otherNames},
	{Name: "says what something is", Value: func(s *sight) float64 { return indicator(text.Intersects(s.keys, copulas)) }},
	{Name: "begins with pronoun", Value: func(s *sight) float64 { return indicator(len(s.words) > 0 && anaphors[s.words[0].Key]) }},
	{Name: "in brackets", Value: func(s *sight) float64 { return indicator(strings.Contains(s.text, "(")) }},
	{Name: "in quotation marks", Value: func(s *sight) float64 { return indicator(strings.ContainsAny(s.text, `"“”„«»`)) }},
	{Name: "one denies", Value: func(s *sight) float64 { return indicator(text.Denies(s.text) != text.Denies(s.m.text)) }},
}

var (
	anaphors = text.Set(lang.All().Evidence.Anaphors)
	copulas  = text.Set(lang.All().Evidence.Definition)
)

// order returns the indexes of the passages' sentences, those of the best in the order in which a model has them.
func (m *matcher) order(all []passage, model *linear.Model) []int {
	best := m.see(all[:min(maxOrdered, len(all))])
	for t, weight := range linear.Worth(sights, model) {
		for i := range best {
			best[i].worth += weight * sights[t].Value(&best[i])
		}
	}
	slices.SortStableFunc(best, func(a, b sight) int { return cmp.Compare(b.worth, a.worth) })
	indexes := make([]int, len(all))
	for i, p := range all {
		indexes[i] = p.index
	}
	for i, s := range best {
		indexes[i] = s.index
	}
	return indexes
}

func (m *matcher) see(best []passage) []sight {
	all := make([]sight, len(best))
	for i := range best {
		words := text.Words(best[i].text)
		all[i] = sight{passage: &best[i], m: m, words: words, keys: text.Keys(words), held: m.held(best[i : i+1]), below: best[0].score - best[i].score}
	}
	return all
}

func (s *sight) terms() float64 {
	var all []float64
	for _, held := range s.held {
		all = append(all, indicator(held >= enough))
	}
	return mean(all, 0)
}

func (s *sight) nameless() float64 {
	var all []float64
	for i, held := range s.held {
		if notName(s.m.terms[i]) {
			all = append(all, held)
		}
	}
	return mean(all, 0)
}

func (s *sight) numbered() bool {
	return slices.ContainsFunc(s.words, func(w text.Word) bool { return text.Numeric(w.Key) })
}

// otherNames counts the names within the sentence that the statement has not.
func (s *sight) otherNames() float64 {
	n := 0
	for i, w := range s.words {
		if i > 0 && w.Upper && !s.m.keys[w.Key] {
			n++
		}
	}
	return math.Log1p(float64(n))
}

// Choice returns the indexes of a page's sentences that are put in order, and what is seen of them, for training the model.
func Choice(statement, title string, sentences []string) (indexes []int, values [][]linear.Feature) {
	m := newMatcher(statement, title)
	all := m.passages(sentences)
	for _, seen := range m.see(all[:min(maxOrdered, len(all))]) {
		indexes, values = append(indexes, seen.index), append(values, linear.Seen(sights, &seen))
	}
	return indexes, values
}
