// Package evidence finds the sentences of pages that answer a question, and checks what is said of pages and messages.
// It counts words and follows rules; the two models in it see no words.
//
// Finding: [NewQuestion] (question.go) reads the terms of a question and the type of answer that it wants.
// [Question.Choose] (evidence.go) divides pages into sentences, ranks them by features.go, and takes the best.
// [Question.Outline] (page.go) summarises pages. What was left out is recorded with the reason.
//
// Quoting: quote.go decides what may be quoted. [Quotable] divides long sentences into clauses that keep their meaning. [CheckQuote] refuses
// what must not be shown. Everything that chooses quotes, including a side model, chooses among these and writes nothing.
//
// Framing: a true quote misleads without what denies it. [ParseLayout] (layout.go) reads headings, lists and tables.
// [Layout.Framing] tells whose word a sentence is, and whether its page denies it (denial.go, refute.go). If the rules
// find nothing, the page says it. features.go has the words of these rules.
//
// Checking: a [Page] (page.go) is the text that a claim is checked against. [CheckCitation] (citation.go, number.go)
// checks a sentence of a reply that cites pages. [FindSupport] (messages.go) checks, more strictly (statement.go), what
// a model says of people's messages. Both refuse in doubt. [Salience] ranks messages.
package evidence

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"familiar/internal/text"
)

// Document is a page on which evidence is looked for. A page that was not read has no Text.
type Document struct {
	Title, Text string
	Rank        int  // rank in the search results, from 0
	Answer      bool // the search service says that it answers the question
	Meant       bool // the question refers to it, even with no word of it: "how high is it?"

	Framing *Layout // of the text; nil: the page means every sentence
}

// says reports whether a page states a sentence in earnest and does not deny it.
func (p *Document) says(s *Sentence) bool { return p.Framing.Framing(s.Line, s.Quote.Sentence).Plain() }

const (
	perPage  = 3  // sentences of one page if there are several
	Brief    = 3  // sentences in all if they are the answer themselves
	Extended = 10 // sentences in all if a model reads them
)

// What is added to and subtracted from the score of the features.
const (
	LengthPenalty = 1.5  // for each e-fold length: of two sentences that say the same, the shorter is better
	rankPenalty   = 0.15 // for each page ranked higher
	denialPenalty = 3    // if the page denies the sentence
	dayBonus      = 2    // if its line names the day that the question asks about
	answerBonus   = 3    // if the search service says that the page answers the question
	baseScore     = 4    // for all, so that good sentences rank with the side model's quotes
)

// Choose returns the sentences that answer the question, best first. If the question asks for a summary, it returns an
// outline.
func (q *Question) Choose(pages []Document, limit int) []Sentence {
	if q.kind == typeSummary {
		return q.Outline(pages, limit)
	}
	return q.best(pages, limit)
}

