package evidence

import (
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// far is a distance, in words, at which nothing is near.
const far = 100

// candidates are what a sentence has, and the question has not, that may answer it.
type candidates struct {
	names, times, numbers int
	associated            bool      // it has a word that answers to the question tend to have
	distance              int       // in words, of the nearest candidate of the right type to a term of the question
	classes               wordClass // of all its words
}

// candidates looks for candidates among the words of a sentence.
func (q *Question) candidates(words []text.Word) candidates {
	c := candidates{distance: far}
	lastTerm, lastFit := -far, -far // where the last term of the question stands, and the last candidate of the right type
	for i, w := range words {
		is := wordClasses[w.Key]
		c.classes |= is
		if q.bit(w.Key) != none {
			lastTerm = i
			c.distance = min(c.distance, i-lastFit)
		}
		if q.has(w.Key) {
			continue
		}
		c.associated = c.associated || q.associations[w.Key]
		if found := c.count(words, i, is); found != typeAny && q.accepts(found) {
			lastFit = i
			c.distance = min(c.distance, i-lastTerm)
		}
	}
	return c
}

// lacks reports whether a sentence has no answer of a type that can be told by its words.
func (c *candidates) lacks(t answerType) bool {
	switch t {
	case typePerson, typePlace:
		return c.names == 0
	case typeTime:
		return c.times == 0
	case typeNumber:
		return c.numbers == 0
	case typeReason:
		return c.classes&reasonWord == 0
	}
	return false
}

// count counts the candidate that the word at i is, and returns its type, or typeAny.
func (c *candidates) count(words []text.Word, i int, is wordClass) answerType {
	w := words[i]
	switch {
	case text.Numeric(w.Key) && len(w.Key) == 4 && w.Key >= "1000" && w.Key < "2100": // a year
		c.numbers++
		c.times++
		return typeTime
	case text.Numeric(w.Key), is&numberWord != 0:
		c.numbers++
		return typeNumber
	case is&timeWord != 0:
		c.times++
		return typeTime
	case w.Upper && i > 0 && is&stopWord == 0:
		c.names++
		return typePerson
	}
	return typeAny
}

// accepts reports whether a candidate may answer the question by its type. Any name may be one of a place, and a year a
// number.
func (q *Question) accepts(found answerType) bool {
	return found == q.kind || q.kind == typePlace && found == typePerson || q.kind == typeNumber && found == typeTime
}

// wordClass is a set of the classes of words that tell what a sentence answers.
type wordClass uint8

const (
	stopWord wordClass = 1 << iota
	numberWord
	negation
	timeWord
	reasonWord
	definitionWord
)

// wordClasses are the classes of all such words: each of a page's many words is looked up once.
var wordClasses = func() map[string]wordClass {
	all := map[string]wordClass{}
	for of, words := range map[wordClass]map[string]bool{
		stopWord: text.StopWords, numberWord: text.SpelledNumbers, negation: text.Negations,
		timeWord:       text.Set(lang.All().Evidence.Time),
		reasonWord:     text.Set(lang.All().Evidence.Reason),
		definitionWord: text.Set(lang.All().Evidence.Definition),
	} {
		for w := range words {
			all[w] |= of
		}
	}
	return all
}()
