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

	mask, sentence, heading uint64  // the terms in it, in the whole sentence and in the heading above
	pairs                   float64 // the share of the question's pairs of neighbours that are neighbours in it
	related                 bool    // something of the question is in it or around it, or on the page that it opens
	day                     bool    // it names a day that the question asks about
	demoted                 bool    // its page denies it, and it lost for that
	lacksKind               bool    // it has nothing of the kind that the question asks for
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
			from, mask := len(all), uint64(0)
			for _, p := range quote.Of(whole) {
				if !page.Answer && !p.IsProse() {
					continue
				}
				s := Sentence{Quote: p, Page: at, index: len(all) - first, heading: heading, words: text.Words(p.Text)}
				s.Line = number
				s.mask, s.pairs = q.find(s.Text, s.words)
				mask |= s.mask
				all = append(all, s)
			}
			for i := from; i < len(all); i++ {
				all[i].sentence = mask
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
