package factcheck

import (
	"slices"
	"strings"
	"sync"

	"familiar/internal/evidence"
	"familiar/internal/linear"
	"familiar/internal/text"
)

// A statement turns on its points: its names, numbers, years, and the words that compare, rank or allow no exception. A
// sentence that has all words of a statement except one of them says something else.

// settles reports whether a sentence may be for or against a statement. It is about the same thing, and in earnest. earlier is the page
// before the sentence. A name of the statement may be another one there if other is set.
func (m *matcher) settles(p passage, earlier string, other bool) bool {
	words := text.Words(p.text)
	refuted := len(evidence.Refutals().FindAll(p.text, words)) > 0 // what is only said is then denied
	if strings.HasSuffix(p.text, "?") || isUnreal(words) && !refuted {
		return false
	}
	around, here := text.Keys(text.Words(m.title+"\n"+earlier)), text.Keys(words)
	missing, named := 0, false
	for _, w := range m.names {
		named = named || here[w.Key]
		if !around[w.Key] && !here[w.Key] {
			missing++
		}
	}
	if missing > 0 && !(other && missing < len(m.names)) && !(other && len(m.names) == 1) {
		return false
	}
	// A sentence about another thing is not about this one, whatever the page's title says.
	return other || named || len(m.names) == 0 || text.MessageLanguage(p.text) == "de" || !slices.ContainsFunc(words, func(w text.Word) bool {
		return w.Upper && w.Start > 0 && !around[w.Key] && !calendar(w.Key)
	})
}

// isUnreal reports whether words tell of what is planned, possible or only said. "May" is a month.
func isUnreal(words []text.Word) bool {
	return slices.ContainsFunc(words, func(w text.Word) bool { return unreal()[w.Key] && (!w.Upper || w.Start == 0) })
}

// calendar reports whether a word is a month or a weekday, which has a capital and names no thing.
func calendar(key string) bool {
	_, day := text.Weekday(key)
	return day || text.MonthNames()[key] > 0
}

// bearsOut reports whether a sentence has every point of a statement.
func (m *matcher) bearsOut(p passage) bool {
	words := text.Words(p.text)
	keys := text.Keys(words)
	for key := range m.keys {
		if turning(key) && !keys[key] {
			return false
		}
	}
	for _, at := range text.YearPattern.FindAllStringIndex(m.text, -1) {
		if !text.Measured(m.text[at[1]:]) && !strings.Contains(p.text, m.text[at[0]:at[1]]) {
			return false
		}
	}
	said := amountsOf(p.text)
	for _, c := range m.amounts {
		if !slices.ContainsFunc(said, func(a amount) bool { return a.kind == c.kind && a.Agrees(c.Quantity) }) {
			return false
		}
	}
	return m.inOrder(words)
}

// compared works out whether one thing has more than another by the amounts that a page gives of both. An example is "A has more
// inhabitants than B". It returns the index of the sentence with the second amount, or -1.
func (m *matcher) compared(sentences []string) (at int, holds bool) {
	than := slices.IndexFunc(m.words, func(w text.Word) bool { return thanWords()[w.Key] })
	if than < 2 {
		return -1, false
	}
	rising, kind := false, ""
	for i, w := range m.words[:than] {
		if up := comparedBy()[w.Key]; up != "" {
			direction, of, _ := strings.Cut(up, " ")
			rising, kind = direction == "up", of
			if of == "" && i+1 < than {
				kind = text.UnitOf(m.text[m.words[i+1].Start:])
			}
		}
	}
	var first, second []text.Word
	for _, n := range m.names {
		if n.Start < m.words[than].Start {
			first = append(first, n)
		} else {
			second = append(second, n)
		}
	}
	if opening := m.words[0]; opening.Upper && !text.StopWords()[opening.Key] {
		first = append(first, opening)
	}
	if kind == "" || len(first) == 0 || len(second) == 0 {
		return -1, false
	}
	a, _, isFirst := amountOf(sentences, kind, first, second)
	b, at, isSecond := amountOf(sentences, kind, second, first)
	if !isFirst || !isSecond || a.Agrees(b.Quantity) {
		return -1, false
	}
	return at, (a.Value > b.Value) == rising
}

