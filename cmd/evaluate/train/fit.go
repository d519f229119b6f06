package train

import (
	"math"
	"math/rand/v2"
	"slices"

	"familiar/internal/text"
)

// sample is an example with a known class.
type sample struct {
	Features []text.Feature
	Class    int
}

// fit fits the weights by maximum likelihood. All classes count equally, and penalty/2 times the sum of squared
// weights is subtracted. The problem is convex, so the same examples give the same model.
func fit(classes []string, examples []sample, penalty, levels float64, rounds int) *text.Model {
	t := newTrainer(classes, examples, penalty)
	t.levels, t.rounds = levels, rounds
	t.balance()
	t.descend(t.slope)
	return t.model()
}

// balance computes the share of an example so that all classes count equally.
func (t *trainer) balance() {
	total := make([]float64, len(t.classes))
	for _, e := range t.examples {
		total[e.Class]++
	}
	for _, n := range total {
		t.share = append(t.share, float64(len(t.examples))/(max(n, 1)*float64(len(t.classes))))
	}
}

// trainer holds the examples with their features as indexes into the weights.
type trainer struct {
	classes  []string
	examples []sample
	penalty  float64
	levels   float64   // steps of a weight up to the largest
	rounds   int       // steps of the descent
	share    []float64 // by class: weight of one example
	index    map[string]int
	columns  [][]int     // by example: indexes of its features
	values   [][]float64 // by example: their values
	weights  []float64
	bias     []float64
}

func newTrainer(classes []string, examples []sample, penalty float64) *trainer {
	t := &trainer{classes: classes, examples: examples, penalty: penalty, levels: byteLevels, rounds: rounds, index: map[string]int{}}
	for _, e := range examples {
		columns, values := make([]int, len(e.Features)), make([]float64, len(e.Features))
		for i, f := range e.Features {
			at, known := t.index[f.Name]
			if !known {
				at = len(t.index)
				t.index[f.Name] = at
			}
			columns[i], values[i] = at, f.Value
		}
		t.columns, t.values = append(t.columns, columns), append(t.values, values)
	}
	t.weights, t.bias = make([]float64, len(t.index)*len(classes)), make([]float64, len(classes))
	return t
}

// Parameters of Adam (Kingma and Ba, 2015), with all examples in each step.
const (
	rounds = 600
	rate   = 0.05
	slow1  = 0.9
	slow2  = 0.999
)

// descend follows a slope, the gradient of the weights and then of the biases, to the minimum.
func (t *trainer) descend(slopeHere func() []float64) {
	n := len(t.weights) + len(t.bias)
	first, second := make([]float64, n), make([]float64, n)
	for round := 1; round <= t.rounds; round++ {
		slope := slopeHere()
		step := rate * math.Sqrt(1-math.Pow(slow2, float64(round))) / (1 - math.Pow(slow1, float64(round)))
		if round > t.rounds/2 { // smaller steps reach the minimum
			step *= 2 * (1 - float64(round)/float64(t.rounds))
		}
		for i, g := range slope {
			first[i] = slow1*first[i] + (1-slow1)*g
			second[i] = slow2*second[i] + (1-slow2)*g*g
			move := step * first[i] / (math.Sqrt(second[i]) + 1e-8)
			if i < len(t.weights) {
				t.weights[i] -= move
			} else {
				t.bias[i-len(t.weights)] -= move
			}
		}
	}
}

// slope returns the gradient for [fit].
func (t *trainer) slope() []float64 {
	k := len(t.classes)
	slope := make([]float64, len(t.weights)+k)
	for i, w := range t.weights {
		slope[i] = t.penalty * w
	}
	odds := make([]float64, k)
	for i, e := range t.examples {
		copy(odds, t.bias)
		values := t.values[i]
		for j, at := range t.columns[i] {
			for c, w := range t.weights[at*k:][:k] {
				odds[c] += w * values[j]
			}
		}
		text.Softmax(odds)
		odds[e.Class]--
		for c := range k {
			odds[c] *= t.share[e.Class]
			slope[len(t.weights)+c] += odds[c]
		}
		for j, at := range t.columns[i] {
			pull := slope[at*k:][:k]
			for c, odd := range odds {
				pull[c] += odd * values[j]
			}
		}
	}
	return slope
}