// best takes the best sentences: a few of each page, none twice, and none unrelated to the question. A page that is the
// answer, such as a forecast, may fill all the room. Denied sentences come after the others.
func (q *Question) best(pages []Document, limit int) []Sentence {
	each := eachOf(pages, limit)
	var out, denied []Sentence
	taken := make([][][]string, len(pages)) // by page: the terms of each sentence taken
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
			s.Score -= denialPenalty
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

// ranked scores every sentence of the pages, best first.
func (q *Question) ranked(pages []Document) []*Sentence {
	views, weights := q.views(pages), featureWeights()
	all := make([]*Sentence, len(views))
	for i := range views {
		v, s := &views[i], views[i].Sentence
		all[i] = s
		s.lacksKind = v.lacks(q.kind)
		s.Score = baseScore - LengthPenalty*math.Log(float64(v.length)/100) - rankPenalty*float64(pages[s.Page].Rank)
		for f := range features {
			s.Score += weights[f] * features[f].Value(v)
		}
		if v.lineDay {
			s.Score += dayBonus
		}
		if pages[s.Page].Answer {
			s.Score += answerBonus
		}
	}
	slices.SortStableFunc(all, func(a, b *Sentence) int { return cmp.Compare(b.Score, a.Score) })
	return all
}

// relate marks sentences that are related to the question without sharing its words. Usually that is the first one; it
// is all of them if only the title names the topic. It is none if the page is in the question's language and shares
// nothing with it.
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

// eachOf returns how many sentences one page may give.
func eachOf(pages []Document, limit int) int {
	read := 0
	for i := range pages {
		if pages[i].Text != "" {
			read++
		}
	}
	return min(limit, max(perPage, limit/max(1, read)))
}

// RankingFeatures returns every sentence and clause of a clean page with its features for a question, for training.
func RankingFeatures(question, title, body string) (quotes []string, values [][]text.Feature) {
	for _, v := range NewQuestion(question, "", text.Date{}).views([]Document{{Title: title, Text: body}}) {
		quotes, values = append(quotes, v.Text), append(values, text.FeaturesOf(features, &v))
	}
	return quotes, values
}

// Sentence is a sentence of a page, or a clause of a long one, as evidence for a question. The masks are sets of the
// question's terms.
type Sentence struct {
	Quote
	Excerpt string // as it is quoted
	Score   float64
	Page    int // index of its page
	index   int // among the sentences of its page
	words   []text.Word

	mask, heading uint64 // the terms in it, and in the heading above
	related       bool   // the question's terms are in it or near it, or it is marked by relate
	demoted       bool   // its page denies it, and its score was lowered for that
	lacksKind     bool   // it has no answer of the wanted type
}

// HasTerm reports whether a term of the question is in the sentence.
func (s *Sentence) HasTerm() bool { return s.mask != 0 }

// runs yields the longest runs of sentences with the same number, such as those of one page or line.
func runs(all []Sentence, number func(*Sentence) int) iter.Seq[[]Sentence] {
	return func(yield func([]Sentence) bool) {
		for from, to := 0, 0; from < len(all); from = to {
			for to = from + 1; to < len(all) && number(&all[to]) == number(&all[from]); to++ {
			}
			if !yield(all[from:to]) {
				return
			}
		}
	}
}

// split appends the sentences of a page.
func (q *Question) split(all []Sentence, at int, page *Document) []Sentence {
	first, number := len(all), 0
	var heading uint64
	for line := range strings.SplitSeq(page.Text, "\n") {
		if isHeading(line) {
			heading = q.maskOf(line)
		}
		for _, whole := range text.Sentences(line) {
			for _, p := range quotableClauses(whole) {
				if !page.Answer && !p.IsProse() {
					continue
				}
				s := Sentence{Quote: p, Page: at, index: len(all) - first, heading: heading, words: text.Words(p.Text)}
				s.Line = number
				s.mask = q.find(s.Text, s.words)
				all = append(all, s)
			}
		}
		number++
	}
	return all
}

// isHeading reports whether a line looks like a heading: short, and without the end of a sentence.
func isHeading(line string) bool {
	return line != "" && len(line) < 80 && !strings.ContainsAny(line[len(line)-1:], ".!?")
}

// Why a sentence is not quoted.
const (
	DroppedBelow    = "below the best"
	DroppedKind     = "not an answer of the kind asked"
	DroppedBare     = "nothing of the question in it"
	DroppedSelected = "what the side model selected says enough"
	DroppedSame     = "says the same as "
	DroppedCheck    = "failed check: " // followed by the check
	DroppedNoRoom   = "no room in the block"
)

const (
	MaxDropped     = 5   // recorded of one page
	MaxDroppedText = 160 // length of each, in characters
)

// Dropped is a sentence that was considered and not quoted.
type Dropped struct {
	Page  int // index of its page
	Text  string
	Score float64
	Why   string
}

// drop records a sentence that is not chosen. Sentences come best first; after MaxDropped of a page, it records no more.
func (q *Question) drop(s *Sentence, why string) {
	if q.drops[s.Page]++; q.drops[s.Page] > MaxDropped {
		return
	}
	if why == DroppedBelow && s.lacksKind {
		why = DroppedKind
	}
	q.Dropped = append(q.Dropped, Dropped{s.Page, s.Marked(), s.Score, why})
}
