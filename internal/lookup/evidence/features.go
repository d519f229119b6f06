package evidence

import (
	_ "embed"
	"math"
	"sync"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/text"
)

// The features of a sentence say how it would do as evidence for a question, without a word of either: what was learned
// on some questions holds for others. They are its place, how much of the question stands in it and around it, and
// whether it has what the question asks for (answer.go).
const (
	featureFirst = iota
	featureSecond
	featureLate
	featureOpens
	featureLong
	featureShort
	featureFirstPart
	featureLaterPart
	featureBare
	featureCover
	featureBelow
	featureFocus
	featureFocusBelow
	featurePairs
	featureSentence
	featureLine
	featureBefore
	featureAfter
	featureHead
	featureSubject
	featurePronoun
	featureReferred
	featureAssociation
	featureWho
	featureWhen
	featureWhere
	featureCount
	featureWhy
	featureHow
	featureWhat
	featureWhatLead
	featureLacks
	featureName
	featureNumber
	featureNear
	featureNews
	featureNegated
	featureDay
	featureDayLine
	numFeatures
)

// featureNames are what the model and people call them.
var featureNames = [numFeatures]string{
	featureFirst:       "opens page",
	featureSecond:      "stands second",
	featureLate:        "far down",
	featureOpens:       "opens line",
	featureLong:        "long",
	featureShort:       "short",
	featureFirstPart:   "first part",
	featureLaterPart:   "later part",
	featureBare:        "nothing of the question",
	featureCover:       "covers question", // its rare words counting most, as always
	featureBelow:       "covers less than the page's best",
	featureFocus:       "covers what the title does not",
	featureFocusBelow:  "covers less of that than the best",
	featurePairs:       "covers pairs of words",
	featureSentence:    "whole sentence covers",
	featureLine:        "its line covers",
	featureBefore:      "the one before covers",
	featureAfter:       "the next covers",
	featureHead:        "heading covers",
	featureSubject:     "begins with title",
	featurePronoun:     "begins with pronoun",
	featureReferred:    "pronoun stands for question", // by the sentence before, or the title
	featureAssociation: "associated with question",
	featureWho:         "person",
	featureWhen:        "time",
	featureWhere:       "place",
	featureCount:       "number",
	featureWhy:         "reason",
	featureHow:         "manner",
	featureWhat:        "definition",
	featureWhatLead:    "definition opens page",
	featureLacks:       "lacks kind",
	featureName:        "new name", // these two where no such kind is asked for
	featureNumber:      "new number",
	featureNear:        "candidate near question",
	featureNews:        "much that is new",
	featureNegated:     "negated",
	featureDay:         "names the day",
	featureDayLine:     "its line names the day",
}

// features is how much of each feature a sentence has.
type features [numFeatures]float64

func (f *features) set(feature int, is bool) {
	if is {
		f[feature] = 1
	}
}

// named returns the features that a sentence has, for the model.
func (f *features) named() []linear.Feature {
	var out []linear.Feature
	for i, x := range f {
		if x != 0 {
			out = append(out, linear.Feature{Name: featureNames[i], Value: x})
		}
	}
	return out
}

//go:embed evidence.model
var evidenceFile []byte

// featureWeights are what the features are worth.
var featureWeights = sync.OnceValue(func() *[numFeatures]float64 {
	var out [numFeatures]float64
	model := linear.MustParse(evidenceFile)
	for f, name := range featureNames {
		out[f] = model.Weight(name, 0)
	}
	return &out
})

// surroundings are the terms of the question that stand around a sentence: in its page's title, its line and its
// neighbours.
type surroundings struct {
	title, line, before, after uint64
	opensLine                  bool
	day                        bool    // its line names a day that was asked for
	most, mostFocus            float64 // the most that a sentence of its page covers
}

// setFeatures sets the features of a page's sentences.
func (q *Question) setFeatures(page []Sentence, title uint64) {
	at := surroundings{title: title}
	for i := range page {
		at.most = max(at.most, q.share(page[i].mask, q.all()))
		at.mostFocus = max(at.mostFocus, q.share(page[i].mask, q.all()&^title))
	}
	for line := range runs(page, func(s *Sentence) int { return s.line }) {
		at.line, at.day = 0, false
		for i := range line {
			at.line |= line[i].mask
			names := q.namesDay(line[i].Text)
			line[i].features.set(featureDay, names)
			at.day = at.day || names
		}
		for i := range line {
			s := &line[i]
			at.opensLine, at.before, at.after = i == 0, 0, 0
			if s.index > 0 {
				at.before = page[s.index-1].mask
			}
			if s.index+1 < len(page) {
				at.after = page[s.index+1].mask
			}
			s.related = s.mask|s.heading|at.line|at.before != 0
			q.setPlace(s, at)
			q.setCover(s, at)
			q.setAnswer(s)
		}
	}
}

// setPlace sets the features of where and how a sentence stands.
func (q *Question) setPlace(s *Sentence, at surroundings) {
	f, length := &s.features, utf8.RuneCountInString(s.Text)
	f.set(featureFirst, s.index == 0)
	f.set(featureSecond, s.index == 1)
	f[featureLate] = math.Log1p(float64(s.index)) / 3
	f.set(featureOpens, at.opensLine && s.index > 0)
	f[featureLong] = math.Log(float64(length)/100) / 2
	f.set(featureShort, length < 50)
	f.set(featureFirstPart, s.after && !s.before)
	f.set(featureLaterPart, s.before)
	f.set(featureDayLine, at.day)
}

// setCover sets the features of how much of the question is in a sentence and around it.
func (q *Question) setCover(s *Sentence, at surroundings) {
	f, all := &s.features, q.all()
	f.set(featureBare, s.mask == 0)
	f[featureCover] = q.share(s.mask, all)
	f[featureBelow] = at.most - f[featureCover]
	f[featureFocus] = q.share(s.mask, all&^at.title)
	f[featureFocusBelow] = at.mostFocus - f[featureFocus]
	f[featurePairs] = s.pairs
	f[featureSentence] = q.share(s.sentence, all)
	f[featureLine] = q.share(at.line, all)
	f[featureBefore] = q.share(at.before, all)
	f[featureAfter] = q.share(at.after, all)
	f[featureHead] = q.share(s.heading, all)
	for _, w := range s.words {
		if openers[w.Key] {
			continue
		}
		if bit := q.bit(w.Key); bit != none {
			f.set(featureSubject, at.title>>bit&1 == 1)
		}
		if referring[w.Key] {
			f[featurePronoun] = 1
			f[featureReferred] = q.share(at.before|at.title, all)
		}
		break
	}
}

var (
	// referring are words that a sentence begins with and that stand for something before it.
	referring = text.Set("he she it they this these that those his her its their such both er sie es il elle ils elles")
	// openers may stand before its subject.
	openers = text.Set("in and but also however later then when while as at on by from after since during")
)
