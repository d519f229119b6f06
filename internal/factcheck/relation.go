package factcheck

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/text"
)

// relation is what "A has more inhabitants than B" says: which of two things has more of something.
type relation struct {
	first, second []text.Word // the words that name the one thing and not the other
	up            bool        // the first has more
	of            string      // what it has more of: a kind, as in [fact_check.compared_by], or the stem of a noun
}

// relationOf reads the relation in the words of a text in a language.
func relationOf(s string, words []text.Word, code string) (r relation, ok bool) {
	than := slices.IndexFunc(words, func(w text.Word) bool { return thanWords()[w.Key] })
	at, up := -1, true
	for i, w := range words {
		direction, of, _ := strings.Cut(comparedIn(code)[w.Key], " ")
		if direction == "" || at >= 0 && i > at+2 && r.of != "" {
			continue
		}
		if at < 0 || than < i {
			than = slices.IndexFunc(words[i:], func(w text.Word) bool { return thanWords()[w.Key] })
			if than >= 0 {
				than += i
			}
		}
		at, r.of = i, cmp.Or(of, r.of)
		up = up == (direction == "up")
	}
	if at < 0 {
		return r, false
	}
	if than < 0 {
		if code != "ru" { // where the case of the second name says "than"
			return r, false
		}
		than = at
	}
	if r.of == "" && at+1 < than {
		r.of = text.UnitOf(s[words[at+1].Start:])
	}
	first, second := thingsIn(words[:at], s, code), thingsIn(words[than+1:], s, code)
	without := func(of, others []text.Word) []text.Word {
		return slices.DeleteFunc(slices.Clone(of), func(w text.Word) bool { return named(others, w) })
	}
	r.first, r.second, r.up = without(first, second), without(second, first), up
	return r, r.of != "" && len(r.second) > 0
}

// thingsIn returns the words that name things: those with a capital, and numbers after one, as in "Apollo 11".
func thingsIn(words []text.Word, s, code string) (names []text.Word) {
	for i, w := range words {
		switch {
		case w.Upper && !text.StopWords()[w.Key]:
			names = append(names, w)
		case i > 0 && text.Numeric(w.Key) && words[i-1].Upper && !text.StopWords()[words[i-1].Key] && s[words[i-1].End:w.Start] == " ":
			if _, kind := text.BaseUnit(text.UnitBehind(s[w.End:])); kind == "" {
				names = append(names, w)
			}
		}
	}
	return names
}

// named reports whether a word is one of some names, in any of its cases.
func named(names []text.Word, w text.Word) bool {
	return slices.ContainsFunc(names, func(n text.Word) bool { return sameName(n.Key, w.Key) })
}

// sameName reports whether two words are forms of one name: they share two thirds of the longer, and three letters.
func sameName(a, b string) bool {
	if a == b || text.Numeric(a) || text.Numeric(b) {
		return a == b
	}
	x, y := []rune(a), []rune(b)
	shared := 0
	for shared < min(len(x), len(y)) && x[shared] == y[shared] {
		shared++
	}
	return shared >= 3 && 3*shared >= 2*max(len(x), len(y))
}

// answers compares a relation with that of a sentence on a page with a title. It returns 1 if they say the same, -1 if one says the
// opposite, and otherwise 0.
func (r relation) answers(o relation, title []text.Word) int {
	if r.of != o.of {
		return 0
	}
	if len(o.first) == 0 {
		o.first = slices.DeleteFunc(slices.Clone(title), func(w text.Word) bool { return named(o.second, w) })
	}
	some := func(of, names []text.Word) bool {
		return slices.ContainsFunc(names, func(w text.Word) bool { return named(of, w) })
	}
	all := func(of, names []text.Word) bool {
		return !slices.ContainsFunc(names, func(w text.Word) bool { return !named(of, w) })
	}
	straight := all(o.first, r.first) && all(o.second, r.second) && !some(o.first, r.second) && !some(o.second, r.first)
	turned := all(o.first, r.second) && all(o.second, r.first) && !some(o.first, r.first) && !some(o.second, r.second)
	switch {
	case straight && r.up == o.up, turned && r.up != o.up:
		return 1
	case straight || turned:
		return -1
	}
	return 0
}

