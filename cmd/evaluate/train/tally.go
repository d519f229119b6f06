package train

import (
	"maps"
	"slices"
)

// tally counts the classes that were right and those that were predicted.
type tally struct {
	pairs           map[[2]string]int // by the right class and the predicted one
	gold, predicted map[string]int
}

func (t *tally) add(want, got string) {
	if t.pairs == nil {
		t.pairs, t.gold, t.predicted = map[[2]string]int{}, map[string]int{}, map[string]int{}
	}
	t.pairs[[2]string{want, got}]++
	t.gold[want]++
	t.predicted[got]++
}

func (t *tally) classes() []string { return slices.Sorted(maps.Keys(t.gold)) }

// The figures, in percent. recall is of one class; balanced is the mean of all recalls.
func (t *tally) recall(class string) float64 {
	return t.part(class, class)
}

func (t *tally) f1(class string) float64 {
	return 200 * float64(t.pairs[[2]string{class, class}]) / float64(max(t.gold[class]+t.predicted[class], 1))
}

func (t *tally) right() float64 {
	right, all := 0, 0
	for class, n := range t.gold {
		right += t.pairs[[2]string{class, class}]
		all += n
	}
	return 100 * float64(right) / float64(max(all, 1))
}

func (t *tally) balanced() float64 { return t.mean(t.recall) }
func (t *tally) macroF1() float64  { return t.mean(t.f1) }

func (t *tally) mean(of func(class string) float64) float64 {
	sum := 0.0
	for class := range t.gold {
		sum += of(class)
	}
	return sum / float64(max(len(t.gold), 1))
}

// share is how often a class was predicted, in percent.
func (t *tally) share(class string) float64 {
	all := 0
	for _, n := range t.predicted {
		all += n
	}
	return 100 * float64(t.predicted[class]) / float64(max(all, 1))
}

// part is how often, of what is rightly one class, another was predicted, in percent.
func (t *tally) part(class, predicted string) float64 {
	return 100 * float64(t.pairs[[2]string{class, predicted}]) / float64(max(t.gold[class], 1))
}
