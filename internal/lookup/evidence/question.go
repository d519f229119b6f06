package evidence

import (
	"math"
	"math/bits"
	"slices"

	"familiar/internal/text"
)

// Question is a question as its evidence is looked for. A set of its terms is a mask with a bit for each: pages have
// thousands of sentences, and a question a few words. It belongs to one lookup.
type Question struct {
	lang         string
	kind         kind
	terms        []string // in their order, each once, at most 64
	weight       []float64
	at           map[string]int  // term → its bit
	begins       [256]bool       // the first bytes of terms: stemming keeps them
	opens        [256]bool       // those of keys
	known        map[string]int  // word → its bit, or none
	keys         map[string]bool // all its words, as written
	associations map[string]bool
	days         []text.Date

	Dropped []Dropped   // what was considered and not taken
	drops   map[int]int // how many of each page were, noted or not
}

const none = -1

// NewQuestion reads a question. The day is the one that it speaks of relative to now, if any; others it names itself.
func NewQuestion(question, lang string, day text.Date) *Question {
	q := &Question{lang: lang, kind: answerType(question), at: map[string]int{}, known: map[string]int{}, keys: map[string]bool{}, associations: map[string]bool{}, drops: map[int]int{}}
	q.days, _ = text.Dates(question)
	if day != (text.Date{}) {
		q.days = append(q.days, day)
	}
	for _, w := range text.Words(question) {
		if w.Key != "" {
			q.keys[w.Key] = true
			q.opens[w.Key[0]] = true
		}
		for _, k := range associations[w.Key] {
			q.associations[k] = true
		}
	}
	for _, t := range text.Terms(question, lang) {
		if q.kind == overview && outlineTerms[t] {
			continue
		}
		if _, known := q.at[t]; !known && len(q.terms) < 64 {
			q.at[t] = len(q.terms)
			q.begins[t[0]] = true
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// bit is that of a word's term, or none. Words come again and again, and stemming is slow.
func (q *Question) bit(key string) int {
	if key == "" || !q.begins[key[0]] {
		return none
	}
	at, seen := q.known[key]
	if !seen {
		at = none
		if i, ok := q.at[text.Stem(key, q.lang)]; ok && text.Meaningful(key) {
			at = i
		}
		q.known[key] = at
	}
	return at
}

// has reports whether the question has the word as it is.
func (q *Question) has(key string) bool { return key != "" && q.opens[key[0]] && q.keys[key] }

// find returns which of the question's terms are in a text, and the share of its neighbours that are neighbours there.
func (q *Question) find(body string, words []text.Word) (mask uint64, together float64) {
	var joined uint64
	last := none
	see := func(bit int) {
		if bit != none {
			mask |= 1 << bit
			if last != none && bit == last+1 {
				joined |= 1 << last
			}
		}
		last = bit
	}
	for _, w := range words {
		if s := body[w.Start:w.End]; !text.ASCII(s) && text.Unspaced(s) {
			for _, pair := range text.Pairs(s) {
				bit, ok := q.at[pair]
				if !ok {
					bit = none
				}
				see(bit)
			}
		} else if roles[w.Key]&stopWord == 0 && (len(w.Key) > 1 || text.Numeric(w.Key)) {
			see(q.bit(w.Key))
		}
	}
	return mask, float64(bits.OnesCount64(joined)) / float64(max(1, len(q.terms)-1))
}

func (q *Question) maskOf(s string) uint64 {
	mask, _ := q.find(s, text.Words(s))
	return mask
}

// weigh sets the terms' weights by how many of the sentences have them: the rarer, the more (BM25's idf).
func (q *Question) weigh(all []Sentence) {
	q.weight = make([]float64, len(q.terms))
	for t := range q.terms {
		df := 0.0
		for i := range all {
			df += float64(all[i].Mask >> t & 1)
		}
		q.weight[t] = max(0.1, math.Log(1+(float64(len(all))-df+0.5)/(df+0.5)))
	}
}

// worth is the weight of the terms in a mask.
func (q *Question) worth(mask uint64) float64 {
	sum := 0.0
	for ; mask != 0; mask &= mask - 1 {
		sum += q.weight[bits.TrailingZeros64(mask)]
	}
	return sum
}

// all is every term.
func (q *Question) all() uint64 { return 1<<len(q.terms) - 1 }

// share is the weight of a mask's terms as part of another's.
func (q *Question) share(mask, of uint64) float64 {
	if of == 0 {
		return 0
	}
	return q.worth(mask&of) / q.worth(of)
}

// names reports whether a text names a day that the question asks about.
func (q *Question) names(s string) bool {
	if len(q.days) == 0 {
		return false
	}
	found, _ := text.Dates(s)
	return slices.ContainsFunc(found, func(d text.Date) bool {
		return slices.ContainsFunc(q.days, func(asked text.Date) bool {
			return d.Month == asked.Month && d.Day == asked.Day && (d.Year == asked.Year || d.Year == 0 || asked.Year == 0)
		})
	})
}
