package factcheck

import (
	"slices"
	"strings"
	"sync"

	"familiar/internal/evidence"
	"familiar/internal/text"
)

// The rules by which a sentence contradicts a statement. Each first checks that both are about the same thing.
const (
	otherNumber  = "number"     // another number with the same unit
	otherDate    = "date"       // another year
	otherName    = "name"       // another name with the same preposition
	opposite     = "opposite"   // a word that means the opposite
	oneDenies    = "negation"   // one denies what the other says
	lessSweeping = "quantifier" // it allows what the statement rules out
)

// contradiction returns the first rule by which one of the best passages contradicts the statement, and the passage. A
// number, year or name that another passage confirms is not a contradiction.
func (m *matcher) contradiction(near []passage) (rule string, at int) {
	rules := []struct {
		name string
		hit  func(p passage, near []passage) bool
	}{
		{otherNumber, m.otherNumber},
		{otherDate, m.otherYear},
		{otherName, m.otherName},
		{opposite, m.opposite},
		{oneDenies, m.oneDenies},
		{lessSweeping, m.lessSweeping},
	}
	for i, whole := range near[:min(bestOf, len(near))] {
		p := m.core(whole)
		for _, r := range rules {
			if m.settles(p, r.name == otherName) && r.hit(p, near) {
				return r.name, i
			}
		}
	}
	return "", 0
}

// coverage returns the share of the statement's terms that p has, of those that count.
func (m *matcher) coverage(p passage, counts func(term) bool) float64 {
	var has []float64
	for i, held := range m.heldAround(p) {
		if counts(m.terms[i]) {
			has = append(has, text.Indicator(held >= heldFrom))
		}
	}
	return mean(has, 0)
}

// Which terms count for a rule.
func notName(t term) bool     { return !t.name }
func notNegation(t term) bool { return !text.Negations()[t.key] && !comparisons()[t.key] }
func notSweeping(t term) bool { return !quantifiers()[t.key] }
func notNumber(t term) bool {
	return !text.Numeric(t.key) && !text.SpelledNumbers()[t.key] && !text.Bounds()[t.key]
}

func (m *matcher) otherNumber(p passage, near []passage) bool {
	if len(m.amounts) == 0 || denies(m.text, m.code) || m.coverage(p, notNumber) < 0.5 {
		return false
	}
	return slices.ContainsFunc(m.amounts, func(c amount) bool {
		differs := func(a amount) bool { return a.kind == c.kind && a.every == c.every && !a.agrees(c) }
		agrees := func(a amount) bool { return (a.kind == c.kind || a.kind == "") && a.agrees(c) }
		return c.kind != "" && slices.ContainsFunc(m.amountsIn(p), differs) && !slices.ContainsFunc(near, func(o passage) bool { return m.related(o) && slices.ContainsFunc(m.amountsIn(o), agrees) })
	})
}

// related reports whether a passage has something of what the statement says, beside names and numbers.
func (m *matcher) related(p passage) bool { return m.lacking(p) < 1 }

// amountsIn returns the amounts of a passage.
func (m *matcher) amountsIn(p passage) []amount {
	return amountsOf(text.WordsInDigits(p.text, m.code), m.code)
}

// decade matches a year that means a decade or a century.
var decade = text.NewLazyRegexp(`\b[0-9]{3}0['’]?s\b`)

func (m *matcher) otherYear(p passage, near []passage) bool {
	claimed := text.YearPattern.FindAllString(decade.ReplaceAllString(m.text, " "), -1)
	if len(claimed) == 0 || !happensOnce(m.text) || !text.YearPattern.MatchString(p.text) || m.coverage(p, notNumber) < 0.6 {
		return false
	}
	return !slices.ContainsFunc(near, func(o passage) bool {
		return m.related(o) && slices.ContainsFunc(claimed, func(year string) bool { return strings.Contains(o.text, year) })
	})
}

// happensOnce reports whether a text tells of something that happens to a thing once. If it happened in another year, it did not happen in this one.
func happensOnce(s string) bool { return len(eventPhrases().FindAll(s, text.Words(s))) > 0 }

// roleName matches a name with the preposition before it.
var roleName = text.NewLazyRegexp(`\b(in|by|from|at|near|against|for|to)\s+(?:the\s+)?(\p{Lu}[\pL'’-]+(?:\s+\p{Lu}[\pL'’-]+)*)`)

func (m *matcher) otherName(p passage, near []passage) bool {
	claimed := roleName.FindAllStringSubmatch(m.text, -1)
	if len(claimed) == 0 || len(m.terms) < 2 || m.coverage(p, notName) < 1 {
		return false
	}
	for _, c := range claimed {
		key := text.Fold(c[2])
		if isMonth(key) || slices.ContainsFunc(near, func(o passage) bool { return strings.Contains(strings.ToLower(o.text), key) }) {
			continue
		}
		for _, n := range roleName.FindAllStringSubmatch(p.text, -1) {
			if n[1] == c[1] && !isMonth(text.Fold(n[2])) && !strings.Contains(m.text, n[2]) {
				return true
			}
		}
	}
	return false
}

func isMonth(key string) bool { return text.MonthNames()[key] > 0 }

// opposites are pairs of words that cannot both be true. A text with both says nothing.
var opposites = sync.OnceValue(func() (pairs [][2]map[string]bool) {
	for _, row := range text.AllTables().FactCheck.Opposites {
		one, other, _ := strings.Cut(row, "|")
		pairs = append(pairs, [2]map[string]bool{text.Set(text.WordList(one)), text.Set(text.WordList(other))})
	}
	return pairs
})

func (m *matcher) opposite(p passage, _ []passage) bool {
	ownSide := func(t term) bool {
		return !slices.ContainsFunc(opposites(), func(pair [2]map[string]bool) bool { return pair[0][t.key] || pair[1][t.key] })
	}
	return m.opposed(p) && denies(m.text, m.code) == denies(p.text, m.code) && m.coverage(p, ownSide) >= 0.75
}

// oneDenies reports whether one of the two denies most of what the other says.
func (m *matcher) oneDenies(p passage, _ []passage) bool {
	least := 0.8
	if len(evidence.Refutals().FindAll(p.text, text.Words(p.text))) > 0 { // a refutal often repeats the statement in other words
		least = 0.7
	}
	core := m.core(p)
	return denies(m.text, m.code) != denies(core.text, m.code) && !m.opposed(p) && (m.unspaced || m.coverage(p, notNegation) >= least) && m.lacking(core) <= 1-minCoverageExact
}

var (
	quantifiers = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Quantifiers })
	hedges      = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Hedges })
)

// lessSweeping reports whether the passage allows exceptions that the statement rules out.
func (m *matcher) lessSweeping(p passage, _ []passage) bool {
	if !text.Intersects(m.keys, quantifiers()) && !m.turns["only"] || m.coverage(p, notSweeping) < 0.8 {
		return false
	}
	whole := m.page[p.index].text
	keys := text.Keys(text.Words(whole))
	return !text.Intersects(keys, quantifiers()) && !turnsOf(whole, m.code)["only"] && text.Intersects(keys, hedges())
}
