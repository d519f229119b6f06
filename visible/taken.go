package visible

import (
	"math"
	"strings"

	"familiar/visible/internal/cascade"
)

// floats are the floating boxes around which lines flow.
type floats struct{ list []floating }

type floating struct {
	left               bool
	top, bottom, inner float64
}

// bounds narrows a line between two edges to what the floats leave of it.
func (f *floats) bounds(y, height, left, right float64) (float64, float64) {
	for i := range f.list {
		if one := &f.list[i]; one.top < y+height && one.bottom > y {
			if one.left {
				left = max(left, one.inner)
			} else {
				right = min(right, one.inner)
			}
		}
	}
	return left, right
}

// clear returns where there is no float any more.
func (f *floats) clear(y float64, left, right bool) float64 {
	for i := range f.list {
		if one := &f.list[i]; one.left && left || !one.left && right {
			y = max(y, one.bottom)
		}
	}
	return y
}

// add adds a float, and forgets those that ended long before it if there are many.
func (f *floats) add(one floating) {
	if len(f.list) >= 32 {
		kept := f.list[:0]
		for _, old := range f.list {
			if old.bottom > one.top {
				kept = append(kept, old)
			}
		}
		f.list = kept[max(0, len(kept)-32):]
	}
	f.list = append(f.list, one)
}

// float adds a floating box beside the lines.
func (f *flow) float(c *box) {
	f.fit(c, f.width)
	toLeft := c.floatsTo() == "left"
	y := f.y + f.margin
	if f.open && len(f.pieces) > 0 && f.x+c.w > f.end {
		y += f.height
	}
	if clear := c.style.Word(cascade.Clear); clear != "" && clear != "none" {
		y = max(y, f.clear(-math.MaxFloat64, clear != "right", clear != "left")-f.dy)
	}
	outer := c.w + c.margin.left + c.margin.right
	y = f.room(y, outer)
	left, right := f.bounds(y+f.dy, 1, f.left+f.dx, f.left+f.width+f.dx)
	c.x, c.y = right-outer-f.dx+c.margin.left, y+c.margin.top
	if toLeft {
		c.x = left - f.dx + c.margin.left
	}
	f.l.content(c, f.b.tall, nil, 0, 0)
	one := floating{left: toLeft, top: y + f.dy, bottom: y + f.dy + c.h + c.margin.top + c.margin.bottom, inner: c.x - c.margin.left + f.dx}
	if toLeft {
		one.inner += outer
	}
	f.add(one)
	if f.open && len(f.pieces) == 0 {
		f.open = false
		f.begin()
	} else if f.open {
		was := f.start
		f.edgesOfLine(f.height)
		for _, p := range f.pieces {
			if p.b.kind == textBox {
				f.l.fragments[p.at].x += f.start - was
			} else {
				p.b.x += f.start - was
			}
		}
		f.x += f.start - was
	}
}

// room returns where the floats leave a width, from y on.
func (f *flow) room(y, width float64) float64 {
	for range 64 {
		left, right := f.bounds(y+f.dy, 1, f.left+f.dx, f.left+f.width+f.dx)
		if right-left >= width-.01 {
			break
		}
		next := math.Inf(1)
		for _, one := range f.list {
			if one.bottom > y+f.dy {
				next = min(next, one.bottom)
			}
		}
		if math.IsInf(next, 1) {
			break
		}
		y = next - f.dy
	}
	return y
}

// hold notes a box that is out of the flow, to be laid out with the block that contains it.
func (l *layout) hold(c *box) {
	if c.holder != nil {
		return
	}
	fixed := c.style.Word(cascade.Position) == "fixed"
	at := c.up
	for at.up != nil && !(at.style.Positions && !fixed) && !at.transforms() {
		at = at.up
	}
	c.holder = at
	for at.kind == inlineBox {
		at = at.up
	}
	if len(at.held) == 0 {
		l.holders = append(l.holders, at)
	}
	at.held = append(at.held, c)
}

// transforms reports whether a box contains all boxes in it that are out of the flow.
func (b *box) transforms() bool {
	if b.kind == inlineBox || b.kind == textBox || b.isPage() {
		return false
	}
	st := b.style
	some := func(p cascade.Property) bool { v := st.Get(p); return v != nil && v.Word != "none" }
	return some(cascade.Transform) || some(cascade.Translate) || some(cascade.Rotate) || some(cascade.Scale) || some(cascade.Perspective) || some(cascade.Filter) ||
		some(cascade.BackdropFilter) || b.contains("paint", "strict", "content", "layout") || strings.Contains(st.Word(cascade.WillChange), "transform")
}

// area returns the box that contains positioned boxes. It is the padding box of a block, or what a part of a line takes up.
func (l *layout) area(b *box) (x, y, w, h float64) {
	switch {
	case b.up == nil:
		s := screen(true)
		return 0, 0, s.Width, s.Height
	case b.kind != inlineBox:
		return b.border.left, b.border.top, max(0, b.w-b.border.left-b.border.right), max(0, b.h-b.border.top-b.border.bottom)
	}
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	var visit func(b *box)
	visit = func(b *box) {
		for c := b.first; c != nil; c = c.next {
			for i := c.from; i < c.to; i++ {
				f := &l.fragments[i]
				left, top, right, bottom = min(left, f.x), min(top, f.y), max(right, f.x+f.w), max(bottom, f.y+f.h)
			}
			if c.kind == inlineBox {
				visit(c)
			}
		}
	}
	visit(b)
	if left > right {
		return b.x, b.y, 0, 0
	}
	return left - b.pad.left, top, right - left + b.pad.left + b.pad.right, bottom - top
}

