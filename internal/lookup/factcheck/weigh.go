package factcheck

import (
	_ "embed"
	"math"
	"sync"

	"familiar/internal/linear"
	"familiar/internal/text"
	"familiar/internal/text/lang"
)

//go:embed verify.model
var verifyFile []byte

var verifyModel = sync.OnceValue(func() *linear.Model { return linear.MustParse(verifyFile) })

// Weighing is what one page says to a claim.
type Weighing struct {
	Order    []int            // its sentences, best evidence first
	Hints    []linear.Feature // what the model sees, for training it
	Supports float64          // probability that the page bears the claim out
	Conflict string           // the rule by which it contradicts the claim, or ""

	passages []passage // in that order
	held     float64   // share of the claim's words that the best passages hold
	against  int       // of the passages, the one that contradicts
}

const (
	weighed = 10 // passages that are looked at, at most
	best    = 3  // of these, those that answer if any does
)

// Weigh compares a claim with the sentences of a page.
func Weigh(claim, title string, sentences []string) Weighing {
	s := newStatement(claim, title)
	w := Weighing{passages: s.passages(sentences)}
	for _, p := range w.passages {
		w.Order = append(w.Order, p.at)
	}
	near := w.passages[:min(weighed, len(w.passages))]
	w.held = mean(s.held(near[:min(best, len(near))]), 0)
	w.Hints = s.hints(near)
	w.Supports = 0.5
	if len(near) > 0 {
		w.Supports = verifyModel().Classify(w.Hints)[1]
		w.Conflict, w.against = s.conflict(near)
	}
	return w
}

// hints tell how much of the claim stands on the page: of its words, of its names, of its numbers, and of the words
// that make it a bold one. They know no word but those.
func (s *statement) hints(near []passage) []linear.Feature {
	all, first := s.held(near), s.held(near[:min(best, len(near))])
	missing := 0.0
	var names, firstNames []float64
	for i, p := range s.parts {
		if all[i] < enough {
			missing++
		}
		if p.name {
			names, firstNames = append(names, all[i]), append(firstNames, first[i])
		}
	}
	on, numbers := map[string]bool{}, map[string]bool{}
	for _, p := range near {
		for _, w := range text.Words(p.text) {
			on[w.Key] = true
		}
		for _, n := range text.Numbers(text.InDigits(p.text)) {
			numbers[n] = true
		}
	}
	unheard, bold := 0.0, 0.0
	for _, n := range text.Numbers(s.text) {
		if !numbers[n] {
			unheard = 1
		}
	}
	for w := range s.says {
		if boldWords[w] && !on[w] {
			bold++
		}
	}
	return []linear.Feature{
		{Name: "words held", Value: mean(all, 0)},
		{Name: "words held by the best", Value: mean(first, 0)},
		{Name: "words missing", Value: missing / math.Max(1, float64(len(s.parts)))},
		{Name: "names held", Value: mean(names, 0.8)},
		{Name: "names held by the best", Value: mean(firstNames, 0.8)},
		{Name: "a number is missing", Value: unheard},
		{Name: "bold words missing", Value: bold},
		{Name: "never", Value: weight(s.says["never"], 1)},
	}
}

// boldWords allow no exception.
var boldWords = text.Set(lang.All().FactCheck.Absolutes)