// amountOf finds the amount of a kind that the first sentence with a name gives right behind it. No other name may be between.
func amountOf(sentences []string, kind string, names, others []text.Word) (a amount, at int, ok bool) {
	for at, s := range sentences {
		words := text.Words(s)
		if isUnreal(words) || evidence.Negates(s) {
			continue
		}
		end := -1
		for _, w := range words {
			if hasWord(names, w) {
				end = w.End
			}
		}
		for _, a := range amountsOf(s) {
			between := end >= 0 && end <= a.From && !slices.ContainsFunc(words, func(w text.Word) bool { return w.Start >= end && w.End <= a.From && hasWord(others, w) })
			if a.kind == kind && between {
				return a, at, true
			}
		}
	}
	return amount{}, 0, false
}

// lacking returns the share of the statement's words of content that a sentence does not have. Its points do not count: they are checked.
func (m *matcher) lacking(p passage) float64 {
	var lacks []float64
	for i, held := range m.held([]passage{p}) {
		t := m.terms[i]
		isUnit := slices.ContainsFunc(m.amounts, func(a amount) bool { return a.Unit == text.UnitOf(t.key) })
		if !t.name && notNumber(t) && !isUnit && !turning(t.key) {
			lacks = append(lacks, linear.Indicator(held < heldFrom))
		}
	}
	return mean(lacks, 0)
}

// heldAround returns how much of each term a sentence has. The sentence before it counts if it names nothing else. A unit, and the
// dimension that it measures, may be worded in another way. An example is "34 m high" for "41 metres tall".
func (m *matcher) heldAround(p passage) []float64 {
	all, words := []passage{p}, text.Words(p.text)
	another := func(w text.Word) bool { return w.Upper && w.Start > 0 && !m.keys[w.Key] && !calendar(w.Key) }
	if p.index > 0 && !slices.ContainsFunc(words, another) {
		all = append(all, m.page[p.index-1])
	}
	held, said := m.held(all), amountsOf(p.text)
	for i, t := range m.terms {
		dimension := dimensions()[t.key]
		measured := dimension != "" && slices.ContainsFunc(words, func(w text.Word) bool { return dimensions()[w.Key] == dimension })
		for _, c := range m.amounts {
			sameKind := c.kind != "" && slices.ContainsFunc(said, func(a amount) bool { return a.kind == c.kind })
			if sameKind && (measured || c.Unit == text.UnitOf(t.key)) {
				held[i] = 1
			}
		}
	}
	return held
}

// turning reports whether a word compares, ranks or allows no exception.
func turning(key string) bool {
	return absolutes()[key] || comparisons()[key] || strings.HasSuffix(key, "est") && len(key) > 5 || quantifiers()[key]
}

// inOrder reports whether the names around the "than" of a statement are in the same order in a sentence.
func (m *matcher) inOrder(words []text.Word) bool {
	than := slices.IndexFunc(m.words, func(w text.Word) bool { return thanWords()[w.Key] })
	if than < 0 {
		return true
	}
	other := slices.IndexFunc(words, func(w text.Word) bool { return thanWords()[w.Key] })
	return other >= 0 && !slices.ContainsFunc(m.words[than+1:], func(w text.Word) bool { return w.Upper && !hasWord(words[other+1:], w) })
}

// amount is a quantity in the base unit of its kind.
type amount struct {
	text.Quantity
	kind string // of unit
}

// amountsOf returns the quantities of a text. Lengths, times and so on are in the base unit of their kind.
func amountsOf(s string) (all []amount) {
	s = everyOne.ReplaceAllString(evidence.InDigits(s), "$1 1 $2")
	for _, q := range text.Quantities(s) {
		a := amount{q, q.Unit}
		if factor, kind := text.BaseUnit(strings.ToLower(unit(s[q.To:]))); kind != "" {
			a.kind, a.Value = kind, q.Value*factor
		}
		all = append(all, a)
	}
	return all
}

// everyOne matches "every" before a unit, as in "every hour": every one hour.
var everyOne = text.LazyRegexpOf(func() string {
	return `(?i)\b(` + text.AllTables().FactCheck.Every.String() + `) (\pL)`
})

var (
	comparisons = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Comparisons })
	thanWords   = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Than })
	// comparedBy maps a comparative to its direction. Unless a noun follows, it also maps it to the kind of what it compares: "up length".
	comparedBy = sync.OnceValue(func() map[string]string { return text.ByWord(text.AllTables().FactCheck.ComparedBy) })
	// unreal are words of what is planned, possible or only said.
	unreal = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Unreal })
)
