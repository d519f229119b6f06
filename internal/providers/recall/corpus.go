package recall

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// corpus holds the candidates for a query, ordered by channel and time.
type corpus struct {
	q       *query
	views   []view
	ends    []time.Time // of the sessions, by number
	weights []float64   // of the terms; the sum is 1
}

// view is a message with what its features need. Shares are shares of the terms by weight, 0 to 1.
type view struct {
	c       *corpus
	message *turn.Message
	words   []text.Word
	tf      []float64 // by term: how often the message has it
	kin     []bool    // by term: whether the message has a related word
	family  []bool    // by term: whether the message has a word that begins alike
	length  int       // content words
	place   int       // among the views
	index   int       // within its session
	session int

	own                float64 // BM25 score
	cover              float64 // see covered
	kinShare, famShare float64
	of                 *tally // of its session
}

// tally adds up the messages of a session.
type tally struct {
	kin    []bool    // by term
	akin   float64   // share of the terms with a related word but not the word itself
	tf     []float64 // by term
	best   float64   // BM25 score of its best message
	bm25   float64   // score of all its messages as one text
	length int       // content words
	held   float64   // share of the terms
}

// usualLength is the typical number of content words of a message.
const usualLength = 12

// Constants of BM25 (Robertson and Zaragoza, 2009).
const (
	saturation = 1.2
	slope      = 0.75
)

func bm25(tf, length, usual float64) float64 {
	if tf == 0 {
		return 0
	}
	return tf * (saturation + 1) / (tf + saturation*(1-slope+slope*length/usual))
}

func newCorpus(q *query, messages []turn.Message, weights []float64) *corpus {
	c := &corpus{q: q, views: make([]view, len(messages)), weights: make([]float64, len(q.terms))}
	sum := 1e-9
	for _, w := range weights {
		sum += w
	}
	for i := range c.weights {
		c.weights[i] = weights[i] / sum
	}
	sorted := slices.Clone(messages)
	sort.SliceStable(sorted, func(i, j int) bool {
		a, b := sorted[i], sorted[j]
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), a.At.Compare(b.At), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) < 0
	})
	var tallies []*tally
	for i := range sorted {
		v := &c.views[i]
		v.c, v.message, v.place = c, &sorted[i], i
		if i == 0 || sorted[i].ChannelID != sorted[i-1].ChannelID || sorted[i].At.Sub(sorted[i-1].At) > sessionGap {
			tallies = append(tallies, &tally{tf: make([]float64, len(q.terms)), kin: make([]bool, len(q.terms))})
			c.ends = append(c.ends, sorted[i].At)
		} else {
			v.index = c.views[i-1].index + 1
		}
		v.session = len(c.ends) - 1
		c.ends[v.session] = sorted[i].At
		v.of = tallies[v.session]
		v.read()
	}
	weights, usual := rarities(tallies)
	for _, t := range tallies {
		for j, n := range t.tf {
			if n > 0 {
				t.held += weights[j]
				t.bm25 += weights[j] * bm25(n, float64(t.length), usual)
			} else if t.kin[j] {
				t.akin += weights[j]
			}
		}
	}
	for i := range c.views {
		c.views[i].cover = c.views[i].covered()
	}
	return c
}

// read finds the terms in a message and adds them to the session's tally.
func (v *view) read() {
	q, s := v.c.q, v.message.Text
	v.words = text.Words(s)
	v.tf, v.kin, v.family = make([]float64, len(q.terms)), make([]bool, len(q.terms)), make([]bool, len(q.terms))
	for _, w := range v.words {
		if written := s[w.Start:w.End]; !text.ASCII(written) && text.Unspaced(written) {
			for _, pair := range text.Pairs(written) {
				v.length++
				v.note(pair)
			}
		} else if text.Meaningful(w.Key) {
			v.length++
			v.note(w.Key)
		}
	}
	for j, weight := range v.c.weights {
		switch {
		case v.tf[j] > 0:
			v.own += weight * bm25(v.tf[j], float64(v.length), usualLength)
			v.of.tf[j] += v.tf[j]
			continue
		case v.kin[j]:
			v.kinShare += weight
			v.of.kin[j] = true
		}
		if v.family[j] {
			v.famShare += weight
		}
	}
	v.of.length += v.length
	v.of.best = max(v.of.best, v.own)
}

