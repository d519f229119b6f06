package text

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// Feature is an observed feature and its value, often 1.
type Feature struct {
	Name  string
	Value float64
}

// Model is a linear classifier. Each feature has a weight for each class, and a softmax over the sums gives probabilities. A separate program
// trains it and writes it to a few hundred kilobytes, which are embedded in the binary. A linear model can explain itself: every decision is a
// sum, and [Model.Why] returns its largest terms.
//
// It is immutable and safe for concurrent use.
type Model struct {
	classes []string
	bias    []float64 // by class
	scale   []float64 // by class: value of one step of a weight
	names   []uint32  // hashes of the features' names, sorted
	weights []byte    // int8: one row of len(classes) per name
}

// NewModel returns a model with weights by feature and class. It rounds each weight to a byte: levels is how many steps the largest
// weight of a class has. It keeps the features with a weight that is not 0.
func NewModel(classes []string, bias []float64, weights map[string][]float64, levels float64) *Model {
	m := &Model{classes: classes, bias: bias, scale: make([]float64, len(classes))}
	for _, row := range weights {
		for c, w := range row {
			m.scale[c] = max(m.scale[c], math.Abs(w)/levels)
		}
	}
	rows := map[uint32][]byte{}
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		row := make([]byte, len(classes))
		for c, w := range weights[name] {
			if m.scale[c] > 0 {
				row[c] = byte(int8(math.Round(w / m.scale[c])))
			}
		}
		if slices.ContainsFunc(row, func(b byte) bool { return b != 0 }) {
			rows[hashFeature(name)] = row
		}
	}
	for _, h := range slices.Sorted(maps.Keys(rows)) {
		m.names = append(m.names, h)
		m.weights = append(m.weights, rows[h]...)
	}
	return m
}

// Classes returns the names of the classes, in the order of Classify's probabilities.
func (m *Model) Classes() []string { return m.classes }

// Classify returns the probability of each class. Unknown features add nothing.
func (m *Model) Classify(features []Feature) []float64 {
	sums := m.Sums(features)
	Softmax(sums)
	return sums
}

// Sums returns the log-odds of each class.
func (m *Model) Sums(features []Feature) []float64 {
	sums := slices.Clone(m.bias)
	for _, f := range features {
		row := m.row(f.Name)
		for c, w := range row {
			sums[c] += float64(int8(w)) * m.scale[c] * f.Value
		}
	}
	return sums
}

// Reason is a feature and its contribution to a class, in log-odds.
type Reason struct {
	Name string
	Gain float64
}

// Why returns the features that moved a class away from the mean of all classes, strongest first.
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
	sort.Slice(reasons, func(i, j int) bool {
		a, b := reasons[i], reasons[j]
		return cmp.Or(cmp.Compare(math.Abs(b.Gain), math.Abs(a.Gain)), strings.Compare(a.Name, b.Name)) < 0
	})
	return reasons
}

// Weight returns what a feature of value 1 adds to the log-odds of a class; 0 for an unknown feature. Its name may be in parts.
func (m *Model) Weight(class int, name ...string) float64 {
	if row := m.row(name...); row != nil {
		return float64(int8(row[class])) * m.scale[class]
	}
	return 0
}

