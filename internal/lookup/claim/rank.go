package claim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

// ofNeighbour is how much of what a sentence has counts for those beside it: they are often about the same.
const ofNeighbour = 0.25

// Passages returns as much of the page as fits in a number of bytes: its sentences that have the most to do with what is
// said of it, in the page's order.
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
	if out.Len() == 0 { // endless sentences
		return text.Truncate(p.lines, size)
	}
	return out.String()
}

// The length of evidence, in characters. What is shorter would stand on any page.
const shortestEvidence, longestEvidence = 12, 600

// Evidences reports whether a quote stands on the page and has a word of what is said of it, if both are in one language.
func (p *Page) Evidences(said, quote string) bool {
	if n := utf8.RuneCountInString(quote); n < shortestEvidence && !(n >= 4 && text.Unspaced(quote)) || n > longestEvidence || !strings.Contains(p.text, quote) {
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

// Rank returns the indexes of a page's sentences, those first that have the most to do with what is said of the page:
// by the words that they share, rare ones first, and a little by those of their neighbours.
func Rank(said string, sentences []string) []int {
	terms := map[string]int{} // by stem
	for _, w := range text.ContentWords(said) {
		if stem := stemOf(w.Key); terms[stem] == 0 {
			terms[stem] = len(terms) + 1
		}
	}
	holds := make([][]int, len(sentences)) // the set of the terms in each
	in := make([]int, len(terms)+1)        // how many have each
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
		own[i] /= math.Pow(float64(utf8.RuneCountInString(s)+1), 0.25) // a long sentence has more words by chance
	}
	scores, order := slices.Clone(own), make([]int, len(sentences))
	for i := range sentences {
		order[i] = i
		if i > 0 {
			scores[i] += ofNeighbour * own[i-1]
			scores[i-1] += ofNeighbour * own[i]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}
