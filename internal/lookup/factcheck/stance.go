package factcheck

import (
	"slices"
	"strings"

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

// deniedThere is the rule by which a page is against a statement that it has only to deny it.
const deniedThere = "denied"

// StanceOf returns a page's stance, if it takes one. It is for the statement if the model says so and nearly all of the
// statement is in its best sentences, and against it if a rule says so, or if the page denies sentences that would be for it.
// What it tells in a plot or in jest is no stance.
func StanceOf(statement string, page *Page) (s Stance, takes bool) {
	s.site = guard.Registrable(page.Site)
	said, denied := quotesOf(page)
	switch c, negates := Compare(statement, page.Title, texts(said)), claim.Negates(statement); {
	case c.Conflict != "":
		s.Against, s.Rule, s.Quote = true, c.Conflict, said[c.passages[c.against].index]
	case c.supports(negates):
		s.Quote = said[c.Order[0]]
	default:
		c := Compare(statement, page.Title, texts(denied))
		if len(denied) == 0 || !c.supports(negates) {
			return s, false
		}
		s.Against, s.Rule, s.Quote = true, deniedThere, denied[c.Order[0]]
	}
	s.sketch = sketchOf(page.Text)
	return s, true
}

// supports reports whether the sentences of a comparison bear out a statement that is a denial or none.
func (c *Comparison) supports(negates bool) bool {
	return c.Supports >= sure && c.held >= mostOfIt && negates == claim.Negates(c.best)
}

// quotesOf returns what may be quoted of a page: what it says, and what it denies.
func quotesOf(page *Page) (said, denied []quote.Quote) {
	number := 0
	for line := range strings.SplitSeq(page.Text, "\n") {
		for _, sentence := range text.Sentences(line) {
			if len(sentence) < text.MinSentence && !text.Unspaced(sentence) {
				continue
			}
			f := page.Framing.At(number, sentence)
			for _, q := range quote.Longest(sentence) {
				q.Line = number
				if f.Plain() {
					said = append(said, q)
				} else if f.Denied != "" {
					denied = append(denied, q)
				}
			}
		}
		number++
	}
	return said, denied
}

func texts(quotes []quote.Quote) []string {
	out := make([]string, len(quotes))
	for i, q := range quotes {
		out[i] = q.Text
	}
	return out
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
