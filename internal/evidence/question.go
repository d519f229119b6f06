package evidence

import (
	"math/bits"
	"slices"
	"strings"
	"sync"

	"familiar/internal/text"
)

// Question is a question for which evidence is looked for. A set of its terms is a bit mask, since pages have thousands
// of sentences. A Question is for one lookup and not safe for concurrent use.
type Question struct {
	// Dropped are the best sentences of each page that were not chosen.
	Dropped []Dropped
	drops   map[int]int // number of dropped sentences by page, recorded or not

	lang    string
	kind    answerType
	terms   []string // in order, each once, at most 64
	weights []float64
	days    []text.Date

	keys         map[string]bool // all its words, as written
	associations map[string]bool // words that answers tend to have
	bits         map[string]int  // term → its bit
	cache        map[string]int  // word → the bit of its term, or none

	// The first bytes of keys and of terms, which stemming does not change. They rule out most words of a page.
	keyBytes, termBytes [256]bool
}

const (
	maxTerms = 64
	none     = -1
)

// NewQuestion reads a question. day is the day that it names relative to now, if any.
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
		for _, k := range associations()[w.Key] {
			q.associations[k] = true
		}
	}
	for _, t := range text.Terms(question, lang) {
		if q.kind == typeSummary && summaryTerms()[t] {
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

// bit returns the bit of a word's term, or none. Results are cached, since words repeat and stemming is slow.
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

// has reports whether the question has the exact word.
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

// weighTerms sets the weights of the terms: rarer ones weigh more.
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

// weight returns the sum of the weights in a mask.
func (q *Question) weight(mask uint64) float64 {
	sum := 0.0
	for ; mask != 0; mask &= mask - 1 {
		sum += q.weights[bits.TrailingZeros64(mask)]
	}
	return sum
}

// all returns the mask of all terms.
func (q *Question) all() uint64 { return 1<<len(q.terms) - 1 }

// share returns the weighted share of the terms in of that mask has.
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

// answerType is the type of answer that a question asks for.
type answerType string

const (
	typeAny        answerType = ""
	typePerson     answerType = "person"
	typeTime       answerType = "time"
	typePlace      answerType = "place"
	typeNumber     answerType = "number"
	typeReason     answerType = "reason"
	typeManner     answerType = "manner"
	typeDefinition answerType = "definition"
	typeSummary    answerType = "summary"
)

// answerPhrases ask for an answer of a type.
var answerPhrases = sync.OnceValue(func() text.Phrases { return text.Compile(text.AllTables().Evidence.AnswerKinds) })

// answerTypeOf returns the type of answer that a question asks for.
func answerTypeOf(question string) answerType {
	words := text.Words(question)
	best, at := typeAny, len(words)+1
	for _, f := range answerPhrases().FindAll(question, words) {
		// The first phrase wins, and "how many" over the "how" in it. But "what is" yields to a later phrase: "what is
		// the summary of".
		if f.From < at || f.From == at && best == typeDefinition || answerType(f.Cue) == typeSummary && best == typeDefinition {
			best, at = answerType(f.Cue), f.From
		}
	}
	return best
}

// associations maps words of questions to words that their answers tend to have.
var associations = sync.OnceValue(func() map[string][]string { return associationTable(text.AllTables().Evidence.Associations...) })

// associationTable reads rows such as "a,b: c,d": answers to questions with a or b have c or d.
func associationTable(rows ...string) map[string][]string {
	out := map[string][]string{}
	for _, row := range rows {
		from, to, _ := strings.Cut(row, ":")
		var answers []string
		for _, w := range strings.Split(to, ",") {
			answers = append(answers, text.Fold(strings.TrimSpace(w)))
		}
		for _, w := range strings.Split(from, ",") {
			w = text.Fold(strings.TrimSpace(w))
			out[w] = slices.Concat(out[w], answers)
		}
	}
	return out
}
