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
	i, b := 0, b[:len(a)]
	for ; i+8 <= len(a); i += 8 {
		x, y := a[i:i+8:i+8], b[i:i+8:i+8]
		s0 += int32(int8(x[0]))*int32(int8(y[0])) + int32(int8(x[4]))*int32(int8(y[4]))
		s1 += int32(int8(x[1]))*int32(int8(y[1])) + int32(int8(x[5]))*int32(int8(y[5]))
		s2 += int32(int8(x[2]))*int32(int8(y[2])) + int32(int8(x[6]))*int32(int8(y[6]))
		s3 += int32(int8(x[3]))*int32(int8(y[3])) + int32(int8(x[7]))*int32(int8(y[7]))
	}
	for ; i < len(a); i++ {
		s0 += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return s0 + s1 + s2 + s3
}
