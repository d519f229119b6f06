package visible

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/internal/cascade"
)

// screen returns the screen on which pages are looked at: a desktop's window.
func screen(scripts bool) cascade.Screen {
	return cascade.Screen{Width: 1280, Height: 720, Scripts: scripts}
}

// view is the state of looking at a page.
type view struct {
	sheets *cascade.Sheets
	frames []*frame            // by depth, reused
	part   frame               // of a part of an element, reused
	hidden map[*html.Node]bool // elements and texts that cannot be seen
	seen   int                 // bytes of text that can be seen
	unseen int                 // bytes that cannot
	plain  bool                // styles that html and body pass on to their text do not count
}

// frame is an element as the screen shows it.
type frame struct {
	style  cascade.Style
	box    box
	paint  paint
	hosts  *frame  // the containing block of positioned elements in it
	pinned *frame  // the containing block of fixed elements in it; nil for the screen
	scale  float64 // of its letters, by zooming and transforms
	struck bool
	thin   bool // it is only a point, and its text would overflow
	moved  bool // its first line is out of sight
	opaque bool // an element around it, in the same stacking context, covers what is behind
	text   textSight
}

// textSight says whether the text directly in an element can be seen.
type textSight byte

const (
	notLooked textSight = iota
	seen
	unseen
	away // its box is out of sight, with everything that does not leave the box
)

func newView(sheets *cascade.Sheets) *view {
	v := &view{sheets: sheets, hidden: map[*html.Node]bool{}}
	root := &frame{style: *sheets.Root(), box: screenBox(), scale: 1}
	root.hosts = root
	root.paint.canvas = cascade.RGBA{1, 1, 1, 1}
	v.frames = append(v.frames, root)
	return v
}

// look returns the elements and texts of a tree that cannot be seen.
func look(doc *html.Node, o Options) (map[*html.Node]bool, error) {
	sheets := cascade.New(doc, o.Rest, screen(o.Scripts))
	v := newView(sheets)
	v.children(doc, 0, false)
	if v.unseen > 0 && v.seen*20 < v.unseen {
		// Pages hide their text until their scripts have run, or set it on an unknown background. If that counted, nothing would
		// be left.
		v = newView(sheets)
		v.plain = true
		v.children(doc, 0, false)
	}
	if sheets.Exhausted() {
		return nil, ErrStyles
	}
	return v.hidden, nil
}

// frame returns the frame of a depth.
func (v *view) frame(depth int) *frame {
	for len(v.frames) <= depth {
		v.frames = append(v.frames, &frame{})
	}
	return v.frames[depth]
}

// children looks at the nodes below n, whose frame is the one of that depth. cover says that something covers everything
// in n that is not positioned.
func (v *view) children(n *html.Node, depth int, cover bool) {
	if v.sheets.Exhausted() {
		return
	}
	in := v.frames[depth]
	slots := v.shadow(n, in)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case slots != nil && !slots.take(c, in):
			v.hidden[c] = true
		case c.Type == html.TextNode:
			if in.text == notLooked {
				in.look()
			}
			size := len(strings.TrimSpace(c.Data))
			switch {
			case in.text == seen && !cover:
				v.seen += size
			default:
				if v.unseen += size; size > 0 {
					v.hidden[c] = true
				}
			}
		case c.Type == html.ElementNode && !isMachine(c):
			if !v.element(c, depth) {
				v.hidden[c] = true
			} else if v.frames[depth+1].covers(in) && measured(n) < maxCovered {
				cover = true
				v.coverUp(n, c)
			} else if cover && !v.frames[depth+1].style.Positions {
				v.hidden[c] = true
			}
		}
	}
}

// isMachine reports whether an element is for machines, so that its style does not matter.
func isMachine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Svg, atom.Math:
		return true
	}
	return n.Namespace != ""
}

// element looks at an element and its content. It reports whether the element is shown at all.
func (v *view) element(n *html.Node, depth int) bool {
	in, f := v.frames[depth], v.frame(depth+1)
	f.text = notLooked
	v.sheets.Compute(&f.style, n, &in.style)
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		// Pages hide these until their scripts have run. If that counted, nothing would be left.
		v.root(f, in)
	} else if hiddenByName(n, &f.style) || !f.show(in) {
		return false
	}
	f.style.Inner = f.box.width
	before := v.seen
	under, over := v.parts(f, in)
	if over {
		return false
	}
	v.children(n, depth+1, under)
	if v.seen > before || n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return true
	}
	if f.text == notLooked {
		f.look()
	}
	return f.text != away
}

// parts looks at the parts of an element that have their own styles: a first line that cannot be seen, and generated
// content that covers the rest. under says that it covers everything that is not positioned, over that it covers all.
func (v *view) parts(f, in *frame) (under, over bool) {
	st := &f.style
	if st.Display == "inline" || st.Display == "contents" {
		return false, false
	}
	part := &v.part
	if v.sheets.ComputePart(&part.style, "first-line", st.Node, st) && f.extent() < f.box.width {
		part.box, part.paint, part.scale, part.text = f.box, f.paint, f.scale, notLooked
		part.thin, part.moved, part.struck = false, false, false
		part.paint.paintBackground(&part.style)
		if part.look(); part.text != seen {
			f.moved, f.text = true, notLooked
		}
	}
	if !st.Positions || measured(st.Node) >= maxCovered {
		return false, false
	}
	for _, name := range [...]string{"before", "after"} {
		if !v.sheets.ComputePart(&part.style, name, st.Node, st) {
			continue
		}
		content := part.style.Get(cascade.Content)
		if content == nil || strings.Contains(content.Word, "none") || strings.Contains(content.Word, "normal") || !part.show(f) || !part.covers(f) {
			continue
		}
		under, over = true, over || name == "after"
	}
	return under, over
}

