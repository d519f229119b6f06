package visible

import (
	"math"
	"slices"
	"sort"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/internal/cascade"
)

// screen returns the screen on which pages are looked at: a desktop's window.
func screen(scripts bool) cascade.Screen {
	return cascade.Screen{Width: 1280, Height: 720, Scripts: scripts}
}

// Distances in pixels beyond which a person does not scroll: over nothing, and to something that is not positioned.
const (
	farDown  = 3_000
	farStray = 1_000
)

// view is a look at a page that is laid out and painted.
type view struct {
	*page
	l       layout
	o       order
	bands   [][]int32 // the strokes at each height of the page
	canvas  cascade.RGBA
	bottom  float64 // of the page
	work    int
	layers  []layer
	colours []cascade.RGBA // of the letters at a place
}

// bandHeight is the height of a band, in pixels.
const bandHeight = 64

// maxWork limits the work of looking at a page, in strokes at places, and maxBands the strokes in all bands.
const (
	maxLooks = 8_000_000
	maxBands = 1_000_000
)

// look returns the elements and texts of a tree that cannot be seen. It also returns what is left of texts that are seen in part.
func look(doc *html.Node, o Options) (*page, error) {
	sheets := cascade.New(doc, o.Rest, screen(o.Scripts))
	p, seenSize, unseenSize := see(doc, sheets, o.Scripts, false)
	if unseenSize > 0 && seenSize*20 < unseenSize {
		// Pages hide their text until their scripts have run, or set it on an unknown background. If that counted, nothing would
		// be left.
		p, _, _ = see(doc, sheets, o.Scripts, true)
	}
	if sheets.Exhausted() {
		return nil, ErrStyles
	}
	return p, nil
}

// see makes the boxes of a page, lays them out, paints them and looks at the texts.
func see(doc *html.Node, sheets *cascade.Sheets, scripts, plain bool) (p *page, seenSize, unseenSize int) {
	p = &page{sheets: sheets, scripts: scripts, marks: map[*html.Node]sight{}, cut: map[*html.Node]string{}, named: map[string]bool{}, plain: plain}
	v := &view{page: p, canvas: cascade.RGBA{1, 1, 1, 1}}
	top := &box{}
	p.root = p.newBox(top, nil, sheets.Root(), blockBox)
	p.root.up = nil
	p.children(doc, p.root, p.root.style, &scope{sheets: sheets})
	v.l.fragments = make([]fragment, 0, p.boxes/2+16)
	v.l.page(p.root)
	p.root.space, p.root.zoom = screenPlane, 1
	for c := p.root.first; c != nil; c = c.next {
		if c.style.Dark && c.kind != textBox {
			v.canvas = c.style.Canvas()
		}
		c.place(0, 0)
	}
	v.o.l, v.o.unread = &v.l, sheets.Unread()
	v.o.texts = make([]letters, 0, len(v.l.fragments))
	v.o.paint(v.o.pile(p.root, nil, false))
	v.index()
	v.texts()
	seenSize, unseenSize = v.markTexts()
	return p, seenSize, unseenSize
}

// index sorts the strokes into bands.
func (v *view) index() {
	for i := range v.o.texts {
		t := &v.o.texts[i]
		f := &v.l.fragments[t.at]
		if _, y, ok := t.b.space.toScreen(t.b.left+f.x, t.b.top+f.y+f.h); ok && y < 1e6 {
			v.bottom = max(v.bottom, y)
		}
	}
	v.bands = make([][]int32, int(v.bottom/bandHeight)+2)
	total := 0
	for i := range v.o.strokes {
		s := &v.o.strokes[i]
		top, bottom := s.area.top, s.area.bottom
		if s.space != screenPlane {
			top, bottom = math.Inf(1), math.Inf(-1)
			for _, corner := range [4][2]float64{{s.area.left, s.area.top}, {s.area.right, s.area.top}, {s.area.left, s.area.bottom}, {s.area.right, s.area.bottom}} {
				_, y, ok := s.space.toScreen(corner[0], corner[1])
				if !ok || y != y {
					top, bottom = math.Inf(-1), math.Inf(1)
					break
				}
				top, bottom = min(top, y), max(bottom, y)
			}
		}
		from, to := v.band(top), v.band(bottom)
		if total += to - from + 1; total > maxBands {
			v.work = maxLooks
			return
		}
		for at := from; at <= to; at++ {
			v.bands[at] = append(v.bands[at], int32(i))
		}
	}
}

