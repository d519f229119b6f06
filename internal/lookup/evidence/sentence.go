package evidence

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/lookup/claim"
	"familiar/internal/text"
)

// Sentence is a sentence of a page, or a part of a long one, as evidence for a question. The masks are sets of the
// question's terms.
type Sentence struct {
	part
	Excerpt string // how it is quoted
	Score   float64
	Page    int // index of its page
	line    int // … and of its line, from 0
	index   int // of the part among those of its page
	words   []text.Word

	mask, sentence, heading uint64  // the terms in it, in the whole sentence and in the heading above
	pairs                   float64 // the share of the question's pairs of neighbours that are neighbours in it
	related                 bool    // something of the question is in it or around it, or on the page that it opens
	day                     bool    // it names a day that the question asks about
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
			for _, p := range parts(whole) {
				if !page.Answer && !p.isProse() {
					continue
				}
				s := Sentence{part: p, Page: at, line: number, index: len(all) - first, heading: heading, words: text.Words(p.Text)}
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

const (
	// longSentence is the length, in bytes, up to which a sentence is not divided. leastPart is that of the shortest
	// part: less would say nothing by itself.
	longSentence = 200
	leastPart    = 60
)

// partEnd is where a sentence can be divided without turning its meaning: before something that is added. It cannot be
// where the rest takes back what stands before: before "but", "although" or "unless".
var partEnd = regexp.MustCompile(`\s*;\s+|\s*:\s+|\s+--\s+|\s*,\s+(?:which|who|whose|where|when|and|with|after|before|as|including|such)\s`)

// part is a sentence or a part of one, as it stands in the text.
type part struct {
	Text          string
	whole         string // the sentence
	before, after bool   // something of the sentence stands before it, and behind it
}

// parts divides a long sentence where something is added to it.
func parts(s string) []part {
	if len(s) <= longSentence {
		return []part{{Text: s, whole: s}}
	}
	var out []part
	from := 0
	add := func(to int) {
		out = append(out, part{Text: s[from:to], whole: s, before: from > 0, after: to < len(s)})
	}
	for _, m := range partEnd.FindAllStringIndex(s, -1) {
		if m[0]-from < leastPart || len(s)-m[0] < leastPart {
			continue
		}
		add(m[0])
		for from = m[0]; from < m[1] && !opensWord(s[from:]); from++ {
		}
	}
	add(len(s))
	for i := range out {
		if p := &out[i]; utf8.RuneCountInString(p.Text) > claim.MaxLength-2 { // room for the marks of what is left out
			p.Text, p.after = text.Truncate(p.Text, claim.MaxLength-2), true
		}
	}
	return out
}

func opensWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return text.InWord(r)
}

// isProse tells a sentence from a crumb of a menu or a table: it is long enough, and more than half of its characters
// are letters or digits.
func (p part) isProse() bool {
	letters, all := 0, 0
	for _, r := range p.Text {
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters*2 > all && (all >= text.MinSentence || text.Unspaced(p.Text))
}

// excerpt returns the part with the usual marks where something of the sentence is left out.
func (p part) excerpt() string {
	s := p.Text
	if p.before {
		s = "…" + s
	}
	if p.after {
		s += "…"
	}
	return s
}
