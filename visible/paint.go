package visible

import (
	"math"
	"strings"

	"familiar/visible/internal/cascade"
)

// ground is what is behind a text: a colour, or colours at several places. If it is not known, it may have any colour.
type ground struct {
	colour  cascade.RGBA
	places  *[8]cascade.RGBA // nil if it is the same everywhere
	unknown bool
}

func solid(c cascade.RGBA) ground { return ground{colour: c} }

func (g *ground) at(i int) cascade.RGBA {
	if g.places != nil {
		return g.places[i]
	}
	return g.colour
}

// over paints a ground on this one.
func (g *ground) over(top *ground) ground {
	if top.places == nil && g.places == nil {
		return ground{colour: over(top.colour, g.colour), unknown: top.unknown || g.unknown && top.colour[3] < .95}
	}
	var places [8]cascade.RGBA
	clear := 0
	for i := range places {
		if top.at(i)[3] < .95 {
			clear++
		}
		places[i] = over(top.at(i), g.at(i))
	}
	return ground{places: &places, unknown: top.unknown || g.unknown && clear > 0}
}

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

// paint is what is behind the text of an element, and what changes the look of both.
type paint struct {
	ground  ground  // in the innermost group
	glyphs  *ground // what letters are filled with by background-clip: text
	group   *group
	canvas  cascade.RGBA // the colour of the empty page
	fade    float64      // how much of the opacity is gone, from 0 to 1
	covered bool         // the element itself has an opaque ground
}

// group is an element that is painted by itself and then, with filters and opacity, on what is behind it.
type group struct {
	outer   *group
	behind  ground
	opacity float64
	filters []cascade.Part
	around  cascade.Surroundings
	blend   string
}

// maxFade is the part of an element's opacity that may be gone if it can still be seen.
const maxFade = .91

// maxBlur is the blur, in pixels, at which a text can still be read.
const maxBlur = 4

// enter begins to paint an element. It reports false if nothing of it is left.
func (p *paint) enter(st *cascade.Style) bool {
	opacity := min(max(st.Number(cascade.Opacity, 1), 0), 1)
	if v := st.Get(cascade.Opacity); v != nil {
		if n, ok := st.Length(cascade.Opacity, 1); v.Doubt || len(v.Numbers) > 0 && (!ok || n != n) {
			return false
		}
	}
	var filters []cascade.Part
	if v := st.Get(cascade.Filter); v != nil {
		if v.Doubt {
			return false
		}
		filters = v.Parts
	}
	blend := st.Word(cascade.MixBlendMode)
	around := *st.Around(1)
	visible := 1 - p.fade
	visible *= opacity
	for _, one := range filters {
		amount := 1.0
		if len(one.Numbers) > 0 {
			amount = one.Numbers[0].Value(&around)
		} else if one.Name == "blur" {
			amount = 0
		}
		if one.Name == "opacity" {
			visible *= min(max(amount, 0), 1)
		}
		if one.Name == "blur" && amount > maxBlur || amount != amount {
			return false
		}
	}
	if p.fade = 1 - visible; p.fade >= maxFade {
		return false
	}
	if opacity < 1 || len(filters) > 0 || blend != "" && blend != "normal" {
		p.group = &group{outer: p.group, behind: p.ground, opacity: opacity, filters: filters, around: around, blend: blend}
		p.ground = solid(cascade.RGBA{})
	}
	p.paintBackground(st)
	return true
}

