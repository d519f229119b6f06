package visible

import (
	"math"
	"strings"

	"golang.org/x/net/html/atom"

	"familiar/visible/internal/cascade"
)

// space is a plane on which boxes are: where a transform puts it on the screen.
type space struct {
	m         matrix // to the screen
	context   matrix // within the three-dimensional scene that the plane is part of
	inverse   [9]float64
	preserved bool // what is in it is part of the same scene
}

var screenPlane = &space{m: identity, context: identity, inverse: [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}}

// toScreen returns where a point of a plane is on the screen. It reports false if the point is behind the person.
func (s *space) toScreen(x, y float64) (float64, float64, bool) {
	if s == screenPlane {
		return x, y, true
	}
	w := s.m[3]*x + s.m[7]*y + s.m[15]
	return (s.m[0]*x + s.m[4]*y + s.m[12]) / w, (s.m[1]*x + s.m[5]*y + s.m[13]) / w, w > 0
}

// fromScreen returns which point of a plane is at a place on the screen.
func (s *space) fromScreen(x, y float64) (float64, float64) {
	if s == screenPlane {
		return x, y
	}
	i := &s.inverse
	w := i[6]*x + i[7]*y + i[8]
	return (i[0]*x + i[1]*y + i[2]) / w, (i[3]*x + i[4]*y + i[5]) / w
}

// plane returns the determinant of a transform of a plane, and computes its inverse.
func (m *matrix) plane(inverse *[9]float64) float64 {
	a, b, c, d, e, f, g, h, i := m[0], m[4], m[12], m[1], m[5], m[13], m[3], m[7], m[15]
	det := a*(e*i-f*h) - b*(d*i-f*g) + c*(d*h-e*g)
	*inverse = [9]float64{(e*i - f*h) / det, (c*h - b*i) / det, (b*f - c*e) / det, (f*g - d*i) / det, (a*i - c*g) / det, (c*d - a*f) / det, (d*h - e*g) / det, (b*g - a*h) / det, (a*e - b*d) / det}
	return det
}

// determinant returns the determinant of a transform in space.
func (m *matrix) determinant() float64 {
	minor := func(a, b, c int) float64 { // of the rows 1 to 3
		return m[4*a+1]*(m[4*b+2]*m[4*c+3]-m[4*b+3]*m[4*c+2]) - m[4*b+1]*(m[4*a+2]*m[4*c+3]-m[4*a+3]*m[4*c+2]) + m[4*c+1]*(m[4*a+2]*m[4*b+3]-m[4*a+3]*m[4*b+2])
	}
	return m[0]*minor(1, 2, 3) - m[4]*minor(0, 2, 3) + m[8]*minor(0, 1, 3) - m[12]*minor(0, 1, 2)
}

// clip is an area. Nothing is shown beyond it.
type clip struct {
	outer *clip
	space *space
	area  rectangle
	depth int // the clips around it
}

// holds reports whether a place on the screen is inside a clip.
func (c *clip) holds(x, y float64) bool {
	for ; c != nil; c = c.outer {
		if px, py := c.space.fromScreen(x, y); !c.area.holds(px, py) {
			return false
		}
	}
	return true
}

// place computes where a box and what is in it are on the page. It finds which clips and groups they are in, and what can be seen at best.
func (b *box) place(x, y float64) {
	up := b.up
	b.left, b.top, b.space, b.clip, b.group, b.sight = x+b.x, y+b.y, up.space, up.inner, up.group, max(b.sight, up.sight)
	if b.kind == textBox {
		b.exceeds = up.exceeds && up.clip == b.clip
		return
	}
	if b.holder != nil {
		at := b.holder
		for at.kind == inlineBox {
			at = at.up
		}
		b.clip = at.inner
	}
	b.zoom, b.struck = up.zoom, up.struck
	if n := b.style.Number(cascade.Zoom, 1); n > 0 {
		b.zoom *= n
	}
	b.strike()
	b.inner = b.clip
	if !b.isPage() {
		b.relative()
		if b.kind != inlineBox {
			b.transform()
		}
		if b.enter(); b.collapsed {
			b.sight = hidden
		}
		b.inner = b.clip
		if b.kind != inlineBox {
			b.clipContent()
		}
	}
	b.exceeds = b.isWide() || up.exceeds && !b.style.Positions && up.clip == b.clip && up.space == b.space
	for c := b.first; c != nil; c = c.next {
		c.place(b.left, b.top)
		b.busy = b.busy || c.busy || c.kind == textBox && !isBlank(c.node.Data)
	}
}

// strike notes a line through the text. It goes through all content of an element except boxes of their own.
func (b *box) strike() {
	if b.isTaken() || b.floatsTo() != "" || b.kind == blockBox && b.isInline() {
		b.struck = false
	}
	if strings.Contains(b.style.Word(cascade.TextDecorationLine), "line-through") {
		b.struck = true
	}
}

