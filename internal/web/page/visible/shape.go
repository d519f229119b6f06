package visible

import (
	"math"
	"strconv"
	"strings"

	"familiar/internal/web/page/visible/cascade"
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

// least is how many pixels of an element must be left, in both directions.
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
	return true // what is not computed
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

// emptyPolygon samples points of an element, and reports whether hardly any lies in a polygon.
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

// emptyPath reports whether the numbers of a path lie so close together that there is nothing between them.
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

// masked reports whether a mask lets hardly anything through. An image that is not known lets nothing through.
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
