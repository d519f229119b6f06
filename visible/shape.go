package visible

import (
	"math"
	"strconv"
	"strings"

	"familiar/visible/internal/cascade"
)

// cut reports whether clipping or a mask leaves nothing of an element.
func (f *frame) cut(inline bool) bool {
	st := &f.style
	position := st.Word(cascade.Position)
	if position == "absolute" || position == "fixed" {
		if v := st.Get(cascade.Clip); v != nil && len(v.Numbers) == 4 && f.emptyClip(v) {
			return true
		}
	}
	if v := st.Get(cascade.ClipPath); v != nil && (v.Doubt || len(v.Parts) > 0 && f.emptyShape(&v.Parts[0])) {
		return true
	}
	return f.masked()
}

// least is the number of pixels of an element that must be left, in both directions.
const least = 2.5

func (f *frame) emptyClip(v *cascade.Value) bool {
	around := f.style.Around(math.NaN())
	top, right, bottom, left := v.Numbers[0].Value(around), v.Numbers[1].Value(around), v.Numbers[2].Value(around), v.Numbers[3].Value(around)
	or := func(n, other float64) float64 {
		if n != n {
			return other
		}
		return n
	}
	top, left = max(or(top, 0), 0), max(or(left, 0), 0)
	return or(bottom, math.Inf(1))-top < least || or(right, math.Inf(1))-left < least || top > f.tall()+40 || left > f.box.width+40
}

// emptyShape reports whether a shape leaves hardly anything of an element.
func (f *frame) emptyShape(shape *cascade.Part) bool {
	width, tall := max(f.box.width, 1), max(f.tall(), f.style.Line)
	if f.style.Display == "inline" {
		width = min(width, f.extent())
	}
	across := func(i int) float64 { return shape.Numbers[i].Value(f.style.Around(width)) }
	down := func(i int) float64 { return shape.Numbers[i].Value(f.style.Around(tall)) }
	text := min(width, f.extent())
	empty := func(left, top, right, bottom float64) bool {
		left, top, right, bottom = max(left, 0), max(top, 0), min(right, text), min(bottom, tall)
		return right-left < least || bottom-top < least
	}
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
		return empty(across(left), down(0), width-across(right), tall-down(bottom))
	case "rect":
		or := func(n, other float64) float64 {
			if n != n {
				return other
			}
			return n
		}
		return empty(or(across(3), 0), or(down(0), 0), or(across(1), width), or(down(2), tall))
	case "xywh":
		return empty(across(0), down(1), across(0)+across(2), down(1)+down(3))
	case "circle", "ellipse":
		return f.emptyRound(shape, width, tall, empty)
	case "polygon":
		return emptyPolygon(shape, across, down, text, tall)
	case "path":
		return emptyPath(shape.Address, empty)
	}
	return true // a shape that is not computed
}

func (f *frame) emptyRound(shape *cascade.Part, width, tall float64, empty func(left, top, right, bottom float64) bool) bool {
	n := len(shape.Numbers)
	rx, ry := math.NaN(), math.NaN()
	if n > 1 {
		base := width
		if shape.Name == "circle" {
			base = math.Hypot(width, tall) / math.Sqrt2
		}
		rx, ry = shape.Numbers[0].Value(f.style.Around(base)), shape.Numbers[1].Value(f.style.Around(tall))
		if shape.Name == "circle" {
			ry = rx
		}
	}
	x, y := width/2, tall/2
	if n > 2 {
		x = shape.Numbers[2].Value(f.style.Around(width))
	}
	if n > 3 {
		y = shape.Numbers[3].Value(f.style.Around(tall))
	}
	if rx != rx || ry != ry {
		return empty(x-1_000, y-1_000, x+1_000, y+1_000)
	}
	return empty(x-rx, y-ry, x+rx, y+ry)
}

