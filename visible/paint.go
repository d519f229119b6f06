package visible

import (
	"math"

	"familiar/visible/internal/cascade"
)

// over paints one colour on another.
func over(top, bottom cascade.RGBA) cascade.RGBA {
	a := top[3] + bottom[3]*(1-top[3])
	if a == 0 {
		return cascade.RGBA{}
	}
	c := cascade.RGBA{0, 0, 0, a}
	for i := range 3 {
		c[i] = (top[i]*top[3] + bottom[i]*bottom[3]*(1-top[3])) / a
	}
	return c
}

func distance(a, b cascade.RGBA) float64 {
	return 255 * max(math.Abs(a[0]-b[0]), math.Abs(a[1]-b[1]), math.Abs(a[2]-b[2]))
}

// isSmall reports whether the size of an image leaves nothing of it, or hardly anything where it is not repeated.
func isSmall(size cascade.Part, st *cascade.Style, once bool) bool {
	most := 0.0
	if once {
		most = st.FontSize / 2
	}
	for i := range size.Numbers {
		if size.Numbers[i].Value(st.Around(100)) <= most {
			return true
		}
	}
	return false
}

// filter applies a filter to a colour, by Filter Effects Level 1.
func filter(one *cascade.Part, c cascade.RGBA, st *cascade.Style) cascade.RGBA {
	amount := amountOf(one, st)
	each := func(f func(n float64) float64) cascade.RGBA {
		return cascade.RGBA{f(c[0]), f(c[1]), f(c[2]), c[3]}
	}
	limit := func(n float64) float64 { return min(max(n, 0), 1) }
	switch one.Name {
	case "opacity":
		c[3] *= limit(amount)
	case "brightness":
		return each(func(n float64) float64 { return limit(n * amount) })
	case "contrast":
		return each(func(n float64) float64 { return limit((n-.5)*amount + .5) })
	case "invert":
		return each(func(n float64) float64 { return limit(n*(1-2*limit(amount)) + limit(amount)) })
	case "grayscale", "saturate":
		s := amount
		if one.Name == "grayscale" {
			s = 1 - limit(amount)
		}
		grey := .2126*c[0] + .7152*c[1] + .0722*c[2]
		return each(func(n float64) float64 { return limit(grey + s*(n-grey)) })
	}
	return c
}

// blend mixes a colour with what is behind it, by Compositing and Blending Level 1.
func blend(mode string, b, s cascade.RGBA) (c cascade.RGBA) {
	for i := range 3 {
		c[i] = blendChannel(mode, b[i], s[i])
	}
	switch mode {
	case "luminosity":
		d := luma(s) - luma(b)
		return cascade.RGBA{clamp(b[0] + d), clamp(b[1] + d), clamp(b[2] + d), 1}
	case "hue", "color", "saturation":
		d := luma(b) - luma(s)
		return cascade.RGBA{clamp(s[0] + d), clamp(s[1] + d), clamp(s[2] + d), 1}
	}
	return c
}

func luma(c cascade.RGBA) float64 { return .3*c[0] + .59*c[1] + .11*c[2] }

func clamp(n float64) float64 { return min(max(n, 0), 1) }

func blendChannel(mode string, b, s float64) float64 {
	switch mode {
	case "multiply":
		return b * s
	case "screen":
		return b + s - b*s
	case "overlay":
		return blendChannel("hard-light", s, b)
	case "darken":
		return min(b, s)
	case "lighten":
		return max(b, s)
	case "color-dodge":
		switch {
		case b == 0:
			return 0
		case s >= 1:
			return 1
		}
		return min(1, b/(1-s))
	case "color-burn":
		switch {
		case b >= 1:
			return 1
		case s <= 0:
			return 0
		}
		return 1 - min(1, (1-b)/s)
	case "hard-light":
		if s <= .5 {
			return b * 2 * s
		}
		return blendChannel("screen", b, 2*s-1)
	case "soft-light":
		if s <= .5 {
			return b - (1-2*s)*b*(1-b)
		}
		return b + (2*s-1)*(math.Sqrt(b)-b)
	case "difference":
		return math.Abs(b - s)
	case "exclusion":
		return b + s - 2*b*s
	case "plus-lighter":
		return min(1, b+s)
	case "plus-darker":
		return max(0, b+s-1)
	}
	return s
}
