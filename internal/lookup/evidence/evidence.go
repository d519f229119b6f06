// Package evidence finds the sentences of pages that answer a question. It has no model of language: it counts.
//
// [NewQuestion] reads the question (question.go): its terms, the type of answer that it asks for (answertype.go) and the
// words that answers to it tend to have (associations.go). [Question.Choose] splits the pages into sentences, and long
// sentences into parts (sentence.go); sees how each of them would do as an answer (features.go, answer.go); ranks them
// by what these features are worth, which was learned from questions with known answers (evidence.model, made by go run
// ./cmd/evaluate train); and takes the best. Who asks for a summary gets an outline (outline.go). What was considered
// and left out is on record, with the reason (dropped.go).
package evidence

import (
	"cmp"
	"math"
	"slices"

	"familiar/internal/linear"
	"familiar/internal/lookup/framing"
	"familiar/internal/text"
)

// Page is a page as evidence is looked for on it. One without Text was not read.
type Page struct {
	Title, Text string
	Rank        int  // from 0, in the order of the search
	Answer      bool // its backend says that it answers the question
	Meant       bool // the question is about it, also where it shares no word with it: "how high is it?"

	Framing *framing.Page // of the text; nil: every sentence is what the page says
}

// says reports whether a page says a sentence in earnest, and does not deny it.
func (p *Page) says(s *Sentence) bool { return p.Framing.At(s.Line, s.Quote.Sentence).Plain() }

const (
	perPage  = 3  // sentences from one page, of several
	Brief    = 3  // sentences in all where they are the answer itself
	Extended = 10 // … where a model reads them
)

// What a sentence gains or loses beside what its features are worth.
const (
	PerLength  = 1.5  // lost each time that it is e times as long: of two that say the same, the shorter one is better
	perRank    = 0.15 // lost for each page that was ranked before its own
	notSaid    = 3    // lost if its page denies it
	ofAnswer   = 3    // gained if its page's backend says that it answers the question
	usualScore = 4    // gained by all, so that the best sentence of a good page ranks with the side model's notes
)

// Choose returns the sentences that answer the question, best first, or an outline of the pages if that is asked for.
func (q *Question) Choose(pages []Page, limit int) []Sentence {
	if q.kind == typeSummary {
		return q.Outline(pages, limit)
	}
	return q.best(pages, limit)
}

// best takes the best sentences: a few of each page, none twice, and none that has nothing to do with the question. Of
// a page that is the answer, such as a forecast, it takes as many as there is room for. What a page denies comes behind what
// it says.
func (q *Question) best(pages []Page, limit int) []Sentence {
	each := eachOf(pages, limit)
	var out, denied []Sentence
	taken := make([][][]string, len(pages)) // by page: the terms of each sentence
	for _, s := range q.ranked(pages) {
		answer := pages[s.Page].Answer
		if len(out) == limit || !answer && len(taken[s.Page]) == each {
			q.drop(s, DroppedBelow)
			continue
		}
		if !answer && !s.related && !pages[s.Page].Meant && len(q.terms) > 0 {
			q.drop(s, DroppedBare)
			continue
		}
		terms := text.Unique(text.Terms(s.Text, q.lang))
		if !answer && slices.ContainsFunc(taken[s.Page], func(other []string) bool { return text.Jaccard(other, terms) > 0.7 }) {
			q.drop(s, DroppedSame)
			continue
		}
		s.Excerpt = s.Marked()
		if !pages[s.Page].says(s) {
			s.Score -= notSaid
			denied = append(denied, *s)
			continue
		}
		taken[s.Page] = append(taken[s.Page], terms)
		out = append(out, *s)
	}
	for i := range denied {
		if s := &denied[i]; len(out) < limit && i < perPage {
			out = append(out, *s)
		} else {
			q.drop(s, DroppedBelow)
		}
	}
	return out
}

// ranked scores every sentence of the pages as evidence for the question, best first.
func (q *Question) ranked(pages []Page) []*Sentence {
	views, weights := q.views(pages), featureWeights()
	all := make([]*Sentence, len(views))
	for i := range views {
		v, s := &views[i], views[i].Sentence
		all[i] = s
		s.lacksKind = v.lacks(q.kind)
		s.Score = usualScore - PerLength*math.Log(float64(v.length)/100) - perRank*float64(pages[s.Page].Rank)
		for f := range features {
			s.Score += weights[f] * features[f].Value(v)
		}
		if pages[s.Page].Answer {
			s.Score += ofAnswer
		}
	}
	slices.SortStableFunc(all, func(a, b *Sentence) int { return cmp.Compare(b.Score, a.Score) })
	return all
}

// relate says which sentences of a page have to do with the question whatever their words are: the first one, as a rule, and all
// where the title alone names what the page is about. None has if the page is in the question's language and has nothing of it.
func (q *Question) relate(page []Sentence, title uint64) {
	body := uint64(0)
	for i := range page {
		body |= page[i].mask | page[i].heading
	}
	about := page[:1]
	if body == 0 && title != 0 {
		about = page
	} else if body == 0 && len(q.terms) > 0 {
		lang := text.Language(page[0].Sentence, page[0].words)
		if lang == q.lang || lang == "" && !text.Unspaced(page[0].Sentence) {
			return
		}
	}
	for i := range about {
		about[i].related = true
	}
}

// eachOf is how many sentences one page may give.
func eachOf(pages []Page, limit int) int {
	read := 0
	for i := range pages {
		if pages[i].Text != "" {
			read++
		}
	}
	return min(limit, max(perPage, limit/max(1, read)))
}

// Candidates returns every sentence and part of a page as evidence for a question, and its features, for training the
// model. The text is clean.
func Candidates(question, title, body string) (quotes []string, values [][]linear.Feature) {
	for _, v := range NewQuestion(question, "", text.Date{}).views([]Page{{Title: title, Text: body}}) {
		quotes, values = append(quotes, v.Text), append(values, linear.Seen(features, &v))
	}
	return quotes, values
}