// turns reports whether the lines of a box are vertical, and those around it are not. The page itself is always read as if its lines were
// horizontal.
func (b *box) turns() bool {
	return b.style.Vertical != "" && b.kind == blockBox && !b.isPage() && (b.up.style.Vertical == "" || b.isTaken())
}

// lineRoom returns how long the vertical lines of a box may be.
func (b *box) lineRoom() float64 {
	if n, ok := b.style.Length(cascade.Height, math.NaN()); ok && n > 0 {
		return n
	}
	return screen(true).Height
}

// vertical lays out a box with vertical lines as if they were horizontal, and turns what is in it. It returns the length of the lines.
// Sizes and edges in it are taken for those along and across its lines, whatever their names are.
func (l *layout) vertical(b *box) float64 {
	margin, border, pad := b.margin, b.border, b.pad
	w, tall, length, right := b.w, b.tall, b.tall, b.style.Vertical == "right"
	if length != length {
		_, length = l.measureContent(b)
		length = min(length, b.lineRoom())
	}
	for _, e := range [...]*edges{&b.margin, &b.border, &b.pad} {
		*e = edges{e.left, e.bottom, e.right, e.top}
		if right {
			e.top, e.bottom = e.bottom, e.top
		}
	}
	b.w, b.tall = length+b.across(), w-b.down()
	_, fixed := b.style.Length(cascade.Width, 0)
	fixed = fixed || b.flexible || b.isTaken() || b.style.Display != "block"
	if !fixed {
		b.tall = math.NaN()
	}
	if inside := l.inside(b, nil, 0, 0); !fixed {
		w = b.limited(inside+b.down(), 0)
	}
	l.turn(b, w, right)
	b.w, b.tall, b.margin, b.border, b.pad = w, tall, margin, border, pad
	return length
}

// turn turns what is in a box, as its lines are. width is how wide the box then is, and right the side where the first line is.
func (l *layout) turn(in *box, width float64, right bool) {
	turned := func(x, y, w, h *float64) {
		*x, *y, *w, *h = *y, *x, *h, *w
		if right {
			*x = width - *x - *w
		}
	}
	for c := in.first; c != nil; c = c.next {
		for i := c.from; i < c.to; i++ {
			f := &l.fragments[i]
			turned(&f.x, &f.y, &f.w, &f.h)
			f.vertical = true
		}
		switch c.kind {
		case inlineBox:
			l.turn(c, width, right)
		case blockBox, atomBox:
			l.turn(c, c.h, right)
			turned(&c.x, &c.y, &c.w, &c.h)
			for _, e := range [...]*edges{&c.margin, &c.border, &c.pad} {
				*e = edges{e.left, e.bottom, e.right, e.top}
				if right {
					e.left, e.right = e.right, e.left
				}
			}
		}
	}
}

// taken lays out a box that is out of the flow.
func (l *layout) taken(c *box) {
	x, y, width, height := l.area(c.holder)
	for in := c.up; in != nil && in != c.holder; in = in.up {
		x, y = x-in.x, y-in.y
	}
	c.edges(width)
	left, hasLeft := c.style.Length(cascade.Left, width)
	right, hasRight := c.style.Length(cascade.Right, width)
	top, hasTop := c.style.Length(cascade.Top, height)
	bottom, hasBottom := c.style.Length(cascade.Bottom, height)
	for _, p := range [...]cascade.Property{cascade.Left, cascade.Right, cascade.Top, cascade.Bottom} {
		if v := c.style.Get(p); v != nil && v.Doubt {
			c.sight = max(c.sight, doubtful) // it is beside another box, which is not looked for
		}
	}
	_, wide := c.style.Length(cascade.Width, width)
	if hasLeft && hasRight && !wide && c.kind != atomBox {
		c.w = c.limited(width-left-right-c.margin.left-c.margin.right, width)
	} else {
		l.shrink(c, width-left-right, width)
	}
	if _, tall := c.style.Length(cascade.Height, height); hasTop && hasBottom && !tall && c.kind != atomBox {
		c.tall = max(0, height-top-bottom-c.margin.top-c.margin.bottom-c.down())
	}
	if c.kind == blockBox && c.style.Display == "inline" {
		c.style.Display = "block"
	}
	l.content(c, height, nil, 0, 0)
	isAuto := func(p cascade.Property) bool { return c.style.Word(p) == "auto" }
	switch {
	case hasLeft && hasRight && isAuto(cascade.MarginLeft) && isAuto(cascade.MarginRight):
		c.x = x + left + max(0, width-left-right-c.w)/2
	case hasLeft:
		c.x = x + left + c.margin.left
	case hasRight:
		c.x = x + width - right - c.w - c.margin.right
	default:
		c.x += c.margin.left
	}
	switch {
	case hasTop && hasBottom && isAuto(cascade.MarginTop) && isAuto(cascade.MarginBottom):
		c.y = y + top + max(0, height-top-bottom-c.h)/2
	case hasTop:
		c.y = y + top + c.margin.top
	case hasBottom:
		c.y = y + height - bottom - c.h - c.margin.bottom
	default:
		c.y += c.margin.top
	}
}
