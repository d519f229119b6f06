package visible

import (
	"math"
	"strings"

	"golang.org/x/net/html/atom"

	"familiar/visible/internal/cascade"
)

// table lays out a table, and returns the height of its content.
func (l *layout) table(b *box) float64 {
	t := tableBox{l: l, b: b, spacing: 2}
	if b.node == nil || b.node.DataAtom != atom.Table {
		t.spacing = 0
	}
	t.read(b)
	width := b.w - b.across()
	t.widths(width)
	y := b.border.top + b.pad.top
	for _, c := range t.captions {
		c.edges(width)
		c.w, c.x, c.y = width, b.border.left+b.pad.left, y
		l.content(c, math.NaN(), nil, 0, 0)
		y += c.h
	}
	top := y
	free := 0.0
	if b.tall == b.tall && len(t.rows) > 0 {
		free = b.tall
		for _, r := range t.rows {
			t.row(r, 0)
			r.done = true
			free -= r.b.h + t.spacing
		}
		free = max(free-t.spacing, 0) / float64(len(t.rows))
	}
	for _, one := range t.rows {
		y += t.spacing
		t.row(one, free)
		r := one.b
		r.x, r.y, r.w = b.border.left+b.pad.left, y, width
		for in := r.up; in != b; in = in.up { // a group of rows has the origin of the table
			in.w, in.h = width, max(in.h, y+r.h)
		}
		y += r.h
	}
	if y > top {
		y += t.spacing
	}
	return y - b.border.top - b.pad.top
}

type tableBox struct {
	l         *layout
	b         *box
	rows      []*tableRow
	captions  []*box
	columns   []track
	collapsed map[int]bool
	said      int // columns that have an element of their own
	spacing   float64
}

type tableRow struct {
	b     *box
	cells []*box
	done  bool // the cells are laid out
}

// read finds the rows, the captions and the columns of a table.
func (t *tableBox) read(b *box) {
	for c := b.first; c != nil; c = c.next {
		switch {
		case c.kind == textBox || c.kind == breakBox:
			if c.kind == textBox && !isBlank(c.node.Data) {
				t.add(t.l.wrapped(c))
			}
		case c.isTaken():
			t.l.hold(c)
		case c.style.Display == "table-caption":
			t.captions = append(t.captions, c)
		case strings.HasPrefix(c.style.Display, "table-column"):
			t.column(c)
		case strings.HasSuffix(c.style.Display, "-group"):
			t.read(c)
		default:
			if c.kind == inlineBox {
				c.kind = blockBox
			}
			t.add(c)
		}
	}
}

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

func (t *tableBox) column(c *box) {
	if c.first != nil {
		for one := c.first; one != nil; one = one.next {
			one.style.Hidden = one.style.Hidden || c.style.Hidden
			t.column(one)
		}
		return
	}
	n, _ := pixelAttribute(c.node, "span")
	for range int(min(max(n, 1), 100)) {
		if c.style.Word(cascade.Visibility) == "collapse" || c.style.Hidden {
			if t.collapsed == nil {
				t.collapsed = map[int]bool{}
			}
			t.collapsed[len(t.columns)] = true
		}
		size := -1.0
		if w, ok := c.style.Length(cascade.Width, t.b.w); ok {
			size = w
		}
		t.columns = append(t.columns, track{size: size, share: -1})
	}
}

func span(c *box) int {
	if c.node == nil {
		return 1
	}
	n, _ := pixelAttribute(c.node, "colspan")
	return int(min(max(n, 1), 100))
}