func (v *view) band(y float64) int {
	return int(min(max(y/bandHeight, 0), float64(len(v.bands)-1)))
}

// maxCovered is how much text an element may cover, in characters. More text is mostly under a menu that a script will
// remove.
const maxCovered = 1_500

// texts decides which fragments can be seen.
func (v *view) texts() {
	for i := range v.o.texts {
		t := &v.o.texts[i]
		t.sight = v.fragment(t)
		if t.cover >= 0 {
			v.o.strokes[t.cover].covered += v.l.fragments[t.at].to - v.l.fragments[t.at].from
		}
	}
	for i := range v.o.texts {
		if t := &v.o.texts[i]; t.cover >= 0 && v.o.strokes[t.cover].covered > maxCovered {
			t.sight = seen
		}
	}
	v.reach()
}

// reach hides what is so far below everything else that nobody scrolls to it.
func (v *view) reach() {
	type part struct {
		top, bottom float64
		t           *letters // nil for a box
	}
	parts := make([]part, 0, len(v.o.texts)+len(v.o.solid))
	for i := range v.o.texts {
		t := &v.o.texts[i]
		f := &v.l.fragments[t.at]
		if _, y, ok := t.b.space.toScreen(t.b.left+f.x, t.b.top+f.y); ok && y == y {
			parts = append(parts, part{y, y, t})
		}
	}
	for _, b := range v.o.solid {
		if _, y, ok := b.space.toScreen(b.left, b.top); ok {
			bottom := y + b.h
			if b.sticks() {
				bottom = max(bottom, b.up.top+b.up.h)
			}
			parts = append(parts, part{y, bottom, nil})
		}
	}
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].top < parts[j].top })
	y, size := 0.0, 0
	for i, p := range parts {
		if p.top-y <= farDown {
			y = max(y, p.bottom)
			continue
		}
		for _, p := range parts[i:] {
			if p.t != nil && p.t.sight == seen {
				size += v.l.fragments[p.t.at].to - v.l.fragments[p.t.at].from
			}
		}
		if v.o.unread && size > maxCovered {
			return // what the sheet places is in between
		}
		for _, p := range parts[i:] {
			if p.t != nil {
				p.t.sight = hidden
			}
		}
		return
	}
}

// Font sizes in pixels. One is the largest that nobody can read. The other is the largest hidden one that is a tenth of the size around it.
const (
	maxTiny  = 3
	maxTenth = 6
)

// fragment decides whether a fragment can be seen, by several of its places.
func (v *view) fragment(t *letters) sight {
	b, f := t.b, &v.l.fragments[t.at]
	st := b.up.style
	if f.first {
		for in := b.up; in != nil; in = in.up {
			if in.firstLine != nil {
				st = in.firstLine
			}
			if in.kind != inlineBox {
				break
			}
		}
	}
	tight := st.Spacing <= -.4*st.FontSize || st.Spacing > 300
	switch {
	case b.sight != seen:
		t.away = true
		return b.sight
	case st.Hidden, st.Masked, st.FontSize <= 0:
		return hidden
	case st.Shrunk, st.Doubt, tight, b.up.struck:
		return doubtful
	}
	if size := v.size(t, st); size <= maxTiny || size <= maxTenth && st.Parent != nil && st.FontSize <= .1*st.Parent.FontSize {
		return hidden
	}
	n := 3
	if max(f.w, f.h) > 200 {
		n = 6
	}
	shown, inside := 0, 0
	for i := range n {
		part := (float64(i) + .5) / float64(n)
		beside := (float64(i%2) - .5) * .3 * st.FontSize
		x, y := b.left+f.x+f.w*part, b.top+f.y+f.h/2+beside
		if f.vertical {
			x, y = b.left+f.x+f.w/2+beside, b.top+f.y+f.h*part
		}
		px, py, ok := t.place(x, y)
		if !ok {
			continue
		}
		if inside++; v.at(t, st, px, py) {
			shown++
		}
	}
	t.away = inside == 0
	switch {
	case v.work > maxLooks:
		return doubtful
	case 5*shown >= 2*n:
		return seen
	case shown > 0:
		return doubtful
	}
	return hidden
}

