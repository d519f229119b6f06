package visible

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"familiar/visible/internal/cascade"
)

// items returns the boxes in the flow of a flexible box or a grid, in their order. Texts that are no items of their own
// count as one. It takes the others out of the flow.
func (l *layout) items(b *box) (all []*box) {
	ordered := false
	for c := b.first; c != nil; c = c.next {
		switch {
		case c.kind == textBox:
			if !isBlank(c.node.Data) {
				all = append(all, l.wrapped(c))
			}
		case c.kind == breakBox:
		case c.isTaken():
			c.x, c.y = b.border.left+b.pad.left, b.border.top+b.pad.top
			l.hold(c)
		default:
			if c.kind == inlineBox {
				c.kind = blockBox
			}
			c.flexible = true
			all = append(all, c)
			ordered = ordered || c.style.Get(cascade.Order) != nil
		}
	}
	if ordered {
		slices.SortStableFunc(all, func(a, b *box) int {
			return int(a.style.Number(cascade.Order, 0) - b.style.Number(cascade.Order, 0))
		})
	}
	return all
}

// wrapped puts a text into a block without a style of its own.
func (l *layout) wrapped(text *box) *box {
	st := *text.up.style
	st.Strip()
	nan := math.NaN()
	b := &box{style: &st, up: text.up, first: text, last: text, next: text.next, tall: nan, above: nan, below: nan, narrow: nan, wide: nan, flexible: true}
	for c := text.up.first; c != nil; c = c.next {
		if c.next == text {
			c.next = b
		}
	}
	if text.up.first == text {
		text.up.first = b
	}
	if text.up.last == text {
		text.up.last = b
	}
	text.up, text.next = b, nil
	return b
}

// aligned returns how much of the free room is before something.
func aligned(word string, free float64) float64 {
	switch {
	case strings.Contains(word, "center"), strings.HasPrefix(word, "space-around"), strings.HasPrefix(word, "space-evenly"):
		return free / 2
	case strings.Contains(word, "end"), word == "right":
		return free
	}
	return 0
}

// across returns the alignment of an item.
func (b *box) alignment(in *box) string {
	if word := b.style.Word(cascade.AlignSelf); word != "" && word != "auto" {
		return word
	}
	if word := in.style.Word(cascade.AlignItems); word != "" {
		return word
	}
	return "stretch"
}

func isStretched(word string) bool { return word == "stretch" || word == "normal" }

// flexBox lays out a flexible box, and returns the height of its content.
func (l *layout) flexBox(b *box) float64 {
	items := l.items(b)
	left, top, width := b.border.left+b.pad.left, b.border.top+b.pad.top, b.w-b.across()
	direction := b.style.Word(cascade.FlexDirection)
	if strings.HasSuffix(direction, "reverse") {
		slices.Reverse(items)
	}
	if strings.HasPrefix(direction, "column") {
		return l.flexColumn(b, items, left, top, width)
	}
	gap := b.length(cascade.ColumnGap, width)
	wraps := strings.HasPrefix(b.style.Word(cascade.FlexWrap), "wrap")
	sizes := make([]float64, len(items))
	for i, c := range items {
		c.edges(width)
		sizes[i] = l.flexBasis(c, width) + c.margin.left + c.margin.right
	}
	y, lines := top, 0
	for from := 0; from < len(items); lines++ {
		to, sum := from, 0.0
		for to < len(items) && (to == from || !wraps || sum+gap+sizes[to] <= width+.01) {
			if to > from {
				sum += gap
			}
			sum += sizes[to]
			to++
		}
		if from > 0 {
			y += b.length(cascade.RowGap, width)
		}
		y += l.flexLine(b, items[from:to], sizes[from:to], left, y, width, sum, gap, to-from == len(items))
		from = to
	}
	return y - top
}

// flexBasis returns the width that an item of a row has before it grows or shrinks.
func (l *layout) flexBasis(c *box, width float64) float64 {
	basis, ok := c.style.Length(cascade.FlexBasis, width)
	if !ok {
		basis, ok = c.style.Length(cascade.Width, width)
	}
	if ok {
		return c.limited(c.outerSize(basis, c.across()), width)
	}
	if c.kind == atomBox {
		w, _ := l.natural(c)
		return c.limited(w+c.across(), width)
	}
	_, wide := l.measure(c)
	c.edges(width)
	return c.limited(wide-c.margin.left-c.margin.right, width)
}

