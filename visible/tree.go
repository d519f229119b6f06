package visible

import (
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// box is an element, a text or generated content as it is laid out. A box inside a line has the origin of the block around
// it, plus how far it is shifted.
type box struct {
	node                  *html.Node // nil for generated content
	style                 *cascade.Style
	up, first, last, next *box
	kind                  kind
	sight                 sight // the best that is possible for what is in it

	x, y, w, h          float64 // of its border box, from that of up
	margin, border, pad edges
	tall                float64 // of its content, if the style says so; NaN if it depends on the content
	above, below        float64 // margins, collapsed with those of its content; NaN until they are known
	narrow, wide        float64 // its least and its best width, with all around it; NaN until they are known
	holder              *box    // its containing block, if it is taken out of the flow
	held                []*box  // the boxes whose holder it is
	from, to            int     // of a text: its fragments
	painted             int     // of a text: the first of its fragments among those that are painted, from 1
	firstLine           *cascade.Style
	space               *space
	clip, inner         *clip // for itself, and for its content
	group               *group
	left, top           float64 // of its border box on the page, before transforms
	busy                bool    // it holds text
	zoom                float64
	exceeds             bool // it may be wider than the screen, and a person scrolls to its end
	struck              bool // a line goes through its text
	collapsed, flexible bool
}

type edges struct{ top, right, bottom, left float64 }

// kind says how a box takes part in the layout.
type kind byte

const (
	blockBox  kind = iota // its style says what is in it: blocks and lines, a flexible box, a grid or a table
	inlineBox             // a part of lines
	atomBox               // a picture or a field
	textBox
	breakBox
)

// sight says whether something can be seen.
type sight byte

const (
	seen sight = iota
	doubtful
	hidden
)

// page is the state of looking at a page.
type page struct {
	sheets  *cascade.Sheets
	root    *box
	marks   map[*html.Node]sight  // elements and texts that are not shown
	cut     map[*html.Node]string // what is left of texts that are shown in part
	shades  []shade
	named   map[string]bool // the names of open <details>
	boxes   int
	scripts bool // the browser runs scripts
	plain   bool // styles that html and body pass on to their text do not count
	styles  []cascade.Style
	spare   *cascade.Style // made, but not used
	slab    []box
}

// shade is an element with a shadow tree.
type shade struct {
	host, template *html.Node
	slots          map[*html.Node][]*html.Node
	names          map[string]bool // of slots that have got their content
}

// scope holds the sheets of a tree, and the host if it is a shadow tree.
type scope struct {
	sheets *cascade.Sheets
	outer  *scope
	shade  *shade
}

func (p *page) newStyle() *cascade.Style {
	if st := p.spare; st != nil {
		p.spare = nil
		return st
	}
	if len(p.styles) == 0 {
		p.styles = make([]cascade.Style, 64)
	}
	st := &p.styles[0]
	p.styles = p.styles[1:]
	return st
}

func (p *page) newBox(in *box, n *html.Node, st *cascade.Style, k kind) *box {
	if len(p.slab) == 0 {
		p.slab = make([]box, 64)
	}
	b := &p.slab[0]
	p.slab = p.slab[1:]
	nan := math.NaN()
	b.node, b.style, b.up, b.kind, b.tall, b.above, b.below, b.narrow, b.wide = n, st, in, k, nan, nan, nan, nan, nan
	if in.last == nil {
		in.first = b
	} else {
		in.last.next = b
	}
	in.last = b
	p.boxes++
	return b
}

// children makes the boxes of what is below n.
func (p *page) children(n *html.Node, in *box, st *cascade.Style, sc *scope) {
	if p.sheets.Exhausted() || sc.sheets.Exhausted() {
		return
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.child(c, in, st, sc)
	}
}

func (p *page) child(c *html.Node, in *box, st *cascade.Style, sc *scope) {
	switch {
	case c.Type == html.TextNode:
		if c.Data != "" && !(isBlank(c.Data) && !st.Lines && (in.last == nil || in.last.kind == blockBox && !in.last.isInline())) {
			p.newBox(in, c, st, textBox)
		}
	case c.Type != html.ElementNode, c.DataAtom == atom.Noscript && p.scripts:
	case c.DataAtom == atom.Slot && sc.shade != nil:
		p.slot(c, in, st, sc)
	case c.Namespace == "svg" || !isMachine(c):
		p.element(c, in, st, sc)
	}
}

// isMachine reports whether an element is for machines, so that its style does not matter.
func isMachine(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Template, atom.Head, atom.Math:
		return true
	}
	return n.Namespace != ""
}

// mark says that an element and its content are not shown.
func (p *page) mark(n *html.Node, s sight) { p.marks[n] = s }

