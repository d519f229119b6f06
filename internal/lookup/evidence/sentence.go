package evidence

import (
	"iter"
	"strings"

	"familiar/internal/lookup/quote"
	"familiar/internal/text"
)

// Sentence is a sentence of a page, or a part of a long one, as evidence for a question. The masks are sets of the
// question's terms.
type Sentence struct {
	quote.Quote
	Excerpt string // how it is quoted
	Score   float64
	Page    int // index of its page
	index   int // of the part among those of its page
	words   []text.Word

	mask, heading uint64 // the terms in it and in the heading above
	related       bool   // something of the question is in it or around it, or on the page that it opens
	demoted       bool   // its page denies it, and it lost for that
	lacksKind     bool   // it has nothing of the kind that the question asks for
}

// HasTerm reports whether a term of the question is in the sentence.
func (s *Sentence) HasTerm() bool { return s.mask != 0 }

// runs yields the longest runs of sentences that have the same number: of one page, of one line.
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
func (q *Question) split(all []Sentence, at int, page *Page) []Sentence {
	first, number := len(all), 0
	var heading uint64
	for line := range strings.SplitSeq(page.Text, "\n") {
		if isHeading(line) {
			heading = q.maskOf(line)
		}
		for _, whole := range text.Sentences(line) {
			for _, p := range quote.Of(whole) {
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

// isHeading reports whether a line looks like a heading: short, and not ended like a sentence.
func isHeading(line string) bool {
	return line != "" && len(line) < 80 && !strings.ContainsAny(line[len(line)-1:], ".!?")
}
