package evidence

import (
	"math/bits"
	"slices"

	"familiar/internal/text"
)

// Question is a question as its evidence is looked for. A set of its terms is a mask with a bit for each: pages have
// thousands of sentences, and a question a few words. A Question belongs to one lookup, and is not safe for concurrent
// use.
type Question struct {
	// Dropped is what was considered and not chosen: of each page, the best.
	Dropped []Dropped
	drops   map[int]int // how many sentences of each page were dropped, noted or not

	lang    string
	kind    answerType
	terms   []string // in their order, each once, at most 64
	weights []float64
	days    []text.Date

	keys         map[string]bool // all its words, as written
	associations map[string]bool // words that its answers tend to have
	bits         map[string]int  // term → its bit
	cache        map[string]int  // word → the bit of its term, or none

	// The first bytes of keys and of terms, which stemming leaves alone. Most words of a page need no other look.
	keyBytes, termBytes [256]bool
}

const (
	maxTerms = 64
	none     = -1
)

// NewQuestion reads a question. The day is the one that it names relative to now, if any; it names others itself.
func NewQuestion(question, lang string, day text.Date) *Question {
	q := &Question{
		lang: lang, kind: answerTypeOf(question), drops: map[int]int{}, keys: map[string]bool{}, associations: map[string]bool{},
		bits: map[string]int{}, cache: map[string]int{},
	}
	dates, _ := text.Dates(question)
	for _, d := range dates {
		q.days = append(q.days, d.Date)
	}
	if day != (text.Date{}) {
		q.days = append(q.days, day)
	}
	for _, w := range text.Words(question) {
		if w.Key != "" {
			q.keys[w.Key] = true
			q.keyBytes[w.Key[0]] = true
		}
		for _, k := range associations[w.Key] {
			q.associations[k] = true
		}
	}
	for _, t := range text.Terms(question, lang) {
		if q.kind == typeSummary && summaryTerms[t] {
			continue
		}
		if _, is := q.bits[t]; !is && len(q.terms) < maxTerms {
			q.bits[t] = len(q.terms)
			q.termBytes[t[0]] = true
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// bit returns the bit of a word's term, or none. Words come again and again, and stemming is slow.
func (q *Question) bit(key string) int {
	if key == "" || !q.termBytes[key[0]] {
		return none
	}
	bit, cached := q.cache[key]
	if !cached {
		bit = none
		if i, is := q.bits[text.Stem(key, q.lang)]; is && text.Meaningful(key) {
			bit = i
		}
		q.cache[key] = bit
	}
	return bit
}

// has reports whether the question has the word as it is.
func (q *Question) has(key string) bool { return key != "" && q.keyBytes[key[0]] && q.keys[key] }

// find returns the question's terms in a text.
func (q *Question) find(s string, words []text.Word) (mask uint64) {
	add := func(bit int) {
		if bit != none {
			mask |= 1 << bit
		}
	}
	for _, w := range words {
		if written := s[w.Start:w.End]; !text.ASCII(written) && text.Unspaced(written) {
			for _, pair := range text.Pairs(written) {
				if bit, is := q.bits[pair]; is {
					add(bit)
				}
			}
		} else if text.Meaningful(w.Key) {
			add(q.bit(w.Key))
		}
	}
	return mask
}

func (q *Question) maskOf(s string) uint64 { return q.find(s, text.Words(s)) }

// weighTerms sets the weights of the terms by how many of the sentences have them.
func (q *Question) weighTerms(all []Sentence) {
	q.weights = make([]float64, len(q.terms))
	for t := range q.terms {
		in := 0
		for i := range all {
			in += int(all[i].mask >> t & 1)
		}
		q.weights[t] = max(0.1, text.IDF(in, len(all)))
	}
}

// weight is that of the terms in a mask.
func (q *Question) weight(mask uint64) float64 {
	sum := 0.0
	for ; mask != 0; mask &= mask - 1 {
		sum += q.weights[bits.TrailingZeros64(mask)]
	}
	return sum
}

// all is the mask of all terms.
func (q *Question) all() uint64 { return 1<<len(q.terms) - 1 }

// share returns how much of some of the terms a mask has, by weight.
func (q *Question) share(mask, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return q.weight(mask&of) / q.weight(of)
}

// namesDay reports whether a text names a day that the question asks about.
func (q *Question) namesDay(s string) bool {
	if len(q.days) == 0 {
		return false
	}
	found, _ := text.Dates(s)
	return slices.ContainsFunc(found, func(d text.DateSpan) bool {
		return slices.ContainsFunc(q.days, func(day text.Date) bool {
			return d.Month == day.Month && d.Day == day.Day && (d.Year == day.Year || d.Year == 0 || day.Year == 0)
		})
	})
}
