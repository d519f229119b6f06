package cascade

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"

	"familiar/internal/web/page/visible/css"
)

// RGBA is a colour in sRGB: red, green, blue and alpha, each from 0 to 1, not multiplied by alpha.
type RGBA [4]float64

// Colour is a colour of a style sheet. What is computed from the text's own colour, or differs between light and dark schemes, is
// known only at an element.
type Colour struct {
	fixed   RGBA
	compute func(current RGBA, dark bool) RGBA // nil if fixed
}

// At returns the colour at an element whose text has a certain colour.
func (c Colour) At(current RGBA, dark bool) RGBA {
	if c.compute != nil {
		return c.compute(current, dark)
	}
	return c.fixed
}

//go:embed colours.txt
var colourList string

// namedColours are the colours with names, those of the system in the light scheme.
var namedColours = sync.OnceValue(func() map[string]RGBA {
	named := map[string]RGBA{"transparent": {}}
	for line := range strings.Lines(colourList) {
		name, hex, _ := strings.Cut(strings.TrimSpace(line), " ")
		named[name], _ = hexColour(hex)
	}
	return named
})

func hexColour(hex string) (RGBA, bool) {
	var digits []uint64
	for i := range len(hex) {
		d, err := strconv.ParseUint(hex[i:i+1], 16, 8)
		if err != nil {
			return RGBA{}, false
		}
		digits = append(digits, d)
	}
	c := RGBA{0, 0, 0, 1}
	switch len(hex) {
	case 3, 4:
		for i, d := range digits {
			c[i] = float64(d*17) / 255
		}
	case 6, 8:
		for i := range len(hex) / 2 {
			c[i] = float64(digits[2*i]*16+digits[2*i+1]) / 255
		}
	default:
		return RGBA{}, false
	}
	return c, true
}

// colour takes a colour.
func (v *reader) colour() (Colour, bool) {
	if v.done() {
		return Colour{}, false
	}
	i := v.at
	switch v.kind(i) {
	case css.Hash:
		c, ok := hexColour(v.t.Name(i))
		v.at++
		return Colour{fixed: c}, ok
	case css.Ident:
		name := v.t.Lower(i)
		if name == "currentcolor" {
			v.at++
			return Colour{compute: func(current RGBA, _ bool) RGBA { return current }}, true
		}
		c, ok := namedColours()[name]
		if ok {
			v.at++
			if name == "canvas" || name == "canvastext" { // the colours of the page in either scheme
				return Colour{compute: func(_ RGBA, dark bool) RGBA { return canvas(c, dark) }}, true
			}
			return Colour{fixed: c}, true
		}
		if v.quirks {
			return v.quirkColour()
		}
	case css.Number, css.Dimension:
		if v.quirks {
			return v.quirkColour()
		}
	case css.Function:
		if v.depth++; v.depth > 16 {
			v.depth--
			return Colour{}, false
		}
		defer func() { v.depth-- }()
		name, args, _ := v.function()
		return args.colourFunction(name)
	}
	return Colour{}, false
}

// darkCanvas is the ground of a page in the dark scheme.
var darkCanvas = RGBA{18. / 255, 18. / 255, 18. / 255, 1}

func canvas(c RGBA, dark bool) RGBA {
	switch {
	case !dark:
		return c
	case c[0] == 1:
		return darkCanvas
	}
	return RGBA{1, 1, 1, 1}
}

// quirkColour takes a colour that lacks its "#".
func (v *reader) quirkColour() (Colour, bool) {
	hex := v.t.Raw(v.at)
	if v.kind(v.at) != css.Ident && len(hex) < 6 {
		hex = strings.Repeat("0", 6-len(hex)) + hex
	}
	c, ok := hexColour(hex)
	v.at++
	return Colour{fixed: c}, ok && (len(hex) == 3 || len(hex) == 6)
}