// compared decides a statement that compares two things. A sentence compares them too, or the page gives the amounts of both. It returns the
// index of the sentence, or -1.
func (m *matcher) compared(sentences []string) (at int, holds bool) {
	r, ok := relationOf(m.text, m.words, m.code)
	r.first = slices.DeleteFunc(r.first, func(w text.Word) bool { return w.Start == 0 && len(r.first) > 1 && m.writtenSmall(w, sentences) })
	if !ok || len(r.first) == 0 {
		return -1, false
	}
	at = -1
	title := thingsIn(text.Words(m.title), m.title, m.code)
	for i, s := range sentences {
		words := text.Words(s)
		if m.unreal(s) || denies(s, m.code) || strings.HasSuffix(s, "?") {
			continue
		}
		if o, ok := relationOf(s, words, m.code); ok {
			switch said := r.answers(o, title); {
			case said != 0 && at >= 0 && holds != (said > 0):
				return -1, false // the page says both
			case said != 0:
				at, holds = i, said > 0
			}
		}
	}
	if at >= 0 {
		if !m.namesCompared(at) {
			return -1, false
		}
		return at, holds
	}
	a, other, isFirst := m.amountOf(sentences, r.of, r.first, r.second)
	b, at, isSecond := m.amountOf(sentences, r.of, r.second, r.first)
	if !isFirst || !isSecond || a.Unit != b.Unit && a.kind != b.kind || a.Agrees(b.Quantity) {
		return -1, false
	}
	if !m.namesCompared(at, other) {
		return -1, false
	}
	return at, (a.Value > b.Value) == r.up
}

// namesCompared reports whether some sentences have the words of the statement that say what is compared. The sentences before them count, too.
func (m *matcher) namesCompared(sentences ...int) bool {
	said := m.title
	for _, i := range sentences {
		said += " " + m.before(passage{index: i}, recent) + " " + m.page[i].text
	}
	held := m.heldForms(m.read(said))
	for i, t := range m.terms {
		if !t.name && notNumber(t) && comparedIn(m.code)[t.key] == "" && !thanWords()[t.key] && !turning(t.key) && held[i] < heldFrom {
			return false
		}
	}
	return true
}

// writtenSmall reports whether the first word of a statement is written without a capital elsewhere, and is not a name.
func (m *matcher) writtenSmall(first text.Word, sentences []string) bool {
	return slices.ContainsFunc(append(slices.Clip(sentences), m.text), func(s string) bool {
		return slices.ContainsFunc(text.Words(s), func(w text.Word) bool { return !w.Upper && sameName(w.Key, first.Key) })
	})
}

// amountOf finds the amount of a kind that the first sentence with a name gives right after it. No other name may be between.
func (m *matcher) amountOf(sentences []string, of string, names, others []text.Word) (a amount, at int, ok bool) {
	kind, aspect, _ := strings.Cut(of, " ")
	for at, s := range sentences {
		s = text.WordsInDigits(s, m.code)
		words := text.Words(s)
		if m.unreal(s) || denies(s, m.code) {
			continue
		}
		end := -1
		for _, n := range names {
			at := slices.IndexFunc(words, func(w text.Word) bool { return sameName(w.Key, n.Key) })
			if at < 0 {
				end = -1
				break
			}
			end = max(end, words[at].End)
		}
		if end < 0 || measuresOther(words, aspect) {
			continue
		}
		counted := ""
		for _, a := range amountsOf(s, m.code) {
			if a.kind == "" {
				a.kind = counted // "Ashby with 88,000 inhabitants and Marrick with 41,000"
			}
			counted = a.kind
			between := a.From >= end && !slices.ContainsFunc(words, func(w text.Word) bool { return w.Start >= end && w.End <= a.From && named(others, w) })
			if a.isOf(kind) && between {
				return a, at, true
			}
		}
	}
	return amount{}, 0, false
}

// isOf reports whether an amount is of a kind: a length, money, or what is counted.
func (a amount) isOf(kind string) bool {
	return a.kind == kind || kind == "money" && slices.Contains([]string{"euro", "dollar", "pound", "yen"}, a.Unit)
}

// aspects are the names of dimensions in [relation] and in the tables of numbers.
var aspects = map[string]string{"long": "length", "high": "height", "deep": "depth", "wide": "width"}

// measuresOther reports whether words say that another dimension was measured: "deep", where the height is wanted.
func measuresOther(words []text.Word, aspect string) bool {
	wanted := aspects[aspect]
	other := false
	for _, w := range words {
		if d := cmp.Or(dimensions()[w.Key], dimensions()[text.Stem(w.Key, "")]); d != "" && wanted != "" {
			if d == wanted {
				return false
			}
			other = other || d == "length" || d == "height" || d == "depth" || d == "width"
		}
	}
	return other
}

// comparedIn returns the comparatives of a language by their direction and the kind of what they compare: "up length long".
func comparedIn(code string) map[string]string { return comparatives()[code] }

var comparatives = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, code := range text.Languages() {
		all[code] = text.ByWord(text.TablesOf(code).FactCheck.ComparedBy)
	}
	return all
})