// widths computes the widths of the columns from those of the cells.
func (t *tableBox) widths(width float64) {
	fixed := len(t.columns)
	t.said = fixed
	narrow, wide := make([]float64, fixed), make([]float64, fixed)
	for _, r := range t.rows {
		at := 0
		for _, c := range r.cells {
			column := at
			at += span(c)
			for at > len(t.columns) && len(t.columns) < 1_000 {
				t.columns, narrow, wide = append(t.columns, track{size: -1, share: -1}), append(narrow, 0), append(wide, 0)
			}
			if column >= len(t.columns) {
				break
			}
			n, w := t.l.measure(c)
			if size, ok := c.style.Length(cascade.Width, width); ok && span(c) == 1 {
				t.columns[column].size = max(t.columns[column].size, size)
			}
			if span(c) == 1 {
				narrow[column], wide[column] = max(narrow[column], n), max(wide[column], w)
			}
		}
	}
	if _, ok := t.b.style.Length(cascade.Width, width); ok && t.b.style.Word(cascade.TableLayout) == "fixed" {
		t.fixedWidths(width)
		return
	}
	sum, least, known := 0.0, 0.0, 0.0
	for i := range t.columns {
		if size := t.columns[i].size; size >= 0 {
			wide[i] = max(size, narrow[i])
			known += wide[i]
		}
		sum += wide[i]
		least += narrow[i]
	}
	room := width - t.spacing*float64(len(t.columns)+1)
	x := t.b.border.left + t.b.pad.left + t.spacing
	for i := range t.columns {
		size := wide[i]
		switch {
		case sum > room && sum > least:
			size = narrow[i] + (wide[i]-narrow[i])*max(room-least, 0)/(sum-least)
		case sum < room && t.columns[i].size < 0 && sum > known:
			size += (room - sum) * wide[i] / (sum - known)
		case sum < room && sum == known && sum > 0:
			size += (room - sum) * wide[i] / sum
		}
		t.columns[i] = track{at: x, size: size}
		x += size + t.spacing
	}
}

// fixedWidths computes the widths of the columns from what they and the cells of the first row say. What is in the cells does not matter.
func (t *tableBox) fixedWidths(width float64) {
	sizes := make([]float64, len(t.columns))
	for i := range sizes {
		if sizes[i] = -1; i < t.said {
			sizes[i] = t.columns[i].size
		}
	}
	at := 0
	for _, c := range t.firstCells() {
		for i := at; i < min(at+span(c), len(sizes)); i++ {
			if size, ok := c.style.Length(cascade.Width, width); ok && sizes[i] < 0 {
				sizes[i] = c.outerSize(size, c.across()) / float64(span(c))
			}
		}
		at += span(c)
	}
	room, known, open := width-t.spacing*float64(len(sizes)+1), 0.0, 0.0
	for _, size := range sizes {
		if known += max(size, 0); size < 0 {
			open++
		}
	}
	x := t.b.border.left + t.b.pad.left + t.spacing
	for i, size := range sizes {
		switch {
		case size < 0:
			size = max(room-known, 0) / open
		case open == 0 && known > 0 && known < room:
			size *= room / known
		}
		t.columns[i] = track{at: x, size: size}
		x += size + t.spacing
	}
}

func (t *tableBox) firstCells() []*box {
	if len(t.rows) == 0 {
		return nil
	}
	return t.rows[0].cells
}

// row lays out a row, which gets some more height.
func (t *tableBox) row(one *tableRow, more float64) {
	r := one.b
	if !one.done {
		r.edges(t.b.w)
		r.h = 0
		at := 0
		for _, c := range one.cells {
			column, last := at, min(at+span(c), len(t.columns))-1
			if at += span(c); last < column {
				continue
			}
			c.edges(t.b.w)
			if c.node != nil && (c.node.DataAtom == atom.Td || c.node.DataAtom == atom.Th) && c.style.Get(cascade.PaddingLeft) == nil {
				c.pad = edges{1, 1, 1, 1}
			}
			if c != r {
				c.x = t.columns[column].at - t.b.border.left - t.b.pad.left
			}
			c.w = t.columns[last].at + t.columns[last].size - t.columns[column].at
			c.collapsed = t.collapsed[column]
			t.l.content(c, math.NaN(), nil, 0, 0)
			r.h = max(r.h, c.h)
		}
		if n, ok := r.style.Length(cascade.Height, math.NaN()); ok {
			r.h = max(r.h, n)
		}
	}
	r.h += more
	if r.style.Word(cascade.Visibility) == "collapse" || r.up != t.b && r.up.style.Word(cascade.Visibility) == "collapse" {
		r.collapsed, r.h = true, 0
		return
	}
	for _, c := range one.cells {
		if c == r {
			continue
		}
		rest := r.h - c.h
		c.y = 0
		shift := 0.0
		switch c.style.Word(cascade.VerticalAlign) {
		case "top", "baseline":
		case "bottom":
			shift = rest
		case "middle":
			shift = rest / 2
		default:
			if c.node != nil && (c.node.DataAtom == atom.Td || c.node.DataAtom == atom.Th) {
				shift = rest / 2
			}
		}
		if shift > 0 {
			t.l.shift(c, shift)
		}
		c.h = r.h
	}
}

// shift moves what is in a box down.
func (l *layout) shift(b *box, by float64) {
	for c := b.first; c != nil; c = c.next {
		if c.kind == inlineBox {
			l.shift(c, by)
			continue
		}
		c.y += by
	}
}