// colourFunction reads the arguments of a function that yields a colour.
func (v *reader) colourFunction(name string) (Colour, bool) {
	switch name {
	case "color-mix":
		return v.colourMix()
	case "light-dark":
		parts := v.parts()
		if len(parts) != 2 {
			return Colour{}, false
		}
		light, ok := parts[0].wholeColour()
		dark, ok2 := parts[1].wholeColour()
		return Colour{compute: func(current RGBA, isDark bool) RGBA {
			if isDark {
				return dark.At(current, isDark)
			}
			return light.At(current, isDark)
		}}, ok && ok2
	case "contrast-color":
		on, ok := v.wholeColour()
		return Colour{compute: func(current RGBA, dark bool) RGBA {
			if Luminance(on.At(current, dark)) > .1791 {
				return RGBA{0, 0, 0, 1}
			}
			return RGBA{1, 1, 1, 1}
		}}, ok
	}
	space, known := colourSpaces[strings.TrimSuffix(name, "a")]
	if name == "color" {
		known = true
	} else if !known || strings.HasSuffix(name, "a") && name != "rgba" && name != "hsla" {
		return Colour{}, false
	}
	if word, ok := v.peekWord(); ok && word == "from" {
		return v.relativeColour(name, space)
	}
	return v.plainColour(name, space)
}

// peekWord looks at the next component value, and goes to it.
func (v *reader) peekWord() (string, bool) {
	v.done()
	at := v.at
	word, ok := v.word()
	v.at = at
	return word, ok
}

func (v *reader) wholeColour() (Colour, bool) {
	c, ok := v.colour()
	return c, ok && v.done()
}

// plainColour reads the components of a colour in a space.
func (v *reader) plainColour(name string, space colourSpace) (Colour, bool) {
	if name == "color" {
		word, _ := v.word()
		known := false
		if space, known = predefinedSpaces[word]; !known {
			return Colour{}, false
		}
	}
	var c [4]float64
	c[3] = 1
	commas := false
	for i := range 3 {
		n, ok := v.component(space.scales[i], space.hue == i+1)
		if !ok {
			return Colour{}, false
		}
		c[i] = n
		if i < 2 && v.take(',') {
			if i == 1 && !commas || !space.legacy {
				return Colour{}, false
			}
			commas = true
		} else if i == 1 && commas {
			return Colour{}, false
		}
	}
	separator := byte('/')
	if commas {
		separator = ','
	}
	if v.take(separator) {
		alpha, ok := v.component(1, false)
		if !ok {
			return Colour{}, false
		}
		c[3] = min(max(alpha, 0), 1)
	}
	return Colour{fixed: space.toRGB(c)}, v.done()
}

// component takes a component of a colour. scale is what 100 % are.
func (v *reader) component(scale float64, hue bool) (float64, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return 0, true
	}
	if word, ok := v.peekWord(); ok {
		n, known := v.channels[word]
		if known {
			v.at++
		}
		return n, known
	}
	if v.done() {
		return 0, false
	}
	n, ok := v.number(v.at)
	if !ok || n.quantity == mixed || n.quantity == length || n.quantity == angle != hue && n.quantity == angle {
		return 0, false
	}
	v.at = v.t.After(v.at)
	return n.Value(&Surroundings{Percent: scale}), true
}

// colourSpace is a way to write colours.
type colourSpace struct {
	scales [3]float64 // what 100 % are, by component
	hue    int        // which component is one, from 1; 0 for none
	legacy bool       // its components may be separated by commas
	names  [3]string  // of the components
	toRGB  func(c [4]float64) RGBA
	from   func(c RGBA) [4]float64
}

var colourSpaces = map[string]colourSpace{
	"rgb": {scales: [3]float64{255, 255, 255}, legacy: true, names: [3]string{"r", "g", "b"}, toRGB: func(c [4]float64) RGBA {
		return RGBA{clamp01(c[0] / 255), clamp01(c[1] / 255), clamp01(c[2] / 255), c[3]}
	}, from: func(c RGBA) [4]float64 { return [4]float64{c[0] * 255, c[1] * 255, c[2] * 255, c[3]} }},
	"hsl":   {scales: [3]float64{360, 100, 100}, hue: 1, legacy: true, names: [3]string{"h", "s", "l"}, toRGB: fromHSL, from: toHSL},
	"hwb":   {scales: [3]float64{360, 100, 100}, hue: 1, names: [3]string{"h", "w", "b"}, toRGB: fromHWB, from: toHWB},
	"lab":   {scales: [3]float64{100, 125, 125}, names: [3]string{"l", "a", "b"}, toRGB: fromLab, from: toLab},
	"lch":   {scales: [3]float64{100, 150, 360}, hue: 3, names: [3]string{"l", "c", "h"}, toRGB: func(c [4]float64) RGBA { return fromLab(fromPolar(c)) }, from: func(c RGBA) [4]float64 { return toPolar(toLab(c)) }},
	"oklab": {scales: [3]float64{1, .4, .4}, names: [3]string{"l", "a", "b"}, toRGB: fromOKLab, from: toOKLab},
	"oklch": {scales: [3]float64{1, .4, 360}, hue: 3, names: [3]string{"l", "c", "h"}, toRGB: func(c [4]float64) RGBA { return fromOKLab(fromPolar(c)) }, from: func(c RGBA) [4]float64 { return toPolar(toOKLab(c)) }},
}