// paintBackground paints the background of an element, and reports whether there is one.
func (p *paint) paintBackground(st *cascade.Style) bool {
	p.covered = false
	colour := cascade.RGBA{}
	if v := st.Get(cascade.BackgroundColor); v != nil {
		colour = v.Colour.At(st.Color, st.Dark)
	}
	var images, sizes, clips, repeats []cascade.Part
	if v := st.Get(cascade.BackgroundImage); v != nil {
		images = v.Parts
	}
	if v := st.Get(cascade.BackgroundSize); v != nil {
		sizes = v.Parts
	}
	if v := st.Get(cascade.BackgroundClip); v != nil {
		clips = v.Parts
	}
	if v := st.Get(cascade.BackgroundRepeat); v != nil {
		repeats = v.Parts
	}
	if colour[3] == 0 && len(images) == 0 {
		return false
	}
	clip := func(i int) bool { return len(clips) > 0 && clips[i%len(clips)].Name == "text" }
	paint, glyphs, some, cut := ground{}, ground{}, colour[3] > 0, false
	put := func(layer ground, toText bool) {
		if toText {
			glyphs, cut = glyphs.over(&layer), true
		} else {
			paint = paint.over(&layer)
		}
	}
	put(solid(colour), clip(max(len(images)-1, 0)))
	for i := len(images) - 1; i >= 0; i-- {
		once := len(repeats) > 0 && repeats[i%len(repeats)].Name != "repeat"
		if len(sizes) > 0 && isSmall(sizes[i%len(sizes)], st, once) {
			continue
		}
		if layer, ok := imageGround(&images[i], st, colour[3] > 0); ok {
			some = true
			put(layer, clip(i))
		}
	}
	p.covered = !paint.unknown && paint.at(0)[3] > .95 && paint.at(7)[3] > .95
	p.ground = p.ground.over(&paint)
	if cut {
		p.glyphs = &glyphs
	}
	return some
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

// imageGround returns the look of an image. An image at an address is not known. It counts only if the page names no
// colour to replace it.
func imageGround(image *cascade.Part, st *cascade.Style, hasColour bool) (ground, bool) {
	switch {
	case image.Name == "none", image.Name == "url" && (image.Address == "" || strings.HasPrefix(strings.ToLower(image.Address), "data:") || image.Address[0] == '#'), image.Name == "url" && hasColour:
		return ground{}, false
	case len(image.Stops) > 0:
		places := image.Samples(st.Around(math.NaN()), st.Color, st.Dark)
		return ground{places: &places}, true
	}
	return ground{unknown: true}, true
}

// clear is the difference in a channel, of 255, that makes two colours look different.
const clear = 25

// shows reports whether the text of an element differs from what is behind it.
func (p *paint) shows(st *cascade.Style) bool {
	if st.Stroke > st.FontSize/4 {
		return p.differs(solid(st.StrokeIn)) // it covers the letters
	}
	if p.differs(solid(st.Fill)) || p.glyphs != nil && p.differs(*p.glyphs) {
		return true
	}
	if st.Stroke >= .3 && p.differs(solid(st.StrokeIn)) {
		return true
	}
	for i := range st.Shadows {
		one := &st.Shadows[i]
		c := st.ShadowIn
		if len(one.Colours) > 0 {
			c = one.Colours[0].At(st.ShadowIn, st.Dark)
		}
		near := true
		for j := range one.Numbers {
			n := one.Numbers[j].Value(st.Around(math.NaN()))
			near = near && math.Abs(n) < 100 && (j < 2 || n <= maxBlur)
		}
		if near && p.differs(solid(c)) {
			return true
		}
	}
	return false
}

// differs reports whether letters of a colour differ from what is behind them in at least half of the places.
func (p *paint) differs(letters ground) bool {
	if letters.unknown || p.ground.unknown && letters.at(0)[3] > .1 {
		return true
	}
	places, all := 0, 1
	if letters.places != nil || p.ground.places != nil {
		all = 8
	}
	for g := p.group; g != nil; g = g.outer {
		if g.behind.places != nil {
			all = 8
		}
	}
	for i := range all {
		with, without := over(letters.at(i), p.ground.at(i)), p.ground.at(i)
		unknown := false
		for g := p.group; g != nil; g = g.outer {
			unknown = unknown || g.behind.unknown
			with, without = g.put(with, i), g.put(without, i)
		}
		with, without = over(with, p.canvas), over(without, p.canvas)
		if distance(with, without) >= clear || unknown && letters.at(i)[3] > .1 {
			places++
		}
	}
	return 2*places >= all
}

func distance(a, b cascade.RGBA) float64 {
	return 255 * max(math.Abs(a[0]-b[0]), math.Abs(a[1]-b[1]), math.Abs(a[2]-b[2]))
}

// contrast returns black or white: the one that can be read on the ground.
func (p *paint) contrast() cascade.RGBA {
	if cascade.Luminance(over(p.ground.at(0), p.canvas)) > .18 {
		return cascade.RGBA{0, 0, 0, 1}
	}
	return cascade.RGBA{1, 1, 1, 1}
}

// put applies a group's filters to a colour and paints it on what is behind.
func (g *group) put(c cascade.RGBA, place int) cascade.RGBA {
	for i := range g.filters {
		c = filter(&g.filters[i], c, &g.around)
	}
	c[3] *= g.opacity
	behind := g.behind.at(place)
	if g.blend != "" && g.blend != "normal" && c[3] > 0 && behind[3] > 0 {
		mixed := blend(g.blend, behind, c)
		for i := range 3 {
			c[i] = c[i]*(1-behind[3]) + mixed[i]*behind[3]
		}
	}
	return over(c, behind)
}

// filter applies a filter to a colour, by Filter Effects Level 1.
func filter(one *cascade.Part, c cascade.RGBA, around *cascade.Surroundings) cascade.RGBA {
	amount := 1.0
	if len(one.Numbers) > 0 {
		amount = one.Numbers[0].Value(around)
	}
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
