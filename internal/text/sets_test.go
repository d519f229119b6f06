package text

import (
	"slices"
	"strings"
	"testing"
)

func TestSets(t *testing.T) {
	a, b := Unique([]string{"d", "a", "c", "a", "b"}), Unique([]string{"c", "e", "b", "c"})
	if !slices.Equal(a, []string{"a", "b", "c", "d"}) || Common(a, b) != 2 || Jaccard(a, b) != 0.4 || Containment(a, b) != 2./3 {
		t.Errorf("%v, %v: %d, %v, %v", a, b, Common(a, b), Jaccard(a, b), Containment(a, b))
	}
	if Jaccard([]int(nil), nil) != 0 || Containment(nil, []int{1}) != 0 {
		t.Error("nothing is like something")
	}
}

// Sketches approximate the containment of the texts.
func TestSketch(t *testing.T) {
	var all strings.Builder
	for i := range 600 {
		all.WriteString(" " + string([]rune{'w', rune('a' + i%26), rune('a' + i/26), 'd'}))
	}
	sketch := func(s string) []uint32 { return Sketch(Shingles(HashTerms(nil, s), 4), 64) }
	whole, half := sketch(all.String()), sketch(all.String()[:all.Len()/2])
	if share := Containment(whole, half); len(whole) != 64 || share < 0.35 || share > 0.65 {
		t.Errorf("%d hashes, %v", len(whole), share)
	}
	if !NearDuplicates(whole, sketch(all.String()+" and a few more words"), 0.9) || NearDuplicates(whole[:9], whole, 0.1) {
		t.Error("a copy is not told from another text")
	}
}