// element makes the boxes of an element and its content.
func (p *page) element(n *html.Node, in *box, parent *cascade.Style, sc *scope) {
	st := p.newStyle()
	shadow := p.shadow(n, sc)
	if _, named := dom.Attr(n, "part"); named && shadow == nil && sc.outer != nil && sc.outer.sheets.HasParts() {
		sc.sheets.ComputeNamed(st, n, parent, sc.outer.sheets)
	} else if shadow != nil {
		sc.sheets.ComputeWith(st, n, parent, shadow.sheets, "")
	} else if own := sc.sheets.Share(n, parent, st); own != st {
		p.spare, st = st, own
	}
	p.made(n, st, in, sc, shadow)
}

// made makes the boxes of an element whose style is known.
func (p *page) made(n *html.Node, st *cascade.Style, in *box, sc, shadow *scope) {
	isRoot := n.DataAtom == atom.Html || n.DataAtom == atom.Body
	switch {
	case isRoot:
		p.rootStyle(st)
	case hiddenByName(n, st), strays(st), st.Doubt:
		p.mark(n, doubtful)
		return
	case st.Display == "table-column" || st.Display == "table-column-group":
		p.column(n, in, st, sc)
		return
	case st.Display == "none":
		p.mark(n, hidden)
		return
	}
	b := in
	if st.Display != "contents" {
		b = p.newBox(in, n, st, kindOf(n, st))
		p.firstLine(b, sc)
	}
	st.Inner = innerWidth(st)
	switch {
	case b.kind == atomBox || strings.Contains(st.Word(cascade.Content), "image"):
		b.kind = atomBox
		p.markContent(n)
		return
	case b.kind == breakBox:
		return
	case !isRoot && b.kind != inlineBox && st.Word(cascade.ContentVisibility) == "hidden":
		p.markContent(n)
		return
	}
	p.generated("before", n, b, st, sc)
	switch {
	case n.DataAtom == atom.Details:
		p.details(n, b, st, sc)
	case shadow != nil:
		p.children(shadow.shade.template, b, st, shadow)
		p.shades = append(p.shades, *shadow.shade)
	default:
		p.children(n, b, st, sc)
	}
	p.generated("after", n, b, st, sc)
}

func (p *page) markContent(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.mark(c, hidden)
	}
}

func kindOf(n *html.Node, st *cascade.Style) kind {
	switch n.DataAtom {
	case atom.Img, atom.Video, atom.Canvas, atom.Iframe, atom.Object, atom.Embed, atom.Input, atom.Select, atom.Textarea, atom.Progress, atom.Meter, atom.Audio, atom.Svg:
		return atomBox
	case atom.Br:
		return breakBox
	}
	if n.Namespace != "" {
		return atomBox
	}
	if st.Display == "inline" || strings.HasPrefix(st.Display, "ruby") {
		return inlineBox
	}
	return blockBox
}

// innerWidth guesses the width of an element's content before the layout, for the conditions of @container.
func innerWidth(st *cascade.Style) float64 {
	width := st.Parent.Inner
	side := func(q cascade.Property) float64 { n, _ := st.Length(q, width); return n }
	w, fixed := st.Length(cascade.Width, width)
	if !fixed {
		if st.Display == "inline" {
			return width
		}
		w = width - side(cascade.MarginLeft) - side(cascade.MarginRight)
		if n, ok := st.Length(cascade.FlexBasis, width); ok && st.Number(cascade.FlexGrow, 0) == 0 && n > 0 {
			w = n
		}
	}
	if !fixed || st.Word(cascade.BoxSizing) == "border-box" {
		w -= side(cascade.PaddingLeft) + side(cascade.PaddingRight)
	}
	if n, ok := st.Length(cascade.MaxWidth, width); ok {
		w = min(w, n)
	}
	if n, ok := st.Length(cascade.MinWidth, width); ok {
		w = max(w, n)
	}
	return max(w, 0)
}

// column makes the boxes of the columns of a table, which hold nothing.
func (p *page) column(n *html.Node, in *box, st *cascade.Style, sc *scope) {
	b := p.newBox(in, n, st, blockBox)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Col {
			p.element(c, b, st, sc)
		} else {
			p.mark(c, hidden)
		}
	}
}

// rootStyle changes the style of html or body. Pages hide these until their scripts have run. If that counted, nothing
// would be left.
func (p *page) rootStyle(st *cascade.Style) {
	if st.Doubt = false; !strings.HasSuffix(st.Display, "flex") && !strings.HasSuffix(st.Display, "grid") {
		st.Display = "block"
	}
	if !p.plain {
		return
	}
	st.Hidden = false
	st.FontSize = max(st.FontSize, 16)
	st.Color = cascade.RGBA{0, 0, 0, 1}
	if ground, ok := groundColour(st); ok && cascade.Luminance(ground) < .18 {
		st.Color = cascade.RGBA{1, 1, 1, 1}
	}
	st.Fill = st.Color
}

// firstLine notes the style of the first line of a block.
func (p *page) firstLine(b *box, sc *scope) {
	if b.kind != blockBox || !sc.sheets.HasParts() {
		return
	}
	if st := p.newStyle(); sc.sheets.ComputePart(st, "first-line", b.node, b.style) {
		b.firstLine = st
	} else {
		p.spare = st
	}
}

