package evidence

import (
	_ "embed"
	"math"
	"sync"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/text"
)

// view is a sentence with its surroundings.
type view struct {
	*Sentence
	candidates
	kind   answerType // of the wanted answer
	length int        // in characters

	// Weighted shares of the question's terms: in the sentence, in it without those of the title, in its line, in the
	// sentence before, and in the heading above.
	cover, focus, line, before, header float64

	lineDay  bool    // its line names a day of the question
	referred float64 // it begins with a pronoun that may refer to this share of the question
}

// features describe a sentence as evidence without using its words, so that they hold for any question: its position,
// its overlap with the question, and its possible answers. The model knows them by name.
var features = []linear.Trait[view]{
	{Name: "opens page", Value: linear.If(func(v *view) bool { return v.index == 0 })},
	{Name: "opens page, person", Value: linear.If(func(v *view) bool { return v.index == 0 && v.kind == typePerson })},
	{Name: "opens page, any", Value: linear.If(func(v *view) bool { return v.index == 0 && v.kind.open() })},
	{Name: "opens page, place", Value: linear.If(func(v *view) bool { return v.index == 0 && v.kind == typePlace })},
	{Name: "stands second", Value: linear.If(func(v *view) bool { return v.index == 1 })},
	{Name: "short", Value: linear.If(func(v *view) bool { return v.length < 50 })},
	{Name: "nothing of the question", Value: linear.If(func(v *view) bool { return v.mask == 0 })},
	{Name: "covers question", Value: func(v *view) float64 { return v.cover }},
	{Name: "covers what the title does not", Value: func(v *view) float64 { return v.focus }},
	{Name: "the one before covers", Value: func(v *view) float64 { return v.before }},
	{Name: "heading covers", Value: func(v *view) float64 { return v.header }},
	{Name: "pronoun stands for question", Value: func(v *view) float64 { return v.referred }},
	{Name: "associated with question", Value: linear.If(func(v *view) bool { return v.associated })},
	{Name: "definition", Value: linear.If(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 })},
	{Name: "definition opens page", Value: linear.If(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 && v.index == 0 })},
	{Name: "lacks kind", Value: linear.If(func(v *view) bool { return v.lacks(v.kind) })},
	{Name: "new number", Value: linear.If(func(v *view) bool { return v.kind.open() && v.numbers > 0 })},
	{Name: "candidate near question", Value: (*view).near},
	{Name: "much that is new", Value: func(v *view) float64 { return min(float64(v.names+v.numbers), 12) / 6 }},
	{Name: "negated", Value: linear.If(func(v *view) bool { return v.classes&negation != 0 })},
	{Name: "its line names the day", Value: linear.If(func(v *view) bool { return v.lineDay })},
}

func (v *view) late() float64 { return math.Log1p(float64(v.index)) / 3 }
func (v *view) long() float64 { return math.Log(float64(v.length)/100) / 2 }

func (v *view) near() float64 {
	if v.distance >= far {
		return 0
	}
	return 1 / (1 + float64(v.distance)/4)
}

//go:embed evidence.model
var evidenceFile []byte

// featureWeights are the weights of the features.
var featureWeights = sync.OnceValue(func() []float64 { return linear.Worth(features, linear.MustParse(evidenceFile)) })

// views returns the sentences of the pages that were read, in order.
func (q *Question) views(pages []Document) []view {
	var all []Sentence
	for i := range pages {
		all = q.split(all, i, &pages[i])
	}
	q.weighTerms(all)
	out := make([]view, 0, len(all))
	for page := range runs(all, func(s *Sentence) int { return s.Page }) {
		title := q.maskOf(pages[page[0].Page].Title)
		q.relate(page, title)
		for line := range runs(page, func(s *Sentence) int { return s.Line }) {
			out = q.appendLine(out, page, line, title)
		}
	}
	return out
}

// appendLine appends the sentences of one line of a page.
func (q *Question) appendLine(out []view, page, line []Sentence, title uint64) []view {
	inLine, day, all := uint64(0), false, q.all()
	for i := range line {
		s := &line[i]
		inLine |= s.mask
		day = day || q.namesDay(s.Text)
	}
	for i := range line {
		s := &line[i]
		var before uint64
		if s.index > 0 {
			before = page[s.index-1].mask
		}
		s.related = s.related || s.mask|s.heading|inLine|before != 0
		v := view{
			Sentence: s, candidates: q.candidates(s.words), kind: q.kind, length: utf8.RuneCountInString(s.Text), lineDay: day,
			cover: q.share(s.mask, all), focus: q.share(s.mask, all&^title), header: q.share(s.heading, all),
			line: q.share(inLine, all), before: q.share(before, all), referred: q.referred(s, before|title),
		}
		out = append(out, v)
	}
	return out
}

// referred returns the share of the question that a sentence may refer to by a pronoun at its beginning, also after an
// opening word.
func (q *Question) referred(s *Sentence, to uint64) float64 {
	for _, w := range s.words {
		if anaphors()[w.Key] {
			return q.share(to, q.all())
		}
		if !openers()[w.Key] {
			break
		}
	}
	return 0
}

var (
	// anaphors are words at the beginning of a sentence that refer to something before it.
	anaphors = text.LazySet(func() text.WordList { return text.AllTables().Evidence.Anaphors })
	// openers are words that may precede the subject of a sentence.
	openers = text.LazySet(func() text.WordList { return text.AllTables().Evidence.Openers })
)

// far is a distance in words that counts as no nearness.
const far = 100

// candidates are the words of a sentence that may answer the question and are not in it.
type candidates struct {
	names, times, numbers int
	associated            bool      // it has a word that answers tend to have
	distance              int       // in words, from a candidate of the right type to the nearest term of the question
	classes               wordClass // classes of all its words
}

// candidates finds the candidates among the words of a sentence.
func (q *Question) candidates(words []text.Word) candidates {
	c := candidates{distance: far}
	lastTerm, lastFit := -far, -far // indexes of the last term of the question and of the last candidate of the right type
	for i, w := range words {
		is := wordClasses()[w.Key]
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

// lacks reports whether a sentence visibly has no answer of a type.
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

// count counts word i if it is a candidate, and returns its type, or typeAny.
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

// accepts reports whether a candidate may answer the question by its type. A name may be a place, and a year a number.
func (q *Question) accepts(found answerType) bool {
	return found == q.kind || q.kind == typePlace && found == typePerson || q.kind == typeNumber && found == typeTime
}

// wordClass is a set of classes of words that indicate answers.
type wordClass uint8

const (
	stopWord wordClass = 1 << iota
	numberWord
	negation
	timeWord
	reasonWord
	definitionWord
)

// wordClasses has the classes of all such words, so that each word of a page is looked up once.
var wordClasses = sync.OnceValue(func() map[string]wordClass {
	all := map[string]wordClass{}
	for of, words := range map[wordClass]map[string]bool{
		stopWord: text.StopWords(), numberWord: text.SpelledNumbers(), negation: text.Negations(),
		timeWord:       text.Set(text.AllTables().Evidence.Time),
		reasonWord:     text.Set(text.AllTables().Evidence.Reason),
		definitionWord: text.Set(text.AllTables().Evidence.Definition),
	} {
		for w := range words {
			all[w] |= of
		}
	}
	return all
})