func linearSpace(matrix [9]float64, decode func(float64) float64) colourSpace {
	return colourSpace{scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA {
		x, y, z := times(matrix, decode(c[0]), decode(c[1]), decode(c[2]))
		return fromXYZ(x, y, z, c[3])
	}}
}

func same(n float64) float64 { return n }

func power(p float64) func(float64) float64 {
	return func(n float64) float64 { return math.Copysign(math.Pow(math.Abs(n), p), n) }
}

// d50 adapts colours for the white of print (D50) to that of screens (D65).
var d50 = [9]float64{0.9554734, -0.0230985, 0.0632593, -0.0283697, 1.0099955, 0.0210414, 0.0123140, -0.0205077, 1.3303659}

var predefinedSpaces = map[string]colourSpace{
	"srgb":              {scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA { return RGBA{clamp01(c[0]), clamp01(c[1]), clamp01(c[2]), c[3]} }},
	"srgb-linear":       {scales: [3]float64{1, 1, 1}, toRGB: func(c [4]float64) RGBA { return RGBA{encode(c[0]), encode(c[1]), encode(c[2]), c[3]} }},
	"display-p3":        linearSpace([9]float64{0.4865709, 0.2656677, 0.1982173, 0.2289746, 0.6917385, 0.0792869, 0, 0.0451134, 1.0439444}, decode),
	"display-p3-linear": linearSpace([9]float64{0.4865709, 0.2656677, 0.1982173, 0.2289746, 0.6917385, 0.0792869, 0, 0.0451134, 1.0439444}, same),
	"a98-rgb":           linearSpace([9]float64{0.5766690, 0.1855582, 0.1882286, 0.2973450, 0.6273636, 0.0752915, 0.0270314, 0.0706889, 0.9913375}, power(563./256)),
	"rec2020":           linearSpace([9]float64{0.6369580, 0.1446169, 0.1688810, 0.2627002, 0.6779981, 0.0593017, 0, 0.0280727, 1.0609851}, power(2.4)),
	"xyz":               linearSpace([9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, same),
	"xyz-d65":           linearSpace([9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}, same),
	"xyz-d50":           linearSpace(d50, same),
	"prophoto-rgb":      linearSpace(product3(d50, [9]float64{0.7977604, 0.1351859, 0.0313493, 0.2880711, 0.7118432, 0.0000857, 0, 0, 0.8251046}), power(1.8)),
}

func product3(a, b [9]float64) (c [9]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[3*i+j] += a[3*i+k] * b[3*k+j]
			}
		}
	}
	return c
}

func times(m [9]float64, a, b, c float64) (x, y, z float64) {
	return m[0]*a + m[1]*b + m[2]*c, m[3]*a + m[4]*b + m[5]*c, m[6]*a + m[7]*b + m[8]*c
}

func clamp01(n float64) float64 { return min(max(n, 0), 1) }

// decode makes light of a channel of sRGB, encode the reverse.
func decode(n float64) float64 {
	if n <= .04045 {
		return n / 12.92
	}
	return math.Pow((n+.055)/1.055, 2.4)
}

func encode(n float64) float64 {
	if n <= .0031308 {
		return clamp01(n * 12.92)
	}
	return clamp01(1.055*math.Pow(n, 1/2.4) - .055)
}

func fromXYZ(x, y, z, alpha float64) RGBA {
	r, g, b := times([9]float64{3.2409699, -1.5373832, -0.4986108, -0.9692436, 1.8759675, 0.0415551, 0.0556301, -0.2039770, 1.0569715}, x, y, z)
	return RGBA{encode(r), encode(g), encode(b), alpha}
}

