package factcheck

import (
	"math"
	"slices"
	"strings"

	"familiar/internal/evidence"
	"familiar/internal/linear"
	"familiar/internal/text"
)

const (
	minSupport  = 0.55 // least probability of support
	minCoverage = 0.7  // least share of the statement's words in the best sentences
)

// Stance is whether a page is for or against a statement.
type Stance struct {
	evidence.Quote     // the sentence that says so
	Page           int // index of its page
	Against        bool
	Rule           string // the rule by which it is against

	domain string
	sketch []uint32 // of the page's text
}

// deniedThere is the rule for a page that only denies the statement.
const deniedThere = "denied"

// StanceOf returns a page's stance, if it has one. The page is for the statement if the model says so and its best
// sentences have most of it. It is against it if a rule says so, or if it denies sentences that would be for it. Fiction
// and jokes are no stance.
func StanceOf(statement string, page *Page) (s Stance, takes bool) {
	s.domain = page.Domain
	said, denied := quotesOf(page)
	switch c, negates := Compare(statement, page.Title, texts(said)), evidence.Negates(statement); {
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

// supports reports whether the sentences of a comparison support a statement. negates says whether that is a denial.
func (c *Comparison) supports(negates bool) bool {
	return c.Supports >= minSupport && c.held >= minCoverage && negates == evidence.Negates(c.best)
}

// quotesOf returns the quotes of a page: those that it means, and those that it denies.
func quotesOf(page *Page) (said, denied []evidence.Quote) {
	number := 0
	for line := range strings.SplitSeq(page.Text, "\n") {
		for _, sentence := range text.Sentences(line) {
			if len(sentence) < text.MinSentence && !text.Unspaced(sentence) {
				continue
			}
			f := page.Framing.Framing(number, sentence)
			for _, q := range evidence.Quotable(sentence) {
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

func texts(quotes []evidence.Quote) []string {
	out := make([]string, len(quotes))
	for i, q := range quotes {
		out[i] = q.Text
	}
	return out
}

const (
	shingleWords = 4
	sketchSize   = 64  // shingles that represent a page
	copiedShare  = 0.5 // share of them in a copy
)

func sketchOf(page string) []uint32 {
	return text.Sketch(text.Shingles(text.HashTerms(nil, page), shingleWords), sketchSize)
}

// repeats reports whether a stance repeats one of others: on the same domain, in the same words, or on a page that is
// mostly the same.
func (s Stance) repeats(others []Stance) bool {
	return slices.ContainsFunc(others, func(o Stance) bool {
		return o.domain == s.domain || sameWords(o.Text, s.Text) || text.NearDuplicates(o.sketch, s.sketch, copiedShare)
	})
}

// sameWords reports whether two sentences are the same except for a word or two. Short ones may be so by chance.
func sameWords(a, b string) bool {
	x, y := text.Terms(a, ""), text.Terms(b, "")
	return min(len(x), len(y)) >= 8 && text.Jaccard(text.Unique(x), text.Unique(y)) >= 0.8
}

// Comparison is the result of comparing a statement with a page.
type Comparison struct {
	Order    []int            // indexes of its sentences, best evidence first
	Features []linear.Feature // of the model, for training
	Supports float64          // probability that the page supports the statement
	Conflict string           // the rule by which it contradicts the statement, or ""

	best     string    // the best sentence
	passages []passage // best first
	held     float64   // share of the statement's words in the best passages
	against  int       // index of the contradicting passage
}

const (
	maxPassages = 10 // passages that are compared
	bestOf      = 3  // passages among which a rule or the model must find its evidence
)

// Compare compares a statement with the sentences of a page.
func Compare(statement, title string, sentences []string) Comparison {
	return builtIn().Compare(statement, title, sentences)
}

// Compare compares a statement with the sentences of a page by these models.
func (models Models) Compare(statement, title string, sentences []string) Comparison {
	m := newMatcher(statement, title)
	c := Comparison{passages: m.passages(sentences), Supports: 0.5}
	c.Order = m.order(c.passages, models.Order)
	near := c.passages[:min(maxPassages, len(c.passages))]
	c.held = mean(m.held(near[:min(bestOf, len(near))]), 0)
	c.Features = m.features(near)
	if len(near) > 0 {
		c.best = sentences[c.Order[0]]
		c.Supports = models.Verify.Classify(c.Features)[1]
		c.Conflict, c.against = m.contradiction(near)
	}
	return c
}

// features are the shares of the statement's words, names and numbers on the page, and its bold words that are missing
// there. The model sees no other words.
func (m *matcher) features(near []passage) []linear.Feature {
	all, first := m.held(near), m.held(near[:min(bestOf, len(near))])
	missing := 0.0
	var names, firstNames []float64
	for i, t := range m.terms {
		if all[i] < heldFrom {
			missing++
		}
		if t.name {
			names, firstNames = append(names, all[i]), append(firstNames, first[i])
		}
	}
	words, numbers := map[string]bool{}, map[string]bool{} // on the page
	for _, p := range near {
		for _, w := range text.Words(p.text) {
			words[w.Key] = true
		}
		for _, n := range text.Numbers(text.InDigits(p.text)) {
			numbers[n] = true
		}
	}
	bold := 0.0
	for key := range m.keys {
		if absolutes()[key] && !words[key] {
			bold++
		}
	}
	numberMissing := slices.ContainsFunc(text.Numbers(m.text), func(n string) bool { return !numbers[n] })
	return []linear.Feature{
		{Name: "words held", Value: mean(all, 0)},
		{Name: "words held by the best", Value: mean(first, 0)},
		{Name: "words missing", Value: missing / math.Max(1, float64(len(m.terms)))},
		{Name: "names held", Value: mean(names, 0.8)},
		{Name: "names held by the best", Value: mean(firstNames, 0.8)},
		{Name: "a number is missing", Value: linear.Indicator(numberMissing)},
		{Name: "bold words missing", Value: bold},
		{Name: "never", Value: linear.Indicator(m.keys["never"])},
	}
}

func mean(of []float64, otherwise float64) float64 {
	if len(of) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, x := range of {
		sum += x
	}
	return sum / float64(len(of))
}

// absolutes are words that allow no exception.
var absolutes = text.LazySet(func() text.WordList { return text.AllTables().FactCheck.Absolutes })
