package factcheck

import (
	"slices"

	"familiar/internal/lookup/claim"
	"familiar/internal/lookup/quote"
	"familiar/internal/text"
	"familiar/internal/web/guard"
)

const (
	sure     = 0.55 // probability from which a page is taken to support a statement
	mostOfIt = 0.7  // of the statement's words that its best sentences must then have
)

// Stance is what one page says to a statement: for it or against it.
type Stance struct {
	quote.Quote     // that takes it
	Page        int // index of its page
	Against     bool
	Rule        string // by which it is against

	site   string   // registrable domain
	sketch []uint32 // of the page's shingles
}

// StanceOf returns a page's stance, if it takes one. It is for the statement if the model says so and nearly all of the
// statement is in its best sentences, and against it if a rule says so.
func StanceOf(statement string, page *Page) (s Stance, takes bool) {
	var quotes []quote.Quote
	var sentences []string
	for _, sentence := range text.Sentences(page.Text) {
		if len(sentence) < text.MinSentence && !text.Unspaced(sentence) {
			continue
		}
		for _, q := range quote.Longest(sentence) {
			quotes, sentences = append(quotes, q), append(sentences, q.Text)
		}
	}
	s.site = guard.Registrable(page.Site)
	c := Compare(statement, page.Title, sentences)
	switch {
	case c.Conflict != "":
		s.Against, s.Rule, s.Quote = true, c.Conflict, quotes[c.passages[c.against].index]
	case c.Supports >= sure && c.held >= mostOfIt && claim.Negates(statement) == claim.Negates(c.passages[0].text):
		s.Quote = quotes[c.passages[0].index]
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
