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

// The traits of a sentence are what can be seen of it as evidence for a question without knowing what either is about.
// No trait is a word, so what was learned of them on some questions holds for others. The place, how much of the
// question stands in the sentence and around it, and whether it has the kind of thing that is asked for (kinds.go).
const (
	traitFirst = iota
	traitSecond
	traitLate
	traitOpens
	traitLong
	traitShort
	traitFirstPart
	traitLaterPart
	traitBare
	traitCover
	traitBelow
	traitFocus
	traitFocusBelow
	traitPairs
	traitSentence
	traitLine
	traitBefore
	traitAfter
	traitHead
	traitSubject
	traitPronoun
	traitReferred
	traitKin
	traitWho
	traitWhen
	traitWhere
	traitCount
	traitWhy
	traitHow
	traitWhat
	traitWhatLead
	traitLacks
	traitName
	traitNumber
	traitNear
	traitNews
	traitNegated
	traitDay
	traitDayLine
	numFeatures
)

// traitNames are what the model and people call them.
var traitNames = [numFeatures]string{
	traitFirst:      "opens page",
	traitSecond:     "stands second",
	traitLate:       "far down",
	traitOpens:      "opens line",
	traitLong:       "long",
	traitShort:      "short",
	traitFirstPart:  "first part",
	traitLaterPart:  "later part",
	traitBare:       "nothing of the question",
	traitCover:      "covers question", // its rare words counting most, as always
	traitBelow:      "covers less than the page's best",
	traitFocus:      "covers what the title does not",
	traitFocusBelow: "covers less of that than the best",
	traitPairs:      "covers pairs of words",
	traitSentence:   "whole sentence covers",
	traitLine:       "its line covers",
	traitBefore:     "the one before covers",
	traitAfter:      "the next covers",
	traitHead:       "heading covers",
	traitSubject:    "begins with title",
	traitPronoun:    "begins with pronoun",
	traitReferred:   "pronoun stands for question", // by the sentence before, or the title
	traitKin:        "kin of question",
	traitWho:        "person",
	traitWhen:       "time",
	traitWhere:      "place",
	traitCount:      "number",
	traitWhy:        "reason",
	traitHow:        "manner",
	traitWhat:       "definition",
	traitWhatLead:   "definition opens page",
	traitLacks:      "lacks kind",
	traitName:       "new name", // these two where no such kind is asked for
	traitNumber:     "new number",
	traitNear:       "candidate near question",
	traitNews:       "much that is new",
	traitNegated:    "negated",
	traitDay:        "names the day",
	traitDayLine:    "its line names the day",
}

//go:embed evidence.model
var evidenceFile []byte

// evidenceWeights are what each trait is worth.
var evidenceWeights = sync.OnceValue(func() *[numFeatures]float64 {
	var out [numFeatures]float64
	model := linear.MustParse(evidenceFile)
	for t, name := range traitNames {
		out[t] = model.Weight(name, 0)
	}
	return &out
})

// setting is where a sentence stands: what of the question is in its page's title, its line and its neighbours.
type setting struct {
	title, line, before, after uint64
	day                        bool    // its line names a day that was asked for
	best, bestFocus            float64 // of its page
}

// observe sees the traits of a page's sentences.
func (q *Question) observe(page []Sentence, title uint64) {
	at := setting{title: title}
	for i := range page {
		at.best = max(at.best, q.share(page[i].Mask, q.all()))
		at.bestFocus = max(at.bestFocus, q.share(page[i].Mask, q.all()&^title))
	}
	for i := range page {
		if i == 0 || page[i].line != page[i-1].line {
			at.line, at.day = 0, false
			for j := i; j < len(page) && page[j].line == page[i].line; j++ {
				page[j].traits.set(traitDay, q.names(page[j].Text))
				at.line |= page[j].Mask
				at.day = at.day || page[j].traits[traitDay] == 1
			}
		}
		at.before, at.after = 0, 0
		if i > 0 {
			at.before = page[i-1].Mask
		}
		if i+1 < len(page) {
			at.after = page[i+1].Mask
		}
		q.see(&page[i], at)
	}
}

// see sees the traits of one sentence.
func (q *Question) see(s *Sentence, at setting) {
	t, all := &s.traits, q.all()
	s.linked = s.Mask|s.head|at.line|at.before != 0
	length := utf8.RuneCountInString(s.Text)
	t.set(traitFirst, s.place == 0)
	t.set(traitSecond, s.place == 1)
	t[traitLate] = math.Log1p(float64(s.place)) / 3
	t.set(traitOpens, s.opens && s.place > 0)
	t[traitLong] = math.Log(float64(length)/100) / 2
	t.set(traitShort, length < 50)
	t.set(traitFirstPart, s.ended && !s.cut)
	t.set(traitLaterPart, s.cut)
	t.set(traitBare, s.Mask == 0)
	t[traitCover] = q.share(s.Mask, all)
	t[traitBelow] = at.best - t[traitCover]
	t[traitFocus] = q.share(s.Mask, all&^at.title)
	t[traitFocusBelow] = at.bestFocus - t[traitFocus]
	t[traitPairs] = s.pairs
	t[traitSentence] = q.share(s.sentence, all)
	t[traitLine] = q.share(at.line, all)
	t[traitBefore] = q.share(at.before, all)
	t[traitAfter] = q.share(at.after, all)
	t[traitHead] = q.share(s.head, all)
	t.set(traitDayLine, at.day)
	first := 0
	for first < len(s.words) && openers[s.words[first].Key] {
		first++
	}
	if first < len(s.words) {
		key := s.words[first].Key
		t.set(traitPronoun, referring[key])
		if bit := q.bit(key); bit != none {
			t.set(traitSubject, at.title>>bit&1 == 1)
		}
		if referring[key] {
			t[traitReferred] = q.share(at.before|at.title, all)
		}
	}
	q.kinds(t, s.words, s.place == 0)
}

// Features is how much of each trait a sentence has.
type Features [numFeatures]float64

func (t *Features) set(trait int, is bool) {
	if is {
		t[trait] = 1
	}
}

var (
	// referring are words that a sentence begins with and that stand for something before it.
	referring = text.Set(lang.All().Evidence.Anaphors)
	// openers may stand before its subject.
	openers = text.Set(lang.All().Evidence.Openers)
)
