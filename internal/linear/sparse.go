package linear

import (
	"math"
	"math/rand/v2"
)

// The steps of [TrainSparse].
const (
	passes = 6
	stride = 0.2 // how far the first steps go
	shrink = 5   // how much the later ones are held back

	sparseLevels = 48 // of many small weights the last bits are noise
)

// TrainSparse finds weights of which most are nothing: a weight is something only where the examples pull it harder than lasso. It reads the
// examples one by one, in an order that is always the same, and is made for more of them, and more features, than [Train] (FTRL-Proximal:
// McMahan et al., "Ad Click Prediction: a View from the Trenches", 2013).
func TrainSparse(classes []string, examples []Example, lasso float64) *Model {
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

// learner keeps, for each weight, the sum of what pulled at it and of its squares.
type learner struct {
	*trainer
	lasso          float64
	pulls, squares []float64
	bias           []float64 // the squares of the biases
}

// learn learns from one example.
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
	softmax(odds)
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

// weight is what a weight has come to.
func (l *learner) weight(at int) float64 {
	pull := l.pulls[at]
	if math.Abs(pull) <= l.lasso {
		return 0
	}
	return (math.Copysign(l.lasso, pull) - pull) / ((1+math.Sqrt(l.squares[at]))/stride + shrink)
}
