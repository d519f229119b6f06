package visible

import (
	"math"

	"familiar/visible/internal/cascade"
)

// add adds a row with its cells.
func (t *tableBox) add(r *box) {
	row := &tableRow{b: r}
	t.rows = append(t.rows, row)
	if r.style.Display != "table-row" {
		row.cells = []*box{r}
		return
	}
	for c := r.first; c != nil; c = c.next {
		switch {
		case c.kind == textBox || c.kind == breakBox:
			if c.kind == textBox && !isBlank(c.node.Data) {
				c = t.l.wrapped(c)
			} else {
				continue
			}
		case c.isTaken():
			t.l.hold(c)
			continue
		case c.kind == inlineBox:
			c.kind = blockBox
		}
		row.cells = append(row.cells, c)
	}
}

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
