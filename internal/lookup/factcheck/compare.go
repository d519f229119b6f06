package factcheck

import (
	"math"
	"slices"

	"familiar/internal/linear"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Comparison is what one page says to a statement.
type Comparison struct {
	Order    []int            // its sentences, best evidence first
	Features []linear.Feature // what the model sees, for training it
	Supports float64          // probability that the page bears the statement out
	Conflict string           // the rule by which it contradicts the statement, or ""

	best     string    // the first of its sentences
	passages []passage // by how much of the statement they hold
	held     float64   // share of the statement's words that the best passages hold
	against  int       // of the passages, the one that contradicts
}

const (
	maxPassages = 10 // that are looked at
	bestOf      = 3  // of these, those that answer if any does
)

// Compare compares a statement with the sentences of a page.
func Compare(statement, title string, sentences []string) Comparison {
	return builtIn().Compare(statement, title, sentences)
}

// Compare is the function of that name by these models.
func (models Models) Compare(statement, title string, sentences []string) Comparison {
	m := newMatcher(statement, title)
	c := Comparison{passages: m.passages(sentences), Supports: 0.5}
	c.Order = m.order(c.passages, models.Order)
	near := c.passages[:min(maxPassages, len(c.passages))]
	c.held = mean(m.held(near[:min(bestOf, len(near))]), 0)
	c.Features = m.features(near)
	if len(near) > 0 {
		c.best = sentences[c.Order[0]]
		c.Supports = models.Verify.Classify(c.Features)[1]
		c.Conflict, c.against = m.contradiction(near)
	}
	return c
}

// features are how much of the statement stands on the page: of its words, its names and its numbers, and of the words that
// make it a bold one. The model sees no words but those.
func (m *matcher) features(near []passage) []linear.Feature {
	all, first := m.held(near), m.held(near[:min(bestOf, len(near))])
	missing := 0.0
	var names, firstNames []float64
	for i, t := range m.terms {
		if all[i] < enough {
			missing++
		}
		if t.name {
			names, firstNames = append(names, all[i]), append(firstNames, first[i])
		}
	}
	words, numbers := map[string]bool{}, map[string]bool{} // on the page
	for _, p := range near {
		for _, w := range text.Words(p.text) {
			words[w.Key] = true
		}
		for _, n := range text.Numbers(text.InDigits(p.text)) {
			numbers[n] = true
		}
	}
	bold := 0.0
	for key := range m.keys {
		if absolutes[key] && !words[key] {
			bold++
		}
	}
	numberMissing := slices.ContainsFunc(text.Numbers(m.text), func(n string) bool { return !numbers[n] })
	return []linear.Feature{
		{Name: "words held", Value: mean(all, 0)},
		{Name: "words held by the best", Value: mean(first, 0)},
		{Name: "words missing", Value: missing / math.Max(1, float64(len(m.terms)))},
		{Name: "names held", Value: mean(names, 0.8)},
		{Name: "names held by the best", Value: mean(firstNames, 0.8)},
		{Name: "a number is missing", Value: indicator(numberMissing)},
		{Name: "bold words missing", Value: bold},
		{Name: "never", Value: indicator(m.keys["never"])},
	}
}

// indicator is 1 if something is so, and else 0.
func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func mean(of []float64, otherwise float64) float64 {
	if len(of) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

// absolutes are words that allow no exception.
var absolutes = text.Set(lang.All().FactCheck.Absolutes)
