package factcheck

import (
	"slices"

	"familiar/internal/lookup/claim"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

const (
	sure     = 0.55 // probability from which a page is taken to support a statement
	mostOfIt = 0.7  // of the statement's words that its best sentences must then have
)

// Stance is what one page says to a statement: for it or against it.
type Stance struct {
	Page    int // index of its page
	Against bool
	Text    string // the sentence
	Rule    string // by which it is against

	site   string   // registrable domain
	sketch []uint32 // of the page's shingles
}

// StanceOf returns a page's stance, if it takes one. It is for the statement if the model says so and nearly all of the
// statement is in its best sentences, and against it if a rule says so.
func StanceOf(statement string, page *Page) (s Stance, takes bool) {
	var sentences []string
	for _, sentence := range text.Sentences(page.Text) {
		if len(sentence) >= text.MinSentence || text.Unspaced(sentence) {
			sentences = append(sentences, text.Truncate(sentence, claim.MaxLength))
		}
	}
	s.site = guard.Registrable(page.Site)
	c := Compare(statement, page.Title, sentences)
	switch {
	case c.Conflict != "":
		s.Against, s.Rule, s.Text = true, c.Conflict, c.passages[c.against].text
	case c.Supports >= sure && c.held >= mostOfIt && claim.Negates(statement) == claim.Negates(c.passages[0].text):
		s.Text = c.passages[0].text
	default:
		return s, false
	}
	s.sketch = sketchOf(page.Text)
	return s, true
}

const (
	shingleWords = 4
	sketchSize   = 64  // shingles that stand for a page
	copiedShare  = 0.5 // of them, in a copy
)

func sketchOf(page string) []uint32 {
	return text.Sketch(text.Shingles(text.HashTerms(nil, page), shingleWords), sketchSize)
}

// repeats reports whether a stance repeats one of the others: on the same site, in the same words, or on a page that is
// mostly the same.
func (s Stance) repeats(others []Stance) bool {
	return slices.ContainsFunc(others, func(o Stance) bool {
		return o.site == s.site || sameWords(o.Text, s.Text) || text.NearDuplicates(o.sketch, s.sketch, copiedShare)
	})
}

// sameWords reports whether two sentences are the same but for a word or two. Short ones may be by chance.
func sameWords(a, b string) bool {
	x, y := text.Terms(a, ""), text.Terms(b, "")
	return min(len(x), len(y)) >= 8 && text.Jaccard(text.Unique(x), text.Unique(y)) >= 0.8
}

// QuoteWords is the length of a quotation, at most.
const QuoteWords = 25

// Excerpt returns the part of a sentence with the most of the statement's words, short enough to be quoted.
func Excerpt(statement, sentence string) string {
	words := text.Words(sentence)
	if len(words) <= QuoteWords {
		return sentence
	}
	wanted := text.Keys(text.ContentWords(statement))
	from, most := 0, -1
	for i := 0; i+QuoteWords <= len(words); i++ {
		hits := 0
		for _, w := range words[i : i+QuoteWords] {
			if wanted[w.Key] {
				hits++
			}
		}
		if hits > most {
			from, most = i, hits
		}
	}
	return sentence[words[from].Start:words[from+QuoteWords-1].End]
}