func toXYZ(c RGBA) (x, y, z float64) {
	return times([9]float64{0.4123908, 0.3575843, 0.1804808, 0.2126390, 0.7151687, 0.0721923, 0.0193308, 0.1191948, 0.9505322}, decode(c[0]), decode(c[1]), decode(c[2]))
}

// Luminance is the relative luminance of a colour, as WCAG 2 defines it.
func Luminance(c RGBA) float64 {
	return .2126*decode(c[0]) + .7152*decode(c[1]) + .0722*decode(c[2])
}

func fromHSL(c [4]float64) RGBA {
	h, s, l := math.Mod(math.Mod(c[0], 360)+360, 360), clamp01(c[1]/100), clamp01(c[2]/100)
	channel := func(n float64) float64 {
		k := math.Mod(n+h/30, 12)
		return l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1))
	}
	return RGBA{channel(0), channel(8), channel(4), c[3]}
}

func toHSL(c RGBA) [4]float64 {
	most, least := max(c[0], c[1], c[2]), min(c[0], c[1], c[2])
	l, d := (most+least)/2, most-least
	if d == 0 {
		return [4]float64{0, 0, l * 100, c[3]}
	}
	h := 0.0
	switch most {
	case c[0]:
		h = math.Mod((c[1]-c[2])/d+6, 6)
	case c[1]:
		h = (c[2]-c[0])/d + 2
	default:
		h = (c[0]-c[1])/d + 4
	}
	return [4]float64{h * 60, 100 * d / (1 - math.Abs(2*l-1)), l * 100, c[3]}
}

func fromHWB(c [4]float64) RGBA {
	w, b := clamp01(c[1]/100), clamp01(c[2]/100)
	if w+b >= 1 {
		return RGBA{w / (w + b), w / (w + b), w / (w + b), c[3]}
	}
	rgb := fromHSL([4]float64{c[0], 100, 50, c[3]})
	for i := range 3 {
		rgb[i] = rgb[i]*(1-w-b) + w
	}
	return rgb
}

func toHWB(c RGBA) [4]float64 {
	return [4]float64{toHSL(c)[0], 100 * min(c[0], c[1], c[2]), 100 * (1 - max(c[0], c[1], c[2])), c[3]}
}

func fromLab(c [4]float64) RGBA {
	fy := (c[0] + 16) / 116
	f := func(t float64) float64 {
		if t*t*t > 216./24389 {
			return t * t * t
		}
		return (116*t - 16) * 27 / 24389
	}
	x, y, z := times(d50, f(fy+c[1]/500)*0.9642956, f(fy), f(fy-c[2]/200)*0.8251046)
	return fromXYZ(x, y, z, c[3])
}

func toLab(c RGBA) [4]float64 {
	x, y, z := toXYZ(c)
	x, y, z = times([9]float64{1.0479298, 0.0229468, -0.0501922, 0.0296278, 0.9904345, -0.0170738, -0.0092430, 0.0150552, 0.7518743}, x, y, z)
	f := func(t float64) float64 {
		if t > 216./24389 {
			return math.Cbrt(t)
		}
		return (t*24389/27 + 16) / 116
	}
	fx, fy, fz := f(x/0.9642956), f(y), f(z/0.8251046)
	return [4]float64{116*fy - 16, 500 * (fx - fy), 200 * (fy - fz), c[3]}
}

func fromOKLab(c [4]float64) RGBA {
	l, m, s := times([9]float64{1, 0.3963378, 0.2158038, 1, -0.1055613, -0.0638542, 1, -0.0894842, -1.2914855}, c[0], c[1], c[2])
	r, g, b := times([9]float64{4.0767417, -3.3077116, 0.2309699, -1.2684380, 2.6097574, -0.3413194, -0.0041961, -0.7034186, 1.7076147}, l*l*l, m*m*m, s*s*s)
	return RGBA{encode(r), encode(g), encode(b), c[3]}
}

func toOKLab(c RGBA) [4]float64 {
	l, m, s := times([9]float64{0.4122215, 0.5363325, 0.0514460, 0.2119035, 0.6806995, 0.1073970, 0.0883025, 0.2817188, 0.6299787}, decode(c[0]), decode(c[1]), decode(c[2]))
	x, y, z := times([9]float64{0.2104543, 0.7936178, -0.0040720, 1.9779985, -2.4285922, 0.4505937, 0.0259040, 0.7827718, -0.8086758}, math.Cbrt(l), math.Cbrt(m), math.Cbrt(s))
	return [4]float64{x, y, z, c[3]}
}

