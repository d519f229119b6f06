package evidence

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

// Page is a text prepared for checks. What a check needs is made when it is first needed and does not change. A Page is
// safe for concurrent use.
type Page struct {
	text  string // white space folded
	lines string // with its lines

	index            func() *index
	values           func() []float64          // values of its numbers
	spoken           func() string             // its words with single spaces between them
	undated          func() map[text.Date]bool // days and months without a year
	places           func() map[string][]int32 // positions of its words of content, by stem
	language         func() string
	clauses, denials func() []clause // of all sentences, and of those with a denying word
}

// index has the words, numbers and dates of a page.
type index struct {
	words   map[string]bool // by key
	keys    []string        // each once
	order   []int32         // all words, as indexes into keys
	numbers map[string]bool // canonical
	dates   map[text.Date]bool
}

// NewPage prepares the text of a page with what else is known of it, such as its title and date.
func NewPage(texts ...string) *Page {
	lines := strings.Join(texts, "\n")
	folded := text.OneLine(lines)
	p := &Page{text: folded, lines: lines}
	p.index = sync.OnceValue(func() *index { return newIndex(folded) })
	p.values = sync.OnceValue(func() []float64 { return append(valuesOf(folded), spelledValues(folded)...) })
	p.undated = sync.OnceValue(func() map[text.Date]bool { return undatedOf(folded) })
	p.spoken = sync.OnceValue(func() string { return wordsOnly(folded) })
	p.places = sync.OnceValue(func() map[string][]int32 { return placesOf(p.index().order, p.index().keys) })
	p.language = sync.OnceValue(func() string {
		start := text.Truncate(lines, 2000)
		return text.Language(start, text.Words(start))
	})
	p.clauses = sync.OnceValue(func() []clause { return clausesOf(lines, nil) })
	p.denials = sync.OnceValue(func() []clause {
		if !text.Intersects(p.index().words, denialWords()) {
			return nil
		}
		return clausesOf(lines, denialWords())
	})
	return p
}

func newIndex(s string) *index {
	x := &index{words: make(map[string]bool, len(s)/20), numbers: map[string]bool{}, dates: map[text.Date]bool{}}
	words := text.Words(s)
	numbers := make(map[string]int32, len(s)/20)
	x.order = make([]int32, len(words))
	for i, w := range words {
		n, is := numbers[w.Key]
		if !is {
			n = int32(len(x.keys))
			numbers[w.Key], x.words[w.Key], x.keys = n, true, append(x.keys, w.Key)
		}
		x.order[i] = n
	}
	for _, n := range text.Numbers(s) {
		x.numbers[n] = true
	}
	dates, _ := text.Dates(s)
	for _, d := range dates {
		x.dates[d.Date] = true
		if d.Year > 0 && d.Day > 0 { // a full date includes the less exact ones
			x.dates[text.Date{Year: d.Year, Month: d.Month}] = true
			x.dates[text.Date{Month: d.Month, Day: d.Day}] = true
		}
	}
	return x
}

