package cascade

import (
	"hash/maphash"
	"math"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Style is the computed style of an element.
type Style struct {
	Node      *html.Node
	Parent    *Style
	Display   string  // as computed: floats, for example, are blocks
	Positions bool    // it is positioned, so it uses offsets
	Doubt     bool    // a value that could hide it is unknown
	Inner     float64 // the width of its content, which the layout sets
	Inherited

	screen   Screen
	around   Surroundings
	held     []*Value
	at       [properties]uint8 // where in held the value of a property is, from 1; 0 if it has none
	declared []Property        // the properties that have a value
	authored [properties]bool  // set by an author's rule or the style attribute
	shared   []*Style          // of children
	sum      uint64            // of the declarations that apply
}

// Inherited holds the properties that children inherit.
type Inherited struct {
	FontSize float64
	Line     float64 // the height of a line, in pixels
	Spacing  float64 // between letters
	Between  float64 // words, beside the blank
	Tab      float64 // the distance of tab stops; 0 for eight blanks
	Vertical string  // the side where the first vertical line is: right or left
	Nowrap   bool
	Lines    bool   // line feeds break lines
	Align    string // of lines: left, right or center
	Leftward bool   // the text runs from right to left
	Hidden   bool   // by visibility
	Color    RGBA
	Fill     RGBA // of letters: usually Color
	Stroke   float64
	StrokeIn RGBA
	Under    bool // the stroke is painted before the letters
	Shadows  []Part
	ShadowIn RGBA // of shadows without a colour
	Masked   bool // its letters look like dots
	Dark     bool // its scheme is dark
	Shrunk   bool // its letters are smaller than its font size says

	indent     Number
	indentEm   float64
	lineFactor float64 // of a line height relative to the font; NaN for the font's own; negative if it is not relative
	fillSet    bool
	strokeSet  bool
	rem        float64
	face       face // zero for a common one
	body       RGBA
	customs    *customs
}

// Root returns the style around the root element of a page.
func (s *Sheets) Root() *Style {
	black := canvas(RGBA{0, 0, 0, 1}, s.dark)
	return &Style{
		Display: "block", screen: s.screen, Inner: s.screen.Width,
		Inherited: Inherited{FontSize: 16, Line: 19.2, lineFactor: math.NaN(), Color: black, Fill: black, StrokeIn: black, ShadowIn: black, body: black, rem: 16, Dark: s.dark},
	}
}

// Around returns what the relative units of the element are relative to. The result is valid until the next call. percent
// is the value of 100 %.
func (st *Style) Around(percent float64) *Surroundings {
	st.around = Surroundings{Em: st.FontSize, Rem: st.rem, Line: st.Line, Percent: percent, Screen: st.screen}
	return &st.around
}

// Get returns the value of a property that is not inherited, or nil for its initial value.
func (st *Style) Get(p Property) *Value {
	if i := st.at[p]; i > 0 {
		return st.held[i-1]
	}
	return nil
}

func (st *Style) set(p Property, v *Value) {
	if i := st.at[p]; i > 0 {
		st.held[i-1] = v
		return
	}
	if len(st.held) < math.MaxUint8 {
		st.held, st.declared = append(st.held, v), append(st.declared, p)
		st.at[p] = uint8(len(st.held))
	}
}

// Word returns the keyword of a property, or "" for its initial value and for values that are not keywords.
func (st *Style) Word(p Property) string {
	if v := st.Get(p); v != nil {
		return v.Word
	}
	return ""
}

// Length computes a length. ok is false if it is auto or another keyword, or depends on something unknown.
func (st *Style) Length(p Property, percent float64) (n float64, ok bool) {
	v := st.Get(p)
	if v == nil || len(v.Numbers) == 0 {
		return 0, false
	}
	n = v.Numbers[0].Value(st.Around(percent))
	return n, n == n
}

// Number computes a number, where 100 % is 1.
func (st *Style) Number(p Property, initial float64) float64 {
	if n, ok := st.Length(p, 1); ok {
		return n
	}
	return initial
}

// Indent returns the indent of the first line in a box of that width.
func (st *Style) Indent(width float64) float64 {
	around := st.Around(width)
	around.Em = st.indentEm
	return st.indent.Value(around)
}

// Authored reports whether the page itself sets a property of the element.
func (st *Style) Authored(p Property) bool { return st.authored[p] }

// maxShared is how many styles of children a style keeps, to share them.
const maxShared = 4

// Share returns the style of n. Children to which the same declarations apply have the same one, whose Node is the first
// of them.
func (s *Sheets) Share(n *html.Node, parent *Style, st *Style) *Style {
	entries := s.collectEntries(n, parent, nil)
	sum, ok := s.sum(entries)
	if !ok || n.DataAtom == atom.Html || n.DataAtom == atom.Body || n.DataAtom == atom.Table && s.quirks {
		s.Compute(st, n, parent)
		return st
	}
	for _, one := range parent.shared {
		if one.sum == sum {
			return one
		}
	}
	s.Compute(st, n, parent)
	if st.sum = sum; len(parent.shared) < maxShared {
		parent.shared = append(parent.shared, st)
	} else {
		parent.shared[int(sum%maxShared)] = st
	}
	return st
}

// sum returns a hash of the declarations that apply to an element. It reports false if a value may depend on the element
// itself.
func (s *Sheets) sum(entries []entry) (uint64, bool) {
	s.hash.Reset()
	for i := range entries {
		d := entries[i].declaration
		if strings.Contains(d.value.later, "(") || entries[i].group == hintGroup {
			return 0, false
		}
		maphash.WriteComparable(&s.hash, d)
		s.hash.WriteByte(byte(entries[i].group))
	}
	return s.hash.Sum64(), true
}

// Compute computes the style of n into st. The style of its parent must have been computed.
func (s *Sheets) Compute(st *Style, n *html.Node, parent *Style) {
	st.reset()
	st.Node, st.Parent, st.Display, st.Positions, st.Doubt, st.Inner, st.screen = n, parent, "", false, false, parent.Inner, s.screen
	st.Inherited = parent.Inherited
	entries := s.collectEntries(n, parent, nil)
	s.resolve(st, entries)
	if st.Get(AnimationName) != nil {
		if animated := s.animated(st); len(animated) > 0 {
			st.reset()
			st.customs = parent.customs
			s.resolve(st, s.collectEntries(n, parent, animated))
		}
	}
	if s.quirks && n.DataAtom == atom.Table {
		st.quirkyTable()
	}
	s.font(st)
	s.text(st)
	st.Display = st.display()
	if n.DataAtom == atom.Html {
		st.rem = st.FontSize
	}
	if n.DataAtom == atom.Body {
		st.body = st.Color
	}
}

// reset removes the values of the element for which the style was used before.
func (st *Style) reset() {
	st.held, st.declared = st.held[:0], st.declared[:0]
	st.at, st.authored = [properties]uint8{}, [properties]bool{}
}

// resolve chooses the strongest declaration of each property.
func (s *Sheets) resolve(st *Style, entries []entry) {
	st.declareCustoms(s, entries)
	var skip map[Property]entry // what revert-layer and revert have removed
	for i := len(entries) - 1; i >= 0; i-- {
		e := &entries[i]
		p := e.declaration.property
		if e.declaration.custom != "" {
			continue
		}
		if e.origin != userAgent {
			st.authored[p] = true
		}
		if st.Get(p) != nil {
			continue
		}
		if over, skipping := skip[p]; skipping {
			if over.origin != animation && over.group == e.group && over.declaration.value.wide != "revert" || over.declaration.value.wide == "revert" && e.origin == over.origin {
				continue
			}
			delete(skip, p)
		}
		value := e.declaration.value
		if value.later != "" {
			value = s.later(st, value, p)
		}
		if value.wide == "revert" || value.wide == "revert-layer" {
			if e.origin == userAgent {
				value = &Value{wide: "unset"}
			} else {
				if skip == nil {
					skip = map[Property]entry{}
				}
				reverting := *e
				reverting.declaration = &declaration{property: p, value: value}
				skip[p] = reverting
				continue
			}
		}
		st.set(p, value)
	}
	st.resolveWide()
}

// resolveWide replaces initial, inherit and similar keywords by the values that they mean.
func (st *Style) resolveWide() {
	for _, p := range st.declared {
		v := st.Get(p)
		if v.wide == "" {
			continue
		}
		switch {
		case v.wide == "inherit" || inherited[p] && v.wide == "unset":
			st.set(p, nil)
			if !inherited[p] {
				st.set(p, st.Parent.Get(p))
			}
		case inherited[p]:
			st.set(p, initialValue(p))
		default:
			st.set(p, nil)
		}
	}
}

// initialValue returns the initial value of an inherited property.
func initialValue(p Property) *Value {
	switch p {
	case Visibility:
		return &Value{Word: "visible"}
	case FontSize:
		return &Value{Numbers: []Number{pixels(16)}}
	case TextIndent:
		return &Value{Numbers: []Number{pixels(0)}}
	case Color:
		return &Value{Colour: Colour{compute: func(_ RGBA, dark bool) RGBA { return canvas(RGBA{0, 0, 0, 1}, dark) }}}
	case TextStrokeWidth:
		return &Value{Numbers: []Number{pixels(0)}}
	case WhiteSpace:
		return &Value{Word: "wrap"}
	case TextAlign, Direction:
		return &Value{Word: "left"}
	}
	return &Value{Word: "initial", wide: "initial"}
}

func (st *Style) declareCustoms(s *Sheets, entries []entry) {
	var declared map[string]string
	for i := len(entries) - 1; i >= 0; i-- {
		d := entries[i].declaration
		if d.custom == "" {
			continue
		}
		if declared == nil {
			declared = map[string]string{}
		}
		if _, stronger := declared[d.custom]; !stronger {
			declared[d.custom] = d.value.later
		}
	}
	if declared != nil {
		st.customs = s.declareCustoms(declared, st.Parent.customs, st.attribute)
	}
}

func (st *Style) attribute(name string) (string, bool) { return attribute(st.Node, name) }

// later reads a value with variables. If a variable is missing, the property has no value. If the value has functions that
// are not computed here, it is in doubt.
func (s *Sheets) later(st *Style, v *Value, p Property) *Value {
	lower := strings.ToLower(v.later)
	if strings.Contains(lower, "inherit(") || strings.Contains(strings.ReplaceAll(lower, "(--", ""), "--") && !strings.Contains(lower, "var(") {
		return &Value{Doubt: true}
	}
	text, ok := s.substitute(v.later, st.attribute, func(name string) (string, bool) { return s.custom(st.customs, name) })
	if !ok {
		return &Value{wide: "unset"}
	}
	at := v.of + ":" + text
	list, known := s.values[at]
	if !known {
		list = appendDeclarations(nil, v.of, text, false, s.quirks)
		if len(s.values) < 10_000 {
			s.values[at] = list
		}
	}
	for i := range list {
		if list[i].property == p && list[i].value.later == "" {
			return list[i].value
		}
	}
	return &Value{wide: "unset"}
}

// quirkyTable resets what tables do not inherit in quirks mode.
func (st *Style) quirkyTable() {
	for p, v := range map[Property]*Value{FontSize: initialValue(FontSize), LineHeight: {Word: "normal"}, Color: {Colour: Colour{fixed: st.body}}} {
		if st.Get(p) == nil {
			st.set(p, v)
		}
	}
}

// display computes the value of display.
func (st *Style) display() string {
	word := "inline"
	if v := st.Get(Display); v != nil {
		word = v.Word
		if v.Doubt {
			st.Doubt = true
			word = "block"
		}
	}
	position := st.Word(Position)
	st.Positions = position != "" && position != "static"
	taken := position == "absolute" || position == "fixed"
	float := st.Word(Float)
	around := st.Parent.Display
	isItem := strings.HasSuffix(around, "flex") || strings.HasSuffix(around, "grid") || strings.HasSuffix(around, "-box") && around != "flow-root"
	if !taken && (float == "" || float == "none") && !isItem {
		return word
	}
	switch word {
	case "inline", "inline-block", "table-cell", "table-row", "table-row-group", "ruby", "ruby-text":
		return "block"
	}
	return strings.TrimPrefix(word, "inline-")
}

// Canvas returns the colour of an empty page in the element's scheme.
func (st *Style) Canvas() RGBA { return canvas(RGBA{1, 1, 1, 1}, st.Dark) }

// Strip removes everything that is not inherited, for a box around texts.
func (st *Style) Strip() {
	st.held, st.declared, st.at = nil, nil, [properties]uint8{}
	st.Display, st.Positions = "block", false
}
