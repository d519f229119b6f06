package visible

import (
	"math"
	"strconv"
	"strings"

	"familiar/visible/internal/cascade"
)

// orElse returns a number, or another one for a keyword.
func orElse(n, other float64) float64 {
	if n != n {
		return other
	}
	return n
}

// inCut reports whether a point of a box is left by the property clip.
func (b *box) inCut(v *cascade.Value, x, y float64) bool {
	at := func(i int, other float64) float64 {
		return orElse(v.Numbers[i].Value(b.style.Around(math.NaN())), other)
	}
	return y >= at(0, math.Inf(-1)) && x < at(1, math.Inf(1)) && y < at(2, math.Inf(1)) && x >= at(3, math.Inf(-1))
}

// inShape reports whether a point of a box is inside a shape of clip-path.
func (b *box) inShape(shape *cascade.Part, x, y float64) bool {
	across := func(i int) float64 { return shape.Numbers[i].Value(b.style.Around(b.w)) }
	down := func(i int) float64 { return shape.Numbers[i].Value(b.style.Around(b.h)) }
	n := len(shape.Numbers)
	switch shape.Name {
	case "inset":
		right, bottom, left := min(1, n-1), min(2, n-1), min(3, n-1)
		if n == 2 || n == 3 {
			left = 1
		}
		if n == 2 {
			bottom = 0
		}
		return x >= across(left) && y >= down(0) && x < b.w-across(right) && y < b.h-down(bottom)
	case "rect":
		return x >= orElse(across(3), 0) && y >= orElse(down(0), 0) && x < orElse(across(1), b.w) && y < orElse(down(2), b.h)
	case "xywh":
		return x >= across(0) && y >= down(1) && x < across(0)+across(2) && y < down(1)+down(3)
	case "circle", "ellipse":
		return b.inRound(shape, x, y)
	case "polygon":
		return inPolygon(shape, across, down, x, y)
	case "path":
		low, high := pathBounds(shape.Address)
		return x >= low && x < high && y >= low && y < high
	}
	return false // a shape that is not computed
}

func (b *box) inRound(shape *cascade.Part, x, y float64) bool {
	n := len(shape.Numbers)
	centreX, centreY := b.w/2, b.h/2
	if n > 2 {
		centreX = shape.Numbers[2].Value(b.style.Around(b.w))
	}
	if n > 3 {
		centreY = shape.Numbers[3].Value(b.style.Around(b.h))
	}
	rx, ry := math.NaN(), math.NaN()
	if n > 1 {
		base := b.w
		if shape.Name == "circle" {
			base = math.Hypot(b.w, b.h) / math.Sqrt2
		}
		rx, ry = shape.Numbers[0].Value(b.style.Around(base)), shape.Numbers[1].Value(b.style.Around(b.h))
		if shape.Name == "circle" {
			ry = rx
		}
	}
	if rx != rx || ry != ry { // keywords
		words := strings.Fields(shape.Address + " closest-side closest-side")
		side := func(word string, at, size float64) float64 {
			if word == "farthest-side" {
				return max(at, size-at)
			}
			return min(at, size-at)
		}
		rx, ry = side(words[0], centreX, b.w), side(words[1], centreY, b.h)
		if shape.Name == "circle" && words[0] == "farthest-side" {
			rx = max(rx, ry)
			ry = rx
		} else if shape.Name == "circle" {
			rx = min(rx, ry)
			ry = rx
		}
	}
	if rx <= 0 || ry <= 0 {
		return false
	}
	return math.Hypot((x-centreX)/rx, (y-centreY)/ry) <= 1
}

// inPolygon reports whether a point is inside a polygon.
func inPolygon(shape *cascade.Part, across, down func(i int) float64, x, y float64) (in bool) {
	n := len(shape.Numbers) / 2
	if n < 3 || n > 500 {
		return false
	}
	for a, b := 0, n-1; a < n; b, a = a, a+1 {
		ax, ay, bx, by := across(2*a), down(2*a+1), across(2*b), down(2*b+1)
		if (ay > y) != (by > y) && x < (bx-ax)*(y-ay)/(by-ay)+ax {
			in = !in
		}
	}
	return in
}

// pathBounds returns the least and the largest number of a path.
func pathBounds(path string) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, field := range strings.FieldsFunc(path, func(c rune) bool { return (c < '0' || c > '9') && c != '.' && c != '-' }) {
		if n, err := strconv.ParseFloat(field, 64); err == nil {
			low, high = min(low, n), max(high, n)
		}
	}
	return low, high
}