// flexLine lays out one line of a flexible box, and returns its height.
func (l *layout) flexLine(b *box, items []*box, sizes []float64, left, y, width, sum, gap float64, only bool) float64 {
	grow, shrink := 0.0, 0.0
	for i, c := range items {
		grow += max(c.style.Number(cascade.FlexGrow, 0), 0)
		shrink += max(c.style.Number(cascade.FlexShrink, 1), 0) * sizes[i]
	}
	free := width - sum
	for i, c := range items {
		switch {
		case free > 0 && grow > 0:
			sizes[i] += free * max(c.style.Number(cascade.FlexGrow, 0), 0) / max(grow, 1)
		case free < 0 && shrink > 0:
			least := 0.0
			if !clips(c.style.Word(cascade.OverflowX)) && c.style.Get(cascade.MinWidth) == nil {
				narrow, _ := l.measure(c)
				c.edges(width)
				least = min(narrow, sizes[i])
			}
			sizes[i] = max(sizes[i]+free*max(c.style.Number(cascade.FlexShrink, 1), 0)*sizes[i]/shrink, least)
		}
		c.w = c.limited(sizes[i]-c.margin.left-c.margin.right, width)
	}
	sum = gap * float64(len(items)-1)
	autos := 0.0
	for _, c := range items {
		sum += c.w + c.margin.left + c.margin.right
		for _, p := range [...]cascade.Property{cascade.MarginLeft, cascade.MarginRight} {
			if c.style.Word(p) == "auto" {
				autos++
			}
		}
	}
	free = width - sum
	word, between := b.style.Word(cascade.JustifyContent), 0.0
	x := left
	switch {
	case autos > 0 && free > 0:
	case strings.HasPrefix(word, "space-between"):
		between = max(free, 0) / max(float64(len(items)-1), 1)
	case b.style.Leftward && (word == "" || strings.Contains(word, "start")):
		x += free
	case strings.HasPrefix(word, "space") && free < 0:
	case strings.HasPrefix(word, "space"):
		between = free / float64(len(items)+1)
		x += between
	default:
		x += aligned(word, free)
	}
	height := 0.0
	for _, c := range items {
		l.content(c, b.tall, nil, 0, 0)
		height = max(height, c.h+c.margin.top+c.margin.bottom)
		x += c.margin.left
		if autos > 0 && free > 0 && c.style.Word(cascade.MarginLeft) == "auto" {
			x += free / autos
		}
		c.x = x
		x += c.w + c.margin.right + gap + between
		if autos > 0 && free > 0 && c.style.Word(cascade.MarginRight) == "auto" {
			x += free / autos
		}
	}
	if only && b.tall == b.tall {
		height = b.tall
	}
	for _, c := range items {
		c.y = y + c.margin.top
		word := c.alignment(b)
		if rest := height - c.h - c.margin.top - c.margin.bottom; isStretched(word) && c.style.Get(cascade.Height) == nil {
			c.h += max(rest, 0)
		} else {
			c.y += aligned(word, rest)
		}
	}
	return height
}

// flexColumn lays out a flexible box whose items are below each other.
func (l *layout) flexColumn(b *box, items []*box, left, top, width float64) float64 {
	gap := b.length(cascade.RowGap, width)
	sum, grow, shrink := 0.0, 0.0, 0.0
	for i, c := range items {
		c.edges(width)
		word := c.alignment(b)
		if _, ok := c.style.Length(cascade.Width, width); ok || !isStretched(word) || c.kind == atomBox {
			l.shrink(c, width, width)
		} else {
			c.w = c.limited(width-c.margin.left-c.margin.right, width)
		}
		if n, ok := c.style.Length(cascade.FlexBasis, b.tall); ok && (n > 0 || c.style.Number(cascade.FlexGrow, 0) == 0) {
			c.tall = max(0, c.outerSize(n, c.down())-c.down())
		}
		l.content(c, b.tall, nil, 0, 0)
		c.x = left + c.margin.left
		if rest := width - c.w - c.margin.left - c.margin.right; c.style.Word(cascade.MarginLeft) == "auto" {
			c.x += rest / 2
		} else if !isStretched(word) {
			c.x += aligned(word, rest)
		}
		if i > 0 {
			sum += gap
		}
		sum += c.h + c.margin.top + c.margin.bottom
		grow += c.style.Number(cascade.FlexGrow, 0)
		if clips(c.style.Word(cascade.OverflowY)) {
			shrink += c.style.Number(cascade.FlexShrink, 1) * c.h
		}
	}
	free := 0.0
	if b.tall == b.tall {
		free = b.tall - sum
	}
	for _, c := range items {
		switch {
		case free > 0 && grow > 0:
			c.h += free * c.style.Number(cascade.FlexGrow, 0) / max(grow, 1)
		case free < 0 && shrink > 0 && clips(c.style.Word(cascade.OverflowY)):
			c.h = max(c.h+free*c.style.Number(cascade.FlexShrink, 1)*c.h/shrink, c.down())
		}
	}
	y, between := top, 0.0
	if word := b.style.Word(cascade.JustifyContent); grow == 0 && free != 0 && !(free < 0 && shrink > 0) {
		if strings.HasPrefix(word, "space-between") {
			between = max(free, 0) / max(float64(len(items)-1), 1)
		} else {
			y += aligned(word, free)
		}
	}
	for _, c := range items {
		c.y = y + c.margin.top
		y = c.y + c.h + c.margin.bottom + gap + between
	}
	return max(y-gap-between-top, 0)
}