// root sets up the frame of html or body.
func (v *view) root(f, in *frame) {
	f.style.Doubt, f.scale = false, 1
	f.pinned, f.struck, f.thin, f.moved, f.opaque = nil, false, false, false, false
	f.box, f.hosts = in.box, in.hosts
	f.box.height = math.NaN()
	if n, ok := f.style.Length(cascade.Height, in.box.height); ok {
		f.box.height = n
	}
	f.paint = in.paint
	if margin, ok := f.style.Length(cascade.MarginLeft, in.box.width); ok && margin >= 0 && margin < 600 {
		f.box.x += margin
		f.box.width -= 2 * margin
	}
	if f.style.Node.DataAtom == atom.Html {
		if f.style.Dark {
			f.paint.canvas = f.style.Canvas()
		}
	}
	f.paint.paintBackground(&f.style)
	f.style.Display = "block"
	if v.plain {
		f.style.Hidden = false
		f.style.FontSize = max(f.style.FontSize, 16)
		f.style.Color = f.paint.contrast()
		f.style.Fill = f.style.Color
	}
}

// show computes the look of an element in a frame. It reports false if nothing of it can be seen.
func (f *frame) show(in *frame) bool {
	st := &f.style
	f.hosts, f.pinned, f.scale, f.struck, f.moved, f.opaque, f.paint = in.hosts, in.pinned, in.scale, in.struck, in.moved, in.opaque, in.paint
	switch st.Display {
	case "none", "table-column", "table-column-group":
		return false
	case "contents":
		f.box, f.thin = in.box, in.thin
		f.strike()
		return !st.Doubt
	}
	inline := st.Display == "inline" || strings.HasPrefix(st.Display, "ruby")
	if st.Doubt || !inline && st.Word(cascade.ContentVisibility) == "hidden" || strings.Contains(st.Word(cascade.Content), "image") {
		return false
	}
	if zoom := st.Number(cascade.Zoom, 1); zoom > 0 {
		f.scale *= zoom
	}
	f.strike()
	f.place(in, inline)
	if !inline && !f.transform() {
		return false
	}
	if !f.paint.enter(st) || f.cut(inline) || f.strays() || f.behind(in) {
		return false
	}
	f.clip(inline)
	f.indent(in, inline)
	return true
}

// strike looks for lines through the text. They go through all content of the element except boxes of their own.
func (f *frame) strike() {
	st := &f.style
	position := st.Word(cascade.Position)
	if strings.HasPrefix(st.Display, "inline-") || position == "absolute" || position == "fixed" || st.Word(cascade.Float) == "left" || st.Word(cascade.Float) == "right" {
		f.struck = false
	}
	if strings.Contains(st.Word(cascade.TextDecorationLine), "line-through") {
		f.struck = true
	}
}

// behind reports whether an element is behind the background of an element around it.
func (f *frame) behind(in *frame) bool {
	st := &f.style
	z, ordered := st.Length(cascade.ZIndex, 0)
	ordered = ordered && st.Positions
	if ordered && z < 0 && in.opaque {
		return true
	}
	position := st.Word(cascade.Position)
	switch {
	case ordered, position == "fixed", position == "sticky", st.Get(cascade.Transform) != nil, st.Get(cascade.Filter) != nil, st.Number(cascade.Opacity, 1) < 1:
		f.opaque = false
	case f.paint.covered:
		f.opaque = true
	}
	return false
}

// covers reports whether an element covers all of the element around it.
func (f *frame) covers(in *frame) bool {
	st := &f.style
	if st.Word(cascade.Position) != "absolute" || f.hosts == nil || !in.style.Positions || in.style.Node.DataAtom == atom.Body || in.style.Node.DataAtom == atom.Html || !f.paint.covered || st.Hidden {
		return false
	}
	if z, ok := st.Length(cascade.ZIndex, 0); ok && z < 0 || st.Number(cascade.Opacity, 1) < .9 {
		return false
	}
	zero := func(p cascade.Property) bool {
		n, ok := st.Length(p, 100)
		return ok && n <= 0 && n > -100
	}
	full := func(p cascade.Property) bool {
		n, ok := st.Length(p, 100)
		return ok && n >= 100
	}
	across := zero(cascade.Left) && (zero(cascade.Right) || full(cascade.Width))
	down := zero(cascade.Top) && (zero(cascade.Bottom) || full(cascade.Height))
	return across && down
}

// maxCovered is how much text an element may cover, in characters. More text is mostly under a menu that a script will
// remove.
const maxCovered = 1_500

// coverUp hides the siblings before an element that covers them.
func (v *view) coverUp(n, cover *html.Node) {
	for c := n.FirstChild; c != nil && c != cover; c = c.NextSibling {
		v.hidden[c] = true
	}
}

// Font sizes in pixels: the largest that nobody can read, and the largest that is hidden if it is a tenth of the size
// around it.
const (
	maxTiny  = 3
	maxTenth = 6
)

// look decides whether the text directly in an element can be seen.
func (f *frame) look() {
	st := &f.style
	size := st.FontSize * f.scale
	parent := math.Inf(1)
	if st.Parent != nil {
		parent = st.Parent.FontSize
	}
	tight := st.Spacing <= -.4*st.FontSize || st.Spacing > 300
	switch {
	case f.thin, f.moved, f.box.clipped(st), f.outside():
		f.text = away
	case st.Hidden, st.Masked, st.Shrunk, st.Doubt, f.struck, tight, size <= maxTiny, size <= maxTenth && st.FontSize <= .1*parent, !f.paint.shows(st):
		f.text = unseen
	default:
		f.text = seen
	}
}
