package train

import (
	"fmt"
	"io"
	"slices"

	"familiar/internal/linear"
)

// task is one model to be trained.
type task struct {
	file    string
	classes []string
	penalty float64
	lasso   float64 // in place of a penalty, where most weights are to be nothing
	seldom  int     // a feature that fewer examples have is left out: it tells about them alone
	rows    []example
}

type example struct {
	text     string
	source   string // "clinc", "own", …
	features []linear.Feature
	class    int
}

// everything, outside and without choose what a model is trained on.
func everything(example) bool { return true }

func outside(n int) func(example) bool { return func(e example) bool { return Fold(e.text) != n } }

func without(source string) func(example) bool {
	return func(e example) bool { return e.source != source }
}

// train makes the model of the rows that are included.
func (t task) train(include func(example) bool) *linear.Model {
	var examples []linear.Example
	counts := map[string]int{}
	for _, r := range t.rows {
		if include(r) {
			examples = append(examples, linear.Example{Features: r.features, Class: r.class})
			for _, f := range r.features {
				counts[f.Name]++
			}
		}
	}
	for i, e := range examples {
		examples[i].Features = slices.DeleteFunc(slices.Clone(e.Features), func(f linear.Feature) bool { return counts[f.Name] < t.seldom })
	}
	if t.lasso > 0 {
		return linear.TrainSparse(t.classes, examples, t.lasso)
	}
	return linear.Train(t.classes, examples, t.penalty)
}

// validate prints how often a model is right about rows that it has not seen.
func (t task) validate(w io.Writer) {
	var seen tally
	for i := range folds {
		m := t.train(outside(i))
		for _, r := range t.rows {
			if Fold(r.text) == i {
				odds := m.Classify(r.features)
				seen.add(t.classes[r.class], t.classes[slices.Index(odds, slices.Max(odds))])
			}
		}
	}
	fmt.Fprintf(w, "  unseen rows: right %.1f, macro-F1 %.1f, balanced %.1f\n", seen.right(), seen.macroF1(), seen.balanced())
}

func yes(is bool) int {
	if is {
		return 1
	}
	return 0
}