// track is a row or a column of a grid.
type track struct{ at, size, share float64 }

// cell is the place of an item in a grid: the first track and the one after the last, from 0.
type cell struct{ row, rowEnd, column, columnEnd int }

// grid lays out a grid, and returns the height of its content.
func (l *layout) grid(b *box) float64 {
	items := l.items(b)
	left, top, width := b.border.left+b.pad.left, b.border.top+b.pad.top, b.w-b.across()
	var columns, rows []cascade.Part
	if v := b.style.Get(cascade.GridTemplateColumns); v != nil {
		columns = v.Parts
	}
	if v := b.style.Get(cascade.GridTemplateRows); v != nil {
		rows = v.Parts
	}
	cells, across, down := placeCells(b, items, len(columns), len(rows))
	best := make([]float64, across)
	for i, c := range items {
		if cells[i].columnEnd-cells[i].column == 1 {
			_, wide := l.measure(c)
			best[cells[i].column] = max(best[cells[i].column], wide)
		}
	}
	stretches := b.style.Word(cascade.JustifyContent) == ""
	xs := tracks(columns, across, b.length(cascade.ColumnGap, width), width, best, stretches, b.style.Around(width))
	tall := make([]float64, down)
	for i, c := range items {
		room := xs[cells[i].columnEnd-1].at + xs[cells[i].columnEnd-1].size - xs[cells[i].column].at
		c.edges(room)
		if _, ok := c.style.Length(cascade.Width, room); ok || c.kind == atomBox {
			l.shrink(c, room, room)
		} else {
			c.w = c.limited(room-c.margin.left-c.margin.right, room)
		}
		c.x = left + xs[cells[i].column].at + c.margin.left
		height := math.NaN()
		if down == 1 {
			height = b.tall
		}
		l.content(c, height, nil, 0, 0)
		if cells[i].rowEnd-cells[i].row == 1 {
			tall[cells[i].row] = max(tall[cells[i].row], c.h+c.margin.top+c.margin.bottom)
		}
	}
	ys := tracks(rows, down, b.length(cascade.RowGap, width), b.tall, tall, true, b.style.Around(b.tall))
	for i, c := range items {
		last := ys[cells[i].rowEnd-1]
		room := last.at + last.size - ys[cells[i].row].at - c.margin.top - c.margin.bottom
		c.y = top + ys[cells[i].row].at + c.margin.top
		if word := c.alignment(b); isStretched(word) && c.style.Get(cascade.Height) == nil {
			c.h = max(c.h, room)
			if len(rows) > 0 {
				c.h = room
			}
		} else {
			c.y += aligned(word, room-c.h)
		}
	}
	if len(ys) == 0 {
		return 0
	}
	return ys[len(ys)-1].at + ys[len(ys)-1].size
}

// tracks computes the sizes and places of n tracks. best holds the sizes of what is in them.
func tracks(parts []cascade.Part, n int, gap, room float64, best []float64, stretches bool, around *cascade.Surroundings) []track {
	all := make([]track, n)
	shares, autos, used := 0.0, 0.0, gap*float64(max(n-1, 0))
	for i := range all {
		part := cascade.Part{Name: "auto"}
		if i < len(parts) {
			part = parts[i]
		}
		switch size := 0.0; part.Name {
		case "fr":
			all[i].share = max(part.Numbers[0].Value(around), 0)
			shares += all[i].share
			if room != room {
				all[i].size = best[i] * min(all[i].share, 1)
			}
		case "size":
			if size = part.Numbers[0].Value(around); size != size {
				size = best[i]
			}
			all[i].size = max(size, 0)
		default:
			all[i].size = best[i]
			all[i].share = -1
			autos++
		}
		used += all[i].size
	}
	free := room - used
	for i := range all {
		switch {
		case free != free:
		case all[i].share > 0 && free > 0:
			all[i].size = free * all[i].share / max(shares, 1)
		case all[i].share < 0 && shares == 0 && (free < 0 || stretches):
			all[i].size = max(0, all[i].size+free/autos)
		}
		if i > 0 {
			all[i].at = all[i-1].at + all[i-1].size + gap
		}
	}
	return all
}

