package visible

import (
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

func (b *box) length(p cascade.Property, percent float64) float64 {
	n, _ := b.style.Length(p, percent)
	return n
}

// edge computes the margins, borders and padding of a box in a block of that width.
func (b *box) edges(width float64) {
	st := b.style
	b.margin = edges{b.length(cascade.MarginTop, width), b.length(cascade.MarginRight, width), b.length(cascade.MarginBottom, width), b.length(cascade.MarginLeft, width)}
	b.pad = edges{b.length(cascade.PaddingTop, width), b.length(cascade.PaddingRight, width), b.length(cascade.PaddingBottom, width), b.length(cascade.PaddingLeft, width)}
	line := func(i cascade.Property) float64 {
		if style := st.Word(cascade.BorderTopStyle + i); style == "" || style == "none" || style == "hidden" {
			return 0
		}
		if st.Get(cascade.BorderTopWidth+i) == nil {
			return 3
		}
		return b.length(cascade.BorderTopWidth+i, 0)
	}
	b.border = edges{line(0), line(1), line(2), line(3)}
}

func (b *box) across() float64 {
	return b.border.left + b.pad.left + b.pad.right + b.border.right
}
func (b *box) down() float64 { return b.border.top + b.pad.top + b.pad.bottom + b.border.bottom }

// outerSize returns a width or height with the borders and padding, as box-sizing says.
func (b *box) outerSize(n, around float64) float64 {
	if b.style.Word(cascade.BoxSizing) == "border-box" {
		return max(n, around)
	}
	return max(n, 0) + around
}

// limited applies the minimum and the maximum width.
func (b *box) limited(w, width float64) float64 {
	if n, ok := b.style.Length(cascade.MaxWidth, width); ok {
		w = min(w, b.outerSize(n, b.across()))
	}
	if n, ok := b.style.Length(cascade.MinWidth, width); ok {
		w = max(w, b.outerSize(n, b.across()))
	}
	return max(w, 0)
}

// word adds a word to the line, or to the next one. A word of several elements may be broken between them. A browser takes all of it to the
// next line.
func (f *flow) word(t *box, from, to int, w, blank float64) {
	st := t.style
	f.begin()
	if f.space && !st.Lines {
		f.x += blank
	}
	f.broke = f.broke || len(f.pieces) > 0 && (f.space || f.breaks)
	if indented := len(f.pieces) == 0 && f.x > f.start; (f.broke || indented) && f.x+w > f.end+.01 && !st.Nowrap {
		f.endLine()
		f.begin()
	}
	for range 8 { // below floats that leave no room
		if f.x+w <= f.end || f.end-f.start >= f.width-1 || len(f.pieces) > 0 || st.Nowrap {
			break
		}
		f.y += max(f.height, 4)
		f.edgesOfLine(f.height)
		f.x = f.start
	}
	f.height = max(f.height, st.Line)
	last := len(f.l.fragments) - 1
	if n := len(f.pieces); n > 0 && f.pieces[n-1].b == t && f.x-f.l.fragments[last].x-f.l.fragments[last].w < widestGap {
		fr := &f.l.fragments[last]
		fr.w, fr.to = f.x+w-fr.x, to
	} else {
		f.l.fragments = append(f.l.fragments, fragment{x: f.x, w: w, h: st.Line, from: from, to: to, first: f.lines == 0})
		f.pieces = append(f.pieces, piece{t, last + 1})
	}
	f.x += w
	f.space = false
}

// widestGap is the largest distance of words that are looked at as one text, in pixels.
const widestGap = 100

// nextTab returns the next tab stop of a line.
func nextTab(x float64, st *cascade.Style) float64 {
	stop := st.Tab
	if stop == 0 {
		stop = 8 * st.Blank()
	}
	return (math.Floor(x/max(stop, 1)+.01) + 1) * max(stop, 1)
}

// word returns where the line that begins at s[i] may end first, and the width up to there. These are the rules of browsers:
// beside ideographs, and after dashes and question marks. Texts in scripts without blanks may be broken at any letter.
func word(s string, i int, size, spacing float64) (to int, width float64) {
	for to = i; to < len(s) && !dom.IsSpace(s[to]); {
		if c := s[to]; c < utf8.RuneSelf {
			width += advances[c]*size + spacing
			if to++; (c == '-' || c == '?') && to > i+1 && to < len(s) && s[to] > '?' {
				return to, width
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[to:])
		wide := r >= 0x2E80 && r < 0xD7FF || r >= 0xF900 && r < 0xFFDC || r >= 0x1F000
		if wide && to > i {
			return to, width
		}
		to += n
		switch {
		case r == 0xAD, r == 0x200B: // a place for a break
			return to, width
		case r == 0x2010, r >= 0x2012 && r <= 0x2014, r == 0x2026, r >= 0xE00 && r < 0x10A0, r >= 0x1780 && r < 0x1800:
			return to, width + .55*size + spacing
		case wide:
			return to, width + size + spacing
		case r >= 0x300 && r < 0x370 || r >= 0x200B && r <= 0x200F:
		default:
			width += .55*size + spacing
		}
	}
	return to, width
}

// advances holds the widths of letters by their class, as parts of the font size: an average of common fonts.
var advances = func() (all [utf8.RuneSelf]float64) {
	for c := range all {
		switch {
		case strings.ContainsRune("ijl.,:;'!|()[]It f", rune(c)):
			all[c] = .34
		case strings.ContainsRune("mwMW@%", rune(c)):
			all[c] = .85
		case c >= 'A' && c <= 'Z':
			all[c] = .67
		default:
			all[c] = .56
		}
	}
	return all
}()

// atom adds a box to the line that is not broken.
func (f *flow) atom(c *box) {
	f.fit(c, f.width)
	f.l.content(c, f.b.tall, nil, 0, 0)
	f.begin()
	w := c.margin.left + c.w + c.margin.right
	if f.space {
		f.x += f.b.style.Blank()
	}
	if len(f.pieces) > 0 && f.x+w > f.end+.01 && !f.b.style.Nowrap {
		f.endLine()
		f.begin()
	}
	c.x = f.x + c.margin.left
	f.x += w
	f.height = max(f.height, c.h+c.margin.top+c.margin.bottom)
	f.pieces = append(f.pieces, piece{c, 0})
	f.space = false
}

// shrink computes the width of a box that is as wide as its content, if that fits into the room.
func (l *layout) shrink(c *box, room, width float64) {
	c.edges(width)
	around := c.margin.left + c.margin.right
	if n, ok := c.style.Length(cascade.Width, width); ok {
		c.w = c.limited(c.outerSize(n, c.across()), width)
		return
	}
	if c.kind == atomBox {
		w, _ := l.natural(c)
		c.w = c.limited(w+c.across(), width)
		return
	}
	narrow, wide := l.measure(c)
	c.w = c.limited(min(max(narrow, room), wide)-around, width)
}

// measure computes the least and the best width of a box, with all that is around its content.
func (l *layout) measure(b *box) (narrow, wide float64) {
	if b.narrow == b.narrow {
		return b.narrow, b.wide
	}
	b.edges(0)
	around := b.across() + b.margin.left + b.margin.right
	if n, ok := b.style.Length(cascade.Width, math.NaN()); ok && b.kind != inlineBox {
		b.narrow = b.limited(b.outerSize(n, b.across()), math.NaN()) + b.margin.left + b.margin.right
		b.wide = b.narrow
		return b.narrow, b.wide
	}
	if b.kind == atomBox {
		w, _ := l.natural(b)
		narrow, wide = w, w
	} else if b.turns() {
		_, long := l.measureContent(b)
		wide = b.style.Line * math.Ceil(long/b.lineRoom())
		narrow = wide
	} else {
		narrow, wide = l.measureContent(b)
	}
	b.narrow, b.wide = narrow+around, wide+around
	if b.kind != inlineBox {
		side := b.margin.left + b.margin.right
		b.narrow, b.wide = b.limited(b.narrow-side, math.NaN())+side, b.limited(b.wide-side, math.NaN())+side
	}
	return b.narrow, b.wide
}

func (l *layout) measureContent(b *box) (narrow, wide float64) {
	beside := strings.HasSuffix(b.style.Display, "flex") && !strings.HasPrefix(b.style.Word(cascade.FlexDirection), "column") || b.style.Display == "table-row"
	if strings.HasSuffix(b.style.Display, "grid") {
		if v := b.style.Get(cascade.GridTemplateColumns); v != nil && len(v.Parts) > 1 {
			beside = true
		}
	}
	run, inLine := 0.0, 0.0
	end := func() {
		wide, run = max(wide, run), 0
	}
	for c := b.first; c != nil; c = c.next {
		var n, w float64
		switch {
		case c.kind == textBox:
			n, w = textWidth(c.node.Data, b.style)
		case c.kind == breakBox:
			end()
			continue
		case c.isTaken():
			continue
		default:
			n, w = l.measure(c)
		}
		switch {
		case beside:
			inLine += w
			narrow += n
			if b.style.Word(cascade.FlexWrap) == "wrap" {
				narrow = max(narrow-n, n)
			}
		case c.isInline() || c.floatsTo() != "":
			run += w
			narrow = max(narrow, n)
			if b.style.Nowrap {
				narrow = max(narrow, run)
			}
		default:
			end()
			narrow, wide = max(narrow, n), max(wide, w)
		}
	}
	end()
	return narrow, max(wide, inLine)
}

// textWidth returns the width of the longest word of a text, and of the text in one line.
func textWidth(s string, st *cascade.Style) (narrow, wide float64) {
	line := 0.0
	for i := 0; i < len(s); {
		if dom.IsSpace(s[i]) {
			if st.Lines && s[i] == '\n' {
				wide, line = max(wide, line), 0
			} else if st.Lines && s[i] == '\t' {
				line = nextTab(line, st)
			} else if st.Lines || i == 0 || !dom.IsSpace(s[i-1]) {
				line += st.Blank()
			}
			i++
			continue
		}
		to, w := word(s, i, st.FontSize, st.Spacing)
		narrow = max(narrow, w)
		line += w
		i = to
	}
	wide = max(wide, line)
	if st.Nowrap {
		narrow = wide
	}
	return narrow, wide
}

// natural returns the size of the content of a picture or a field.
func (l *layout) natural(b *box) (w, h float64) {
	st := b.style
	w, h = math.NaN(), math.NaN()
	if n, ok := st.Length(cascade.Width, b.upWidth()); ok {
		w = b.outerSize(n, b.across()) - b.across()
	}
	if n, ok := st.Length(cascade.Height, math.NaN()); ok {
		h = b.outerSize(n, b.down()) - b.down()
	}
	ownWidth, ownHeight := 0.0, 0.0
	if b.node != nil {
		switch b.node.DataAtom {
		case atom.Video, atom.Canvas, atom.Iframe, atom.Object, atom.Embed, atom.Svg:
			ownWidth, ownHeight = 300, 150
		case atom.Input, atom.Select, atom.Textarea, atom.Progress, atom.Meter, atom.Audio:
			ownWidth, ownHeight = 160, 20
		case atom.Img:
			if p := l.pictureOf(b.node); p != nil {
				ownWidth, ownHeight = p.width, p.height
			}
		}
		if n, ok := pixelAttribute(b.node, "width"); ok {
			ownWidth = n
		}
		if n, ok := pixelAttribute(b.node, "height"); ok {
			ownHeight = n
		}
	}
	if most := b.upWidth(); w != w && ownWidth > most && most > 0 { // nearly all pages let pictures shrink
		ownWidth, ownHeight = most, ownHeight*most/ownWidth
	}
	switch {
	case w != w && h == h && ownHeight > 0:
		w = h * ownWidth / ownHeight
	case h != h && w == w && ownWidth > 0:
		h = w * ownHeight / ownWidth
	}
	if w != w {
		w = ownWidth
	}
	if h != h {
		h = ownHeight
	}
	return w, h
}

func (b *box) upWidth() float64 {
	for in := b.up; in != nil; in = in.up {
		if in.kind != inlineBox {
			return max(0, in.w-in.across())
		}
	}
	return 0
}

// pixelAttribute reads an attribute such as width.
func pixelAttribute(n *html.Node, key string) (float64, bool) {
	text, ok := dom.Attr(n, key)
	if !ok || strings.HasSuffix(text, "%") {
		return 0, false
	}
	got, digits := 0.0, 0
	for _, c := range strings.TrimSpace(text) {
		if c < '0' || c > '9' || digits > 6 {
			break
		}
		got, digits = got*10+float64(c-'0'), digits+1
	}
	return got, digits > 0
}
