package claim

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// Refutals say of a sentence that what it tells is not so.
var Refutals = text.Compile(map[string]lang.Phrases{"no": lang.All().Claim.Refutals})

// idle are phrases with a word of denial that deny nothing.
var idle = text.Compile(map[string]lang.Phrases{"yes": lang.All().Claim.IdleNegations})

// Negates says whether a text says of what it tells that it is not so: it denies it, or calls it untrue, and not both.
func Negates(s string) bool { return denying(s, text.Words(s)) }

// denying is negates of some words of a text.
func denying(s string, words []text.Word) bool {
	covered := make([]bool, len(words)) // a refutal's own "no" denies nothing
	untrue := Refutals.FindAll(s, words)
	for _, f := range append(idle.FindAll(s, words), untrue...) {
		for i := f.From; i < f.To; i++ {
			covered[i] = true
		}
	}
	denied := false
	for i, w := range words {
		denied = denied || text.Negations[w.Key] && !covered[i]
	}
	return denied != (len(untrue) > 0)
}

// clause is what one part of a page's sentence says, or a whole one.
type clause struct {
	terms   []string // stemmed, each once, sorted
	denies  bool
	neither bool // "not until 1937" is a way to say "in 1937"
}

// irregular are the forms of English verbs by which a denial differs from what it denies: "won" and "did not win".
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

// joints begin another statement within a sentence.
var joints = text.Set(lang.All().Claim.Conjunctions)

// limits turn a denial into the opposite.
var limits = text.Set(lang.All().Claim.Limits)

// clauses are the parts of a sentence, between its joints and any of these marks.
func clauses(s string, words []text.Word, marks string) []clause {
	var out []clause
	from := 0
	for i := 1; i < len(words); i++ {
		if joints[words[i].Key] || strings.ContainsAny(s[words[i-1].End:max(words[i-1].End, words[i].Start)], marks) {
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

func appendClause(out []clause, s string, words []text.Word) []clause {
	c := clause{denies: denying(s, words)}
	for _, w := range words {
		c.neither = c.neither || c.denies && limits[w.Key]
		if text.Meaningful(w.Key) && !text.Negations[w.Key] {
			c.terms = append(c.terms, w.Key)
		}
	}
	if len(c.terms) == 0 {
		return out
	}
	for i, key := range c.terms {
		c.terms[i] = text.Stem(cmp.Or(irregular[key], key), "")
	}
	c.terms = text.Unique(c.terms)
	return append(out, c)
}

const (
	sameStatement = 0.8 // of a statement's words, for a clause to be about it
	saysSoToo     = 0.5 // … to bear out that it is so, or that it isn't
)

// contrast is what a sentence sets aside by the way: ", not the ferries," and "isn't it?".
var contrast = regexp.MustCompile(`(?i),\s+(?:and )?(?:` + lang.All().Claim.Aside.String() + `)\s+[^,.;]{1,40}(?:,|$)|,\s+\w+(?:n['’]t)\s+(?:it|he|she|they|that|there)\b.*$`)

// statements are what a sentence says that can be so or not, each with two words at least.
func statements(sentence string) []clause {
	if strings.HasSuffix(sentence, "?") || text.Unspaced(sentence) {
		return []clause{}
	}
	sentence = contrast.ReplaceAllString(sentence, " ")
	return slices.DeleteFunc(clauses(sentence, text.Words(sentence), ";:"), func(c clause) bool { return c.neither || len(c.terms) < 2 })
}

// opposes says whether the page says the opposite: some clause that has nearly all of the words denies what they say, or
// the other way round, and none that has half of them agrees.
func (w *Source) opposes(said clause) bool {
	if !said.denies && !slices.ContainsFunc(w.denials(), func(c clause) bool { return c.denies && said.heldBy(c) >= sameStatement }) {
		return false
	}
	opposed := false
	for _, c := range w.clauses() {
		held := said.heldBy(c)
		switch {
		case held < saysSoToo:
		case c.neither || c.denies == said.denies:
			return false
		case held >= sameStatement:
			opposed = true
		}
	}
	return opposed
}

// heldBy is the share of a clause's words that another has.
func (c clause) heldBy(o clause) float64 {
	both := 0
	for i, j := 0, 0; i < len(c.terms) && j < len(o.terms); {
		switch order := strings.Compare(c.terms[i], o.terms[j]); {
		case order < 0:
			i++
		case order > 0:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(c.terms))
}

// denialWords are those of which a denial has one.
var denialWords = func() map[string]bool {
	words := maps.Clone(text.Negations)
	for first := range Refutals.ByFirst {
		words[first] = true
	}
	return words
}()

// clauses are those of the page's sentences that have one of the words; nil: of all.
func (x *Page) clauses(body string, with map[string]bool) []clause {
	if with != nil && !text.Intersects(x.words, with) {
		return nil
	}
	var out []clause
	for _, s := range text.Sentences(body) {
		if words := text.Words(s); with == nil || slices.ContainsFunc(words, func(w text.Word) bool { return with[w.Key] }) {
			out = append(out, clauses(s, words, ",;:()–—")...)
		}
	}
	return out
}