func fromPolar(c [4]float64) [4]float64 {
	return [4]float64{c[0], c[1] * math.Cos(c[2]*math.Pi/180), c[1] * math.Sin(c[2]*math.Pi/180), c[3]}
}

func toPolar(c [4]float64) [4]float64 {
	return [4]float64{c[0], math.Hypot(c[1], c[2]), math.Mod(math.Atan2(c[2], c[1])*180/math.Pi+360, 360), c[3]}
}

// relativeColour reads a colour that is made of the components of another one.
func (v *reader) relativeColour(name string, space colourSpace) (Colour, bool) {
	v.at++ // "from"
	origin, ok := v.colour()
	if !ok {
		return Colour{}, false
	}
	rest := css.Span{From: v.at, To: v.in.To}
	names, from := space.names, space.from
	if name == "color" {
		if word, _ := v.peekWord(); word != "srgb" {
			return Colour{}, predefinedSpaces[word].toRGB != nil // not computed here, so it counts as transparent
		}
		names, from = [3]string{"r", "g", "b"}, func(c RGBA) [4]float64 { return c }
	}
	at := func(c RGBA) (Colour, bool) {
		parts := from(c)
		inner := v.within(rest)
		inner.channels = map[string]float64{"alpha": parts[3], names[0]: parts[0], names[1]: parts[1], names[2]: parts[2]}
		return inner.plainColour(name, space)
	}
	if _, ok := at(RGBA{0, 0, 0, 1}); !ok {
		return Colour{}, false
	}
	return Colour{compute: func(current RGBA, dark bool) RGBA {
		c, _ := at(origin.At(current, dark))
		return c.fixed
	}}, true
}

// colourMix reads the arguments of color-mix.
func (v *reader) colourMix() (Colour, bool) {
	parts := v.parts()
	space := "oklab"
	if len(parts) > 0 {
		if word, ok := parts[0].word(); ok && word == "in" {
			if space, ok = parts[0].word(); !ok {
				return Colour{}, false
			}
			parts = parts[1:]
		}
	}
	if len(parts) != 2 {
		return Colour{}, false
	}
	var colours [2]Colour
	share := [2]float64{-1, -1}
	for i, p := range parts {
		before, given := p.numberOf(percentage)
		c, ok := p.colour()
		if !ok {
			return Colour{}, false
		}
		if colours[i] = c; !given {
			before, given = p.numberOf(percentage)
		}
		if given {
			share[i] = clamp01(before.Value(&Surroundings{Percent: 1}))
		}
		if !p.done() {
			return Colour{}, false
		}
	}
	switch {
	case share[0] < 0 && share[1] < 0:
		share = [2]float64{.5, .5}
	case share[0] < 0:
		share[0] = 1 - share[1]
	case share[1] < 0:
		share[1] = 1 - share[0]
	}
	total := share[0] + share[1]
	if total == 0 {
		return Colour{}, false
	}
	return Colour{compute: func(current RGBA, dark bool) RGBA {
		c := mix(space, colours[0].At(current, dark), colours[1].At(current, dark), share[0]/total)
		c[3] *= min(total, 1)
		return c
	}}, true
}

// mix mixes two colours in a space. share is that of the first one.
func mix(space string, a, b RGBA, share float64) RGBA {
	s, ok := colourSpaces[space]
	if !ok {
		s = colourSpaces["rgb"]
	}
	x, y := s.from(a), s.from(b)
	var c [4]float64
	c[3] = x[3]*share + y[3]*(1-share)
	for i := range 3 {
		if s.hue == i+1 { // the shorter way around
			d := math.Mod(y[i]-x[i]+540, 360) - 180
			c[i] = x[i] + d*(1-share)
			continue
		}
		if c[3] > 0 {
			c[i] = (x[i]*x[3]*share + y[i]*y[3]*(1-share)) / c[3]
		}
	}
	return s.toRGB(c)
}

func readColour(v *reader) (Value, bool) {
	c, ok := v.colour()
	return Value{Colour: c}, ok
}
