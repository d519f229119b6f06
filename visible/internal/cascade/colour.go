package cascade

import (
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"

	"familiar/visible/internal/css"
)

// RGBA is a colour in sRGB: red, green, blue and alpha, each from 0 to 1, not multiplied by alpha.
type RGBA [4]float64

// Colour is a colour of a style sheet. It may depend on the element. Then it depends on the colour of its text, and on whether its scheme
// is light or dark.
type Colour struct {
	fixed   RGBA
	compute func(current RGBA, dark bool) RGBA // nil: it is fixed
}

// At returns the colour at an element whose text has the colour current.
func (c Colour) At(current RGBA, dark bool) RGBA {
	if c.compute != nil {
		return c.compute(current, dark)
	}
	return c.fixed
}

//go:embed colours.txt
var colourList string

// namedColours holds the named colours, and the system colours of the light scheme.
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

// ParseColour reads a colour that does not depend on an element.
func ParseColour(text string) (RGBA, bool) {
	if strings.TrimSpace(text) == "none" {
		return RGBA{}, true
	}
	v := newReader(text)
	c, ok := v.colour()
	return c.At(RGBA{0, 0, 0, 1}, false), ok
}

// colour reads a colour.
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
			if name == "canvas" || name == "canvastext" { // they differ between the schemes
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

// darkCanvas is the background of a page in the dark scheme.
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

// quirkColour reads a colour that lacks its "#".
func (v *reader) quirkColour() (Colour, bool) {
	hex := v.t.Raw(v.at)
	if v.kind(v.at) != css.Ident && len(hex) < 6 {
		hex = strings.Repeat("0", 6-len(hex)) + hex
	}
	c, ok := hexColour(hex)
	v.at++
	return Colour{fixed: c}, ok && (len(hex) == 3 || len(hex) == 6)
}

// colourFunction reads the arguments of a function that returns a colour.
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

// peekWord moves to the next component value and returns its name.
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

// component reads a component of a colour. scale is the value of 100 %.
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

// relativeColour reads a colour that is computed from the components of another one.
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