// emptyPolygon samples points of an element, and reports whether hardly any is inside a polygon.
func emptyPolygon(shape *cascade.Part, across, down func(i int) float64, width, tall float64) bool {
	n := len(shape.Numbers) / 2
	if n < 3 || n > 500 {
		return true
	}
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range n {
		xs[i], ys[i] = across(2*i), down(2*i+1)
		if xs[i] != xs[i] || ys[i] != ys[i] {
			return true
		}
	}
	inside := 0
	const grid = 16
	for i := range grid * grid {
		x, y := (float64(i%grid)+.5)/grid*width, (float64(i/grid)+.5)/grid*tall
		in := false
		for a, b := 0, n-1; a < n; b, a = a, a+1 {
			if (ys[a] > y) != (ys[b] > y) && x < (xs[b]-xs[a])*(y-ys[a])/(ys[b]-ys[a])+xs[a] {
				in = !in
			}
		}
		if in {
			inside++
		}
	}
	return inside*10 < grid*grid
}

// emptyPath reports whether the numbers of a path are so close together that there is nothing between them.
func emptyPath(path string, empty func(left, top, right, bottom float64) bool) bool {
	var numbers []float64
	for _, field := range strings.FieldsFunc(path, func(c rune) bool { return (c < '0' || c > '9') && c != '.' && c != '-' }) {
		n, err := strconv.ParseFloat(field, 64)
		if err == nil {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) < 4 {
		return true
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, n := range numbers {
		low, high = min(low, n), max(high, n)
	}
	return empty(low, low, high, high)
}

// masked reports whether a mask hides nearly everything. An image that is not known hides everything.
func (f *frame) masked() bool {
	st := &f.style
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
		for _, c := range image.Samples(st.Around(f.box.width), st.Color, st.Dark) {
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

// smallest is the factor of a transform below which letters count as a line.
const smallest = .05

// transform moves, turns and scales an element. It reports false if nothing of it is left.
func (f *frame) transform() bool {
	st := &f.style
	m := identity
	some := false
	for _, p := range [...]cascade.Property{cascade.Translate, cascade.Rotate, cascade.Scale, cascade.Transform} {
		v := st.Get(p)
		if v == nil {
			continue
		}
		if v.Doubt {
			return false
		}
		for i := range v.Parts {
			some = true
			m = m.times(f.matrixOf(&v.Parts[i]))
		}
	}
	if path := st.Word(cascade.OffsetPath); path != "" && path != "none" {
		return false // it is somewhere along a path that is not computed
	}
	if !some {
		return true
	}
	f.hosts, f.pinned = f, f
	for _, n := range m {
		if n != n {
			return false
		}
	}
	area := math.Abs(m[0]*m[5] - m[1]*m[4])
	wide := max(math.Hypot(m[0], m[1]), math.Hypot(m[4], m[5]))
	volume := m[0]*(m[5]*m[10]-m[6]*m[9]) - m[4]*(m[1]*m[10]-m[2]*m[9]) + m[8]*(m[1]*m[6]-m[2]*m[5])
	if wide == 0 || math.Abs(volume) < 1e-9 || area/wide < smallest || m[15] <= 0 || m[10] < 0 && st.Word(cascade.BackfaceVisibility) == "hidden" {
		return false
	}
	f.scale *= area / wide
	f.box.x += m[12]
	f.box.y += m[13]
	return true
}

// matrixOf returns the matrix of one transform.
func (f *frame) matrixOf(part *cascade.Part) matrix {
	compute := matrices[part.Name]
	if compute == nil {
		return identity
	}
	width, tall := f.box.width, math.NaN()
	n := make([]float64, len(part.Numbers))
	for i := range n {
		base := 1.0
		if strings.HasPrefix(part.Name, "translate") {
			if base = width; part.Name == "translatey" || i == 1 {
				if tall != tall {
					tall = f.tall()
				}
				base = tall
			}
		}
		n[i] = part.Numbers[i].Value(f.style.Around(base))
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
	"perspective": func(n []float64) matrix { return perspective(n[0]) },
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

func perspective(distance float64) matrix {
	m := identity
	if distance > 0 {
		m[11] = -1 / distance
	}
	return m
}