// size returns the size of letters on the screen: the smaller one of their width and their height.
func (v *view) size(t *letters, st *cascade.Style) float64 {
	size := st.FontSize * st.Adjusted() * t.b.up.zoom
	if s := t.b.space; s != screenPlane {
		f := &v.l.fragments[t.at]
		x, y := t.b.left+f.x+f.w/2, t.b.top+f.y+f.h/2
		ax, ay, _ := s.toScreen(x, y)
		bx, by, _ := s.toScreen(x+1, y)
		cx, cy, _ := s.toScreen(x, y+1)
		area := math.Abs((bx-ax)*(cy-ay) - (by-ay)*(cx-ax))
		size *= area / max(math.Hypot(bx-ax, by-ay), math.Hypot(cx-ax, cy-ay), 1e-9)
	}
	return size
}

// farthest is how many screens a person scrolls to the side at most.
const farthest = 16

// place returns where a point of letters is on the screen. It reports false if a person cannot get there.
func (t *letters) place(x, y float64) (float64, float64, bool) {
	x, y, ok := t.b.space.toScreen(x, y)
	s := screen(true)
	return x, y, ok && x >= 0 && y >= 0 && (x < s.Width || t.b.exceeds && x < farthest*s.Width) && !(t.fixed && y >= s.Height) && t.b.clip.holds(x, y)
}

// at reports whether letters at a place on the screen can be told from what is around them.
func (v *view) at(t *letters, st *cascade.Style, x, y float64) bool {
	for _, c := range v.inks(t, st, x, y) {
		if c[3] > .02 && v.differs(t, c, x, y) {
			return true
		}
	}
	return false
}

// thickStroke is how wide a stroke around letters is that covers them, of their size. Half of it is inside, and a letter's own lines have
// about a tenth.
const thickStroke = .125

// inks returns the colours in which letters are painted at a place: inside, at their edges, and around them.
func (v *view) inks(t *letters, st *cascade.Style, x, y float64) []cascade.RGBA {
	if st.Stroke >= st.FontSize*thickStroke && !st.Under {
		v.colours = append(v.colours[:0], st.StrokeIn) // it covers the letters
		return v.colours
	}
	all := append(v.colours[:0], st.Fill)
	for in := t.b.up; in != nil && st.Fill[3] < .9; in = in.up {
		if c, ok := clippedToText(in, t, x, y); ok {
			all = append(all, c)
		}
	}
	if st.Stroke >= .3 {
		all = append(all, st.StrokeIn)
	}
	for i := range st.Shadows {
		one := &st.Shadows[i]
		c := st.ShadowIn
		if len(one.Colours) > 0 {
			c = one.Colours[0].At(st.ShadowIn, st.Dark)
		}
		near := true
		for j := range one.Numbers {
			n := one.Numbers[j].Value(st.Around(math.NaN()))
			near = near && math.Abs(n) < 100 && (j < 2 || n <= maxBlur)
		}
		if near {
			all = append(all, c)
		}
	}
	v.colours = all
	return all
}

// clippedToText returns the colour that background-clip: text of a box gives to letters.
func clippedToText(b *box, t *letters, x, y float64) (cascade.RGBA, bool) {
	v := b.style.Get(cascade.BackgroundClip)
	if v == nil || !slices.ContainsFunc(v.Parts, func(one cascade.Part) bool { return one.Name == "text" }) {
		return cascade.RGBA{}, false
	}
	c, _ := groundColour(b.style)
	if images := b.style.Get(cascade.BackgroundImage); images != nil {
		for i := range images.Parts {
			if len(images.Parts[i].Stops) > 0 {
				px, py := b.space.fromScreen(x, y)
				c = over(gradient(&images.Parts[i], b, rectangle{b.left, b.top, b.left + b.w, b.top + b.h}, px, py), c)
			} else if images.Parts[i].Name != "none" {
				c = cascade.RGBA{.5, .5, .5, 1}
			}
		}
	}
	return c, true
}

// layer is a group that is being painted at one place: without and with the letters.
type layer struct {
	without, with cascade.RGBA
	g             *group
	empty         bool // the place is outside of the group's shape
}

// clear is the difference in a channel, of 255, that makes two colours look different.
const clear = 25

