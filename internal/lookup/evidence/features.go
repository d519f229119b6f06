package evidence

import (
	_ "embed"
	"math"
	"sync"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

// view is a sentence with what stands around it.
type view struct {
	*Sentence
	candidates
	kind   answerType // that the question asks for
	length int        // in characters

	// The share of the question's terms, by weight, that is in the sentence, and of those that are not in the title; and the
	// shares in its line, in the sentence before it and in the heading above.
	cover, focus, line, before, header float64

	lineDay  bool    // its line names a day that the question asks about
	referred float64 // it begins with a pronoun that may stand for this share of the question
}

// features say how a sentence would do as evidence for a question, without a word of either: what was learned on some
// questions holds for others. They are its place, how much of the question stands in it and around it, and whether it
// has what the question asks for (answer.go). The model knows them by name.
var features = []linear.Trait[view]{
	{Name: "opens page", Value: is(func(v *view) bool { return v.index == 0 })},
	{Name: "opens page, person", Value: is(func(v *view) bool { return v.index == 0 && v.kind == typePerson })},
	{Name: "opens page, any", Value: is(func(v *view) bool { return v.index == 0 && v.kind.open() })},
	{Name: "opens page, place", Value: is(func(v *view) bool { return v.index == 0 && v.kind == typePlace })},
	{Name: "stands second", Value: is(func(v *view) bool { return v.index == 1 })},
	{Name: "short", Value: is(func(v *view) bool { return v.length < 50 })},
	{Name: "nothing of the question", Value: is(func(v *view) bool { return v.mask == 0 })},
	{Name: "covers question", Value: func(v *view) float64 { return v.cover }},
	{Name: "covers what the title does not", Value: func(v *view) float64 { return v.focus }},
	{Name: "the one before covers", Value: func(v *view) float64 { return v.before }},
	{Name: "heading covers", Value: func(v *view) float64 { return v.header }},
	{Name: "pronoun stands for question", Value: func(v *view) float64 { return v.referred }},
	{Name: "associated with question", Value: is(func(v *view) bool { return v.associated })},
	{Name: "definition", Value: is(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 })},
	{Name: "definition opens page", Value: is(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 && v.index == 0 })},
	{Name: "lacks kind", Value: is(func(v *view) bool { return v.lacks(v.kind) })},
	{Name: "new number", Value: is(func(v *view) bool { return v.kind.open() && v.numbers > 0 })},
	{Name: "candidate near question", Value: (*view).near},
	{Name: "much that is new", Value: func(v *view) float64 { return min(float64(v.names+v.numbers), 12) / 6 }},
	{Name: "negated", Value: is(func(v *view) bool { return v.classes&negation != 0 })},
	{Name: "its line names the day", Value: is(func(v *view) bool { return v.lineDay })},
}

// is makes a feature of a condition.
func is(so func(*view) bool) func(*view) float64 {
	return func(v *view) float64 {
		if so(v) {
			return 1
		}
		return 0
	}
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

// featureWeights are what the features are worth.
var featureWeights = sync.OnceValue(func() []float64 { return linear.Worth(features, linear.MustParse(evidenceFile)) })

// views returns the sentences of the pages that were read, in their order.
func (q *Question) views(pages []Page) []view {
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

// referred returns the share of the question in what a sentence may refer to, if it begins with a pronoun, or with one behind
// words that may stand before its subject.
func (q *Question) referred(s *Sentence, to uint64) float64 {
	for _, w := range s.words {
		if anaphors[w.Key] {
			return q.share(to, q.all())
		}
		if !openers[w.Key] {
			break
		}
	}
	return 0
}

var (
	// anaphors are words that a sentence begins with and that stand for something before it.
	anaphors = text.Set(lang.All().Evidence.Anaphors)
	// openers are words that may stand before the subject of a sentence.
	openers = text.Set(lang.All().Evidence.Openers)
)
