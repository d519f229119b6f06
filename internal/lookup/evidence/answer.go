package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// far is a distance, in words, at which nothing is near.
const far = 100

// candidates are what a sentence has, and the question has not, that may answer it.
type candidates struct {
	names, times, places, numbers int
	associated                    bool // it has a word that answers to the question tend to have
	distance                      int  // in words, of the nearest candidate of the right type to a term of the question
	roles                         role // of all its words
}

func (q *Question) candidates(words []text.Word) candidates {
	c := candidates{distance: far}
	lastTerm, lastFit := -far, -far // where the last term of the question stands, and the last candidate of the right type
	for i, w := range words {
		is := roles[w.Key]
		c.roles |= is
		if q.bit(w.Key) != none {
			lastTerm = i
			c.distance = min(c.distance, i-lastFit)
		}
		if q.has(w.Key) {
			continue
		}
		c.associated = c.associated || q.associations[w.Key]
		if found := c.count(words, i, is); found != anything && q.accepts(found) {
			lastFit = i
			c.distance = min(c.distance, i-lastTerm)
		}
	}
	return c
}

// lacks reports whether a sentence has no answer of a kind that can be told from its words.
func (c *candidates) lacks(k kind) bool {
	switch k {
	case someone:
		return c.names == 0
	case someTime:
		return c.times == 0
	case someSpot:
		return c.places+c.names == 0
	case amount:
		return c.numbers == 0
	case reason:
		return c.roles&ofReason == 0
	}
	return false
}

// count counts the candidate that the word at i is, and returns its kind, or anything.
func (c *candidates) count(words []text.Word, i int, is role) kind {
	w := words[i]
	switch {
	case text.Numeric(w.Key) && len(w.Key) == 4 && w.Key >= "1000" && w.Key < "2100": // a year
		c.numbers++
		c.times++
		return someTime
	case text.Numeric(w.Key), is&spelledOut != 0:
		c.numbers++
		return amount
	case is&namedDay != 0:
		c.times++
		return someTime
	case w.Upper && i > 0 && is&stopWord == 0:
		c.names++
		if roles[words[i-1].Key]&ofSpot != 0 || i > 1 && words[i-1].Key == "the" && roles[words[i-2].Key]&ofSpot != 0 {
			c.places++
		}
		return someone
	}
	return anything
}

// accepts reports whether a candidate may answer the question by its kind. Any name may be one of a place, and a year
// a number.
func (q *Question) accepts(found kind) bool {
	return found == q.kind || q.kind == someSpot && found == someone || q.kind == amount && found == someTime
}

// role is what a word is beside its meaning; it may be several.
type role uint8

const (
	stopWord role = 1 << iota
	spelledOut
	negation
	namedDay
	ofSpot
	ofReason
	ofManner
	ofBeing
)

// roles are of all such words: one look for each of a page's many.
var roles = func() map[string]role {
	all := map[string]role{}
	for of, words := range map[role]map[string]bool{
		stopWord: text.StopWords, spelledOut: text.SpelledNumbers, negation: text.Negations,
		namedDay: text.Set(lang.All().Evidence.Time),
		ofSpot:   text.Set(lang.All().Evidence.Place),
		ofReason: text.Set(lang.All().Evidence.Reason),
		ofManner: text.Set(lang.All().Evidence.Manner),
		ofBeing:  text.Set(lang.All().Evidence.Definition),
	} {
		for w := range words {
			all[w] |= of
		}
	}
	return all
}()
