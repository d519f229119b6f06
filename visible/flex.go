package visible

import (
	"math"
	"slices"
	"strings"

	"familiar/visible/internal/cascade"
)

// items returns the boxes in the flow of a flexible box or a grid, in their order. Texts that are not items of their own
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
	case free < 0 && (strings.HasPrefix(word, "space") || strings.HasPrefix(word, "safe")):
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

// packed returns where the items of a flexible box are along it. The words are those for a box that begins at the left or at the top.
// backward says that it begins at the other end.
func (b *box) packed(backward bool) string {
	word := b.style.Word(cascade.JustifyContent)
	switch {
	case !backward:
		return word
	case word == "", word == "normal", word == "flex-start":
		return "end"
	case word == "flex-end":
		return "start"
	}
	return word
}

func (b *box) isReversed() bool {
	return strings.HasSuffix(b.style.Word(cascade.FlexDirection), "reverse")
}

// flexBox lays out a flexible box, and returns the height of its content.
func (l *layout) flexBox(b *box) float64 {
	items := l.items(b)
	left, top, width := b.border.left+b.pad.left, b.border.top+b.pad.top, b.w-b.across()
	if strings.HasPrefix(b.style.Word(cascade.FlexDirection), "column") {
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
		if b.isReversed() != b.style.Leftward {
			slices.Reverse(items[from:to])
			slices.Reverse(sizes[from:to])
		}
		y += l.flexLine(b, items[from:to], sizes[from:to], left, y, width, sum, gap, to-from == len(items))
		from = to
	}
	if free := b.tall - (y - top); free == free && wraps {
		l.shift(b, aligned(b.style.Word(cascade.AlignContent), free))
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
	word, between := b.packed(b.isReversed() != b.style.Leftward), 0.0
	x := left
	switch {
	case autos > 0 && free > 0:
	case strings.HasPrefix(word, "space-between"):
		between = max(free, 0) / max(float64(len(items)-1), 1)
	case b.style.Leftward && (word == "start" || word == "end"):
		x += free - aligned(word, free)
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
	if b.isReversed() {
		slices.Reverse(items)
	}
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
	if word := b.packed(b.isReversed()); grow == 0 && free != 0 && !(free < 0 && shrink > 0) {
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
