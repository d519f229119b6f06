package claim

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// The checks of a statement, beside those of a citation.
const (
	checkName     = "name"     // every name of it is there, or is that of who wrote
	checkWord     = "words"    // and enough of its other words
	checkTogether = "together" // what it says in one clause is said in one
)

// caselessShare is the share of a statement's words that must be there in any case where a script has no capitals, and a name cannot
// be told from a word, and pairsShare that of its pairs of characters where there are no words.
const caselessShare, pairsShare = 0.9, 0.85

// reporting are words that need not be there: they only say that something was said.
var reporting = text.Set(lang.All().Claim.Reporting)

// CheckStatement returns the check by which what somebody wrote does not bear out a statement about it, or "". It is stricter than
// [CheckCitation], since nobody sees the text beside the statement: numbers count as they are written and with what they
// count, not rounded; each name must be there or be the writer's; and so must a share of the other words, from 0 to 1, and what is denied. Where all
// of the words must be there, those of one clause must stand in one, so that no other statement is made of them.
func CheckStatement(s string, p *Page, writer string, share float64) string {
	own := text.Keys(text.Words(writer))
	if text.Unspaced(s) && writer != "" {
		s = strings.ReplaceAll(s, writer, " ")
	}
	dates, rest := text.Dates(s)
	switch {
	case slices.ContainsFunc(exactThings(s), func(t exactThing) bool { return t.check == checkQuote && !t.on(p) }):
		return checkQuote
	case slices.ContainsFunc(dates, func(d text.DateSpan) bool { return !p.index().dates[d.Date] }):
		return checkDate
	case !p.countsAll(rest):
		return checkNumber
	case !p.namesAll(rest, own):
		return checkName
	case p.share(rest, own) < leastShare(s, share):
		return checkWord
	case p.denies(s, own):
		return checkNegation
	case share == 1 && !p.together(s, own):
		return checkTogether
	}
	return ""
}

// counted is a number of a text with the word directly behind it, stemmed, if that says what is counted.
type counted struct{ number, of string }

// countsIn returns the numbers of a text, in digits and in words. One in words is a count only above one.
func countsIn(s string) (all []counted) {
	add := func(number, behind string) {
		c := counted{number: number}
		if w, ok := text.WordBehind(behind); ok && text.Meaningful(w.Key) && !text.Numeric(w.Key) {
			c.of = stemOf(w.Key)
		}
		all = append(all, c)
	}
	for _, at := range text.NumberSpans(s) {
		for _, n := range text.Numbers(s[at.From:at.To]) {
			add(n, s[at.To:])
		}
	}
	for _, n := range spelledNumbers(s, text.Words(s)) {
		if n.value > 1 {
			add(strconv.FormatFloat(n.value, 'f', -1, 64), s[n.To:])
		}
	}
	return all
}

// countsAll reports whether the page has every number of a text, of the same things as far as both say of what. The year of
// a date on the page is a number there, its day is none.
func (p *Page) countsAll(s string) bool {
	wanted := countsIn(s)
	if len(wanted) == 0 {
		return true
	}
	dates, rest := text.Dates(p.text)
	have := countsIn(rest)
	for _, d := range dates {
		if d.Year > 0 {
			have = append(have, counted{number: strconv.Itoa(d.Year)})
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(have, func(h counted) bool { return h.number == w.number && (h.of == w.of || h.of == "" || w.of == "") }) {
			return false
		}
	}
	return true
}

// namesAll reports whether the page has every word of a text that is written as a name, but for the writer's own. The first
// word of a sentence counts as a name, too.
func (p *Page) namesAll(s string, own map[string]bool) bool {
	return !slices.ContainsFunc(text.ContentWords(s), func(w text.Word) bool {
		return w.Upper && !own[w.Key] && !p.hasWord(w.Key) && !p.hasStem(w.Key) && text.MonthNames[w.Key] == 0
	})
}

func (p *Page) hasStem(key string) bool { return len(p.places()[stemOf(key)]) > 0 }

// share returns the share of a text's words of content that the page has, without names of the writer and numbers.
func (p *Page) share(s string, own map[string]bool) float64 {
	shared, all := 0, 0
	for _, w := range text.ContentWords(s) {
		written := s[w.Start:w.End]
		switch {
		case own[w.Key] || reporting[w.Key] || text.Numeric(w.Key) || text.SpelledNumbers[w.Key]:
			continue
		case text.Unspaced(written):
			for _, pair := range text.Pairs(written) {
				if all++; strings.Contains(p.text, pair) {
					shared++
				}
			}
			continue
		}
		if all++; p.hasWord(w.Key) || p.hasStem(w.Key) {
			shared++
		}
	}
	if all == 0 { // a number and a name
		return 1
	}
	return float64(shared) / float64(all)
}

func leastShare(s string, share float64) float64 {
	switch {
	case text.Unspaced(s):
		return pairsShare
	case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }):
		return max(share, caselessShare)
	}
	return share
}

// denies reports whether the clause of the page that has most of a clause of the statement denies what that says, or the other
// way round.
func (p *Page) denies(s string, own map[string]bool) bool {
	for _, c := range statementsOf(s) {
		c.terms = slices.DeleteFunc(slices.Clone(c.terms), func(t string) bool { return own[t] || own[strings.TrimSuffix(t, "s")] })
		if len(c.terms) == 0 {
			continue
		}
		var same, other likeness
		for _, said := range p.clauses() {
			l := likeness{c.sharedBy(said), len(said.terms)}
			if said.denies == c.denies {
				same = same.better(l)
			} else if !said.limits {
				other = other.better(l)
			}
		}
		if other.share > same.share || other.share > 0 && other.share == same.share && other.size < same.size {
			return true
		}
	}
	return false
}

// together reports whether each clause of a statement has its words in one clause of the page, which denies what it denies.
func (p *Page) together(s string, own map[string]bool) bool {
	var said []clause
	for _, sentence := range text.Sentences(p.lines) {
		said = append(said, clauses(sentence, text.Words(sentence), ";:()–—")...)
	}
	for _, c := range clauses(s, text.Words(s), ";:") {
		c.terms = slices.DeleteFunc(slices.Clone(c.terms), func(t string) bool { return own[t] || own[strings.TrimSuffix(t, "s")] || reporting[t] })
		if len(c.terms) > 0 && !text.Unspaced(s) && !slices.ContainsFunc(said, func(o clause) bool { return o.denies == c.denies && c.sharedBy(o) == 1 }) {
			return false
		}
	}
	return true
}

// likeness is how much of a clause another one has, and how many words that one has in all: of two that have as much, the shorter
// one is more likely meant.
type likeness struct {
	share float64
	size  int
}

func (l likeness) better(o likeness) likeness {
	if o.share > l.share || o.share == l.share && o.size < l.size {
		return o
	}
	return l
}
