// Package lore holds what the operator wrote of a character's world, cut into passages, and finds those that bear on a message.
//
//   - cut.go cuts a Markdown file at its headings and paragraphs.
//   - lore.go is the [Library], with an index of the words of its passages: in memory, made when the character is loaded.
//
// The passages are ranked as messages are, by package ranking: a file stands for a channel, a section for a session.
package lore

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/memory/ranking"
	"familiar/internal/text"
)

// Passage is a piece of a file.
type Passage struct {
	File    string // as in "lore/harbour.md"
	Line    int    // of the file on which it begins, from 1
	Heading string // those above it, the outermost first, as in "The town › The harbour"; empty: none
	Text    string

	section int // of the library
}

// Library is passages with an index of their words. It is read by many turns at once.
type Library struct {
	passages []Passage
	index    map[string][]int // by the key of a word: the passages that hold it, each once, in order

	mu    sync.Mutex
	stems map[string]map[string][]string // by language: the words of the index by their stems; guarded by mu
}

// Hit is a passage that was found.
type Hit struct {
	Passage
	Score  float64
	Why    []ranking.Reason
	Holds  float64 // the share of the question's words, by weight, that stand in it
	Titled bool    // the question names the heading that it stands under
}

// New makes a library of passages. Those of a file stand together.
func New(passages []Passage) *Library {
	l := &Library{passages: passages, index: map[string][]int{}, stems: map[string]map[string][]string{}}
	for i := range passages {
		p := &passages[i]
		if i > 0 {
			before := &passages[i-1]
			p.section = before.section
			if p.File != before.File || p.Heading != before.Heading {
				p.section++
			}
		}
		for _, key := range keys(p.words()) {
			if in := l.index[key]; len(in) == 0 || in[len(in)-1] != i {
				l.index[key] = append(in, i)
			}
		}
	}
	return l
}

// Len returns how many passages there are. A nil library has none.
func (l *Library) Len() int {
	if l == nil {
		return 0
	}
	return len(l.passages)
}

// words are what a passage is found by.
func (p *Passage) words() string {
	if p.Heading == "" {
		return p.Text
	}
	return p.Heading + ".\n" + p.Text
}

// keys are the words of a text that carry meaning.
func keys(s string) (all []string) {
	for _, w := range text.Words(s) {
		if written := s[w.Start:w.End]; text.Unspaced(written) {
			all = append(all, text.Pairs(written)...)
		} else if text.Meaningful(w.Key) {
			all = append(all, w.Key)
		}
	}
	return all
}

const (
	mostSeeds = 24  // passages that are ranked for their words, beside those around them
	kinWorth  = 0.3 // of a word of the field, in words
)

// Find returns passages that hold words of a question or of their fields, the best first.
func (l *Library) Find(q *ranking.Question) []Hit {
	if l.Len() == 0 {
		return nil
	}
	scores, weights := l.score(q)
	var seeds []int
	for i, score := range scores {
		if score > 0 {
			seeds = append(seeds, i)
		}
	}
	slices.SortStableFunc(seeds, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	near := map[int]bool{}
	for _, i := range seeds[:min(len(seeds), mostSeeds)] {
		for _, j := range []int{i - 1, i, i + 1} {
			if j >= 0 && j < len(l.passages) && l.passages[j].section == l.passages[i].section {
				near[j] = true
			}
		}
	}
	var messages []turn.Message
	for i := range near {
		messages = append(messages, l.asMessage(i))
	}
	stems := map[string]bool{}
	for _, stem := range q.Stems() {
		stems[stem] = true
	}
	var found []Hit
	for _, h := range q.Rank(messages, weights).Hits {
		i, _ := strconv.Atoi(h.ID) // asMessage wrote it
		if scores[i] > 0 {
			p := l.passages[i]
			found = append(found, Hit{p, h.Score, h.Why, h.Holds, titled(p.Heading, stems, q.Language())})
		}
	}
	return found
}

// score scores the passages by the words that they hold, and returns what the question's words are worth: the rarer, the more.
func (l *Library) score(q *ranking.Question) (scores, weights []float64) {
	byStem := l.byStem(q.Language())
	scores = make([]float64, len(l.passages))
	for _, stem := range q.Stems() {
		in := l.with(byStem[stem])
		weight := text.IDF(len(in), len(l.passages))
		weights = append(weights, weight)
		for _, i := range in {
			scores[i] += weight
		}
	}
	for _, word := range q.Kin() {
		in := l.with(byStem[ranking.Stem(text.Fold(word), q.Language())])
		for _, i := range in {
			scores[i] += kinWorth * text.IDF(len(in), len(l.passages))
		}
	}
	return scores, weights
}

// with returns the passages that hold one of some words, each once.
func (l *Library) with(words []string) (all []int) {
	for _, w := range words {
		all = append(all, l.index[w]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// byStem returns the words of the index by their stems in a language.
func (l *Library) byStem(language string) map[string][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.stems[language]
	if all == nil {
		all = map[string][]string{}
		for key := range l.index {
			stem := ranking.Stem(key, language)
			all[stem] = append(all[stem], key)
		}
		l.stems[language] = all
	}
	return all
}

// asMessage is a passage as it is ranked. Sections lie as far apart as sessions do; when they were is long ago, near no time that anybody
// asks about.
func (l *Library) asMessage(i int) turn.Message {
	p := &l.passages[i]
	return turn.Message{ID: strconv.Itoa(i), ChannelID: p.File, Text: p.words(), At: time.Time{}.Add(time.Duration(p.section)*4*time.Hour + time.Duration(i)*time.Millisecond)}
}

// titled reports whether the words of the last heading are all among some stems.
func titled(heading string, stems map[string]bool, language string) bool {
	all := keys(heading[strings.LastIndex(heading, between)+1:])
	return len(all) > 0 && !slices.ContainsFunc(all, func(key string) bool { return !stems[ranking.Stem(key, language)] })
}