// isWide reports whether a box on the screen is a table, or has lines that are not broken.
func (b *box) isWide() bool {
	st, width := b.style, screen(true).Width
	isTable := st.Display == "table"
	return (isTable || b.kind == blockBox && st.Lines && st.Nowrap && st.Indent(width) < width) && b.left+b.pad.left < width
}

// isPage reports whether a box is the page, html or body. Pages hide these until their scripts have run. If that counted,
// nothing would be left. What they cut off can be scrolled to.
func (b *box) isPage() bool {
	return b.up == nil || b.node != nil && (b.node.DataAtom == atom.Html || b.node.DataAtom == atom.Body)
}

// relative moves a box that stays in the flow.
func (b *box) relative() {
	if b.style.Word(cascade.Position) != "relative" {
		return
	}
	in := b.up
	for in.kind == inlineBox {
		in = in.up
	}
	width, height := max(0, in.w-in.across()), in.tall
	if n, ok := b.style.Length(cascade.Left, width); ok {
		b.left += n
	} else if n, ok := b.style.Length(cascade.Right, width); ok {
		b.left -= n
	}
	if n, ok := b.style.Length(cascade.Top, height); ok {
		b.top += n
	} else if n, ok := b.style.Length(cascade.Bottom, height); ok {
		b.top -= n
	}
}

// transform computes the plane of a box.
func (b *box) transform() {
	st := b.style
	m, some := identity, false
	for _, p := range [...]cascade.Property{cascade.Translate, cascade.Rotate, cascade.Scale, cascade.Transform} {
		v := st.Get(p)
		if v == nil {
			continue
		}
		if v.Doubt {
			b.sight = max(b.sight, doubtful)
		}
		for i := range v.Parts {
			some = true
			m = m.times(b.matrixOf(&v.Parts[i]))
		}
	}
	if path := st.Word(cascade.OffsetPath); path != "" && path != "none" {
		b.sight = max(b.sight, doubtful) // it is somewhere along a path that is not computed
	}
	for _, n := range m {
		if n != n {
			b.sight, some = max(b.sight, doubtful), false
		}
	}
	up := b.up.space
	perspective, deep := b.up.style.Length(cascade.Perspective, 0)
	preserves := st.Word(cascade.TransformStyle) == "preserve-3d"
	hides := st.Word(cascade.BackfaceVisibility) == "hidden"
	if !some && !preserves && !hides || !some && !preserves && up == screenPlane {
		return
	}
	base, context := up.m, identity
	if up.preserved {
		context = up.context
	} else { // the plane around it is seen as flat
		base[2], base[6], base[8], base[9], base[10], base[11], base[14] = 0, 0, 0, 0, 1, 0, 0
	}
	if deep && perspective > 0 {
		ox, oy := b.up.point(cascade.PerspectiveOrigin)
		look := translation(ox, oy, 0).times(perspectiveOf(max(perspective, 1))).times(translation(-ox, -oy, 0))
		base, context = base.times(look), context.times(look)
	}
	if some {
		ox, oy := b.point(cascade.TransformOrigin)
		own := translation(ox, oy, 0).times(m).times(translation(-ox, -oy, 0))
		base, context = base.times(own), context.times(own)
	}
	b.space = &space{m: base, context: context, preserved: preserves}
	turned := context.plane(&b.space.inverse)
	if hides && turned*context.determinant() < 0 {
		b.sight = hidden
	}
	if det := base.plane(&b.space.inverse); math.Abs(det) < 1e-9 || math.Abs(m.determinant()) < 1e-9 {
		b.sight = hidden
	}
}

// point returns the place of a point that a style gives for a box. An example is the origin of its transforms.
func (b *box) point(p cascade.Property) (x, y float64) {
	x, y = b.w/2, b.h/2
	if v := b.style.Get(p); v != nil && len(v.Numbers) == 2 {
		x, y = v.Numbers[0].Value(b.style.Around(b.w)), v.Numbers[1].Value(b.style.Around(b.h))
	}
	return b.left + x, b.top + y
}

// clipContent computes the clip for what is in a box.
func (b *box) clipContent() {
	st := b.style
	x, y := st.Word(cascade.OverflowX), st.Word(cascade.OverflowY)
	if b.contains("strict", "content", "paint") {
		x, y = "clip", "clip"
	}
	if clips(x) && x != "clip" && !clips(y) {
		y = "auto"
	}
	if clips(y) && y != "clip" && !clips(x) {
		x = "auto"
	}
	if !clips(x) && !clips(y) {
		return
	}
	inf, leftward := math.Inf(1), st.Leftward || st.Vertical == "right"
	area := rectangle{-inf, -inf, inf, inf}
	scrolls := func(word string, size float64) bool {
		return word != "hidden" && word != "clip" && size >= st.FontSize/2
	}
	if clips(x) {
		if area.left = b.left + b.border.left; !scrolls(x, b.w) || leftward {
			area.right = b.left + b.w - b.border.right
		}
		if leftward && scrolls(x, b.w) {
			area.left = -inf
		}
	}
	if clips(y) {
		if area.top = b.top + b.border.top; !scrolls(y, b.h) {
			area.bottom = b.top + b.h - b.border.bottom
		}
	}
	b.inner = b.clip.within(area, b.space)
}

