package evidence

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"familiar/internal/text"
)

const (
	// outlineWords is the length of a page's outline. Summaries of meetings have two thirds of that; quoted sentences
	// need half as many words again.
	outlineWords = 100
	// redundancy is what a sentence loses if the outline has all its words: about as much as if it were off topic.
	redundancy = 0.5
)

// Outline summarises pages, whatever the question asks. From each page it takes sentences that are about the question,
// if it has terms, that say most, and that repeat little.
func (q *Question) Outline(pages []Document, limit int) []Sentence {
	var all, out []Sentence
	for _, v := range q.views(pages) {
		v.Score = v.cover + 0.3*v.line + v.long() - 0.3*v.late()
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
