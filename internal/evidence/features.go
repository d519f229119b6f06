package evidence

import (
	_ "embed"
	"maps"
	"math"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// view is a sentence with its surroundings.
type view struct {
	*Sentence
	candidates
	kind   answerType // of the wanted answer
	length int        // in characters

	// Weighted shares of the question's terms. They are in the sentence, in it without those of the title, in its line, and in the sentence
	// before.
	coverage, focus, line, before float64

	lineDay bool // its line names a day of the question
}

// features describe a sentence as evidence without using its words, so that they hold for any question. They are its position, its overlap
// with the question, and its possible answers. The model knows them by name.
var features = []text.Trait[view]{
	{Name: "opens page", Value: text.If(func(v *view) bool { return v.index == 0 })},
	{Name: "short", Value: text.If(func(v *view) bool { return v.length < 50 })},
	{Name: "covers question", Value: func(v *view) float64 { return v.coverage }},
	{Name: "covers what the title does not", Value: func(v *view) float64 { return v.focus }},
	{Name: "the one before covers", Value: func(v *view) float64 { return v.before }},
	{Name: "associated with question", Value: text.If(func(v *view) bool { return v.associated })},
	{Name: "definition", Value: text.If(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 })},
	{Name: "definition opens page", Value: text.If(func(v *view) bool { return v.kind == typeDefinition && v.classes&definitionWord != 0 && v.index == 0 })},
	{Name: "lacks kind", Value: text.If(func(v *view) bool { return v.lacks(v.kind) })},
	{Name: "much that is new", Value: func(v *view) float64 { return min(float64(v.names+v.numbers), 12) / 6 }},
}

func (v *view) late() float64 { return math.Log1p(float64(v.index)) / 3 }
func (v *view) long() float64 { return math.Log(float64(v.length)/100) / 2 }

//go:embed evidence.model
var evidenceFile []byte

// featureWeights are the weights of the features.
var featureWeights = sync.OnceValue(func() []float64 { return text.WeightsOf(features, text.MustParseModel(evidenceFile)) })

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
			coverage: q.share(s.mask, all), focus: q.share(s.mask, all&^title), line: q.share(inLine, all), before: q.share(before, all),
		}
		out = append(out, v)
	}
	return out
}

// candidates are the words of a sentence that may answer the question and are not in it.
type candidates struct {
	names, times, numbers int
	associated            bool      // it has a word that answers tend to have
	classes               wordClass // classes of all its words
}

