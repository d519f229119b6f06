package linear

import (
	"maps"
	"math"
	"slices"
)

// Example is one text whose class is known.
type Example struct {
	Features []Feature
	Class    int
}

// Train finds the weights under which the examples are likeliest, each class counting as much as any other, less
// penalty/2 times the sum of their squares. The problem is convex, so the same examples give the same model.
func Train(classes []string, examples []Example, penalty float64) *Model {
	t := newTrainer(classes, examples, penalty)
	t.balance()
	t.descend(t.slope)
	return t.model()
}

// balance makes each class count as much as any other.
func (t *trainer) balance() {
	total := make([]float64, len(t.classes))
	for _, e := range t.examples {
		total[e.Class]++
	}
	for _, n := range total {
		t.share = append(t.share, float64(len(t.examples))/(max(n, 1)*float64(len(t.classes))))
	}
}

// trainer holds the examples as indexes into the weights.
type trainer struct {
	classes  []string
	examples []Example
	penalty  float64
	levels   float64   // the steps of a weight up to the greatest
	share    []float64 // by class: what one example of it counts
	index    map[string]int
	columns  [][]int     // by example: its features' indexes
	values   [][]float64 // … and how much of each
	weights  []float64
	bias     []float64
}

func newTrainer(classes []string, examples []Example, penalty float64) *trainer {
	t := &trainer{classes: classes, examples: examples, penalty: penalty, levels: 127, index: map[string]int{}}
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

// The steps of Adam (Kingma and Ba, 2015), over all examples at once.
const (
	rounds = 600
	rate   = 0.05
	slow1  = 0.9
	slow2  = 0.999
)

// descend goes down to where a slope, the gradient of the weights and then of the biases, is nothing.
func (t *trainer) descend(slopeHere func() []float64) {
	n := len(t.weights) + len(t.bias)
	first, second := make([]float64, n), make([]float64, n)
	for round := 1; round <= rounds; round++ {
		slope := slopeHere()
		step := rate * math.Sqrt(1-math.Pow(slow2, float64(round))) / (1 - math.Pow(slow1, float64(round)))
		if round > rounds/2 { // small steps at the end find the ground
			step *= 2 * (1 - float64(round)/rounds)
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

// slope is that of classes.
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
		softmax(odds)
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

// model keeps of the weights what one byte holds, and of the features those that then still weigh anything.
func (t *trainer) model() *Model {
	k := len(t.classes)
	m := &Model{classes: t.classes, bias: t.bias, scale: make([]float64, k)}
	for i, w := range t.weights {
		m.scale[i%k] = max(m.scale[i%k], math.Abs(w)/t.levels)
	}
	rows, names := map[uint32][]byte{}, []uint32(nil)
	for _, name := range slices.Sorted(maps.Keys(t.index)) {
		at := t.index[name]
		row, weighs := make([]byte, k), false
		for c := range k {
			if m.scale[c] > 0 {
				row[c] = byte(int8(math.Round(t.weights[at*k+c] / m.scale[c])))
			}
			weighs = weighs || row[c] != 0
		}
		if weighs {
			rows[hash(name)] = row
			names = append(names, hash(name))
		}
	}
	slices.Sort(names)
	for _, h := range slices.Compact(names) {
		m.names = append(m.names, h)
		m.weights = append(m.weights, rows[h]...)
	}
	return m
}
