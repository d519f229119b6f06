package visible

import (
	"math"
	"strconv"
	"strings"

	"familiar/visible/internal/cascade"
)

// track is a row or a column of a grid.
type track struct{ at, size, share float64 }

// cell is the place of an item in a grid. It has the first track and the one after the last, from 0.
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
	xs := tracks(columns, across, b.length(cascade.ColumnGap, width), width, best, true, stretches, b.style.Around(width))
	shift := 0.0
	if n := len(xs); n > 0 {
		shift = aligned(b.style.Word(cascade.JustifyContent), width-xs[n-1].at-xs[n-1].size)
	}
	tall := make([]float64, down)
	for i, c := range items {
		room := xs[cells[i].columnEnd-1].at + xs[cells[i].columnEnd-1].size - xs[cells[i].column].at
		c.edges(room)
		if _, ok := c.style.Length(cascade.Width, room); ok || c.kind == atomBox {
			l.shrink(c, room, room)
		} else {
			c.w = c.limited(room-c.margin.left-c.margin.right, room)
		}
		c.x = left + shift + xs[cells[i].column].at + c.margin.left
		height := math.NaN()
		if down == 1 {
			height = b.tall
		}
		l.content(c, height, nil, 0, 0)
		if cells[i].rowEnd-cells[i].row == 1 {
			tall[cells[i].row] = max(tall[cells[i].row], c.h+c.margin.top+c.margin.bottom)
		}
	}
	ys := tracks(rows, down, b.length(cascade.RowGap, width), b.tall, tall, false, b.style.Word(cascade.AlignContent) == "", b.style.Around(b.tall))
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
	height := ys[len(ys)-1].at + ys[len(ys)-1].size
	if free := b.tall - height; free == free {
		l.shift(b, aligned(b.style.Word(cascade.AlignContent), free))
	}
	return height
}

// tracks computes the sizes and places of n tracks. best holds the sizes of what is in them. Those without a size may shrink and stretch.
func tracks(parts []cascade.Part, n int, gap, room float64, best []float64, shrinks, stretches bool, around *cascade.Surroundings) []track {
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
		case all[i].share < 0 && shares == 0 && (free < 0 && shrinks || free > 0 && stretches):
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