// valuesOf returns the values of a text's numbers. A number before a word for millions also gives the product.
func valuesOf(s string) []float64 {
	seen := map[float64]bool{}
	for _, at := range text.NumberSpans(s) {
		v, err := strconv.ParseFloat(text.CanonicalNumber(s[at.From:at.To]), 64)
		if err != nil {
			continue
		}
		seen[v] = true
		if w, ok := text.WordBehind(s[at.To:]); ok && text.Scales()[w.Key] > 0 {
			seen[v*text.Scales()[w.Key]] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// window is how many words of a page may contain the evidence for one sentence: about four sentences.
const window = 80

// stemOf returns the English stem of a word. Irregular verbs have the stem of their infinitive.
func stemOf(key string) string { return text.Stem(cmp.Or(irregular()[key], key), "en") }

// placesOf returns the positions of a text's words of content, by stem. A word is given as an index into keys.
func placesOf(words []int32, keys []string) map[string][]int32 {
	all, index := make([][]int32, 0, len(keys)), make(map[string]int, len(keys)) // by stem
	stems, sizes := make([]int, len(keys)), []int(nil)                           // stems are by word, sizes by stem
	counts := make([]int, len(keys))
	for _, w := range words {
		counts[w]++
	}
	for w, key := range keys {
		if stems[w] = -1; !text.Meaningful(key) {
			continue
		}
		stem := stemOf(key)
		at, is := index[stem]
		if !is {
			at = len(sizes)
			index[stem], sizes = at, append(sizes, 0)
		}
		stems[w] = at
		sizes[at] += counts[w]
	}
	room := make([]int32, len(words))
	for _, size := range sizes {
		all, room = append(all, room[:0:size]), room[size:]
	}
	for i, w := range words {
		if at := stems[w]; at >= 0 {
			all[at] = append(all[at], int32(i))
		}
	}
	places := make(map[string][]int32, len(index))
	for stem, at := range index {
		places[stem] = all[at]
	}
	return places
}

// term is a word of content of a sentence.
type term struct {
	stem string
	name bool
}

// termsOf returns the terms of a sentence, each once.
func termsOf(sentence string) (terms []term) {
	_, rest := text.Dates(sentence)
	for _, w := range text.ContentWords(rest) {
		if text.Numeric(w.Key) || text.SpelledNumbers()[w.Key] || text.Bounds()[w.Key] {
			continue
		}
		t := term{stem: stemOf(w.Key), name: w.Upper && w.Start > 0}
		if i := slices.IndexFunc(terms, func(o term) bool { return o.stem == t.stem }); i >= 0 {
			terms[i].name = terms[i].name || t.name
		} else {
			terms = append(terms, t)
		}
	}
	return terms
}

// markNearby marks the terms in the window of the page that has most of them.
func (p *Page) markNearby(terms []term, covered []bool) {
	marks := make([]uint16, len(p.index().order)) // by position: the number of the term there, from 1
	for i, t := range terms {
		for _, at := range p.places()[t.stem] {
			marks[at] = uint16(i + 1)
		}
	}
	counts, distinct, most, end := make([]int, len(terms)+1), 0, 0, 0
	for at, t := range marks {
		if from := at - window; from >= 0 && marks[from] > 0 {
			if counts[marks[from]]--; counts[marks[from]] == 0 {
				distinct--
			}
		}
		if t == 0 {
			continue
		}
		if counts[t]++; counts[t] == 1 {
			distinct++
		}
		if distinct > most {
			most, end = distinct, at
		}
	}
	for _, t := range marks[max(0, end-window+1):min(end+1, len(marks))] {
		if t > 0 {
			covered[t-1] = true
		}
	}
}

// neighbourWeight is how much of a sentence's score its neighbours get: they are often about the same.
const neighbourWeight = 0.25

// Passages returns the sentences of the page that are most relevant to what is said of it. They are in order and have at most size bytes.
func (p *Page) Passages(said string, size int) string {
	if len(p.lines) <= size {
		return p.lines
	}
	sentences := text.Sentences(p.lines)
	var chosen []int
	room := size
	for _, i := range Rank(said, sentences) {
		if n := len(sentences[i]) + 1; n <= room {
			chosen, room = append(chosen, i), room-n
		}
	}
	slices.Sort(chosen)
	var out strings.Builder
	for _, i := range chosen {
		out.WriteString(sentences[i] + "\n")
	}
	if out.Len() == 0 { // every sentence is too long
		return text.Truncate(p.lines, size)
	}
	return out.String()
}

// The length of a quote that backs a claim, in characters. Shorter ones would be on any page.
const minBacking, maxBacking = 12, 600

// Backs reports whether a quote is on the page and shares a word with what is said of it. Between languages no word is
// needed.
func (p *Page) Backs(said, quote string) bool {
	if n := utf8.RuneCountInString(quote); n < minBacking && !(n >= 4 && text.Unspaced(quote)) || n > maxBacking || !strings.Contains(p.text, quote) {
		return false
	}
	if l := text.Language(said, text.Words(said)); l != "" && p.language() != "" && l != p.language() || text.Unspaced(said) {
		return true
	}
	words := map[string]bool{}
	for _, w := range text.ContentWords(quote) {
		words[stemOf(w.Key)] = true
	}
	return slices.ContainsFunc(text.ContentWords(said), func(w text.Word) bool { return words[stemOf(w.Key)] })
}

// Rank returns the indexes of a page's sentences, the most relevant to what is said of the page first. Shared words
// count, rare ones more, and those of neighbouring sentences a little.
func Rank(said string, sentences []string) []int {
	terms := map[string]int{} // by stem
	for _, w := range text.ContentWords(said) {
		if stem := stemOf(w.Key); terms[stem] == 0 {
			terms[stem] = len(terms) + 1
		}
	}
	holds := make([][]int, len(sentences)) // the terms in each
	in := make([]int, len(terms)+1)        // the number of sentences with each
	for i, s := range sentences {
		for _, w := range text.ContentWords(s) {
			if t := terms[stemOf(w.Key)]; t > 0 {
				holds[i] = append(holds[i], t)
			}
		}
		holds[i] = text.Unique(holds[i])
		for _, t := range holds[i] {
			in[t]++
		}
	}
	own := make([]float64, len(sentences))
	for i, s := range sentences {
		for _, t := range holds[i] {
			own[i] += text.IDF(in[t], len(sentences))
		}
		own[i] /= math.Pow(float64(utf8.RuneCountInString(s)+1), 0.25) // long sentences have more words by chance
	}
	scores, order := slices.Clone(own), make([]int, len(sentences))
	for i := range sentences {
		order[i] = i
		if i > 0 {
			scores[i] += neighbourWeight * own[i-1]
			scores[i-1] += neighbourWeight * own[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

const (
	// outlineWords is the length of a page's outline. Summaries of meetings have two thirds of that; quoted sentences
	// need half as many words again.
	outlineWords = 100
	// redundancy is what a sentence loses if the outline has all its words. It is about as much as for being off topic.
	redundancy = 0.5
)

// Outline summarises pages, whatever the question asks. From each page it takes sentences that are about the question, if it has terms.
// They say most and repeat little.
func (q *Question) Outline(pages []Document, limit int) []Sentence {
	var all, out []Sentence
	for _, v := range q.views(pages) {
		v.Score = v.coverage + 0.3*v.line + v.long() - 0.3*v.late()
		all = append(all, *v.Sentence)
	}
	for page := range runs(all, func(s *Sentence) int { return s.Page }) {
		out = append(out, q.gist(&pages[page[0].Page], page, eachOf(pages, limit))...)
	}
	for i := limit; i < len(out); i++ {
		q.drop(&out[i], DroppedNoRoom)
	}
	out = out[:min(len(out), limit)]
	for i := range out {
		out[i].Score = baseScore - float64(i)/100 // keeps this order, after the side model's quotes
		out[i].Excerpt = out[i].speech()
	}
	return out
}

// gist takes the most salient sentences of a page and returns them in the page's order. Each is scored less its overlap
// with those before it (maximal marginal relevance, Carbonell and Goldstein, 1998).
func (q *Question) gist(page *Document, left []Sentence, limit int) []Sentence {
	sort.SliceStable(left, func(i, j int) bool {
		a, b := left[i], left[j]
		return cmp.Compare(b.Score, a.Score) < 0
	})
	left = left[:min(len(left), 8*limit)]
	var out []Sentence
	used := map[string]bool{} // the words of the outline
	for words := 0; len(left) > 0 && len(out) < limit && words < outlineWords; {
		best, most := 0, math.Inf(-1)
		for i := range left {
			if gain := left[i].Score - redundancy*left[i].repeats(used); gain > most {
				best, most = i, gain
			}
		}
		if s := &left[best]; !s.demoted && !page.says(s) {
			s.Score, s.demoted = s.Score-denialPenalty, true
			continue
		}
		s := left[best]
		left = slices.Delete(left, best, best+1)
		if n := len(s.words); words+n > outlineWords*115/100 && words > outlineWords*6/10 {
			q.drop(&s, DroppedNoRoom)
			continue
		}
		out = append(out, s)
		words += len(s.words)
		for _, w := range s.words {
			used[w.Key] = true
		}
	}
	for i := range left {
		q.drop(&left[i], DroppedBelow)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := out[i], out[j]
		return a.index-b.index < 0
	})
	return out
}

// repeats returns the share of the sentence's words that are used.
func (s *Sentence) repeats(used map[string]bool) float64 {
	n := 0
	for _, w := range s.words {
		if used[w.Key] {
			n++
		}
	}
	return float64(n) / float64(1+len(s.words))
}

// summaryTerms ask for a summary and do not say of what.
var summaryTerms = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, t := range text.Terms(string(text.AllTables().Evidence.SummaryWords), "") {
		out[t] = true
	}
	return out
})

var (
	// soundNote matches a sound in a transcript: {laughs}.
	soundNote = text.NewLazyRegexp(`\s*\{[a-z_ ]{1,20}\}`)
	// hesitation matches what people say while they think.
	hesitation = text.NewLazyRegexp(`(?i)(?:,\s*)?\b(?:uh|uhm|um|erm|hmm|mm|mhm)\b(?:\s*,)?`)
)

// speech returns the excerpt of spoken words without sounds and hesitations.
func (s *Sentence) speech() string {
	words := soundNote.ReplaceAllString(s.Marked(), "")
	if text.Language(words, s.words) == "en" {
		words = hesitation.ReplaceAllString(words, "")
	}
	if words = text.OneLine(words); utf8.RuneCountInString(words) < text.MinSentence || strings.HasSuffix(words, ":") {
		return s.Marked()
	}
	return words
}
