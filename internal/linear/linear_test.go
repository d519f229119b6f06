package linear

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fruit and beasts, told by words of which some are no help.
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
	if why := m.Why([]Feature{{"noise1", 1}, {"owl", 1}, {"unheard", 1}}, 1, 1); len(why) != 1 || !strings.HasPrefix(why[0], "owl +") {
		t.Errorf("why %q", why)
	}
	if m.Knows("unheard") || !m.Knows("owl") {
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
