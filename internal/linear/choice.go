package linear

import "slices"

// Choice is a set of options of which some are right.
type Choice struct {
	Options [][]Feature
	Right   []bool // by option
}

// TrainChoices finds the weights under which right options are the likeliest to be chosen, an option's odds growing
// with the sum of its weights (Luce's model), less penalty/2 times the sum of the weights' squares. Choices of which
// all options are right, or none, teach nothing. The model has one class, by which [Model.Weight] knows the weights.
func TrainChoices(class string, choices []Choice, penalty float64) *Model {
	var options []Example
	for _, c := range choices {
		for _, features := range c.Options {
			options = append(options, Example{Features: features})
		}
	}
	t := newTrainer([]string{class}, options, penalty)
	t.descend(func() []float64 { return t.choiceSlope(choices) })
	return t.model()
}

// choiceSlope is that of choices, whose options are the examples.
func (t *trainer) choiceSlope(choices []Choice) []float64 {
	slope := make([]float64, len(t.weights)+len(t.bias))
	for i, w := range t.weights {
		slope[i] = t.penalty * w
	}
	from := 0
	for _, c := range choices {
		t.pull(slope, from, c)
		from += len(c.Options)
	}
	return slope
}

// pull adds what one choice, whose options are the examples from there on, adds to the slope.
func (t *trainer) pull(slope []float64, from int, c Choice) {
	if !slices.Contains(c.Right, true) || !slices.Contains(c.Right, false) {
		return
	}
	odds := make([]float64, len(c.Options))
	for i, features := range c.Options {
		for j, at := range t.columns[from+i] {
			odds[i] += t.weights[at] * features[j].Value
		}
	}
	softmax(odds)
	right := 1e-12
	for i, p := range odds {
		if c.Right[i] {
			right += p
		}
	}
	for i, p := range odds {
		if c.Right[i] {
			p -= p / right
		}
		for j, at := range t.columns[from+i] {
			slope[at] += p * c.Options[i][j].Value
		}
	}
}