// rarities returns the weights of the terms by their rarity among sessions, with a sum of 1. It also returns the average length of a
// session.
func rarities(tallies []*tally) (weights []float64, usual float64) {
	if len(tallies) == 0 {
		return nil, 1
	}
	weights = make([]float64, len(tallies[0].tf))
	sum := 1e-9
	for j := range weights {
		in := 0
		for _, t := range tallies {
			if t.tf[j] > 0 {
				in++
			}
		}
		weights[j] = text.IDF(in, len(tallies))
		sum += weights[j]
	}
	for j := range weights {
		weights[j] /= sum
	}
	for _, t := range tallies {
		usual += float64(t.length) / float64(len(tallies))
	}
	return weights, usual
}

// match says how a word matches a term.
type match struct {
	term int
	how  byte // '=' the term itself, 'k' a related word, 'f' a word that begins alike
}

// note counts a word of the message.
func (v *view) note(key string) {
	for _, m := range v.c.q.matches(key) {
		switch m.how {
		case '=':
			v.tf[m.term]++
		case 'k':
			v.kin[m.term] = true
		case 'f':
			v.family[m.term] = true
		}
	}
}

// matches returns the terms that a word matches. It caches them because words recur.
func (q *query) matches(key string) []match {
	all, known := q.known[key]
	if known {
		return all
	}
	stem := q.stem(key)
	for i := range q.terms {
		t := &q.terms[i]
		if t.stem == stem {
			all = append(all, match{i, '='})
			continue
		}
		if t.kin[stem] {
			all = append(all, match{i, 'k'})
		}
		if family(t.stem, stem) {
			all = append(all, match{i, 'f'})
		}
	}
	q.known[key] = all
	return all
}

// family reports whether two stems begin alike, such as decid and decis. They share at least four letters, and all but one of the shorter
// stem.
func family(a, b string) bool {
	if len(a) < 5 || len(b) < 4 {
		return false
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= max(4, min(len(a), len(b))-1)
}

// at returns the message that is away places after this one. It returns nil if it is not in the same session.
func (v *view) at(away int) *view {
	i := v.place + away
	if i < 0 || i >= len(v.c.views) || v.c.views[i].session != v.session {
		return nil
	}
	return &v.c.views[i]
}

// covered returns the share of the terms in the message or the one before it.
func (v *view) covered() (share float64) {
	before := v.at(-1)
	for j, weight := range v.c.weights {
		if v.tf[j] > 0 || before != nil && before.tf[j] > 0 {
			share += weight
		}
	}
	return share
}

// share is like covered, without the terms that name a time.
func (v *view) share() float64 {
	before := v.at(-1)
	held, all := 0.0, 1e-9
	for j, weight := range v.c.weights {
		if v.c.q.terms[j].ofTime {
			continue
		}
		all += weight
		if v.tf[j] > 0 || before != nil && before.tf[j] > 0 {
			held += weight
		}
	}
	return held / all
}

// nearness returns 1 for a time that the query asks about, and less the farther away it is.
func (q *query) nearness(at time.Time) float64 {
	away := 0.0
	if at.Before(q.Span.From) {
		away = q.Span.From.Sub(at).Hours()
	} else if at.After(q.Span.To) {
		away = at.Sub(q.Span.To).Hours()
	}
	return math.Exp(-away / 24 / 14)
}

// speaksOf reports whether the message itself names the time that is asked about, such as "last week".
func (v *view) speaksOf(span text.TimeSpan) bool {
	said, _, ok := text.PastSpan(v.message.Text, v.words, v.message.At)
	return ok && said.To.Sub(said.From) < 40*24*time.Hour && said.From.Before(span.To) && said.To.After(span.From)
}

func (v *view) asksBack() bool { return strings.HasSuffix(strings.TrimSpace(v.message.Text), "?") }

// weigh returns the weights of the terms among messages. Rare words weigh more.
func (q *query) weigh(messages []turn.Message) []float64 {
	in := make([]int, len(q.terms))
	for _, m := range messages {
		seen := make([]bool, len(q.terms))
		for _, w := range text.Words(m.Text) {
			for _, match := range q.matches(w.Key) {
				if match.how == '=' && !seen[match.term] {
					seen[match.term] = true
					in[match.term]++
				}
			}
		}
	}
	weights := make([]float64, len(in))
	for i, n := range in {
		weights[i] = text.IDF(n, len(messages))
	}
	return weights
}
