package claim

import (
	"cmp"
	"slices"

	"familiar/internal/text"
)

// nearby is how many words of a page may stand around what one sentence of a reply is made of: some four sentences.
const nearby = 80

// stemOf returns the stem of a word in English, of irregular verbs that of the infinitive.
func stemOf(key string) string { return text.Stem(cmp.Or(irregular[key], key), "en") }

// placesOf returns where the words of content of a text stand, by stem. A word is a number, which is its place in keys.
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

// termsOf returns the words of content of a sentence, each once.
func termsOf(sentence string) (terms []term) {
	_, rest := text.Dates(sentence)
	for _, w := range text.ContentWords(rest) {
		if text.Numeric(w.Key) || text.SpelledNumbers[w.Key] || text.Bounds[w.Key] {
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

// cover marks the terms that stand nearby each other on the page, where the most of them do.
func (p *Page) cover(terms []term, covered []bool) {
	marks := make([]uint16, len(p.index().order)) // by place: the number of the term there, from 1 on
	for i, t := range terms {
		for _, at := range p.places()[t.stem] {
			marks[at] = uint16(i + 1)
		}
	}
	counts, distinct, most, end := make([]int, len(terms)+1), 0, 0, 0
	for at, t := range marks {
		if from := at - nearby; from >= 0 && marks[from] > 0 {
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
	for _, t := range marks[max(0, end-nearby+1):min(end+1, len(marks))] {
		if t > 0 {
			covered[t-1] = true
		}
	}
}