// masked reports whether a mask hides nearly everything. An image that is not known hides everything.
func (b *box) masked() bool {
	st := b.style
	v := st.Get(cascade.MaskImage)
	if v == nil {
		return false
	}
	part := func(p cascade.Property, i int) cascade.Part {
		if v := st.Get(p); v != nil && len(v.Parts) > 0 {
			return v.Parts[i%len(v.Parts)]
		}
		return cascade.Part{}
	}
	some, through := false, 0
	for i := range v.Parts {
		image := &v.Parts[i]
		if image.Name == "none" {
			continue
		}
		some = true
		if composite := part(cascade.MaskComposite, i).Name; composite != "" && composite != "add" {
			return true
		}
		if size := part(cascade.MaskSize, i); isSmall(size, st, false) {
			continue
		}
		if place := part(cascade.MaskPosition, i); len(place.Numbers) > 0 && st.Get(cascade.MaskSize) != nil && math.Abs(place.Numbers[0].Value(st.Around(0))) > farStray {
			continue
		}
		if len(image.Stops) == 0 {
			continue
		}
		for _, c := range image.Samples(st.Around(b.w), st.Color, st.Dark) {
			alpha := c[3]
			if part(cascade.MaskMode, i).Name == "luminance" {
				alpha *= cascade.Luminance(c)
			}
			if alpha > .1 {
				through++
			}
		}
	}
	return some && through < 2
}

// matrix is a transform in space, by columns.
type matrix [16]float64

var identity = matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}

func (m matrix) times(n matrix) (p matrix) {
	for c := range 4 {
		for r := range 4 {
			for k := range 4 {
				p[4*c+r] += m[4*k+r] * n[4*c+k]
			}
		}
	}
	return p
}

func turn(x, y, z, degrees float64) matrix {
	long := math.Sqrt(x*x + y*y + z*z)
	if long == 0 {
		return identity
	}
	x, y, z = x/long, y/long, z/long
	s, c := math.Sincos(degrees * math.Pi / 180)
	t := 1 - c
	return matrix{
		t*x*x + c, t*x*y + s*z, t*x*z - s*y, 0,
		t*x*y - s*z, t*y*y + c, t*y*z + s*x, 0,
		t*x*z + s*y, t*y*z - s*x, t*z*z + c, 0,
		0, 0, 0, 1,
	}
}

// matrixOf returns the matrix of one transform.
func (b *box) matrixOf(part *cascade.Part) matrix {
	compute := matrices[part.Name]
	if compute == nil {
		return identity
	}
	n := make([]float64, len(part.Numbers))
	for i := range n {
		base := 1.0
		if strings.HasPrefix(part.Name, "translate") {
			if base = b.w; part.Name == "translatey" || i == 1 {
				base = b.h
			}
		}
		n[i] = part.Numbers[i].Value(b.style.Around(base))
	}
	return compute(n)
}

// matrices holds the functions that compute the matrix of a transform. Package cascade has counted the arguments.
var matrices = map[string]func(n []float64) matrix{
	"matrix":      func(n []float64) matrix { return planar(n[0], n[1], n[2], n[3], n[4], n[5]) },
	"matrix3d":    func(n []float64) matrix { return matrix(n) },
	"translate":   func(n []float64) matrix { return translation(n[0], second(n, 0), 0) },
	"translatex":  func(n []float64) matrix { return translation(n[0], 0, 0) },
	"translatey":  func(n []float64) matrix { return translation(0, n[0], 0) },
	"translatez":  func(n []float64) matrix { return translation(0, 0, n[0]) },
	"translate3d": func(n []float64) matrix { return translation(n[0], n[1], n[2]) },
	"scale":       func(n []float64) matrix { return scaling(n[0], second(n, n[0]), 1) },
	"scalex":      func(n []float64) matrix { return scaling(n[0], 1, 1) },
	"scaley":      func(n []float64) matrix { return scaling(1, n[0], 1) },
	"scalez":      func(n []float64) matrix { return scaling(1, 1, n[0]) },
	"scale3d":     func(n []float64) matrix { return scaling(n[0], n[1], n[2]) },
	"rotate":      func(n []float64) matrix { return turn(0, 0, 1, n[0]) },
	"rotatex":     func(n []float64) matrix { return turn(1, 0, 0, n[0]) },
	"rotatey":     func(n []float64) matrix { return turn(0, 1, 0, n[0]) },
	"rotatez":     func(n []float64) matrix { return turn(0, 0, 1, n[0]) },
	"rotate3d":    func(n []float64) matrix { return turn(n[0], n[1], n[2], n[3]) },
	"skew":        func(n []float64) matrix { return planar(1, slope(second(n, 0)), slope(n[0]), 1, 0, 0) },
	"skewx":       func(n []float64) matrix { return planar(1, 0, slope(n[0]), 1, 0, 0) },
	"skewy":       func(n []float64) matrix { return planar(1, slope(n[0]), 0, 1, 0, 0) },
	"perspective": func(n []float64) matrix { return perspectiveOf(n[0]) },
}

// second returns the second argument, or its default.
func second(n []float64, other float64) float64 {
	if len(n) > 1 {
		return n[1]
	}
	return other
}

// planar is a transform in the plane.
func planar(a, b, c, d, x, y float64) matrix {
	return matrix{a, b, 0, 0, c, d, 0, 0, 0, 0, 1, 0, x, y, 0, 1}
}

func translation(x, y, z float64) matrix {
	return matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, x, y, z, 1}
}

func scaling(x, y, z float64) matrix {
	return matrix{x, 0, 0, 0, 0, y, 0, 0, 0, 0, z, 0, 0, 0, 0, 1}
}

func slope(degrees float64) float64 { return math.Tan(degrees * math.Pi / 180) }

func perspectiveOf(distance float64) matrix {
	m := identity
	if distance > 0 {
		m[11] = -1 / distance
	}
	return m
}