// generated makes the box of content that a style generates before or after that of an element.
func (p *page) generated(part string, n *html.Node, in *box, parent *cascade.Style, sc *scope) {
	if !sc.sheets.HasParts() {
		return
	}
	st := p.newStyle()
	if !sc.sheets.ComputePart(st, part, n, parent) || st.Display == "none" {
		p.spare = st
		return
	}
	content := st.Get(cascade.Content)
	if content == nil || strings.Contains(content.Word, "none") || strings.Contains(content.Word, "normal") {
		return
	}
	k := blockBox
	if st.Display == "inline" {
		k = inlineBox
	}
	p.newBox(in, nil, st, k)
}

// details makes the boxes of a <details>. Of those with the same name, only the first can be open.
func (p *page) details(n *html.Node, b *box, st *cascade.Style, sc *scope) {
	_, open := dom.Attr(n, "open")
	if name, _ := dom.Attr(n, "name"); open && name != "" {
		open = !p.named[name]
		p.named[name] = true
	}
	var summary *html.Node
	for c := n.FirstChild; c != nil && summary == nil; c = c.NextSibling {
		if c.DataAtom == atom.Summary {
			summary = c
			p.child(c, b, st, sc)
		}
	}
	rest, style := b, st
	if part := p.newStyle(); sc.sheets.HasParts() && sc.sheets.ComputePart(part, "details-content", n, st) {
		if part.Display == "inline" {
			part.Display = "block"
		}
		if open = open || part.Word(cascade.ContentVisibility) == "visible"; part.Display == "none" {
			open = false
		} else if open {
			rest, style = p.newBox(b, nil, part, blockBox), part
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c == summary:
		case open:
			p.child(c, rest, style, sc)
		default:
			p.mark(c, hidden)
		}
	}
}

// shadowOf returns the template with the shadow tree of an element, or nil.
func shadowOf(n *html.Node) *html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Template {
			continue
		}
		if mode, _ := dom.Attr(c, "shadowrootmode"); (strings.EqualFold(mode, "open") || strings.EqualFold(mode, "closed")) && canHost(n) {
			return c
		}
	}
	return nil
}

// canHost reports whether browsers attach a shadow tree to an element.
func canHost(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Div, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Main, atom.Nav, atom.P,
		atom.Section, atom.Span:
		return true
	}
	return strings.Contains(n.Data, "-")
}

// slot makes the boxes of the host's children that are shown in a slot. If there are none, it makes those of what the slot holds itself.
func (p *page) slot(slot *html.Node, in *box, parent *cascade.Style, sc *scope) {
	st := p.newStyle()
	sc.sheets.Compute(st, slot, parent)
	if st.Display == "none" || st.Doubt {
		p.mark(slot, hidden)
		return
	}
	b := in
	if st.Display != "contents" {
		b = p.newBox(in, slot, st, kindOf(slot, st))
	}
	name, _ := dom.Attr(slot, "name")
	mine := sc.shade.take(name)
	if mine == nil {
		p.children(slot, b, st, sc)
		return
	}
	sc.shade.slots[slot] = mine
	for _, c := range mine {
		switch {
		case c.Type == html.TextNode:
			p.newBox(b, c, st, textBox)
		case c.DataAtom == atom.Slot && sc.outer.shade != nil:
			p.slot(c, b, st, sc.outer)
		case isMachine(c):
		default:
			inside := p.newStyle()
			sc.outer.sheets.ComputeWith(inside, c, st, sc.sheets, "slotted")
			p.made(c, inside, b, sc.outer, p.shadow(c, sc.outer))
		}
	}
}

func (p *page) shadow(n *html.Node, sc *scope) *scope {
	if template := shadowOf(n); template != nil {
		return &scope{sheets: p.sheets.Shadow(template, n), outer: sc, shade: &shade{n, template, map[*html.Node][]*html.Node{}, map[string]bool{}}}
	}
	return nil
}

// take returns the children of the host for a slot. The first slot of a name gets them.
func (s *shade) take(name string) (mine []*html.Node) {
	if s.names[name] {
		return nil
	}
	s.names[name] = true
	some := false
	for c := s.host.FirstChild; c != nil; c = c.NextSibling {
		own := ""
		switch {
		case c.Type == html.ElementNode && c != s.template:
			own, _ = dom.Attr(c, "slot")
		case c.Type != html.TextNode:
			continue
		}
		if own == name {
			mine = append(mine, c)
			some = some || c.Type == html.ElementNode || strings.TrimSpace(c.Data) != ""
		}
	}
	if !some {
		return nil
	}
	return mine
}

// strays reports whether an element has offsets that would move it out of sight if it were positioned. Nobody gives such
// offsets to text that is meant to be read.
func strays(st *cascade.Style) bool {
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
