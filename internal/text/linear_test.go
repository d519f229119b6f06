package text

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFile writes a model and reads it again, whole and cut.
func TestFile(t *testing.T) {
	m := NewModel([]string{"fruit", "beast"}, []float64{0.5, -0.5}, map[string][]float64{"plum": {2, -1}, "owl": {-2, 3}, "red": {0, 0}}, 127)
	file := m.Bytes()
	back, err := ParseModel(file)
	if err != nil {
		t.Fatal(err)
	}
	about := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-5 })
	for _, name := range []string{"plum", "owl", "red", "unheard of"} {
		if diff := cmp.Diff(m.Classify([]Feature{{name, 1}}), back.Classify([]Feature{{name, 1}}), about); diff != "" {
			t.Errorf("a model changes on its way through a file:\n%s", diff)
		}
	}
	if plum, red := back.Weight(0, "plum"), back.Weight(0, "red"); math.Abs(plum-2) > 0.02 || red != 0 {
		t.Errorf("plum %v, red %v", plum, red)
	}
	if got := back.Classify([]Feature{{"owl", 1}}); got[1] < 0.9 {
		t.Errorf("an owl is %v", got)
	}
	for n := range len(file) {
		if _, err := ParseModel(file[:n]); err == nil {
			t.Fatalf("the first %d bytes were read as a model", n)
		}
	}
}
