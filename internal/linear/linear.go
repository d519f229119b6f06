// Package linear is a small classifier: a weight for each feature and class, a softmax over their sums.
//
// It is trained once (train.go, sparse.go), from examples, by a program of its own; written to some hundred kilobytes
// (file.go), which are embedded in the binary; and asked many times ([Model.Classify]). It is chosen over anything
// cleverer because it can say why: every decision is a sum, and [Model.Why] names its greatest parts.
package linear

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Feature is something that was seen, and how much of it; 1 where it is just there.
type Feature struct {
	Name  string
	Value float64
}

// Model is what was learned. It is never changed and safe for concurrent use.
type Model struct {
	classes []string
	bias    []float64 // by class
	scale   []float64 // by class: what one step of a weight is worth
	names   []uint32  // hashes of the features' names, sorted
	weights []byte    // int8: one row of len(classes) for each of names
}

// Classes are the names of the classes, in the order of Classify's probabilities.
func (m *Model) Classes() []string { return m.classes }

// Classify returns the probability of every class. A feature that no example had adds nothing.
func (m *Model) Classify(features []Feature) []float64 {
	sums := slices.Clone(m.bias)
	for _, f := range features {
		row := m.row(f.Name)
		for c, w := range row {
			sums[c] += float64(int8(w)) * m.scale[c] * f.Value
		}
	}
	softmax(sums)
	return sums
}

// Reason is a feature and what it added to a class, in log-odds.
type Reason struct {
	Name string
	Gain float64
}

// Why returns the features that moved a class against the mean of all classes, strongest first.
func (m *Model) Why(features []Feature, class int) []Reason {
	reasons := make([]Reason, 0, len(features))
	for _, f := range features {
		row := m.row(f.Name)
		if row == nil {
			continue
		}
		own, mean := float64(int8(row[class]))*m.scale[class], 0.0
		for c, w := range row {
			mean += float64(int8(w)) * m.scale[c] / float64(len(row))
		}
		reasons = append(reasons, Reason{f.Name, (own - mean) * f.Value})
	}
	slices.SortFunc(reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Gain), math.Abs(a.Gain)), strings.Compare(a.Name, b.Name))
	})
	return reasons
}

// Weight is what one of a feature adds to the log-odds of a class; 0 for a feature that no example had.
func (m *Model) Weight(name string, class int) float64 {
	if row := m.row(name); row != nil {
		return float64(int8(row[class])) * m.scale[class]
	}
	return 0
}

// Knows reports whether any example had the feature.
func (m *Model) Knows(name string) bool { return m.row(name) != nil }

// row is the weights of a feature by class; nil if it is unknown. Hashes are spread evenly, so one stands near where
// its share of all numbers is.
func (m *Model) row(name string) []byte {
	h, n := hash(name), len(m.names)
	i := int(uint64(h) * uint64(n) >> hashBits)
	for i > 0 && m.names[i-1] >= h {
		i--
	}
	for i < n && m.names[i] < h {
		i++
	}
	if i == n || m.names[i] != h {
		return nil
	}
	k := len(m.classes)
	return m.weights[i*k : (i+1)*k]
}

// hashBits is the size of a hash: of a model of fifty thousand features one unknown in three hundred is taken for a known one.
const hashBits = 24

// hash tells some ten thousand names apart (FNV-1a, folded); a collision costs one feature.
func hash(name string) uint32 {
	h := uint32(2166136261)
	for i := range len(name) {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h>>hashBits ^ h&(1<<hashBits-1)
}

// softmax turns log-odds into probabilities, in place.
func softmax(x []float64) {
	top, sum := slices.Max(x), 0.0
	for i := range x {
		x[i] = math.Exp(x[i] - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}
