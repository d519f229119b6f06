package linear

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// magic starts every file. Its last byte is the version of the format.
const magic = "linear\x00\x02"

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
	file.WriteString(magic)
	w, _ := flate.NewWriter(&file, flate.BestCompression) // fails only for an unknown level
	w.Write(out)                                          // a Buffer accepts everything
	w.Close()
	return file.Bytes()
}

// MustParse is Parse for a model embedded in the binary. It panics on error.
func MustParse(file []byte) *Model {
	m, err := Parse(file)
	if err != nil {
		panic(err)
	}
	return m
}

// Parse decodes the output of Bytes.
func Parse(file []byte) (*Model, error) {
	packed, ok := bytes.CutPrefix(file, []byte(magic))
	if !ok {
		return nil, errors.New("read model: it is not one")
	}
	rest, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxFile))
	if err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	r := reader{rest: rest}
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

// reader reads values in order and remembers if the data was too short.
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
