package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// examples returns fruit, beasts and colours, each with a word of noise.
func examples(n int, seed uint64) []Example {
	r := rand.New(rand.NewPCG(seed, 1))
	words := [][]string{{"apple", "pear", "plum"}, {"cat", "dog", "owl"}, {"red", "blue", "grey"}}
	var out []Example
	for range n {
		class := r.IntN(3)
		features := []Feature{{words[class][r.IntN(3)], 1}, {fmt.Sprintf("noise%d", r.IntN(50)), 1}}
		if r.IntN(10) == 0 {
			features = features[1:]
		}
		out = append(out, Example{Features: features, Class: class})
	}
	return out
}

func TestLearns(t *testing.T) {
	m := Train([]string{"fruit", "beast", "colour"}, examples(300, 1), 1)
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
	if why := m.Why([]Feature{{"noise1", 1}, {"owl", 1}, {"unheard", 1}}, 1); len(why) != 2 || why[0].Name != "owl" || why[0].Gain <= 0 {
		t.Errorf("why %v", why)
	}
	if m.knows("unheard") || !m.knows("owl") {
		t.Error("does not know what it knows")
	}
}

func TestFile(t *testing.T) {
	m := Train([]string{"fruit", "beast", "colour"}, examples(100, 3), 1)
	file := m.Bytes()
	back, err := Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.Classify([]Feature{{"plum", 1}}), back.Classify([]Feature{{"plum", 1}}), cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })); diff != "" {
		t.Errorf("a model changes on its way through a file:\n%s", diff)
	}
	if again := Train([]string{"fruit", "beast", "colour"}, examples(100, 3), 1).Bytes(); !slices.Equal(file, again) {
		t.Error("the same examples gave another model")
	}
	for n := range len(file) {
		if _, err := Parse(file[:n]); err == nil {
			t.Fatalf("the first %d bytes were read as a model", n)
		}
	}
}

// Of three options, the longest is right unless it is red. The page's number is noise.
func TestTrainChoices(t *testing.T) {
	var choices []Choice
	for page := range 40 {
		var c Choice
		for i := range 3 {
			red := float64((page + i) % 3 / 2)
			c.Options = append(c.Options, []Feature{{"length", float64(i)}, {"red", red}, {"page", float64(page)}})
			c.Right = append(c.Right, i == 2 && red == 0 || i == 1 && (page+2)%3 == 2)
		}
		choices = append(choices, c)
	}
	m := TrainChoices("right", choices, 1)
	if length, red, page := m.Weight("length", 0), m.Weight("red", 0), m.Weight("page", 0); length <= 0 || red >= -length || page < -0.01 || page > 0.01 {
		t.Errorf("length %+.2f, red %+.2f, page %+.2f", length, red, page)
	}
	if got := m.Weight("unheard of", 0); got != 0 {
		t.Errorf("unknown: %v", got)
	}
}
