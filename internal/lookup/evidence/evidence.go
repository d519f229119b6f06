package evidence

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/linear"
	"familiar/internal/text"
)

// Sentence is one sentence of a page, or a part of a long one, ranked as evidence.
type Sentence struct {
	part
	Page  int         // index of its page
	place int         // from 0, within its page
	line  int         // … and that of its line
	opens bool        // its line begins with it
	words []text.Word // of the part
	Said  string      // how it is quoted

	// What of the question is in it, in the whole sentence and in the heading above it.
	Mask, sentence, head uint64
	pairs                float64 // the share of the question's neighbours that are neighbours in it
	linked               bool    // something of the question is in it or around it
	astray               bool    // there is nothing of the question on its page, which is in the same language

	traits Features
	Score  float64
}

// Page is a page as evidence is looked for on it. One without Text was not read.
type Page struct {
	Title, Text string
	Rank        int  // from 0, in the order of the search
	Answer      bool // its backend says that it answers the question
}

func (p *Page) Read() bool { return p.Text != "" }

const (
	perPage  = 3  // sentences from one page, of several
	Brief    = 3  // sentences in all where they are the answer itself
	Extended = 10 // and where a model reads them
)

// What a sentence gains or loses beside what its traits are worth.
const (
	perLength  = 1.5  // for each time that it is e times as long: of two that say it, the shorter one
	perRank    = 0.15 // for each page that was ranked before its own
	ofAnswer   = 3    // its backend says that it answers the question
	usualScore = 4    // what puts the best sentence of a good page beside the side model's notes
)

// rankSentences scores every sentence of the pages that were read as evidence for the question, best first.
func rankSentences(q *Question, pages []Page) []*Sentence {
	all := q.sentences(pages)
	ranked := make([]*Sentence, len(all))
	weights := evidenceWeights()
	for i := range all {
		s := &all[i]
		ranked[i] = s
		s.Score = usualScore - perLength*math.Log(float64(utf8.RuneCountInString(s.Text))/100) - perRank*float64(pages[s.Page].Rank)
		for t, x := range s.traits {
			s.Score += weights[t] * x
		}
		if pages[s.Page].Answer {
			s.Score += ofAnswer
		}
	}
	slices.SortStableFunc(ranked, func(a, b *Sentence) int { return cmp.Compare(b.Score, a.Score) })
	return ranked
}

// sentences are those of the pages that were read, with their traits.
func (q *Question) sentences(pages []Page) []Sentence {
	var all []Sentence
	var ranges [][2]int
	for i := range pages {
		if pages[i].Read() {
			from := len(all)
			all = q.split(all, i, &pages[i])
			ranges = append(ranges, [2]int{from, len(all)})
		}
	}
	q.weigh(all)
	for _, r := range ranges {
		if page := all[r[0]:r[1]]; len(page) > 0 {
			title := q.maskOf(pages[page[0].Page].Title)
			q.observe(page, title)
			astray := q.astray(page, title)
			for i := range page {
				page[i].astray = astray
			}
		}
	}
	return all
}

// astray reports whether a page has nothing of the question, though it could have.
func (q *Question) astray(page []Sentence, title uint64) bool {
	for i := range page {
		title |= page[i].Mask | page[i].head
	}
	if title != 0 || len(q.terms) == 0 {
		return false
	}
	lang := text.Language(page[0].whole, page[0].words)
	return lang == q.lang || lang == "" && !text.Unspaced(page[0].whole)
}

// split cuts a page into sentences.
func (q *Question) split(all []Sentence, at int, page *Page) []Sentence {
	place, number := 0, 0
	var head uint64
	for line := range strings.SplitSeq(page.Text, "\n") {
		number++
		if isHeading(line) {
			head = q.maskOf(line)
		}
		opens := true
		for _, whole := range text.Sentences(line) {
			var mask uint64
			from := len(all)
			for _, p := range parts(whole) {
				if !page.Answer && (utf8.RuneCountInString(p.Text) < text.MinSentence && !text.Unspaced(p.Text) || !wordy(p.Text)) {
					continue
				}
				s := Sentence{part: p, Page: at, place: place, line: number, opens: opens, head: head, words: text.Words(p.Text)}
				s.Mask, s.pairs = q.find(s.Text, s.words)
				mask |= s.Mask
				all = append(all, s)
				place++
				opens = false
			}
			for i := from; i < len(all); i++ {
				all[i].sentence = mask
			}
		}
	}
	return all
}

// isHeading reports whether a line looks like a heading: short, and not ended like a sentence.
func isHeading(line string) bool {
	return line != "" && len(line) < 80 && !strings.ContainsAny(line[len(line)-1:], ".!?")
}

// wordy tells sentences from the crumbs of menus and tables: more than half are letters or digits.
func wordy(s string) bool {
	letters, all := 0, 0
	for _, r := range s {
		all++
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	return letters*2 > all
}

// Choose takes the sentences that answer the question, best first, or those that sum the pages up if that is asked.
func (q *Question) Choose(pages []Page, limit int) []Sentence {
	var out []Sentence
	if q.kind == overview {
		out = outline(q, pages, limit)
	} else {
		out = selectSentences(rankSentences(q, pages), q, pages, limit)
	}
	for i := range out {
		s := &out[i]
		if s.Said = s.shown(); q.kind == overview {
			s.Said = s.spoken()
		}
	}
	return out
}

// selectSentences takes the best: a few of each page, none twice, and none that has nothing to do with the question
// unless it opens a page that has. Of a page that is the answer, such as a forecast, it takes more.
func selectSentences(ranked []*Sentence, q *Question, pages []Page, limit int) []Sentence {
	each := eachOf(pages, limit)
	var out []Sentence
	said := map[int][][]string{} // the terms of those taken, by page
	taken := map[int]int{}
	for _, s := range ranked {
		answer := pages[s.Page].Answer
		if len(out) == limit || !answer && taken[s.Page] == each {
			q.drop(s, DroppedBelow)
			continue
		}
		if !answer && len(q.terms) > 0 && !s.linked && (s.place > 0 || s.astray) {
			q.drop(s, DroppedBare)
			continue
		}
		own := text.Terms(s.Text, q.lang)
		if !answer && slices.ContainsFunc(said[s.Page], func(before []string) bool { return text.Jaccard(before, own) > 0.7 }) {
			q.drop(s, DroppedSame)
			continue
		}
		said[s.Page] = append(said[s.Page], own)
		taken[s.Page]++
		out = append(out, *s)
	}
	return out
}

// eachOf is how many sentences one page may give.
func eachOf(pages []Page, limit int) int {
	good := 0
	for i := range pages {
		if pages[i].Read() {
			good++
		}
	}
	return min(limit, max(perPage, limit/max(1, good)))
}

// Candidates is every sentence and part of a page as evidence for a question, for training the model that ranks them:
// the words and what is seen of them. The text is clean.
func Candidates(question, title, body string) (quotes []string, hints [][]linear.Feature) {
	page := Page{Title: title, Text: body}
	for _, s := range NewQuestion(question, "", text.Date{}).sentences([]Page{page}) {
		quotes = append(quotes, s.Text)
		hints = append(hints, s.hints())
	}
	return quotes, hints
}

// PerLength is what a sentence loses in rank for each time that it is e times as long.
const PerLength = perLength

func (s *Sentence) hints() []linear.Feature {
	var out []linear.Feature
	for t, x := range s.traits {
		if x != 0 {
			out = append(out, linear.Feature{Name: traitNames[t], Value: x})
		}
	}
	return out
}
