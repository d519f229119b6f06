package visible

import (
	"math"
	"strings"

	"familiar/visible/internal/cascade"
)

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
