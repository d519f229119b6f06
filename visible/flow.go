package visible

import (
	"math"
	"strings"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

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

// layout places boxes by the visual formatting model of CSS 2.2, sections 9 and 10. Each box is laid out once, so the
// work grows with the page.
type layout struct {
	fragments []fragment
	pieces    []piece
	pictures  map[string]*picture // by their addresses
	clamp     *int                // how many lines are still shown; nil if all are
	holders   []*box              // the boxes that contain some that are out of the flow
}

// fragment is the part of a text that is on one line.
type fragment struct {
	x, y, w, h float64 // from the origin of the box of the text
	from, to   int     // bytes of the text
	first      bool    // the line is the first of its block
	vertical   bool
}

// flow is the state of filling a block with blocks and lines.
type flow struct {
	l           *layout
	b           *box
	left, width float64 // of the content
	y, margin   float64 // where the next line or block goes, and the margin before it that is not yet applied
	begun       bool    // something is in the block
	*floats
	dx, dy float64 // from the origin of the floats to that of the block

	open, space   bool    // the line holds something, and white space is before what comes next
	breaks, broke bool    // the line may end before what comes next, or could have ended before it
	x, start, end float64 // where the next piece goes, and the ends of the line
	height        float64 // of the line
	pieces        []piece
	lines         int // so far
	indent        float64
}

// piece is a part of a line: a fragment, or a box that is not broken.
type piece struct {
	b  *box
	at int // of the fragment
}

// isTaken reports whether a box is out of the flow.
func (b *box) isTaken() bool {
	position := b.style.Word(cascade.Position)
	return (position == "absolute" || position == "fixed") && !b.isPage()
}

func (b *box) floatsTo() string {
	switch b.style.Word(cascade.Float) {
	case "left", "inline-start":
		return "left"
	case "right", "inline-end":
		return "right"
	}
	return ""
}

// isContext reports whether a box is a formatting context of its own, which no float outside gets into.
func (b *box) isContext() bool {
	st := b.style
	return b.isPage() && b.node == nil || b.turns() || st.Display != "block" && st.Display != "list-item" || scrolls(st.Word(cascade.OverflowX)) || scrolls(st.Word(cascade.OverflowY)) || b.isTaken() || b.floatsTo() != "" || b.flexible ||
		b.contains("layout", "content", "strict", "paint") || st.Get(cascade.Columns) != nil
}

func (b *box) contains(words ...string) bool {
	have := b.style.Word(cascade.Contain)
	if have == "" {
		return false
	}
	for _, word := range words {
		if strings.Contains(" "+have+" ", " "+word+" ") {
			return true
		}
	}
	return false
}

func scrolls(overflow string) bool { return clips(overflow) && overflow != "clip" }

func clips(overflow string) bool { return overflow != "" && overflow != "visible" }

func (b *box) isInline() bool {
	switch b.kind {
	case textBox, breakBox, inlineBox:
		return true
	case atomBox:
		return b.style.Display == "inline" || strings.HasPrefix(b.style.Display, "inline-")
	}
	return strings.HasPrefix(b.style.Display, "inline-")
}

// firstBlock returns the box whose margin joins the upper margin of b.
func (b *box) firstBlock() *box {
	if b.isContext() || b.border.top > 0 || b.pad.top > 0 || b.kind != blockBox {
		return nil
	}
	for c := b.first; c != nil; c = c.next {
		if c.kind == textBox && isBlank(c.node.Data) || c.kind != textBox && (c.isTaken() || c.floatsTo() != "") {
			continue
		}
		if c.isInline() {
			return nil
		}
		return c
	}
	return nil
}

func isBlank(s string) bool { return strings.Trim(s, dom.Blanks) == "" }

// upper returns the margin above a box, joined with that of its content.
func (b *box) upper(width float64) float64 {
	if b.above == b.above {
		return b.above
	}
	b.edges(width)
	b.above = b.margin.top
	if c := b.firstBlock(); c != nil {
		b.above = join(b.above, c.upper(width))
	}
	return b.above
}

// join joins two margins by CSS 2.2, section 8.3.1.
func join(a, b float64) float64 {
	switch {
	case a >= 0 && b >= 0:
		return max(a, b)
	case a < 0 && b < 0:
		return min(a, b)
	}
	return a + b
}

// content lays out what is in a box whose width is known, and computes its height. height is the height of the block
// around it, NaN if it depends on its content.
func (l *layout) content(b *box, height float64, fl *floats, dx, dy float64) {
	st := b.style
	if n, ok := st.Length(cascade.Height, height); ok && b.tall != b.tall {
		b.tall = max(0, b.outerSize(n, b.down())-b.down())
	}
	if ratio, ok := st.Length(cascade.AspectRatio, 1); ok && b.tall != b.tall && ratio > 0 {
		b.tall = max(0, b.w-b.across()) / ratio
	}
	if n, ok := st.Length(cascade.MaxHeight, height); ok && b.tall > b.outerSize(n, b.down())-b.down() {
		b.tall = max(0, b.outerSize(n, b.down())-b.down())
	}
	inside := 0.0
	if b.turns() {
		inside = l.vertical(b)
	} else {
		inside = l.inside(b, fl, dx, dy)
	}
	if b.tall == b.tall && strings.HasSuffix(st.Display, "table") {
		inside = max(inside, b.tall) // a table is as high as its rows
	} else if b.tall == b.tall {
		inside = b.tall
	} else if b.contains("size", "strict") {
		inside = 0
	}
	b.h = inside + b.down()
	if n, ok := st.Length(cascade.MaxHeight, height); ok {
		b.h = min(b.h, b.outerSize(n, b.down()))
	}
	if n, ok := st.Length(cascade.MinHeight, height); ok {
		b.h = max(b.h, b.outerSize(n, b.down()))
	}
}

// inside lays out what is in a box, and returns its height.
func (l *layout) inside(b *box, fl *floats, dx, dy float64) float64 {
	switch display := b.style.Display; {
	case b.kind == atomBox:
		_, h := l.natural(b)
		return h
	case strings.HasSuffix(display, "flex"):
		return l.flexBox(b)
	case strings.HasSuffix(display, "grid"):
		return l.grid(b)
	case strings.HasSuffix(display, "table"):
		return l.table(b)
	}
	return l.fill(b, fl, dx, dy)
}

// fill lays out blocks and lines, and returns their height.
func (l *layout) fill(b *box, fl *floats, dx, dy float64) float64 {
	f := flow{l: l, b: b, left: b.border.left + b.pad.left, width: b.w - b.across(), y: b.border.top + b.pad.top, floats: fl, dx: dx, dy: dy}
	context := b.isContext()
	if context || fl == nil {
		f.floats, f.dx, f.dy = &floats{}, 0, 0
	}
	columns := 1.0
	if n, ok := b.style.Length(cascade.Columns, 1); ok && n > 1 {
		columns = min(n, 20)
		f.width /= columns
	}
	if n, ok := b.style.Length(cascade.LineClamp, 1); ok && n >= 1 && strings.Contains(b.style.Display, "-box") {
		was, lines := l.clamp, int(n)
		l.clamp = &lines
		defer func() { l.clamp = was }()
	}
	f.indent = b.style.Indent(f.width)
	f.pieces, l.pieces = l.pieces[:0], nil
	f.children(b)
	f.endLine()
	l.pieces = f.pieces
	inside := f.y - b.border.top - b.pad.top
	switch {
	case context:
		inside = max(inside+f.margin, f.clear(0, true, true)-b.border.top-b.pad.top)
	case b.border.bottom > 0 || b.pad.bottom > 0:
		inside += f.margin
	default:
		b.below = join(b.margin.bottom, f.margin)
	}
	if columns > 1 {
		l.columns(b, inside, columns, f.width)
		inside /= columns
	}
	return max(inside, 0)
}

// columns moves what does not fit into the first column to the next ones. A box that is not higher than a column moves as
// a whole, with its ground.
func (l *layout) columns(b *box, height, columns, width float64) {
	most := height / columns
	if b.tall == b.tall && b.tall > 0 {
		most = b.tall
	}
	var move func(b *box, y float64)
	move = func(b *box, y float64) {
		for c := b.first; c != nil; c = c.next {
			for i := c.from; i < c.to; i++ {
				fr := &l.fragments[i]
				at := math.Floor((y + fr.y + fr.h/2) / most)
				fr.x, fr.y = fr.x+at*width, fr.y-at*most
			}
			if c.kind == blockBox && c.h > 0 && c.h <= most && !c.isTaken() {
				at := max(math.Floor((y+c.y+c.h/2)/most), 0)
				c.x, c.y = c.x+at*width, c.y-at*most
			} else {
				move(c, y+c.y)
			}
		}
	}
	move(b, -b.border.top-b.pad.top)
}

// children adds the children of a box to the block.
func (f *flow) children(b *box) {
	for c := b.first; c != nil; c = c.next {
		switch {
		case c.kind == textBox:
			f.text(c)
		case c.kind == breakBox:
			f.breakLine(c.style)
			f.below(c.style)
		case c.isTaken():
			c.x, c.y = f.x, f.y
			if !f.open {
				c.x, c.y = f.left, f.y+f.margin
			} else if !c.wasInline() {
				c.x, c.y = f.left, f.y+f.height
			}
			f.l.hold(c)
		case c.floatsTo() != "":
			f.float(c)
		case c.kind == inlineBox:
			f.inline(c)
		case c.isInline():
			f.atom(c)
		default:
			f.block(c)
		}
	}
}

// wasInline reports whether a box that is taken out of the flow would be in a line.
func (b *box) wasInline() bool {
	return b.node == nil || dom.IsInline(b.node.DataAtom)
}

func (f *flow) inline(c *box) {
	c.edges(f.width)
	c.h = c.style.Line
	if at := c.margin.left + c.border.left + c.pad.left; at != 0 {
		f.begin()
		f.x += at
	}
	f.children(c)
	f.x += c.margin.right + c.border.right + c.pad.right
}

// begin begins a line if none is open.
func (f *flow) begin() {
	if f.open {
		return
	}
	f.y += f.margin
	f.margin, f.begun, f.open, f.space, f.breaks, f.broke = 0, true, true, false, false, false
	f.edgesOfLine(f.b.style.Line)
	f.x = f.start
	switch {
	case f.lines > 0:
	case f.b.style.Leftward:
		f.end -= f.indent
	default:
		f.x += f.indent
	}
	f.height = f.b.style.Line
}

func (f *flow) edgesOfLine(height float64) {
	f.start, f.end = f.bounds(f.y+f.dy, max(height, 1), f.left+f.dx, f.left+f.width+f.dx)
	f.start, f.end = f.start-f.dx, f.end-f.dx
}

// endLine places the pieces of the line and begins a new one.
func (f *flow) endLine() {
	if !f.open {
		return
	}
	f.lines++
	away := false
	if f.l.clamp != nil {
		*f.l.clamp--
		away = *f.l.clamp < 0
	}
	rest := f.end - f.x
	shift := 0.0
	switch align := f.b.style.Align; {
	case strings.HasSuffix(align, "center"):
		shift = max(rest/2, 0)
	case strings.HasSuffix(align, "right"), align == "end" && !f.b.style.Leftward, f.b.style.Leftward && (align == "" || align == "start"):
		shift = rest
	}
	lift, drop := 0.0, 0.0
	for _, p := range f.pieces {
		up := p.b.raised()
		lift, drop = max(lift, up), max(drop, -up)
	}
	f.y += lift
	for _, p := range f.pieces {
		if p.b.kind == textBox {
			fr := &f.l.fragments[p.at]
			fr.x += shift
			fr.y = f.y + (f.height-fr.h)/2 - p.b.raised() + p.b.style.Lowered()
			if away {
				fr.y += hiddenAway
			}
			continue
		}
		p.b.x += shift
		p.b.y = f.y + f.height - p.b.h - p.b.margin.bottom
	}
	f.pieces, f.open = f.pieces[:0], false
	if !away {
		f.y += f.height + drop
	}
	f.space = false
}

// raised returns how far the elements around a text raise it above its line.
func (b *box) raised() (up float64) {
	for in := b.up; b.kind == textBox && in.kind == inlineBox; in = in.up {
		if n, ok := in.style.Length(cascade.VerticalAlign, in.style.Line); ok {
			up += n
		}
	}
	return up
}

// hiddenAway is how far down lines are moved that are not shown.
const hiddenAway = 1e7

func (f *flow) breakLine(st *cascade.Style) {
	f.begin()
	f.height = max(f.height, st.Line)
	f.endLine()
}

// below moves what follows a line break below the floats that its style clears.
func (f *flow) below(st *cascade.Style) {
	if clear := st.Word(cascade.Clear); clear != "" && clear != "none" {
		f.y = max(f.y, f.clear(-math.MaxFloat64, clear != "right" && clear != "inline-end", clear != "left" && clear != "inline-start")-f.dy)
	}
}

// text adds a text to the lines.
func (f *flow) text(t *box) {
	st, s := t.up.style, t.node.Data
	t.style = st
	t.from = len(f.l.fragments)
	size, blank := st.FontSize, st.Blank()
	for i := 0; i < len(s); {
		switch {
		case st.Lines && s[i] == '\n':
			f.breakLine(st)
			i++
		case st.Lines && s[i] == '\t':
			f.begin()
			f.x = f.start + nextTab(f.x-f.start, st)
			i++
		case dom.IsSpace(s[i]):
			f.space = f.open
			if i++; st.Lines && f.open {
				f.x += blank
			}
		default:
			to, w := word(s, i, size, st.Spacing)
			f.word(t, i, to, w, blank)
			i, f.breaks = to, to < len(s)
		}
	}
	t.to = len(f.l.fragments)
}

// fit computes the width of a box that is as wide as its content, in a block of that width.
func (f *flow) fit(c *box, width float64) {
	f.l.shrink(c, width, width)
}

// block adds a block.
func (f *flow) block(c *box) {
	f.endLine()
	above := c.upper(f.width)
	if clear := c.style.Word(cascade.Clear); clear != "" && clear != "none" {
		if y := f.clear(-math.MaxFloat64, clear != "right" && clear != "inline-end", clear != "left" && clear != "inline-start") - f.dy; y > f.y+join(f.margin, above) {
			f.y, f.margin, above = y, 0, 0
			f.begun = true
		}
	}
	gap := join(f.margin, above)
	if !f.begun && f.b.firstBlock() == c {
		gap = f.margin // the margin is above the block around it
	}
	y := f.y + gap
	left, right := f.left, f.left+f.width
	f.stretch(c, left, right)
	if c.isContext() && len(f.list) > 0 { // it is beside the floats, or below them
		if _, fixed := c.style.Length(cascade.Width, f.width); fixed || c.kind == atomBox {
			y = f.room(y, c.w+c.margin.left+c.margin.right)
		} else {
			y = f.room(y, 40)
		}
		left, right = f.bounds(y+f.dy, 1, left+f.dx, right+f.dx)
		f.stretch(c, left-f.dx, right-f.dx)
	}
	c.y = y
	f.l.content(c, f.b.tall, f.floats, f.dx+c.x, f.dy+c.y)
	below := c.margin.bottom
	if c.below == c.below {
		below = c.below
	}
	if c.h == 0 && c.border.top == 0 && c.pad.top == 0 { // its margins join
		f.margin = join(gap, below)
		if !f.begun && f.b.firstBlock() == c {
			f.margin = max(0, below)
		}
		return
	}
	f.y, f.margin, f.begun = y+c.h, below, true
}

// stretch computes the width and the place of a block between two edges.
func (f *flow) stretch(c *box, left, right float64) {
	width := right - left
	w, fixed := c.style.Length(cascade.Width, f.width)
	switch {
	case c.isPage():
		if c.margin.left < 0 || c.margin.left > width/2 {
			c.margin.left, c.margin.right = 0, 0
		}
		w = width - c.margin.left - c.margin.right
	case fixed:
		w = c.outerSize(w, c.across())
	case c.kind == atomBox:
		w, _ = f.l.natural(c)
		w += c.across()
	case strings.HasSuffix(c.style.Display, "table"):
		f.l.shrink(c, width, f.width)
		w = c.w
	case c.style.Word(cascade.Width) == "max-content" || c.style.Word(cascade.Width) == "fit-content" || c.style.Word(cascade.Width) == "min-content":
		narrow, wide := f.l.measure(c)
		w = min(max(narrow, width), wide)
	default:
		w = width - c.margin.left - c.margin.right
	}
	c.w = c.limited(w, f.width)
	c.x = left + c.margin.left
	rest := width - c.w - c.margin.left - c.margin.right
	isAuto := func(p cascade.Property) bool { return c.style.Word(p) == "auto" }
	switch {
	case rest <= 0:
		if f.b.style.Leftward {
			c.x += rest
		}
	case isAuto(cascade.MarginLeft) && isAuto(cascade.MarginRight), f.b.style.Align == "-webkit-center":
		c.x += rest / 2
	case isAuto(cascade.MarginLeft), f.b.style.Leftward:
		c.x += rest
	}
}
