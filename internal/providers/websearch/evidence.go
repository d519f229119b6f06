package websearch

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"familiar/internal/linear"
)

// sentence is one sentence of a page, or a part of a long one, ranked as evidence.
type sentence struct {
	part
	page  int    // index of its page
	place int    // from 0, within its page
	line  int    // … and that of its line
	opens bool   // its line begins with it
	words []word // of the part
	said  string // how it is quoted

	// What of the question is in it, in the whole sentence and in the heading above it.
	mask, sentence, head uint64
	pairs                float64 // the share of the question's neighbours that are neighbours in it
	linked               bool    // something of the question is in it or around it
	astray               bool    // there is nothing of the question on its page, which is in the same language

	traits seen
	score  float64
}

// evidencePage is a page as evidence is looked for on it. One without Text was not read.
type evidencePage struct {
	Title, Text string
	Rank        int  // from 0, in the order of the search
	Answer      bool // its backend says that it answers the question
}

func (p *evidencePage) read() bool { return p.Text != "" }

const (
	perPage  = 3  // sentences from one page, of several
	brief    = 3  // sentences in all where they are the answer itself
	extended = 10 // and where a model reads them
)

// maxFact is how long a fact may be, in characters (P3).
const maxFact = 300

// minSentence is how long a sentence is at least, in characters: what is shorter is a heading or a crumb.
const minSentence = 20

// What a sentence gains or loses beside what its traits are worth.
const (
	perLength  = 1.5  // for each time that it is e times as long: of two that say it, the shorter one
	perRank    = 0.15 // for each page that was ranked before its own
	ofAnswer   = 3    // its backend says that it answers the question
	usualScore = 4    // what puts the best sentence of a good page beside the side model's notes
)

// rankSentences scores every sentence of the pages that were read as evidence for the question, best first.
func rankSentences(q *asked, pages []evidencePage) []*sentence {
	all := q.sentences(pages)
	ranked := make([]*sentence, len(all))
	weights := evidenceWeights()
	for i := range all {
		s := &all[i]
		ranked[i] = s
		s.score = usualScore - perLength*math.Log(float64(utf8.RuneCountInString(s.text))/100) - perRank*float64(pages[s.page].Rank)
		for t, x := range s.traits {
			s.score += weights[t] * x
		}
		if pages[s.page].Answer {
			s.score += ofAnswer
		}
	}
	slices.SortStableFunc(ranked, func(a, b *sentence) int { return cmp.Compare(b.score, a.score) })
	return ranked
}

// sentences are those of the pages that were read, with their traits.
func (q *asked) sentences(pages []evidencePage) []sentence {
	var all []sentence
	var ranges [][2]int
	for i := range pages {
		if pages[i].read() {
			from := len(all)
			all = q.split(all, i, &pages[i])
			ranges = append(ranges, [2]int{from, len(all)})
		}
	}
	q.weigh(all)
	for _, r := range ranges {
		if page := all[r[0]:r[1]]; len(page) > 0 {
			title := q.maskOf(pages[page[0].page].Title)
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
func (q *asked) astray(page []sentence, title uint64) bool {
	for i := range page {
		title |= page[i].mask | page[i].head
	}
	if title != 0 || len(q.terms) == 0 {
		return false
	}
	lang := language(page[0].whole, page[0].words)
	return lang == q.lang || lang == "" && !unspaced(page[0].whole)
}

// split cuts a page into sentences.
func (q *asked) split(all []sentence, at int, page *evidencePage) []sentence {
	place, number := 0, 0
	var head uint64
	for line := range strings.SplitSeq(page.Text, "\n") {
		number++
		if isHeading(line) {
			head = q.maskOf(line)
		}
		opens := true
		for _, whole := range splitSentences(line) {
			var mask uint64
			from := len(all)
			for _, p := range parts(whole) {
				if !page.Answer && (utf8.RuneCountInString(p.text) < minSentence && !unspaced(p.text) || !wordy(p.text)) {
					continue
				}
				s := sentence{part: p, page: at, place: place, line: number, opens: opens, head: head, words: split(p.text)}
				s.mask, s.pairs = q.find(s.text, s.words)
				mask |= s.mask
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

// choose takes the sentences that answer the question, best first, or those that sum the pages up if that is asked.
func (q *asked) choose(pages []evidencePage, limit int) []sentence {
	var out []sentence
	if q.kind == overview {
		out = outline(q, pages, limit)
	} else {
		out = selectSentences(rankSentences(q, pages), q, pages, limit)
	}
	for i := range out {
		s := &out[i]
		if s.said = s.shown(); q.kind == overview {
			s.said = s.spoken()
		}
	}
	return out
}

// selectSentences takes the best: a few of each page, none twice, and none that has nothing to do with the question
// unless it opens a page that has. Of a page that is the answer, such as a forecast, it takes more.
func selectSentences(ranked []*sentence, q *asked, pages []evidencePage, limit int) []sentence {
	each := eachOf(pages, limit)
	var out []sentence
	said := map[int][][]string{} // the terms of those taken, by page
	taken := map[int]int{}
	for _, s := range ranked {
		answer := pages[s.page].Answer
		if len(out) == limit || !answer && taken[s.page] == each {
			q.drop(s, droppedBelow)
			continue
		}
		if !answer && len(q.terms) > 0 && !s.linked && (s.place > 0 || s.astray) {
			q.drop(s, droppedBare)
			continue
		}
		own := terms(s.text, q.lang)
		if !answer && slices.ContainsFunc(said[s.page], func(before []string) bool { return jaccard(before, own) > 0.7 }) {
			q.drop(s, droppedSame)
			continue
		}
		said[s.page] = append(said[s.page], own)
		taken[s.page]++
		out = append(out, *s)
	}
	return out
}

// eachOf is how many sentences one page may give.
func eachOf(pages []evidencePage, limit int) int {
	good := 0
	for i := range pages {
		if pages[i].read() {
			good++
		}
	}
	return min(limit, max(perPage, limit/max(1, good)))
}

// jaccard is the share of the words of two lists that are in both.
func jaccard(a, b []string) float64 {
	a, b = unique(a), unique(b)
	both := 0
	for _, t := range a {
		if _, in := slices.BinarySearch(b, t); in {
			both++
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// Evidence is every sentence and part of a page as evidence for a question, for training the model that ranks them:
// the words and what is seen of them. The text is clean.
func Evidence(question, title, text string) (quotes []string, hints [][]linear.Feature) {
	page := evidencePage{Title: title, Text: text}
	for _, s := range newAsked(question, "", date{}).sentences([]evidencePage{page}) {
		quotes = append(quotes, s.text)
		hints = append(hints, s.hints())
	}
	return quotes, hints
}

// PerLength is what a sentence loses in rank for each time that it is e times as long.
const PerLength = perLength

func (s *sentence) hints() []linear.Feature {
	var out []linear.Feature
	for t, x := range s.traits {
		if x != 0 {
			out = append(out, linear.Feature{Name: traitNames[t], Value: x})
		}
	}
	return out
}