// within returns a clip inside another one.
func (c *clip) within(area rectangle, s *space) *clip {
	if c != nil && c.space == s {
		o := &c.area
		area = rectangle{max(area.left, o.left), max(area.top, o.top), min(area.right, o.right), min(area.bottom, o.bottom)}
		c = c.outer
	}
	depth := 0
	if c != nil {
		depth = c.depth + 1
	}
	return &clip{c, s, area, depth}
}

// group is an element that is painted by itself and then, with filters and opacity, on what is behind it.
type group struct {
	outer   *group
	b       *box
	opacity float64
	filters []cascade.Part
	blend   string
	shape   *cascade.Part
	cut     *cascade.Value // of clip
	left    float64        // of the opacity, with that of the groups around it
	depth   int
}

// maxBlur is the blur, in pixels, at which a text can still be read.
const maxBlur = 4

// leastOpacity is the opacity at which nothing can be seen any more.
const leastOpacity = .09

// enter computes the group of a box.
func (b *box) enter() {
	st := b.style
	g := group{opacity: min(max(st.Number(cascade.Opacity, 1), 0), 1), blend: st.Word(cascade.MixBlendMode)}
	if v := st.Get(cascade.Opacity); v != nil {
		if n, ok := st.Length(cascade.Opacity, 1); v.Doubt || len(v.Numbers) > 0 && (!ok || n != n) {
			b.sight = max(b.sight, doubtful)
		}
	}
	if v := st.Get(cascade.Filter); v != nil {
		if g.filters = v.Parts; v.Doubt {
			b.sight = max(b.sight, doubtful)
		}
		for i := range g.filters {
			if amount := amountOf(&g.filters[i], st); g.filters[i].Name == "blur" && amount > maxBlur || amount != amount {
				b.sight = max(b.sight, doubtful)
			}
		}
	}
	if v := st.Get(cascade.ClipPath); v != nil {
		if v.Doubt {
			b.sight = max(b.sight, doubtful)
		}
		if len(v.Parts) > 0 {
			g.shape = &v.Parts[0]
		}
	}
	if v := st.Get(cascade.Clip); v != nil && len(v.Numbers) == 4 && b.isTaken() {
		g.cut = v
	}
	width, narrow := st.Length(cascade.Width, math.NaN())
	height, low := st.Length(cascade.Height, math.NaN())
	if narrow && low && width <= 1 && height <= 1 && b.kind == blockBox && st.Word(cascade.OverflowX) != "visible" {
		b.sight = max(b.sight, doubtful) // it is only a point, and its text overflows
	}
	if b.masked() {
		b.sight = max(b.sight, doubtful)
	}
	if g.opacity < 1 || len(g.filters) > 0 || g.blend != "" && g.blend != "normal" || g.shape != nil || g.cut != nil {
		own := g
		own.outer, own.b = b.group, b
		own.left = own.opacity
		for i := range own.filters {
			if one := &own.filters[i]; one.Name == "opacity" {
				own.left *= clamp(amountOf(one, st))
			}
		}
		if b.group != nil {
			own.depth = b.group.depth + 1
			own.left *= b.group.left
		}
		if own.left <= leastOpacity {
			b.sight = hidden
		}
		b.group = &own
	}
}

func amountOf(one *cascade.Part, st *cascade.Style) float64 {
	if len(one.Numbers) > 0 {
		return one.Numbers[0].Value(st.Around(1))
	}
	if one.Name == "blur" {
		return 0
	}
	return 1
}

// holds reports whether a place on the screen is inside the shape of a group.
func (g *group) holds(x, y float64) bool {
	if g.shape == nil && g.cut == nil {
		return true
	}
	px, py := g.b.space.fromScreen(x, y)
	px, py = px-g.b.left, py-g.b.top
	if g.shape != nil && !g.b.inShape(g.shape, px, py) {
		return false
	}
	return g.cut == nil || g.b.inCut(g.cut, px, py)
}

// sticks reports whether a box stays on the screen for a while. It does until a person has scrolled to the end of the box around it.
func (b *box) sticks() bool { return strings.HasSuffix(b.style.Word(cascade.Position), "sticky") }

// isContext reports whether a box and what is in it are painted together, apart from everything else.
func (b *box) stacks() bool {
	st := b.style
	some := func(p cascade.Property) bool { v := st.Get(p); return v != nil && v.Word != "none" }
	position := st.Word(cascade.Position)
	if z := st.Get(cascade.ZIndex); z != nil && len(z.Numbers) > 0 && (st.Positions || b.flexible) {
		return true
	}
	return b.group != b.up.group || position == "fixed" || b.sticks() || st.Word(cascade.Isolation) == "isolate" ||
		b.kind != inlineBox && b.transforms() || some(cascade.MaskImage) || st.Word(cascade.TransformStyle) == "preserve-3d"
}