// candidates finds the candidates among the words of a sentence.
func (q *Question) candidates(words []text.Word) (c candidates) {
	for i, w := range words {
		is := wordClasses()[w.Key]
		c.classes |= is
		if !q.has(w.Key) {
			c.associated = c.associated || q.associations[w.Key]
			c.count(words, i, is)
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

// count counts word i if it is a candidate. A year is a number and a time.
func (c *candidates) count(words []text.Word, i int, is wordClass) {
	w := words[i]
	switch {
	case text.Numeric(w.Key) && len(w.Key) == 4 && w.Key >= "1000" && w.Key < "2100":
		c.numbers++
		c.times++
	case text.Numeric(w.Key), is&numberWord != 0:
		c.numbers++
	case is&timeWord != 0, (w.Key == "am" || w.Key == "pm") && i > 0 && text.Numeric(words[i-1].Key):
		c.times++
	case w.Upper && i > 0 && is&stopWord == 0:
		c.names++
	}
}

// wordClass is a set of classes of words that indicate answers.
type wordClass uint8

const (
	stopWord wordClass = 1 << iota
	numberWord
	timeWord
	reasonWord
	definitionWord
)

// wordClasses has the classes of all such words, so that each word of a page is looked up once.
var wordClasses = sync.OnceValue(func() map[string]wordClass {
	all := map[string]wordClass{}
	for of, words := range map[wordClass]map[string]bool{
		stopWord: text.StopWords(), numberWord: text.SpelledNumbers(),
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

var lexicon = text.AllTables

func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, s := range sets {
		maps.Copy(all, s)
	}
	return all
}

// The words of headings and labels.
var (
	untrue     = text.LazySet(func() text.WordList { return lexicon().Framing.Untrue })
	claims     = text.LazySet(func() text.WordList { return lexicon().Framing.Claims })
	falsehood  = text.LazySet(func() text.WordList { return lexicon().Framing.Falsehood })
	falsehoods = text.LazySet(func() text.WordList { return lexicon().Framing.Falsehoods })
	truths     = text.LazySet(func() text.WordList { return lexicon().Framing.Truths })
	received   = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Received) })
	notSo      = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.NotSo) })
	handling   = text.LazySet(func() text.WordList { return lexicon().Framing.Handling })

	falseLabels = sync.OnceValue(func() map[string]bool { return union(falsehood(), falseAnswers()) })
	trueLabels  = sync.OnceValue(func() map[string]bool { return union(truths(), trueAnswers()) })

	comments      = text.LazySet(func() text.WordList { return lexicon().Framing.Comments })
	commentWords  = sync.OnceValue(func() map[string]bool { return union(comments(), text.Set(lexicon().Framing.BesideComments)) })
	plots         = text.LazySet(func() text.WordList { return lexicon().Framing.Plots })
	contentsWords = text.LazySet(func() text.WordList { return lexicon().Framing.Contents })
	plotWords     = sync.OnceValue(func() map[string]bool { return union(plots(), contentsWords(), fillers()) })
	works         = text.LazySet(func() text.WordList { return lexicon().Framing.Works })
	satireNames   = sync.OnceValue(func() []string { return lexicon().Framing.Satire.Fields() })
	satireWords   = text.LazySet(func() text.WordList { return lexicon().Framing.Satire })
	sponsors      = text.LazySet(func() text.WordList { return lexicon().Framing.Sponsors })
	sponsorWords  = sync.OnceValue(func() map[string]bool { return union(sponsors(), text.Set(lexicon().Framing.BesideSponsors)) })
	pageNouns     = text.LazySet(func() text.WordList { return lexicon().Framing.PageNouns })
)

// The words of verdicts and answers.
var (
	verdictColumns = text.LazySet(func() text.WordList { return lexicon().Framing.VerdictColumns })
	falseVerdicts  = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.FalseVerdicts) })
	falseAnswers   = text.LazySet(func() text.WordList { return lexicon().Framing.FalseAnswers })
	trueAnswers    = text.LazySet(func() text.WordList { return lexicon().Framing.TrueAnswers })
	noWords        = text.LazySet(func() text.WordList { return lexicon().Framing.No })
	yesNo          = sync.OnceValue(func() map[string]bool { return union(noWords(), text.Set(lexicon().Framing.Yes)) })
	trueOrFalse    = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.TrueOrFalse) })
)

// The words of sentences that refute others.
var (
	demonstratives = text.LazySet(func() text.WordList { return lexicon().Framing.Demonstratives })
	every          = text.LazySet(func() text.WordList { return lexicon().Framing.Every })
	pronouns       = text.LazySet(func() text.WordList { return lexicon().Framing.Pronouns })
	articles       = text.LazySet(func() text.WordList { return text.AllTables().Grammar.Articles })
	complements    = text.LazySet(func() text.WordList { return lexicon().Framing.Complements })
	dismissals     = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Dismissals) })
	sayings        = sync.OnceValue(func() map[string]bool { return union(claims(), text.Set(lexicon().Framing.Sayings)) })
	following      = text.LazySet(func() text.WordList { return lexicon().Framing.Following })
	fillers        = text.LazySet(func() text.WordList { return lexicon().Framing.Fillers })
	frameOpeners   = text.LazySet(func() text.WordList { return lexicon().Framing.Openers })
	refuted        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Refuted) })
	nothing        = sync.OnceValue(func() text.Phrases { return text.CompileOne(lexicon().Framing.Nothing) })
	affirms        = text.LazySet(func() text.WordList { return lexicon().Framing.Affirms })
	corrections    = text.LazySet(func() text.WordList { return lexicon().Framing.Corrections })
)
