package store

import (
	"encoding/binary"
	"math"
)

// Vector is an embedding: the inverse of its length, a float32 in little-endian order, and a signed byte for each dimension. The
// largest component is 127: rounding turns the vector by about a degree. Empty: the text has none.
type Vector []byte

const (
	vectorHead = 4
	// maxDimensions is more than any model of the day has.
	maxDimensions = 8192
)

// NewVector makes a vector of components of any scale. It is empty where they are none, all zero, no numbers, or too many.
func NewVector(components []float32) Vector {
	largest := 0.0
	for _, x := range components {
		largest = max(largest, math.Abs(float64(x))) // NaN stays NaN
	}
	if len(components) > maxDimensions || !(largest > 0) || math.IsInf(largest, 0) {
		return nil
	}
	v, squares := make(Vector, vectorHead+len(components)), 0.0
	for i, x := range components {
		n := math.Round(float64(x) / largest * 127)
		squares += n * n
		v[vectorHead+i] = byte(int8(n))
	}
	binary.LittleEndian.PutUint32(v, math.Float32bits(float32(1/math.Sqrt(squares))))
	return v
}

// Cosine is the cosine of the angle between two vectors, 0 where they have not the same dimensions.
func (v Vector) Cosine(w Vector) float64 {
	if len(v) <= vectorHead || len(v) != len(w) {
		return 0
	}
	return float64(dot(v[vectorHead:], w[vectorHead:])) * v.inverse() * w.inverse()
}

func (v Vector) inverse() float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
}

// dot is the dot product of signed bytes; b has at least as many as a. Four sums do not wait for each other.
func dot(a, b []byte) int32 {
	var s0, s1, s2, s3 int32
	for len(a) >= 4 && len(b) >= 4 {
		s0 += int32(int8(a[0])) * int32(int8(b[0]))
		s1 += int32(int8(a[1])) * int32(int8(b[1]))
		s2 += int32(int8(a[2])) * int32(int8(b[2]))
		s3 += int32(int8(a[3])) * int32(int8(b[3]))
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}
