package factcheck

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"familiar/internal/evidence"
	"familiar/internal/text"
)

// The least share of the statement's words in a sentence that supports it. An amount that is the same says much by itself.
const (
	minCoverage      = 2.0 / 3
	minCoverageExact = 1.0 / 2
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

// StanceOf returns a page's stance, if it has one. The page is for the statement if a sentence has most of its words and
// all of its points. It is against it if a rule says so, or if it denies sentences that would be for it. Fiction
// and jokes are not stances.
func StanceOf(statement string, page *Page) (s Stance, takes bool) {
	s.domain = page.Domain
	said, denied := quotesOf(page)
	c := Compare(statement, page.Title, texts(said))
	c.m.domain = page.Domain
	negates := denies(statement, c.m.code)
	switch at, holds := c.m.compared(c.sentences); {
	case at >= 0 && !negates:
		s.Quote = said[at]
		if !holds {
			s.Against, s.Rule = true, otherNumber
		}
	case c.Conflict != "":
		s.Against, s.Rule, s.Quote = true, c.Conflict, said[c.passages[c.against].index]
	case c.supporting(negates) >= 0:
		s.Quote = said[c.supporting(negates)]
	default:
		c := Compare(statement, page.Title, texts(denied))
		c.m.domain = page.Domain
		if len(denied) == 0 || c.supporting(negates) < 0 {
			return s, false
		}
		s.Against, s.Rule, s.Quote = true, deniedThere, denied[c.supporting(negates)]
	}
	s.sketch = sketchOf(page.Text)
	return s, true
}

// supporting returns the index of a sentence that supports a statement by itself, or -1. negates says whether the statement is a denial.
func (c *Comparison) supporting(negates bool) int {
	m := c.m
	least := minCoverage
	if slices.ContainsFunc(m.amounts, func(a amount) bool { return a.kind != "" }) {
		least = minCoverageExact
	}
	for _, whole := range c.passages[:min(maxPassages, len(c.passages))] {
		p := m.core(whole)
		if m.lacking(p) <= 1-least && m.inEarnest(p.text) && m.about(p) && m.lackingAround(p) == 0 && (negates == denies(p.text, m.code)) != m.opposed(p) && m.bearsOut(p) {
			return p.index
		}
	}
	return -1
}

// core returns a sentence without the clauses after the last that has something of the statement. They say something else, unless they
// are a condition or call the sentence untrue. What is after a semicolon is another sentence, and "No," before one is an answer.
func (m *matcher) core(p passage) passage {
	best := m.read(p.text)
	for i, part := range strings.Split(p.text, ";") {
		if o := m.read(strings.TrimSpace(part)); i == 0 || len(o.grams) > len(best.grams) {
			best = o
		}
	}
	if first, rest, ok := strings.Cut(best.text, ", "); ok && len(text.Words(first)) == 1 && denies(first, m.code) {
		best = m.read(rest)
	}
	if len(evidence.Refutals().FindAll(best.text, text.Words(best.text))) == 0 {
		best = m.shortened(best)
	}
	best.index = p.index
	return best
}

// shortened returns the beginning of a sentence up to a clause that has the last of the statement.
func (m *matcher) shortened(p passage) passage {
	breaks := clauseBreaks()[m.code]
	if breaks == nil {
		return p
	}
	for _, at := range breaks.FindAllStringIndex(p.text, -1) {
		begin := m.read(p.text[:at[0]])
		next := strings.TrimLeft(p.text[at[1]:], " ")
		conditional := strings.HasPrefix(p.text[at[0]:], ",") && m.unreal(firstWord(next))
		if len(begin.grams) == len(p.grams) && m.hasAmounts(begin) && !conditional {
			return begin
		}
	}
	return p
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// hasAmounts reports whether a text has an amount, if the statement has one.
func (m *matcher) hasAmounts(p passage) bool { return len(m.amounts) == 0 || len(m.amountsIn(p)) > 0 }

// clauseBreaks match what is between two clauses, by language.
var clauseBreaks = sync.OnceValue(func() map[string]*regexp.Regexp {
	all := map[string]*regexp.Regexp{}
	for _, code := range text.Languages() {
		if joins := text.TablesOf(code).FactCheck.Joins; len(joins) > 0 {
			between := ` (?:` + joins.String() + `) `
			if text.Unspaced(joins[0]) {
				between = joins.String()
			}
			all[code] = regexp.MustCompile(`, |[:()–—、，]|` + between)
		}
	}
	return all
})

// quotesOf returns the quotes of a page: those that it means, and those that it denies.
func quotesOf(page *Page) (said, denied []evidence.Quote) {
	number := 0
	for line := range strings.SplitSeq(page.Text, "\n") {
		for _, sentence := range text.Sentences(line) {
			if !(evidence.Quote{Text: sentence}).IsProse() {
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

// repeats reports whether a stance repeats one of others. It is on the same domain, in the same words, or on a page that is mostly the
// same.
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
	Order    []int  // indexes of its sentences, best evidence first
	Held     bool   // they have nearly all words of the statement, and all that allow no exception
	Conflict string // the rule by which it contradicts the statement, or ""

	m         *matcher
	sentences []string
	passages  []passage // best first
	against   int       // index of the contradicting passage
}

const (
	maxPassages = 10  // passages that are compared
	bestOf      = 3   // passages among which a rule must find its evidence
	nearlyAll   = 0.8 // mean share of a statement's words on a page that holds it
)

// Compare compares a statement with the sentences of a page.
func Compare(statement, title string, sentences []string) Comparison {
	return CompareBy(builtIn(), statement, title, sentences)
}

// CompareBy compares a statement with the sentences of a page, which the model ranks.
func CompareBy(order *text.Model, statement, title string, sentences []string) Comparison {
	m := newMatcher(withCapitals(statement, sentences), title, languageOf(statement, sentences))
	c := Comparison{m: m, sentences: sentences, passages: m.ranked(m.passages(sentences), order)}
	for _, p := range c.passages {
		c.Order = append(c.Order, p.index)
	}
	if near := c.passages[:min(maxPassages, len(c.passages))]; len(near) > 0 {
		c.Held = mean(m.held(near), 0) >= nearlyAll && !m.lacksBold(near)
		c.Conflict, c.against = m.contradiction(near)
	}
	return c
}

// lacksBold reports whether no passage has a word of the statement that allows no exception.
func (m *matcher) lacksBold(near []passage) bool {
	words := map[string]bool{}
	for _, p := range near {
		for _, w := range text.Words(p.text) {
			words[w.Key] = true
		}
	}
	for key := range m.keys {
		if absolutes()[key] && !words[key] {
			return true
		}
	}
	return false
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
