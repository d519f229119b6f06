package ranking

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/internal/text/calendar"
)

// corpus is the messages among which an answer is looked for, in order of channel and time.
type corpus struct {
	q        *Question
	views    []view
	sessions []Session
	weights  []float64 // of the terms, adding up to 1
}

// view is a message with what is seen of it.
type view struct {
	c       *corpus
	message *turn.Message
	words   []text.Word
	tf      []float64 // by term: how often it holds it
	kin     []bool    // by term: whether it holds a word of its field
	family  []bool    // by term: whether it holds a word that begins like it
	length  int       // words that carry meaning
	place   int       // among the views
	index   int       // within its session
	session int

	own, cover         float64
	kinShare, famShare float64
	of                 *tally // its session's
}

// tally is what a session holds.
type tally struct {
	kin    []bool
	akin   float64
	tf     []float64
	best   float64
	bm25   float64
	length int
	held   float64 // share of the terms that stand anywhere in it
}

// usualLength is how many words that carry meaning a message has.
const usualLength = 12

// BM25's constants (Robertson and Zaragoza, 2009).
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

func newCorpus(q *Question, messages []turn.Message, weights []float64) *corpus {
	c := &corpus{q: q, views: make([]view, len(messages)), weights: make([]float64, len(q.terms))}
	sum := 1e-9
	for _, w := range weights {
		sum += w
	}
	for i := range c.weights {
		c.weights[i] = weights[i] / sum
	}
	sorted := slices.Clone(messages)
	slices.SortStableFunc(sorted, func(a, b turn.Message) int {
		return cmp.Or(cmp.Compare(a.ChannelID, b.ChannelID), a.At.Compare(b.At), cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID))
	})
	var tallies []*tally
	for i := range sorted {
		v := &c.views[i]
		v.c, v.message, v.place = c, &sorted[i], i
		if i == 0 || sorted[i].ChannelID != sorted[i-1].ChannelID || sorted[i].At.Sub(sorted[i-1].At) > sessionGap {
			tallies = append(tallies, &tally{tf: make([]float64, len(q.terms)), kin: make([]bool, len(q.terms))})
			c.sessions = append(c.sessions, Session{ChannelID: sorted[i].ChannelID, From: sorted[i].At, Number: len(c.sessions)})
		} else {
			v.index = c.views[i-1].index + 1
		}
		v.session = len(c.sessions) - 1
		c.sessions[v.session].To = sorted[i].At
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

// read finds the terms in a message.
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

// rarities are what the terms are worth among sessions, adding up to 1, and how many words a session has.
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

// match is how a word of a message is a term.
type match struct {
	term int
	how  byte // '=' it is, 'k' its kin, 'f' of its family
}

// note counts a word.
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

// matches returns which terms a word is, or is akin to. Words come again and again.
func (q *Question) matches(key string) []match {
	all, known := q.matchs[key]
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
	q.matchs[key] = all
	return all
}

// family reports whether two stems begin alike: all but a letter of the shorter one, such as decid and decis, and no fewer than four.
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

// at returns the message so many places away in the same session, or nil.
func (v *view) at(away int) *view {
	i := v.place + away
	if i < 0 || i >= len(v.c.views) || v.c.views[i].session != v.session {
		return nil
	}
	return &v.c.views[i]
}

// covered is the share of the terms in a message or the one before it.
func (v *view) covered() (share float64) {
	before := v.at(-1)
	for j, weight := range v.c.weights {
		if v.tf[j] > 0 || before != nil && before.tf[j] > 0 {
			share += weight
		}
	}
	return share
}

// holds is the same among the terms that name no time.
func (v *view) holds() float64 {
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

// nearness falls from 1 with the distance of a message from the time that is asked about.
func (q *Question) nearness(at time.Time) float64 {
	away := 0.0
	if at.Before(q.Span.From) {
		away = q.Span.From.Sub(at).Hours()
	} else if at.After(q.Span.To) {
		away = at.Sub(q.Span.To).Hours()
	}
	return math.Exp(-away / 24 / 14)
}

// speaksOf reports whether a message itself names a time that is asked about: "last week".
func (v *view) speaksOf(span calendar.Span) bool {
	said, _, ok := calendar.Past(v.message.Text, v.words, v.message.At)
	return ok && said.To.Sub(said.From) < 40*24*time.Hour && said.From.Before(span.To) && said.To.After(span.From)
}

func (v *view) asksBack() bool { return strings.HasSuffix(strings.TrimSpace(v.message.Text), "?") }

// Weigh returns what the question's words are worth among messages: the rarer, the more.
func (q *Question) Weigh(messages []turn.Message) []float64 {
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