// model returns the trained model.
func (t *trainer) model() *text.Model {
	k := len(t.classes)
	weights := make(map[string][]float64, len(t.index))
	for name, at := range t.index {
		weights[name] = t.weights[at*k : (at+1)*k]
	}
	return text.NewModel(t.classes, t.bias, weights, t.levels)
}

// Parameters of [fitSparse].
const (
	passes = 6
	stride = 0.2 // size of the first steps
	shrink = 5   // damping of later steps

	byteLevels   = 127
	sparseLevels = 48 // the last bits of many small weights are noise
)

// fitSparse fits a model with few features: a weight is 0 unless the examples pull it harder than lasso. It reads the examples one by one
// in a fixed order, and suits more examples and features than [fit]. It is FTRL-Proximal (McMahan et al., "Ad Click Prediction: a View from
// the Trenches", 2013).
func fitSparse(classes []string, examples []sample, lasso float64) *text.Model {
	t := newTrainer(classes, examples, 0)
	t.levels = sparseLevels
	t.balance()
	l := learner{trainer: t, lasso: lasso, pulls: make([]float64, len(t.weights)), squares: make([]float64, len(t.weights)), bias: make([]float64, len(classes))}
	order := rand.New(rand.NewPCG(1, 2))
	for range passes {
		for _, i := range order.Perm(len(examples)) {
			l.learn(i)
		}
	}
	for at := range t.weights {
		t.weights[at] = l.weight(at)
	}
	return t.model()
}

// learner keeps the sum of gradients, and of their squares, for each weight.
type learner struct {
	*trainer
	lasso          float64
	pulls, squares []float64
	bias           []float64 // sums of squared gradients of the biases
}

// learn takes one step for example i.
func (l *learner) learn(i int) {
	k, class := len(l.classes), l.examples[i].Class
	odds := make([]float64, k)
	copy(odds, l.trainer.bias)
	for j, from := range l.columns[i] {
		for c := range k {
			l.weights[from*k+c] = l.weight(from*k + c)
			odds[c] += l.weights[from*k+c] * l.values[i][j]
		}
	}
	text.Softmax(odds)
	odds[class]--
	for c := range k {
		odds[c] *= l.share[class]
		l.bias[c] += odds[c] * odds[c]
		l.trainer.bias[c] -= stride * odds[c] / (1 + math.Sqrt(l.bias[c]))
	}
	for j, from := range l.columns[i] {
		for c, odd := range odds {
			at, pull := from*k+c, odd*l.values[i][j]
			before := math.Sqrt(l.squares[at])
			l.squares[at] += pull * pull
			l.pulls[at] += pull - (math.Sqrt(l.squares[at])-before)/stride*l.weights[at]
		}
	}
}

// weight returns the current value of a weight.
func (l *learner) weight(at int) float64 {
	pull := l.pulls[at]
	if math.Abs(pull) <= l.lasso {
		return 0
	}
	return (math.Copysign(l.lasso, pull) - pull) / ((1+math.Sqrt(l.squares[at]))/stride + shrink)
}

// choice is a set of options, some of them right.
type choice struct {
	Options [][]text.Feature
	Right   []bool // by option
}

// fitChoices fits weights so that right options are the most likely choice. An option's odds grow with the sum of its weights (Luce's
// model). penalty/2 times the sum of squared weights is subtracted. Choices whose options are all right or all wrong are skipped. The model
// has one class, whose weights [text.Model.Weight] returns.
func fitChoices(class string, choices []choice, penalty float64) *text.Model {
	var options []sample
	for _, c := range choices {
		for _, features := range c.Options {
			options = append(options, sample{Features: features})
		}
	}
	t := newTrainer([]string{class}, options, penalty)
	t.descend(func() []float64 { return t.choiceSlope(choices) })
	return t.model()
}

// choiceSlope returns the gradient for [fitChoices]. The options are the examples.
func (t *trainer) choiceSlope(choices []choice) []float64 {
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

// pull adds the gradient of one choice. Its options are the examples from index from on.
func (t *trainer) pull(slope []float64, from int, c choice) {
	if !slices.Contains(c.Right, true) || !slices.Contains(c.Right, false) {
		return
	}
	odds := make([]float64, len(c.Options))
	for i, features := range c.Options {
		for j, at := range t.columns[from+i] {
			odds[i] += t.weights[at] * features[j].Value
		}
	}
	text.Softmax(odds)
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
