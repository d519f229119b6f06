package visible

import (
	"math"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// order lists what is painted, in the order of CSS 2.2, Appendix E.
type order struct {
	solid   []*box // pictures, and boxes whose height is not that of their content
	unread  bool   // the page names a style sheet that is outside of it
	l       *layout
	strokes []stroke
	texts   []letters
}

// stroke is an area that is painted.
type stroke struct {
	area    rectangle
	hole    *rectangle // what is not painted of it
	space   *space
	clip    *clip
	group   *group
	colour  cascade.RGBA
	image   *cascade.Part // a gradient instead of the colour
	b       *box
	unknown bool           // it may have any colour
	filters []cascade.Part // it changes what is behind it
	fixed   bool           // it does not move when the page is scrolled
	covered int            // letters that it covers
}

// letters is a fragment of a text, after what is painted before it.
type letters struct {
	b         *box
	at, after int // the fragment, and the number of strokes before it
	fixed     bool
	away      bool // it is out of sight
	sight     sight
	cover     int // the stroke that covers it; -1 for none
}

// pile is what is painted as one, from the bottom to the top.
type pile struct {
	b       *box
	z       float64
	blocks  []*box
	floats  []*pile
	lines   []line
	placed  []*pile // in the order of the page
	context *pile   // where positioned boxes in it go
	fixed   bool
}

// line is something in the lines of a pile.
type line struct {
	b    *box
	pile *pile
}

// pile sorts what is in a box.
func (o *order) pile(b *box, context *pile, fixed bool) *pile {
	p := &pile{b: b, context: context, fixed: fixed}
	if context == nil {
		p.context = p
	}
	o.sort(b, p)
	return p
}

func (o *order) sort(b *box, p *pile) {
	for c := b.first; c != nil; c = c.next {
		if c.kind == textBox {
			p.lines = append(p.lines, line{b: c})
			continue
		}
		if c.sight == hidden && c.style.Positions && c.kind != inlineBox {
			if !c.style.Hidden {
				continue
			}
		}
		fixed := p.fixed || c.isTaken() && c.style.Word(cascade.Position) == "fixed"
		switch {
		case c.stacks():
			one := o.pile(c, nil, fixed)
			one.z, _ = c.style.Length(cascade.ZIndex, 0)
			p.context.placed = append(p.context.placed, one)
		case c.style.Positions:
			one := &pile{b: c, context: p.context, fixed: fixed}
			p.context.placed = append(p.context.placed, one)
			o.sort(c, one)
		case c.floatsTo() != "":
			p.floats = append(p.floats, o.pile(c, p.context, fixed))
		case c.kind == inlineBox:
			p.lines = append(p.lines, line{b: c})
			o.sort(c, p)
		case c.isInline(), c.flexible:
			p.lines = append(p.lines, line{b: c, pile: o.pile(c, p.context, fixed)})
		default:
			p.blocks = append(p.blocks, c)
			o.sort(c, p)
		}
	}
}

// paint adds what is in a pile.
func (o *order) paint(p *pile) {
	if p.b.kind == inlineBox {
		o.inline(p.b, p.fixed)
	} else if p.b.up != nil {
		o.box(p.b, p.fixed)
	}
	slices.SortStableFunc(p.placed, func(a, b *pile) int {
		switch {
		case a.z < b.z:
			return -1
		case a.z > b.z:
			return 1
		}
		return 0
	})
	i := 0
	for ; i < len(p.placed) && p.placed[i].z < 0; i++ {
		o.paint(p.placed[i])
	}
	for _, b := range p.blocks {
		o.box(b, p.fixed)
	}
	for _, f := range p.floats {
		o.paint(f)
	}
	for _, one := range p.lines {
		switch {
		case one.pile != nil:
			o.paint(one.pile)
		case one.b.kind == textBox:
			one.b.painted = len(o.texts) + 1
			for at := one.b.from; at < one.b.to; at++ {
				o.texts = append(o.texts, letters{b: one.b, at: at, after: len(o.strokes), fixed: p.fixed, cover: -1})
			}
		default:
			o.inline(one.b, p.fixed)
		}
	}
	for ; i < len(p.placed); i++ {
		o.paint(p.placed[i])
	}
}

// thin is the size of what is too thin to matter to letters, in pixels.
const thin = 2

// add adds an area of a box.
func (o *order) add(b *box, s stroke, fixed bool) {
	if s.area.right < s.area.left+thin || s.area.bottom < s.area.top+thin || b.sight == hidden && !b.style.Hidden {
		return
	}
	s.b, s.space, s.clip, s.group, s.fixed = b, b.space, b.clip, b.group, fixed
	o.strokes = append(o.strokes, s)
}

// box adds the shadows, the ground and the border of a box, and a picture.
func (o *order) box(b *box, fixed bool) {
	st := b.style
	if st.Hidden || st.Display == "contents" {
		return
	}
	if b.kind == atomBox || b.tall == b.tall || b.pad.top+b.pad.bottom > bandHeight || st.Get(cascade.MinHeight) != nil || b.sticks() {
		o.solid = append(o.solid, b)
	}
	outer := rectangle{b.left, b.top, b.left + b.w, b.top + b.h}
	inner := rectangle{outer.left + b.border.left, outer.top + b.border.top, outer.right - b.border.right, outer.bottom - b.border.bottom}
	if st.Get(cascade.BoxShadow) != nil {
		o.shadows(b, outer, false, fixed)
	}
	if v := st.Get(cascade.BackdropFilter); v != nil && len(v.Parts) > 0 {
		o.add(b, stroke{area: outer, filters: v.Parts}, fixed)
	}
	o.ground(b, outer, inner, fixed)
	if st.Get(cascade.BoxShadow) != nil {
		o.shadows(b, inner, true, fixed)
	}
	o.borders(b, outer, inner, fixed)
	if width, ok := st.Length(cascade.OutlineWidth, 0); ok && width > 0 && st.Word(cascade.OutlineStyle) != "" && st.Word(cascade.OutlineStyle) != "none" {
		offset, _ := st.Length(cascade.OutlineOffset, 0)
		offset = max(offset, -min(b.w, b.h)/2)
		hole := outer.grown(offset)
		o.add(b, stroke{area: outer.grown(offset + width), hole: &hole, colour: o.colour(b, cascade.OutlineColor)}, fixed)
	}
	if b.kind == atomBox && b.node != nil {
		o.picture(b, rectangle{inner.left + b.pad.left, inner.top + b.pad.top, inner.right - b.pad.right, inner.bottom - b.pad.bottom}, fixed)
	}
}

func (r rectangle) grown(by float64) rectangle {
	return rectangle{r.left - by, r.top - by, r.right + by, r.bottom + by}
}

// colour returns the colour that a property gives, or that of the text.
func (o *order) colour(b *box, p cascade.Property) cascade.RGBA {
	if v := b.style.Get(p); v != nil {
		return v.Colour.At(b.style.Color, b.style.Dark)
	}
	return b.style.Color
}

func (o *order) shadows(b *box, area rectangle, inset, fixed bool) {
	parts := b.style.Get(cascade.BoxShadow).Parts
	for i := len(parts) - 1; i >= 0; i-- {
		one := &parts[i]
		if (one.Name == "inset") != inset {
			continue
		}
		var n [4]float64
		for j := range min(len(one.Numbers), 4) {
			n[j] = one.Numbers[j].Value(b.style.Around(0))
		}
		c := b.style.Color
		if len(one.Colours) > 0 {
			c = one.Colours[0].At(b.style.Color, b.style.Dark)
		}
		if blur := n[2]; inset {
			hole := area.grown(-n[3] - blur/2)
			hole = rectangle{hole.left + n[0], hole.top + n[1], hole.right + n[0], hole.bottom + n[1]}
			o.add(b, stroke{area: area, hole: &hole, colour: c}, fixed)
		} else {
			hole, outer := area, area.grown(n[3])
			outer = rectangle{outer.left + n[0], outer.top + n[1], outer.right + n[0], outer.bottom + n[1]}
			if blur > 2 {
				c[3] *= .5
			}
			o.add(b, stroke{area: outer, hole: &hole, colour: c}, fixed)
		}
	}
}

func (o *order) borders(b *box, outer, inner rectangle, fixed bool) {
	if v := b.style.Get(cascade.BorderImage); v != nil && len(v.Parts) > 0 && v.Parts[0].Name != "none" {
		s := stroke{area: outer, hole: &inner}
		if v.Word == "fill" {
			s.hole = nil
		}
		if s.image = &v.Parts[0]; len(s.image.Stops) == 0 {
			s.image, s.unknown = nil, true
		}
		o.add(b, s, fixed)
		return
	}
	if b.border == (edges{}) {
		return
	}
	for i, side := range [4]rectangle{
		{outer.left, outer.top, outer.right, inner.top}, {inner.right, outer.top, outer.right, outer.bottom},
		{outer.left, inner.bottom, outer.right, outer.bottom}, {outer.left, outer.top, inner.left, outer.bottom},
	} {
		o.add(b, stroke{area: side, colour: o.colour(b, cascade.BorderTopColor+cascade.Property(i))}, fixed)
	}
}

// ground adds the colour and the images behind a box.
func (o *order) ground(b *box, outer, inner rectangle, fixed bool) {
	st := b.style
	if b.isPage() { // it is behind the whole page
		inf := math.Inf(1)
		outer = rectangle{-inf, -inf, inf, inf}
	}
	c, ok := groundColour(st)
	list := func(p cascade.Property) []cascade.Part {
		if v := st.Get(p); v != nil {
			return v.Parts
		}
		return nil
	}
	images := list(cascade.BackgroundImage)
	if !ok && len(images) == 0 {
		return
	}
	clips := list(cascade.BackgroundClip)
	area := func(i int) (rectangle, bool) {
		if len(clips) == 0 {
			return outer, true
		}
		switch clips[i%len(clips)].Name {
		case "padding-box":
			return inner, true
		case "content-box":
			return rectangle{inner.left + b.pad.left, inner.top + b.pad.top, inner.right - b.pad.right, inner.bottom - b.pad.bottom}, true
		case "text", "border-area":
			return outer, false
		}
		return outer, true
	}
	if at, is := area(max(len(images)-1, 0)); is && ok {
		o.add(b, stroke{area: at, colour: c}, fixed)
	}
	for i := len(images) - 1; i >= 0; i-- {
		at, is := area(i)
		if !is || images[i].Name == "none" {
			continue
		}
		at = b.tile(i, at, inner)
		o.image(b, &images[i], at, ok && c[3] > .5, fixed)
	}
}

// groundColour returns the colour behind a box, and whether there is one.
func groundColour(st *cascade.Style) (cascade.RGBA, bool) {
	v := st.Get(cascade.BackgroundColor)
	if v == nil {
		return cascade.RGBA{}, false
	}
	c := v.Colour.At(st.Color, st.Dark)
	return c, c[3] > 0
}

// tile returns the area that an image of a background takes up.
func (b *box) tile(i int, area, inner rectangle) rectangle {
	st := b.style
	one := func(p cascade.Property) cascade.Part {
		if v := st.Get(p); v != nil && len(v.Parts) > 0 {
			return v.Parts[i%len(v.Parts)]
		}
		return cascade.Part{}
	}
	size, place, repeat := one(cascade.BackgroundSize), one(cascade.BackgroundPosition), one(cascade.BackgroundRepeat).Name
	wide, tall := inner.right-inner.left, inner.bottom-inner.top
	w, h := wide, tall
	if len(size.Numbers) > 0 {
		w = orElse(size.Numbers[0].Value(st.Around(wide)), wide)
		if len(size.Numbers) > 1 {
			h = orElse(size.Numbers[1].Value(st.Around(tall)), tall)
		}
	}
	if w <= 0 || h <= 0 {
		return rectangle{}
	}
	at := rectangle{inner.left, inner.top, inner.left + w, inner.top + h}
	if len(place.Numbers) > 0 {
		x, y := place.Numbers[0].Value(st.Around(wide-w)), (tall-h)/2
		words := strings.Fields(place.Name)
		if len(place.Numbers) > 1 {
			y = place.Numbers[1].Value(st.Around(tall - h))
		}
		if len(words) > 0 && (words[0] == "top" || words[0] == "bottom") {
			x, y = (wide-w)/2, place.Numbers[0].Value(st.Around(tall-h))
		}
		at = rectangle{at.left + x, at.top + y, at.right + x, at.bottom + y}
	}
	switch repeat {
	case "no-repeat":
		return rectangle{max(at.left, area.left), max(at.top, area.top), min(at.right, area.right), min(at.bottom, area.bottom)}
	case "repeat-x":
		return rectangle{area.left, max(at.top, area.top), area.right, min(at.bottom, area.bottom)}
	case "repeat-y":
		return rectangle{max(at.left, area.left), area.top, min(at.right, area.right), area.bottom}
	}
	return area
}

// image adds an image. One at an address is not known. It counts only if the page names no colour to replace it.
func (o *order) image(b *box, image *cascade.Part, area rectangle, replaced, fixed bool) {
	switch {
	case len(image.Stops) > 0:
		o.add(b, stroke{area: area, image: image}, fixed)
	case image.Name == "url" && strings.HasPrefix(strings.ToLower(image.Address), "data:"):
		if p := o.l.pictureAt(image.Address); p != nil {
			o.rectangles(b, p, area, fixed)
		}
	case image.Name == "url" && (image.Address == "" || image.Address[0] == '#' || replaced):
	default:
		o.add(b, stroke{area: area, unknown: true}, fixed)
	}
}

func (o *order) rectangles(b *box, p *picture, area rectangle, fixed bool) {
	w, h := area.right-area.left, area.bottom-area.top
	for _, one := range p.rectangles {
		at := one.area
		if math.IsInf(w, 0) {
			at = rectangle{0, 0, 1, 1}
			o.add(b, stroke{area: area, colour: one.colour}, fixed)
			continue
		}
		o.add(b, stroke{area: rectangle{area.left + max(at.left, 0)*w, area.top + max(at.top, 0)*h, area.left + min(at.right, 1)*w, area.top + min(at.bottom, 1)*h}, colour: one.colour}, fixed)
	}
}

// picture adds what an <img> or something like it shows.
func (o *order) picture(b *box, area rectangle, fixed bool) {
	n := b.node
	if o.unread && b.holder != nil && b.holder.up == nil {
		return // a style sheet that is not read probably says which box contains it
	}
	switch n.DataAtom {
	case atom.Svg:
		o.rectangles(b, drawing(n, area.right-area.left, area.bottom-area.top), area, fixed)
	case atom.Img:
		if p := o.l.pictureOf(n); p != nil {
			o.rectangles(b, p, area, fixed)
			return
		}
		fallthrough
	case atom.Object, atom.Embed, atom.Video:
		source, _ := dom.Attr(n, "src")
		poster, _ := dom.Attr(n, "poster")
		set, _ := dom.Attr(n, "srcset")
		if source+poster+set != "" && !strings.HasPrefix(source, "data:") || n.DataAtom == atom.Video && n.FirstChild != nil {
			o.add(b, stroke{area: area, unknown: true}, fixed)
		}
	case atom.Iframe: // one at an address is mostly a request for consent
		if _, ok := dom.Attr(n, "srcdoc"); ok {
			o.add(b, stroke{area: area, unknown: true}, fixed)
		}
	}
}

// inline adds the ground behind a part of lines.
func (o *order) inline(b *box, fixed bool) {
	st := b.style
	if st.Hidden || st.Get(cascade.BackgroundColor) == nil && st.Get(cascade.BackgroundImage) == nil {
		return
	}
	var visit func(c *box)
	visit = func(c *box) {
		for c = c.first; c != nil; c = c.next {
			for i := c.from; i < c.to; i++ {
				f := &o.l.fragments[i]
				area := rectangle{c.left + f.x - b.pad.left, c.top + f.y - b.pad.top, c.left + f.x + f.w + b.pad.right, c.top + f.y + f.h + b.pad.bottom}
				o.ground(b, area, area, fixed)
			}
			if c.kind == inlineBox {
				visit(c)
			}
		}
	}
	visit(b)
}