// differs paints what is at a place, with letters of a colour and without them, and reports whether that differs.
func (v *view) differs(t *letters, ink cascade.RGBA, x, y float64) bool {
	v.layers = append(v.layers[:0], layer{})
	painted := false
	letters := func() {
		v.enter(t.b.group, x, y)
		top := &v.layers[len(v.layers)-1]
		top.with, painted = over(ink, top.with), true
	}
	t.cover = -1
	scrolls := v.bottom > screen(true).Height
	for _, i := range v.bands[v.band(y)] {
		s := &v.o.strokes[i]
		if int(i) >= t.after && !painted {
			letters()
		}
		if v.work++; v.work > maxLooks {
			return false
		}
		if scrolls && s.fixed != t.fixed || painted && v.o.unread && (s.unknown || s.b.busy) { // a sheet that is not read may set where it is, or hide it
			continue
		}
		if v.work += s.cost(); !s.holds(x, y) {
			continue
		}
		c := s.colourAt(x, y)
		v.enter(s.group, x, y)
		top := &v.layers[len(v.layers)-1]
		switch {
		case s.filters != nil:
			if len(v.layers) == 1 {
				top.without, top.with = over(top.without, v.canvas), over(top.with, v.canvas)
			}
			top.pass(s)
			continue
		case s.unknown && !painted: // it has the colour on which the letters can be seen best
			if c = (cascade.RGBA{1, 1, 1, 1}); cascade.Luminance(ink) > .18 {
				c = cascade.RGBA{0, 0, 0, 1}
			}
		}
		top.without, top.with = over(c, top.without), over(c, top.with)
		if painted && c[3] > .9 {
			t.cover = int(i)
		}
	}
	if !painted {
		letters()
	}
	for len(v.layers) > 1 {
		v.leave()
	}
	return distance(over(v.layers[0].with, v.canvas), over(v.layers[0].without, v.canvas)) >= clear
}

// pass lets what is behind through filters.
func (l *layer) pass(s *stroke) {
	for i := range s.filters {
		one := &s.filters[i]
		if one.Name == "blur" {
			if amountOf(one, s.b.style) > maxBlur {
				l.with = l.without
			}
			continue
		}
		l.without, l.with = filter(one, l.without, s.b.style), filter(one, l.with, s.b.style)
	}
}

// enter leaves and enters groups until g is the innermost one.
func (v *view) enter(g *group, x, y float64) {
	for {
		top := v.layers[len(v.layers)-1].g
		if top == g {
			return
		}
		if g != nil && (top == nil || g.depth > top.depth) {
			break
		}
		v.leave()
	}
	v.work += g.cost()
	if g.outer != v.layers[len(v.layers)-1].g {
		v.enter(g.outer, x, y)
	}
	v.layers = append(v.layers, layer{g: g, empty: !g.holds(x, y)})
}

// leave paints the innermost group on what is behind it.
func (v *view) leave() {
	top := v.layers[len(v.layers)-1]
	v.layers = v.layers[:len(v.layers)-1]
	if in := &v.layers[len(v.layers)-1]; !top.empty {
		in.without, in.with = top.g.put(top.without, in.without), top.g.put(top.with, in.with)
	}
}

// put applies a group's filters to a colour and paints it on what is behind.
func (g *group) put(c, behind cascade.RGBA) cascade.RGBA {
	for i := range g.filters {
		c = filter(&g.filters[i], c, g.b.style)
	}
	c[3] *= g.opacity
	if g.blend != "" && g.blend != "normal" && c[3] > 0 && behind[3] > 0 {
		mixed := blend(g.blend, behind, c)
		for i := range 3 {
			c[i] = c[i]*(1-behind[3]) + mixed[i]*behind[3]
		}
	}
	return over(c, behind)
}

// cost returns the work of looking at a stroke.
func (s *stroke) cost() int {
	n := 0
	if s.clip != nil {
		n = s.clip.depth
	}
	if s.image != nil {
		n += len(s.image.Stops)
	}
	return n
}

// cost returns the work of entering a group.
func (g *group) cost() int {
	if g.shape != nil {
		return 1 + len(g.shape.Numbers) + len(g.shape.Address)/8
	}
	return 1 + len(g.filters)
}

// holds reports whether a place on the screen is in the area of a stroke.
func (s *stroke) holds(x, y float64) bool {
	px, py := s.space.fromScreen(x, y)
	return s.area.holds(px, py) && (s.hole == nil || !s.hole.holds(px, py)) && s.clip.holds(x, y)
}