// row returns a feature's weights by class, or nil if it is unknown. Hashes are distributed evenly, so the search
// starts at the hash's share of all numbers.
func (m *Model) row(name ...string) []byte {
	h, n := hashFeature(name...), len(m.names)
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

// hashBits is the size of a hash. With fifty thousand features, one unknown name in three hundred collides with a known
// one.
const hashBits = 24

// hashFeature is FNV-1a, folded. A collision costs one feature.
func hashFeature(name ...string) uint32 {
	h := uint32(2166136261)
	for _, part := range name {
		for i := range len(part) {
			h = (h ^ uint32(part[i])) * 16777619
		}
	}
	return h>>hashBits ^ h&(1<<hashBits-1)
}

// Softmax turns log-odds into probabilities, in place.
func Softmax(x []float64) {
	top, sum := slices.Max(x), 0.0
	for i := range x {
		x[i] = math.Exp(x[i] - top)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

// Trait computes a named feature of a T.
type Trait[T any] struct {
	Name  string
	Value func(*T) float64
}

// Indicator returns 1 for true and 0 for false.
func Indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// If returns the value that is 1 if a thing has a trait, and 0 if not.
func If[T any](has func(*T) bool) func(*T) float64 {
	return func(thing *T) float64 { return Indicator(has(thing)) }
}

// FeaturesOf returns the features of a thing: all its traits that are not 0.
func FeaturesOf[T any](traits []Trait[T], thing *T) (all []Feature) {
	for _, t := range traits {
		if x := t.Value(thing); x != 0 {
			all = append(all, Feature{Name: t.Name, Value: x})
		}
	}
	return all
}

// WeightsOf returns the weights of traits in a model with one class.
func WeightsOf[T any](traits []Trait[T], m *Model) []float64 {
	all := make([]float64, len(traits))
	for i, t := range traits {
		all[i] = m.Weight(0, t.Name)
	}
	return all
}

// modelMagic starts every file. Its last byte is the version of the format.
const modelMagic = "linear\x00\x02"

// maxFile limits the unpacked size.
const maxFile = 64 << 20

// Bytes encodes the model. After the magic, deflated and little-endian, come the classes, joined by line feeds, after their length. The
// number of features, biases and scales as float32 follow. Then come the differences between successive 24-bit hashes, and the weights as
// int8, class by class. The lowest bytes of all hashes come first, then the next, because similar bytes compress well.
func (m *Model) Bytes() []byte {
	var out []byte
	classes := strings.Join(m.classes, "\n")
	out = binary.LittleEndian.AppendUint32(out, uint32(len(classes)))
	out = append(out, classes...)
	n, k := len(m.names), len(m.classes)
	out = binary.LittleEndian.AppendUint32(out, uint32(n))
	for _, x := range append(append([]float64{}, m.bias...), m.scale...) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
	}
	for shift := 0; shift < hashBits; shift += 8 {
		before := uint32(0)
		for _, h := range m.names {
			out = append(out, byte((h-before)>>shift))
			before = h
		}
	}
	for c := range k {
		for i := range n {
			out = append(out, m.weights[i*k+c])
		}
	}
	var file bytes.Buffer
	file.WriteString(modelMagic)
	w, _ := flate.NewWriter(&file, flate.BestCompression) // fails only for an unknown level
	w.Write(out)                                          // a Buffer accepts everything
	w.Close()
	return file.Bytes()
}

// MustParseModel is ParseModel for a model embedded in the binary. It panics on error.
func MustParseModel(file []byte) *Model {
	m, err := ParseModel(file)
	if err != nil {
		panic(err)
	}
	return m
}

// ParseModel decodes the output of Bytes.
func ParseModel(file []byte) (*Model, error) {
	packed, ok := bytes.CutPrefix(file, []byte(modelMagic))
	if !ok {
		return nil, errors.New("read model: it is not one")
	}
	rest, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxFile))
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	r := modelReader{rest: rest}
	m := &Model{classes: strings.Split(string(r.take(int(r.number()))), "\n")}
	n, k := int(r.number()), len(m.classes)
	m.bias, m.scale = r.floats(k), r.floats(k)
	if r.short || len(r.rest) != n*(hashBits/8+k) {
		return nil, errors.New("read model: it is cut short or too long")
	}
	m.names, m.weights = make([]uint32, n), make([]byte, n*k)
	for shift := 0; shift < hashBits; shift += 8 {
		for i, b := range r.take(n) {
			m.names[i] |= uint32(b) << shift
		}
	}
	for i := 1; i < n; i++ {
		m.names[i] += m.names[i-1]
	}
	for c := range k {
		for i, b := range r.take(n) {
			m.weights[i*k+c] = b
		}
	}
	return m, nil
}

// modelReader reads values in order and remembers if the data was too short.
type modelReader struct {
	rest  []byte
	short bool
}

func (r *modelReader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short = true
		return nil
	}
	piece := r.rest[:n]
	r.rest = r.rest[n:]
	return piece
}

func (r *modelReader) number() uint32 {
	if piece := r.take(4); piece != nil {
		return binary.LittleEndian.Uint32(piece)
	}
	return 0
}

func (r *modelReader) floats(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(math.Float32frombits(r.number()))
	}
	return out
}
