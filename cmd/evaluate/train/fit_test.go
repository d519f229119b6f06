package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"familiar/internal/text"
)

// examples returns fruit, beasts and colours, each with a word of noise.
func examples(n int, seed uint64) []sample {
	r := rand.New(rand.NewPCG(seed, 1))
	words := [][]string{{"apple", "pear", "plum"}, {"cat", "dog", "owl"}, {"red", "blue", "grey"}}
	var out []sample
	for range n {
		class := r.IntN(3)
		features := []text.Feature{{Name: words[class][r.IntN(3)], Value: 1}, {Name: fmt.Sprintf("noise%d", r.IntN(50)), Value: 1}}
		if r.IntN(10) == 0 {
			features = features[1:]
		}
		out = append(out, sample{Features: features, Class: class})
	}
	return out
}

func TestLearns(t *testing.T) {
	m := fit([]string{"fruit", "beast", "colour"}, examples(300, 1), 1, byteLevels, rounds)
	right := 0
	tests := examples(300, 2)
	for _, e := range tests {
		got := m.Classify(e.Features)
		if sum := got[0] + got[1] + got[2]; math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities add up to %v", sum)
		}
		if slices.Index(got, slices.Max(got)) == e.Class {
			right++
		}
	}
	if right < 270 {
		t.Errorf("%d of 300 right", right)
	}
	if why := m.Why([]text.Feature{{Name: "noise1", Value: 1}, {Name: "owl", Value: 1}, {Name: "unheard", Value: 1}}, 1); len(why) != 2 || why[0].Name != "owl" || why[0].Gain <= 0 {
		t.Errorf("why %v", why)
	}
	if m.Weight(1, "unheard") != 0 || m.Weight(1, "owl") <= 0 {
		t.Error("does not know what it knows")
	}
}

// The same examples give the same model.
func TestFitsAgain(t *testing.T) {
	one, again := fit([]string{"fruit", "beast", "colour"}, examples(100, 3), 1, byteLevels, rounds), fit([]string{"fruit", "beast", "colour"}, examples(100, 3), 1, byteLevels, rounds)
	if !slices.Equal(one.Bytes(), again.Bytes()) {
		t.Error("the same examples gave another model")
	}
}

// Of three options, the longest is right unless it is red. The page's number is noise.
func TestFitChoices(t *testing.T) {
	var choices []choice
	for page := range 40 {
		var c choice
		for i := range 3 {
			red := float64((page + i) % 3 / 2)
			c.Options = append(c.Options, []text.Feature{{Name: "length", Value: float64(i)}, {Name: "red", Value: red}, {Name: "page", Value: float64(page)}})
			c.Right = append(c.Right, i == 2 && red == 0 || i == 1 && (page+2)%3 == 2)
		}
		choices = append(choices, c)
	}
	m := fitChoices("right", choices, 1)
	if length, red, page := m.Weight(0, "length"), m.Weight(0, "red"), m.Weight(0, "page"); length <= 0 || red >= -length || page < -0.01 || page > 0.01 {
		t.Errorf("length %+.2f, red %+.2f, page %+.2f", length, red, page)
	}
	if got := m.Weight(0, "unheard of"); got != 0 {
		t.Errorf("unknown: %v", got)
	}
}
