// Package linear is a small classifier: a weight for each feature and class, a softmax over their sums.
//
// It is trained once (train.go), from examples, by a program of its own; written to a few hundred kilobytes
// (file.go), which are embedded in the binary; and asked many times ([Model.Classify]). It is chosen over anything
// cleverer because it can say why: every decision is a sum, and [Model.Why] names its greatest parts.
package linear

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sort"
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
	weights []int8    // one row of len(classes) for each of names
}

// Classes are the names of the classes, in the order of Classify's probabilities.
func (m *Model) Classes() []string { return m.classes }

// Classify returns the probability of every class. A feature that no example had adds nothing.
func (m *Model) Classify(features []Feature) []float64 {
	sums := slices.Clone(m.bias)
	for _, f := range features {
		row := m.row(f.Name)
		for c, w := range row {
			sums[c] += float64(w) * m.scale[c] * f.Value
		}
	}
	softmax(sums)
	return sums
}

// Why names the features that moved class most against the mean of all classes, strongest first and at most n, with
// what they added in log-odds: `word recipe +1.3`.
func (m *Model) Why(features []Feature, class, n int) []string {
	type part struct {
		name string
		gain float64
	}
	var parts []part
	for _, f := range features {
		row := m.row(f.Name)
		if row == nil {
			continue
		}
		own, mean := float64(row[class])*m.scale[class], 0.0
		for c, w := range row {
			mean += float64(w) * m.scale[c] / float64(len(row))
		}
		parts = append(parts, part{f.Name, (own - mean) * f.Value})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(math.Abs(b.gain), math.Abs(a.gain)) })
	var out []string
	for _, p := range parts[:min(n, len(parts))] {
		out = append(out, fmt.Sprintf("%s %+.1f", p.name, p.gain))
	}
	return out
}

// Weight is what one of a feature adds to the log-odds of a class; 0 for a feature that no example had.
func (m *Model) Weight(name string, class int) float64 {
	if row := m.row(name); row != nil {
		return float64(row[class]) * m.scale[class]
	}
	return 0
}

// Knows reports whether any example had the feature.
func (m *Model) Knows(name string) bool { return m.row(name) != nil }

// row is the weights of a feature by class; nil if it is unknown.
func (m *Model) row(name string) []int8 {
	h := hash(name)
	i := sort.Search(len(m.names), func(i int) bool { return m.names[i] >= h })
	if i == len(m.names) || m.names[i] != h {
		return nil
	}
	k := len(m.classes)
	return m.weights[i*k : (i+1)*k]
}

// hash tells some ten thousand names apart; a collision once in a hundred models costs one feature.
func hash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
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