// placeCells places the items of a grid, and returns how many columns and rows there are.
func placeCells(b *box, items []*box, columns, rows int) (cells []cell, across, down int) {
	areas := map[string]cell{}
	if v := b.style.Word(cascade.GridAreas); v != "" {
		for row, line := range strings.Split(strings.ReplaceAll(v, "'", `"`), `"`) {
			if row%2 == 0 {
				continue
			}
			row /= 2
			for column, name := range strings.Fields(line) {
				at, known := areas[name]
				if !known {
					at = cell{row, row, column, column}
				}
				at.rowEnd, at.columnEnd = max(at.rowEnd, row+1), max(at.columnEnd, column+1)
				areas[name] = at
				columns, rows = max(columns, column+1), max(rows, row+1)
			}
		}
	}
	across, down = max(columns, 1), max(rows, 0)
	cells = make([]cell, len(items))
	type spot struct{ row, column int }
	taken := map[spot]bool{}
	fill := func(c cell) {
		across, down = max(across, c.columnEnd), max(down, c.rowEnd)
		for r := c.row; r < c.rowEnd; r++ {
			for k := c.column; k < c.columnEnd; k++ {
				taken[spot{r, k}] = true
			}
		}
	}
	for pass := range 2 { // those with a place first
		next := spot{}
		for i, it := range items {
			at, known := areas[it.style.Word(cascade.GridArea)]
			if !known {
				row, column := it.style.Word(cascade.GridRow), it.style.Word(cascade.GridColumn)
				if area := it.style.Word(cascade.GridArea); area != "" && area != "auto" {
					parts := append(strings.Split(area, "/"), "", "", "", "")
					row, column = parts[0]+"/"+parts[2], parts[1]+"/"+parts[3]
				}
				at.row, at.rowEnd = lineRange(row, rows)
				at.column, at.columnEnd = lineRange(column, columns)
			}
			definite := at.row >= 0 && at.column >= 0
			if definite != (pass == 0) {
				continue
			}
			if !definite {
				spanDown, spanAcross := at.rowEnd, at.columnEnd
				if at.row >= 0 {
					spanDown, next.row, next.column = at.rowEnd-at.row, at.row, 0
				}
				if at.column >= 0 {
					spanAcross = at.columnEnd - at.column
				}
				spanAcross = min(spanAcross, across)
				for range 1_000 {
					if at.column >= 0 && next.column != at.column {
						if next.column > at.column {
							next.row++
						}
						next.column = at.column
					}
					if next.column+spanAcross > across && next.column > 0 {
						next.row, next.column = next.row+1, 0
						continue
					}
					if !taken[next] {
						break
					}
					next.column++
				}
				at = cell{next.row, next.row + spanDown, next.column, next.column + spanAcross}
				next.column += spanAcross
			}
			cells[i] = at
			fill(at)
		}
	}
	return cells, across, down
}

// lineRange reads the lines between which an item is. The first is -1 if it is not said, and the second is then the span.
func lineRange(text string, tracks int) (from, to int) {
	one, two, _ := strings.Cut(text, "/")
	number := func(s string) (n int, span, ok bool) {
		fields := strings.Fields(s)
		for _, field := range fields {
			if field == "span" {
				span = true
			} else if got, err := strconv.Atoi(field); err == nil && got != 0 && got > -200 && got < 200 {
				n, ok = got, true
			}
		}
		if ok && !span && n < 0 {
			n = max(tracks+2+n, 1)
		}
		return n, span, ok
	}
	a, spanA, okA := number(one)
	z, spanZ, okZ := number(two)
	switch {
	case okA && !spanA && okZ && !spanZ:
		return min(a, z) - 1, max(a, z, min(a, z)+1) - 1
	case okA && !spanA && okZ:
		return a - 1, a - 1 + max(z, 1)
	case okA && !spanA:
		return a - 1, a
	case okZ && !spanZ && z > 1:
		return max(z-1-max(a, 1), 0), z - 1
	case okA && spanA:
		return -1, max(a, 1)
	case okZ && spanZ:
		return -1, max(z, 1)
	}
	return -1, 1
}

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

// page lays out a page: first what is in the flow, and then the rest, from the outside in.
func (l *layout) page(root *box) {
	s := screen(true)
	root.w, root.tall = s.Width, s.Height
	l.content(root, s.Height, nil, 0, 0)
	for i := 0; i < len(l.holders); i++ {
		for k := 0; k < len(l.holders[i].held); k++ {
			l.taken(l.holders[i].held[k])
		}
	}
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

// area returns the box that contains positioned boxes: the padding box of a block, or what a part of a line takes up.
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
