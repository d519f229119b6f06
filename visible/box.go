package visible

import (
	"math"
	"strings"

	"golang.org/x/net/html"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// box is the place of an element as if nothing came before it. Without setting text, one can compute widths, and what is
// moved out of sight. One cannot compute heights, and how far down a paragraph is.
type box struct {
	x, y          float64   // of its content, in pixels
	width, height float64   // of its content; the height is NaN if it depends on the content
	view          rectangle // what is outside is not shown
	placed        bool      // y does not depend on the content before it
	noLines       bool      // it is as high as its lines, and cuts off the rest
	own           float64   // the width of its text in one line, in pixels; 0 until it is needed
}

type rectangle struct{ left, top, right, bottom float64 }

// Distances in pixels beyond which a person does not scroll.
const (
	farDown  = 3_000
	farUp    = 500 // above an element, if content may come before it
	farStray = 1_000
)

func screenBox() box {
	s := screen(true)
	return box{width: s.Width, height: s.Height, placed: true, view: rectangle{0, math.Inf(-1), s.Width, math.Inf(1)}}
}

// letterWidth is the average width of a letter, as a part of the font size.
const letterWidth = .55

// extent estimates the width of an element's text in one line.
func (f *frame) extent() float64 {
	if f.box.own == 0 {
		f.box.own = max(1, float64(measured(f.style.Node))*letterWidth*f.style.FontSize)
	}
	return f.box.own
}

// measured counts the characters of an element, up to a limit.
func measured(n *html.Node) int {
	total := 0
	for c := n.FirstChild; c != nil && total < 4_000; c = c.NextSibling {
		if c.Type == html.TextNode {
			total += dom.Letters(c.Data)
		} else if c.Type == html.ElementNode {
			total += measured(c)
		}
	}
	return total
}

// place computes the box of an element inside the box of in.
func (f *frame) place(in *frame, inline bool) {
	st := &f.style
	f.box = in.box
	f.box.own, f.box.noLines = 0, in.box.noLines
	f.box.placed = in.box.placed && isFirst(st.Node)
	position := st.Word(cascade.Position)
	around := in
	switch position {
	case "absolute":
		around = in.hosts
	case "fixed":
		if around = in.pinned; around == nil {
			around = &frame{box: screenBox()}
			around.box.view.top, around.box.view.bottom = 0, around.box.height
		}
	}
	taken := around != in || position == "absolute"
	if taken {
		f.box.view, f.box.noLines = around.box.view, false
	}
	width := around.box.width
	length := func(p cascade.Property) float64 {
		n, _ := st.Length(p, width)
		return n
	}
	if f.thin = in.thin && !taken; !inline {
		f.size(in, around, taken)
		_, wide := st.Length(cascade.Width, width)
		f.thin = f.thin || wide && f.box.width <= 1 && f.box.height <= 1 && st.Word(cascade.OverflowX) != "visible"
	}
	if float := st.Word(cascade.Float); !taken && (float == "right" || float == "inline-end") {
		f.box.x += width - f.box.width - length(cascade.MarginRight)
	} else {
		f.box.x += length(cascade.MarginLeft)
	}
	f.box.y += length(cascade.MarginTop)
	if !inline {
		f.box.x += length(cascade.PaddingLeft)
		f.box.y += length(cascade.PaddingTop)
	}
	switch {
	case taken:
		f.offset(around)
	case position == "relative", position == "sticky":
		f.shift(around)
	}
	if st.Positions {
		f.hosts = f
	}
}

// isFirst reports whether an element is the first content of the element around it.
func isFirst(n *html.Node) bool {
	for c := n.PrevSibling; c != nil; c = c.PrevSibling {
		if c.Type == html.ElementNode && !isMachine(c) || c.Type == html.TextNode && strings.TrimSpace(c.Data) != "" {
			return false
		}
	}
	return true
}

// size computes the width and the height.
func (f *frame) size(in, around *frame, taken bool) {
	st := &f.style
	width, height := around.box.width, around.box.height
	side := func(p cascade.Property) float64 { n, _ := st.Length(p, width); return n }
	padding := side(cascade.PaddingLeft) + side(cascade.PaddingRight)
	paddingDown := side(cascade.PaddingTop) + side(cascade.PaddingBottom)
	if st.Word(cascade.BoxSizing) != "border-box" {
		padding, paddingDown = 0, 0
	}
	f.box.height = math.NaN()
	if n, ok := st.Length(cascade.Height, height); ok {
		f.box.height = max(0, n-paddingDown)
	}
	f.box.width = f.wide(width, padding, taken)
	if strings.HasSuffix(in.style.Display, "flex") && !taken {
		f.flexible(in)
	}
	if strings.HasSuffix(in.style.Display, "grid") && !taken {
		column, row := gridTracks(in, st.Node)
		if column && clips(st.Word(cascade.OverflowX)) {
			f.box.width = 0
		}
		if row && clips(st.Word(cascade.OverflowY)) {
			f.box.height = 0
		}
	}
	f.limit(width, height, padding, paddingDown)
}

// wide computes the width before limits, inside a box of a given width. padding is the part of it that is not content.
func (f *frame) wide(width, padding float64, taken bool) float64 {
	st := &f.style
	side := func(p cascade.Property) float64 { n, _ := st.Length(p, width); return n }
	if w, fixed := st.Length(cascade.Width, width); fixed {
		return max(0, w-padding)
	}
	left, hasLeft := st.Length(cascade.Left, width)
	right, hasRight := st.Length(cascade.Right, width)
	float := st.Word(cascade.Float)
	if taken && !(hasLeft && hasRight) || float == "left" || float == "right" || strings.HasPrefix(st.Display, "inline-") {
		return min(f.extent(), max(width, 100)) // as wide as its text
	}
	w := width - side(cascade.MarginLeft) - side(cascade.MarginRight) - side(cascade.PaddingLeft) - side(cascade.PaddingRight)
	if taken {
		w -= left + right
	}
	return w
}

// limit applies the minimum and maximum width and height.
func (f *frame) limit(width, height, padding, paddingDown float64) {
	st := &f.style
	w := f.box.width
	if n, ok := st.Length(cascade.MaxWidth, width); ok {
		w = min(w, max(0, n-padding))
	}
	if n, ok := st.Length(cascade.MinWidth, width); ok {
		w = max(w, n-padding)
	}
	f.box.width = max(w, 0)
	if n, ok := st.Length(cascade.MaxHeight, height); ok {
		if n = max(0, n-paddingDown); f.box.height != f.box.height || f.box.height > n {
			f.box.height = n
		}
	}
	if contain := st.Word(cascade.Contain); strings.Contains(contain, "strict") || strings.Contains(" "+contain+" ", " size ") {
		if f.box.height != f.box.height {
			f.box.height = 0
		}
	}
	if n, ok := st.Length(cascade.MinHeight, height); ok && f.box.height < n {
		f.box.height = n
	}
}

// gridTracks reports whether the column and the row of an element in a grid have no size.
func gridTracks(in *frame, n *html.Node) (column, row bool) {
	tracks := func(p cascade.Property) []cascade.Part {
		if v := in.style.Get(p); v != nil {
			return v.Parts
		}
		return nil
	}
	columns, rows := tracks(cascade.GridTemplateColumns), tracks(cascade.GridTemplateRows)
	if len(columns) == 0 && len(rows) == 0 {
		return false, false
	}
	at := 0
	for c := n.PrevSibling; c != nil && at < 1_000; c = c.PrevSibling {
		if c.Type == html.ElementNode && !isMachine(c) {
			at++
		}
	}
	across := max(len(columns), 1)
	return len(columns) > 0 && columns[at%across].Name == "zero", at/across < len(rows) && rows[at/across].Name == "zero"
}

// flexible computes the size of an element that cannot grow in a flexible box.
func (f *frame) flexible(in *frame) {
	st := &f.style
	column := strings.HasPrefix(in.style.Word(cascade.FlexDirection), "column")
	percent := in.box.width
	if column {
		percent = in.box.height
	}
	if n, ok := st.Length(cascade.FlexBasis, percent); ok && st.Number(cascade.FlexGrow, 0) == 0 {
		if column {
			f.box.height = n
		} else {
			f.box.width = n
		}
	}
}

// offset places an element that is outside of the flow.
func (f *frame) offset(around *frame) {
	st := &f.style
	width, height := around.box.width, around.box.height
	if around.style.Node == nil {
		height = screen(true).Height
	}
	tall := f.tall()
	if n, ok := st.Length(cascade.Left, width); ok {
		f.box.x = around.box.x + n + margin(st, cascade.MarginLeft, width)
	} else if n, ok := st.Length(cascade.Right, width); ok {
		f.box.x = around.box.x + width - n - f.box.width - margin(st, cascade.MarginRight, width)
	}
	f.box.placed = false
	if n, ok := st.Length(cascade.Top, height); ok {
		f.box.y, f.box.placed = around.box.y+n+margin(st, cascade.MarginTop, width), around.box.placed
	} else if n, ok := st.Length(cascade.Bottom, height); ok && height == height {
		f.box.y, f.box.placed = around.box.y+height-n-tall-margin(st, cascade.MarginBottom, width), around.box.placed
	} else if n, ok := st.Length(cascade.Bottom, 0); ok && math.Abs(n) > farStray {
		f.box.y = around.box.y - n
	}
}

func margin(st *cascade.Style, p cascade.Property, width float64) float64 {
	n, _ := st.Length(p, width)
	return n
}

// shift moves an element that stays in the flow.
func (f *frame) shift(around *frame) {
	st := &f.style
	if st.Word(cascade.Position) == "sticky" {
		return
	}
	width, height := around.box.width, around.box.height
	if n, ok := st.Length(cascade.Left, width); ok {
		f.box.x += n
	} else if n, ok := st.Length(cascade.Right, width); ok {
		f.box.x -= n
	}
	if n, ok := st.Length(cascade.Top, height); ok {
		f.box.y += n
	} else if n, ok := st.Length(cascade.Bottom, height); ok {
		f.box.y -= n
	}
}

// tall estimates the height of an element.
func (f *frame) tall() float64 {
	if f.box.height == f.box.height {
		return f.box.height
	}
	lines := math.Ceil(f.extent() / max(f.box.width, 1))
	return max(1, min(lines, 500)) * max(f.style.Line, 1)
}

// strays reports whether an element has offsets that would move it out of sight if it were positioned. Nobody gives such
// offsets to text that is meant to be read.
func (f *frame) strays() bool {
	st := &f.style
	if st.Positions {
		return false
	}
	for _, p := range [...]cascade.Property{cascade.Left, cascade.Top, cascade.Right, cascade.Bottom} {
		if n, ok := st.Length(p, 0); ok && n <= -farStray {
			return true
		}
	}
	return false
}

// outside reports whether the text of an element is outside of what is shown.
func (f *frame) outside() bool {
	b := &f.box
	left := max(b.view.left, 0)
	if b.x < left && b.x+min(b.width, f.extent()) <= left+1 || b.x >= b.view.right-1 || b.y >= b.view.bottom || b.y > farDown {
		return true
	}
	top := max(b.view.top, 0)
	if !b.placed {
		top -= farUp
	}
	return b.y < top && b.y+f.tall() <= top
}

func clips(overflow string) bool { return overflow != "" && overflow != "visible" }

// clip reduces the part of an element's content that is shown.
func (f *frame) clip(inline bool) {
	st := &f.style
	if inline {
		return
	}
	x, y := st.Word(cascade.OverflowX), st.Word(cascade.OverflowY)
	contain := st.Word(cascade.Contain)
	if strings.Contains(contain, "strict") || strings.Contains(contain, "content") || strings.Contains(contain, "paint") {
		x, y = "clip", "clip"
	}
	if clips(x) && x != "clip" && y == "" || x != "clip" && clips(x) && y == "visible" {
		y = "auto"
	}
	if clips(y) && y != "clip" && (x == "" || x == "visible") {
		x = "auto"
	}
	side := func(p cascade.Property) float64 { n, _ := st.Length(p, f.box.width); return n }
	v := &f.box.view
	if clips(x) {
		v.left = max(v.left, f.box.x-side(cascade.PaddingLeft))
		if x == "hidden" || x == "clip" || f.box.width < f.style.FontSize/2 {
			v.right = min(v.right, f.box.x+f.box.width+side(cascade.PaddingRight))
		}
	}
	if clips(y) {
		v.top = max(v.top, f.box.y-side(cascade.PaddingTop))
		bottom := f.box.y + f.box.height + side(cascade.PaddingBottom)
		switch {
		case bottom == bottom && (y == "hidden" || y == "clip" || f.box.height < f.style.FontSize/2):
			v.bottom = min(v.bottom, bottom)
		case bottom != bottom:
			f.box.noLines = true
		}
		f.box.placed = true
	}
}

// clipped reports whether the text of an element is cut off where it begins.
func (b *box) clipped(st *cascade.Style) bool {
	least := .3 * st.FontSize
	return b.view.bottom-max(b.y, b.view.top) < least || b.view.right-max(b.x, b.view.left) < least || b.noLines && st.Line < .2*st.FontSize
}

// indent decides whether the first line of a block is moved out of sight.
func (f *frame) indent(in *frame, inline bool) {
	st := &f.style
	if inline {
		f.moved = in.moved
		return
	}
	n := st.Indent(f.box.width)
	f.moved = false
	switch {
	case n != n:
		f.moved = true
	case n < 0:
		f.moved = -n >= min(f.extent(), 500)
	case n > 0 && n >= f.box.width-st.FontSize:
		f.moved = st.Nowrap && (f.box.view.right <= f.box.x+f.box.width+1 || n > farStray)
	}
	if st.Line < .2*st.FontSize && f.extent() > 1.5*f.box.width {
		f.moved = true // its lines overlap
	}
}
