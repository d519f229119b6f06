package train

import (
	"maps"
	"slices"
)

// tally counts what was wanted and what was said.
type tally struct {
	said           map[[2]string]int // by what was wanted and what was said
	wanted, spoken map[string]int
}

func (t *tally) add(want, got string) {
	if t.said == nil {
		t.said, t.wanted, t.spoken = map[[2]string]int{}, map[string]int{}, map[string]int{}
	}
	t.said[[2]string{want, got}]++
	t.wanted[want]++
	t.spoken[got]++
}

func (t *tally) classes() []string { return slices.Sorted(maps.Keys(t.wanted)) }

// The figures, in percent. recall is of one class; balanced is the mean of all recalls.
func (t *tally) recall(class string) float64 {
	return 100 * float64(t.said[[2]string{class, class}]) / float64(max(t.wanted[class], 1))
}

func (t *tally) f1(class string) float64 {
	return 200 * float64(t.said[[2]string{class, class}]) / float64(max(t.wanted[class]+t.spoken[class], 1))
}

func (t *tally) right() float64 {
	right, all := 0, 0
	for class, n := range t.wanted {
		right += t.said[[2]string{class, class}]
		all += n
	}
	return 100 * float64(right) / float64(max(all, 1))
}

func (t *tally) balanced() float64 { return t.mean(t.recall) }
func (t *tally) macroF1() float64  { return t.mean(t.f1) }

func (t *tally) mean(of func(class string) float64) float64 {
	sum := 0.0
	for class := range t.wanted {
		sum += of(class)
	}
	return sum / float64(max(len(t.wanted), 1))
}

// share is how often a class was said, in percent.
func (t *tally) share(class string) float64 {
	all := 0
	for _, n := range t.spoken {
		all += n
	}
	return 100 * float64(t.spoken[class]) / float64(max(all, 1))
}
