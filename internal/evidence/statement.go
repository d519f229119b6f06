package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"familiar/internal/text"
)

// The checks of a statement about messages, besides those of a citation.
const (
	checkName = "name"  // every name is in the messages or is the writer's
	checkWord = "words" // so are enough of the other words
)

// mostWords is the least share of words. caselessShare is that in a script without capitals, where names look like words. pairsShare is the
// least share of character pairs in a script without spaces.
const mostWords, caselessShare, pairsShare = 0.7, 0.9, 0.85

// reporting are words that need no support: they only say that something was said.
var reporting = text.LazySet(func() text.WordList { return text.AllTables().Claim.Reporting })

// checkStatement checks a statement about what somebody wrote, and returns the check that failed, or "". It is stricter
// than [CheckCitation], since nobody will see the text beside the statement. Numbers must match exactly, with what they
// count. Each name must be in the text or be the writer's. So must most of the other words, and every denial.
func checkStatement(s string, p *Page, writer string) string {
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
	case p.wordCoverage(rest, own) < minCoverage(s):
		return checkWord
	case p.denies(s, own):
		return checkNegation
	}
	return ""
}

// counted is a number and the stem of the word after it, if that says what is counted.
type counted struct{ number, of string }

// countsIn returns the numbers of a text, in digits and in words. One in words counts only above one.
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
	for _, n := range spelledNumbers(s) {
		if n.Value > 1 {
			add(strconv.FormatFloat(n.Value, 'f', -1, 64), s[n.To:])
		}
	}
	return all
}

// countsAll reports whether the page has every number of a text, counting the same things if both say which. The year of
// a date counts as a number, its day does not.
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

// namesAll reports whether the page has every capitalised word of a text except the writer's name. The first word of a
// sentence counts, too.
func (p *Page) namesAll(s string, own map[string]bool) bool {
	return !slices.ContainsFunc(text.ContentWords(s), func(w text.Word) bool {
		return w.Upper && !own[w.Key] && !p.hasWord(w.Key) && !p.hasStem(w.Key) && text.MonthNames()[w.Key] == 0
	})
}

func (p *Page) hasStem(key string) bool { return len(p.places()[stemOf(key)]) > 0 }

// wordCoverage returns the share of a text's words of content that the page has. The writer's name and numbers do not
// count.
func (p *Page) wordCoverage(s string, own map[string]bool) float64 {
	shared, all := 0, 0
	for _, w := range text.ContentWords(s) {
		written := s[w.Start:w.End]
		switch {
		case own[w.Key] || reporting()[w.Key] || text.Numeric(w.Key) || text.SpelledNumbers()[w.Key]:
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
	if all == 0 { // only a number and a name
		return 1
	}
	return float64(shared) / float64(all)
}

func minCoverage(s string) float64 {
	switch {
	case text.Unspaced(s):
		return pairsShare
	case !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) }):
		return caselessShare
	}
	return mostWords
}

