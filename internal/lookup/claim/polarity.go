package claim

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Refutals are phrases that call what a sentence says untrue.
var Refutals = text.CompileOne(lang.All().Claim.Refutals)

// idleNegations are phrases that have a negation and deny nothing.
var idleNegations = text.CompileOne(lang.All().Claim.IdleNegations)

// Negates reports whether a text says that something is not so: it denies it or calls it untrue, and not both.
func Negates(s string) bool { return negates(s, text.Words(s)) }

// negates is [Negates] for some words of a text.
func negates(s string, words []text.Word) bool {
	covered := make([]bool, len(words)) // the "no" of a refutal denies nothing itself
	refutals := Refutals.FindAll(s, words)
	for _, m := range append(idleNegations.FindAll(s, words), refutals...) {
		for i := m.From; i < m.To; i++ {
			covered[i] = true
		}
	}
	denied := false
	for i, w := range words {
		denied = denied || text.Negations[w.Key] && !covered[i]
	}
	return denied != (len(refutals) > 0)
}

// clause is a part of a sentence that says one thing, or all of it.
type clause struct {
	terms  []string // the set of its words of content, stemmed
	years  []string // of these, the set of its years
	denies bool
	limits bool // what it denies, it denies up to a limit: "not until 1937" means "in 1937"
}

// irregular maps forms of irregular verbs to the one that stands in a denial: "won" to "win", as in "did not win".
var irregular = func() map[string]string {
	all := map[string]string{}
	for _, row := range lang.All().Grammar.Irregular {
		forms := strings.Fields(row)
		for _, f := range forms[1:] {
			all[f] = forms[0]
		}
	}
	return all
}()

// conjunctions begin another clause within a sentence.
var conjunctions = text.Set(lang.All().Claim.Conjunctions)

// limitWords turn a denial into the opposite.
var limitWords = text.Set(lang.All().Claim.Limits)

// clauses splits a sentence before its conjunctions and behind any of these marks. The parts between commas are clauses, and
// so is the whole.
func clauses(s string, words []text.Word, marks string) []clause {
	var out []clause
	from := 0
	for i := 1; i < len(words); i++ {
		if conjunctions[words[i].Key] || strings.ContainsAny(s[words[i-1].End:max(words[i-1].End, words[i].Start)], marks) {
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

// appendClause appends the clause that some words of s are, unless they have no content.
func appendClause(out []clause, s string, words []text.Word) []clause {
	c := clause{denies: negates(s, words)}
	for _, w := range words {
		c.limits = c.limits || c.denies && limitWords[w.Key]
		if text.Meaningful(w.Key) && !text.Negations[w.Key] {
			c.terms = append(c.terms, text.Stem(cmp.Or(irregular[w.Key], w.Key), ""))
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

// clausesOf returns the clauses of those sentences of a text that have one of the words; without words, of all.
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

// statementsOf returns the clauses of a sentence that can be true or not, each with two words at least.
func statementsOf(sentence string) []clause {
	if strings.HasSuffix(sentence, "?") || text.Unspaced(sentence) {
		return nil
	}
	return slices.DeleteFunc(clauses(sentence, text.Words(sentence), ";:"), func(c clause) bool { return c.limits || len(c.terms) < 2 })
}

const (
	sameStatement = 0.8 // share of a statement's words that a clause must have to say the same, or the opposite
	nearStatement = 0.5 // … to be a sign that the page agrees with it
)

// opposes reports whether the page says the opposite of a statement: a clause with nearly all of its words denies what
// it says, or the other way round, and no clause with half of them agrees.
func (p *Page) opposes(statement clause) bool {
	if !statement.denies && !slices.ContainsFunc(p.denials(), func(c clause) bool { return c.denies && statement.sharedBy(c) >= sameStatement }) {
		return false // without a look at all clauses, which are many
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

// otherYear reports whether two clauses speak of different years: "won in 2021", "did not win in 2019".
func (c clause) otherYear(o clause) bool {
	return len(c.years) > 0 && len(o.years) > 0 && text.Common(c.years, o.years) == 0
}

// sharedBy returns the share of the clause's words that another has.
func (c clause) sharedBy(o clause) float64 {
	return float64(text.Common(c.terms, o.terms)) / float64(len(c.terms))
}

// denialWords are those of which a denial has one.
var denialWords = func() map[string]bool {
	words := maps.Clone(text.Negations)
	for first := range Refutals.ByFirst {
		words[first] = true
	}
	return words
}()
