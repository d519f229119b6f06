package linear

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
)

// magic begins every file; its last byte is the format's version.
const magic = "linear\x00\x01"

// Bytes writes the model: the magic, the classes (joined by line feeds, after their length), the number of features,
// biases and scales as float32, hashes as uint32, weights as int8; all little-endian.
func (m *Model) Bytes() []byte {
	out := []byte(magic)
	classes := strings.Join(m.classes, "\n")
	out = binary.LittleEndian.AppendUint32(out, uint32(len(classes)))
	out = append(out, classes...)
	out = binary.LittleEndian.AppendUint32(out, uint32(m.names.len()))
	for _, x := range append(append([]float64{}, m.bias...), m.scale...) {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
	}
	return append(append(out, m.names...), m.weights...)
}

// MustParse is Parse for a model that is built into the program: one that is broken is a broken build, and it panics.
func MustParse(file []byte) *Model {
	m, err := Parse(file)
	if err != nil {
		panic(err)
	}
	return m
}

// Parse reads what Bytes wrote. The model refers to the file, which must not change.
func Parse(file []byte) (*Model, error) {
	rest, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, errors.New("read model: it is not one")
	}
	r := reader{rest: rest}
	m := &Model{classes: strings.Split(string(r.take(int(r.number()))), "\n")}
	n, k := int(r.number()), len(m.classes)
	m.bias, m.scale = r.floats(k), r.floats(k)
	if r.short || len(r.rest) != n*(4+k) {
		return nil, errors.New("read model: it is cut short or too long")
	}
	m.names, m.weights = r.take(4*n), r.rest
	return m, nil
}

// reader takes pieces off a file and remembers if one was missing.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.rest) {
		r.short = true
		return nil
	}
	piece := r.rest[:n]
	r.rest = r.rest[n:]
	return piece
}

func (r *reader) number() uint32 {
	if piece := r.take(4); piece != nil {
		return binary.LittleEndian.Uint32(piece)
	}
	return 0
}

func (r *reader) floats(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(math.Float32frombits(r.number()))
	}
	return out
}