// denies reports whether the most similar clause of the page denies what a clause of the statement says. It also reports the reverse.
func (p *Page) denies(s string, own map[string]bool) bool {
	names := map[string]bool{} // as stems, like the terms
	for name := range own {
		names[text.Stem(name, "")] = true
	}
	for _, c := range statementsOf(s) {
		c.terms = slices.DeleteFunc(slices.Clone(c.terms), func(t string) bool { return names[t] })
		if len(c.terms) == 0 {
			continue
		}
		var same, other overlap
		for _, said := range p.clauses() {
			l := overlap{c.sharedBy(said), len(said.terms)}
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

// overlap is the share of a clause that another one has, and the other's number of words. Of two equal shares, the
// shorter clause is more likely meant.
type overlap struct {
	share float64
	size  int
}

func (l overlap) better(o overlap) overlap {
	if o.share > l.share || o.share == l.share && o.size < l.size {
		return o
	}
	return l
}

// Refutals are phrases that call what a sentence says untrue.
var Refutals = sync.OnceValue(func() text.Phrases { return text.CompileOne(text.AllTables().Claim.Refutals) })

// idleNegations are phrases that have a negation and deny nothing.
var idleNegations = sync.OnceValue(func() text.Phrases { return text.CompileOne(text.AllTables().Claim.IdleNegations) })

// Negates reports whether a text says that something is not so. It denies it or calls it untrue, but not both.
func Negates(s string) bool { return negates(s, text.Words(s)) }

// negates is [Negates] for some words of a text.
func negates(s string, words []text.Word) bool {
	covered := make([]bool, len(words)) // words of refutals and idle negations
	refutals := Refutals().FindAll(s, words)
	for _, m := range append(idleNegations().FindAll(s, words), refutals...) {
		for i := m.From; i < m.To; i++ {
			covered[i] = true
		}
	}
	denied := false
	for i, w := range words {
		denied = denied || text.Negations()[w.Key] && !covered[i]
	}
	return denied != (len(refutals) > 0)
}

// clause is a part of a sentence that says one thing, or the whole sentence.
type clause struct {
	terms  []string // set of stemmed words of content
	years  []string // set of the years among the terms
	denies bool
	limits bool // it denies up to a limit: "not until 1937" means "in 1937"
}

// irregular maps forms of irregular verbs to the form in a denial: "won" to "win", as in "did not win".
var irregular = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, row := range text.AllTables().Grammar.Irregular {
		forms := strings.Fields(row)
		for _, f := range forms[1:] {
			all[f] = forms[0]
		}
	}
	return all
})

// conjunctions begin another clause within a sentence.
var conjunctions = text.LazySet(func() text.WordList { return text.AllTables().Claim.Conjunctions })

// limitWords turn a denial into the opposite.
var limitWords = text.LazySet(func() text.WordList { return text.AllTables().Claim.Limits })

// clauses splits a sentence before conjunctions and after any of the marks. If the marks have a comma, the whole
// sentence is a clause, too.
func clauses(s string, words []text.Word, marks string) []clause {
	var out []clause
	from := 0
	for i := 1; i < len(words); i++ {
		if conjunctions()[words[i].Key] || strings.ContainsAny(s[words[i-1].End:max(words[i-1].End, words[i].Start)], marks) {
			out = appendClause(out, s, words[from:i])
			from = i
		}
	}
	out = appendClause(out, s, words[from:])
	if from > 0 && strings.Contains(marks, ",") {
		out = appendClause(out, s, words)
	}
	return out
}

// appendClause appends the clause with some words of s, unless they have no content.
func appendClause(out []clause, s string, words []text.Word) []clause {
	c := clause{denies: negates(s, words)}
	for _, w := range words {
		c.limits = c.limits || c.denies && limitWords()[w.Key]
		if text.Meaningful(w.Key) && !text.Negations()[w.Key] {
			c.terms = append(c.terms, text.Stem(cmp.Or(irregular()[w.Key], w.Key), ""))
		}
	}
	if len(c.terms) == 0 {
		return out
	}
	c.terms = text.Unique(c.terms)
	for _, t := range c.terms {
		if len(t) == 4 && text.YearPattern.MatchString(t) {
			c.years = append(c.years, t)
		}
	}
	return append(out, c)
}

// clausesOf returns the clauses of the sentences that have one of the words; nil means all sentences.
func clausesOf(s string, with map[string]bool) []clause {
	var out []clause
	for _, sentence := range text.Sentences(s) {
		words := text.Words(sentence)
		if with == nil || slices.ContainsFunc(words, func(w text.Word) bool { return with[w.Key] }) {
			out = append(out, clauses(sentence, words, ",;:()–—")...)
		}
	}
	return out
}

// statementsOf returns the clauses of a sentence that can be true or false, with at least two words each.
func statementsOf(sentence string) []clause {
	if strings.HasSuffix(sentence, "?") || text.Unspaced(sentence) {
		return nil
	}
	return slices.DeleteFunc(clauses(sentence, text.Words(sentence), ";:"), func(c clause) bool { return c.limits || len(c.terms) < 2 })
}

const (
	sameStatement = 0.8 // share of a statement's words in a clause that says the same, or the opposite
	nearStatement = 0.5 // share in a clause that shows agreement
)

// opposes reports whether the page says the opposite of a statement. A clause with nearly all of its words must have the other polarity. No
// clause with half of them may agree.
func (p *Page) opposes(statement clause) bool {
	if !statement.denies && !slices.ContainsFunc(p.denials(), func(c clause) bool { return c.denies && statement.sharedBy(c) >= sameStatement }) {
		return false // the denying clauses are few, and enough to tell
	}
	opposed := false
	for _, c := range p.clauses() {
		switch shared := statement.sharedBy(c); {
		case shared < nearStatement || statement.otherYear(c):
		case c.limits || c.denies == statement.denies:
			return false
		case shared >= sameStatement:
			opposed = true
		}
	}
	return opposed
}

// otherYear reports whether two clauses are about different years: "won in 2021", "did not win in 2019".
func (c clause) otherYear(o clause) bool {
	return len(c.years) > 0 && len(o.years) > 0 && text.Common(c.years, o.years) == 0
}

// sharedBy returns the share of the clause's words that another clause has.
func (c clause) sharedBy(o clause) float64 {
	return float64(text.Common(c.terms, o.terms)) / float64(len(c.terms))
}

// denialWords are the words that every denial has one of.
var denialWords = sync.OnceValue(func() map[string]bool {
	words := maps.Clone(text.Negations())
	for first := range Refutals().ByFirst {
		words[first] = true
	}
	return words
})