// colourAt returns the colour of a stroke at a place on the screen.
func (s *stroke) colourAt(x, y float64) cascade.RGBA {
	switch {
	case s.unknown:
		return cascade.RGBA{.5, .5, .5, 1}
	case s.image != nil:
		px, py := s.space.fromScreen(x, y)
		return gradient(s.image, s.b, s.area, px, py)
	}
	return s.colour
}

// gradient returns the colour of a gradient at a point of an area.
func gradient(image *cascade.Part, b *box, area rectangle, x, y float64) cascade.RGBA {
	if math.IsInf(area.left, 0) {
		area = rectangle{0, 0, 1280, 720}
	}
	w, h := area.right-area.left, area.bottom-area.top
	dx, dy := x-area.left-w/2, y-area.top-h/2
	st := b.style
	long, at := 1.0, 0.0
	switch image.Name {
	case "linear-gradient":
		angle := 180.0
		if len(image.Numbers) > 0 {
			angle = image.Numbers[0].Value(st.Around(360))
		} else if words := image.Address; words != "" {
			turn := [2]float64{0, 0}
			for i, pair := range [2][2]string{{"left", "right"}, {"top", "bottom"}} {
				if strings.Contains(words, pair[0]) {
					turn[i] = -1
				} else if strings.Contains(words, pair[1]) {
					turn[i] = 1
				}
			}
			if turn != [2]float64{} {
				angle = math.Atan2(turn[0], -turn[1]) * 180 / math.Pi
			}
		}
		sin, cos := math.Sincos(angle * math.Pi / 180)
		long = math.Abs(w*sin) + math.Abs(h*cos)
		at = (dx*sin-dy*cos)/max(long, 1e-9) + .5
	case "radial-gradient":
		long = math.Hypot(w, h) / 2
		at = math.Hypot(dx/max(w, 1), dy/max(h, 1)) * math.Sqrt2
	default:
		at = math.Mod(math.Atan2(dx, -dy)/2/math.Pi+1, 1)
		long = 360
	}
	return image.ColourAt(at, st.Around(long), st.Color, st.Dark)
}

// markTexts marks the texts and elements that cannot be seen, and returns the bytes that can and cannot.
func (v *view) markTexts() (seenSize, unseenSize int) {
	var visit func(b *box) (some, away bool)
	visit = func(b *box) (some, away bool) { // some of the text is seen, or all is out of sight
		text := false
		away = true
		for c := b.first; c != nil; c = c.next {
			if c.kind != textBox {
				s, a := visit(c)
				some, away = some || s, away && (a || c.first == nil)
				text = text || a || s
				continue
			}
			size := len(strings.TrimSpace(c.node.Data))
			if size == 0 {
				continue
			}
			text = true
			left := v.left(c, c.painted-1)
			seenSize, unseenSize = seenSize+left, unseenSize+max(size-left, 0)
			some = some || left > 0
			away = away && (c.painted == 0 || v.o.texts[c.painted-1].away)
		}
		away = away && text && !some
		if n := b.node; n != nil && away && n.DataAtom != atom.Html && n.DataAtom != atom.Body {
			if v.marks[n] = hidden; b.sight == doubtful {
				v.marks[n] = doubtful
			}
		}
		return some, away
	}
	visit(v.root)
	return seenSize, unseenSize
}

// left marks a text if it cannot be seen, or notes the part that can. It returns the bytes of that part.
func (v *view) left(c *box, at int) int {
	size := len(strings.TrimSpace(c.node.Data))
	if at < 0 {
		v.marks[c.node] = hidden
		return 0
	}
	shown, worst := 0, hidden
	for i := at; i < at+c.to-c.from; i++ {
		if v.o.texts[i].sight == seen {
			shown++
		} else {
			worst = min(worst, v.o.texts[i].sight)
		}
	}
	switch shown {
	case c.to - c.from:
		return size
	case 0:
		v.marks[c.node] = worst
		return 0
	}
	var left strings.Builder
	for i := at; i < at+c.to-c.from; i++ {
		if f := &v.l.fragments[v.o.texts[i].at]; v.o.texts[i].sight == seen {
			left.WriteString(c.node.Data[f.from:f.to])
			left.WriteByte(' ')
		}
	}
	v.cut[c.node] = left.String()
	return left.Len()
}
