package cascade

import (
	"math"
	"strings"

	"golang.org/x/net/html/atom"

	"familiar/visible/internal/css"
)

func readIndent(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		if word, ok := v.word(); ok {
			if word != "hanging" && word != "each-line" {
				return Value{}, false
			}
			continue
		}
		n, ok := v.numberOf(length, percentage, mixed)
		if !ok || got.Numbers != nil {
			return Value{}, false
		}
		got.Numbers = []Number{n}
	}
	return got, got.Numbers != nil
}

var spaceWords = wordSet("normal nowrap pre pre-wrap pre-line break-spaces collapse preserve preserve-breaks wrap balance pretty stable auto")

func readWhiteSpace(v *reader) (Value, bool) {
	got, lines := Value{Word: "wrap"}, false
	for !v.done() {
		word, ok := v.word()
		if !ok || !spaceWords[word] {
			return Value{}, false
		}
		if word == "nowrap" || word == "pre" {
			got.Word = "nowrap"
		}
		lines = lines || strings.HasPrefix(word, "pre") && word != "pretty" || word == "break-spaces"
	}
	if lines {
		got.Word += " lines"
	}
	return got, true
}

var decorationWords = wordSet("none underline overline line-through blink spelling-error grammar-error solid double dotted dashed wavy auto from-font")

func readDecoration(v *reader) (Value, bool) {
	var all []string
	for !v.done() {
		at := v.at
		if word, ok := v.word(); ok && decorationWords[word] {
			all = append(all, word)
			continue
		}
		v.at = at
		if _, ok := v.numberOf(length, percentage); ok {
			continue
		}
		if _, ok := v.colour(); !ok {
			return Value{}, false
		}
	}
	return Value{Word: strings.Join(all, " ")}, true
}

func readStroke(v *reader, set func(Property, Value)) bool {
	width, colour := Value{Numbers: []Number{pixels(0)}}, Value{wide: "initial"}
	for !v.done() {
		at := v.at
		if got, ok := numbers("thin medium thick", false, length)(v); ok {
			width = got
			continue
		}
		v.at = at
		got, ok := readColour(v)
		if !ok {
			return false
		}
		colour = got
	}
	set(TextStrokeWidth, width)
	set(TextStrokeColor, colour)
	return true
}

// readShadows reads the shadows of texts or boxes. The numbers of a part are its offsets, its blur and its spread.
func readShadows(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return Value{Word: word}, true
	}
	var all Value
	for _, part := range v.parts() {
		var one Part
		for !part.done() {
			if n, ok := part.numberOf(length); ok {
				one.Numbers = append(one.Numbers, n)
				continue
			}
			if word, ok := part.peekWord(); ok && word == "inset" {
				part.at++
				one.Name = word
				continue
			}
			c, ok := part.colour()
			if !ok || len(one.Colours) > 0 {
				return Value{}, false
			}
			one.Colours = append(one.Colours, c)
		}
		if len(one.Numbers) < 2 || len(one.Numbers) > 4 {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	v.at = v.in.To
	return all, true
}

func readContent(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		switch v.kind(v.at) {
		case css.String:
			v.at++
		case css.Ident:
			got.Word += v.t.Lower(v.at) + " "
			v.at++
		case css.URL:
			v.at++
			got.Word += "image "
		case css.Function:
			name, _, _ := v.function()
			if name == "url" || strings.Contains(name, "gradient") || strings.Contains(name, "image") {
				got.Word += "image "
			} else {
				got.Word += "text "
			}
		default:
			if !v.take('/') {
				return Value{}, false
			}
		}
	}
	return got, true
}

// isDark reports whether a list of colour schemes has the dark one alone. The screen prefers the light one.
func isDark(schemes string) bool {
	return strings.Contains(schemes, "dark") && !strings.Contains(schemes, "light")
}

// text computes the look of letters.
func (s *Sheets) text(st *Style) {
	if v := st.Get(Visibility); v != nil {
		st.Hidden = v.Word != "visible"
		st.Doubt = st.Doubt || v.Doubt
	}
	if v := st.Get(ColorScheme); v != nil {
		st.Dark = isDark(v.Word)
	}
	if st.Dark && !st.Parent.Dark && st.Parent.Parent == nil && st.Get(Color) == nil { // the page's, whose letters have the colour of the scheme
		st.Color = canvas(st.Color, st.Dark)
	}
	if v := st.Get(Color); v != nil {
		st.Color = v.Colour.At(st.Color, st.Dark)
		st.Doubt = st.Doubt || v.Doubt
	}
	if v := st.Get(TextFill); v != nil {
		st.fillSet = v.wide == ""
		st.Fill = v.Colour.At(st.Color, st.Dark)
		st.Doubt = st.Doubt || v.Doubt
	}
	if !st.fillSet {
		st.Fill = st.Color
	}
	if v := st.Get(TextStrokeWidth); v != nil {
		st.Stroke = 1
		if len(v.Numbers) > 0 {
			st.Stroke = v.Numbers[0].Value(st.Around(math.NaN()))
		}
	}
	if v := st.Get(TextStrokeColor); v != nil {
		st.strokeSet = v.wide == ""
		st.StrokeIn = v.Colour.At(st.Color, st.Dark)
	}
	if v := st.Get(PaintOrder); v != nil {
		st.Under = strings.HasPrefix(v.Word, "stroke")
	}
	if !st.strokeSet {
		st.StrokeIn = st.Color
	}
	if v := st.Get(TextShadow); v != nil {
		st.Shadows, st.ShadowIn = v.Parts, st.Color
	}
	if v := st.Get(TextSecurity); v != nil {
		st.Masked = v.Word != "none" && v.wide == ""
	}
}

// fontSizes maps the named sizes to pixels.
var fontSizes = map[string]float64{"xx-small": 9, "x-small": 10, "small": 13, "medium": 16, "large": 18, "x-large": 24, "xx-large": 32, "xxx-large": 48, "-webkit-xxx-large": 48, "math": 16}

func readFontSize(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		switch word {
		case "smaller":
			return Value{Numbers: []Number{{quantity: length, n: .8333, unit: 'e'}}}, true
		case "larger":
			return Value{Numbers: []Number{{quantity: length, n: 1.2, unit: 'e'}}}, true
		}
		size, ok := fontSizes[word]
		return Value{Numbers: []Number{pixels(size)}}, ok
	}
	return numbers("", false, length, percentage, mixed)(v)
}

func readSizeAdjust(v *reader) (Value, bool) {
	var got Value
	for !v.done() {
		if _, ok := v.word(); ok {
			continue
		}
		n, ok := v.numberOf(plain)
		if !ok {
			return Value{}, false
		}
		got.Numbers = []Number{n}
	}
	return got, true
}

var systemFonts = wordSet("caption icon menu message-box small-caption status-bar")

var fontWords = wordSet(`normal italic oblique small-caps bold bolder lighter ultra-condensed extra-condensed condensed semi-condensed semi-expanded expanded
	extra-expanded ultra-expanded`)

func readFont(v *reader, set func(Property, Value)) bool {
	set(FontSizeAdjust, Value{Word: "none"})
	if word, ok := v.peekWord(); ok && systemFonts[word] {
		v.at++
		set(FontSize, Value{Numbers: []Number{pixels(13)}})
		set(LineHeight, Value{Word: "normal"})
		return true
	}
	v.skipFontWords()
	size, ok := readFontSize(v)
	if !ok {
		return false
	}
	set(FontSize, size)
	height := Value{Word: "normal"}
	if v.take('/') {
		if height, ok = numbers("normal", false, plain, length, percentage, mixed)(v); !ok {
			return false
		}
	}
	set(LineHeight, height)
	if v.done() {
		return false
	}
	for _, family := range v.parts() {
		if !family.isFamily() {
			return false
		}
	}
	families, ok := readFamilies(v)
	set(FontFamily, families)
	return ok
}

// skipFontWords skips the style, variant, weight and width of a font.
func (v *reader) skipFontWords() {
	for {
		at := v.at
		if word, ok := v.word(); ok && fontWords[word] {
			if word == "oblique" {
				v.numberOf(angle)
			}
			continue
		}
		v.at = at
		if n, ok := v.numberOf(plain); ok && !(n.op == 0 && n.n < 1) && !v.quirks {
			continue
		}
		v.at = at
		return
	}
}

// isFamily reports whether a value is the name of a font family: a string or words.
func (v *reader) isFamily() bool {
	if v.done() {
		return false
	}
	if v.kind(v.at) == css.String {
		v.at++
		return v.done()
	}
	for !v.done() {
		if _, ok := v.word(); ok {
			continue
		}
		if _, _, ok := v.function(); !ok {
			return false
		}
	}
	return true
}

// font computes the sizes of letters and lines.
func (s *Sheets) font(st *Style) {
	around := st.Around(st.FontSize)
	if st.Node.DataAtom == atom.Html {
		around.Rem = 16
	}
	if v := st.Get(FontSize); v != nil {
		st.Doubt = st.Doubt || v.Doubt
		if len(v.Numbers) > 0 {
			if n := v.Numbers[0].Value(around); n == n {
				st.FontSize = max(n, 0)
			} else {
				st.Doubt = true
			}
		}
	}
	if v := st.Get(FontSizeAdjust); v != nil {
		st.Shrunk = len(v.Numbers) > 0 && v.Numbers[0].Value(around) < .1
	}
	if v := st.Get(FontFamily); v != nil {
		st.face = face{}
		for i := range v.Parts {
			if one, known := s.faces[v.Parts[i].Name]; known {
				st.face = one
				break
			}
		}
	}
	if v := st.Get(LineHeight); v != nil {
		st.lineFactor = math.NaN()
		if len(v.Numbers) > 0 {
			around := st.Around(st.FontSize)
			n := v.Numbers[0].Value(around)
			switch {
			case v.Numbers[0].quantity == plain:
				st.lineFactor = n
			case n == n:
				st.lineFactor, st.Line = -1, n
			}
		}
	}
	if st.lineFactor != st.lineFactor {
		st.Line = st.FontSize * (ascent + descent + lineGap + st.face.above + st.face.below + st.face.gap)
	} else if st.lineFactor >= 0 {
		st.Line = st.FontSize * st.lineFactor
	}
	if v := st.Get(LetterSpacing); v != nil {
		st.Spacing = 0
		if len(v.Numbers) > 0 {
			if n := v.Numbers[0].Value(st.Around(st.FontSize)); n == n {
				st.Spacing = n
			}
		}
	}
	if v := st.Get(WordSpacing); v != nil {
		st.Between, _ = st.Length(WordSpacing, st.FontSize)
	}
	if v := st.Get(TabSize); v != nil {
		if st.Tab, _ = st.Length(TabSize, 0); len(v.Numbers) > 0 && v.Numbers[0].quantity == plain {
			st.Tab *= st.Blank()
		}
	}
	if v := st.Get(WritingMode); v != nil {
		switch from, to, _ := strings.Cut(v.Word, "-"); {
		case from != "vertical" && from != "sideways" && from != "tb":
			st.Vertical = ""
		case to == "lr":
			st.Vertical = "left"
		default:
			st.Vertical = "right"
		}
	}
	if v := st.Get(WhiteSpace); v != nil {
		st.Nowrap = strings.HasPrefix(v.Word, "nowrap")
		st.Lines = strings.HasSuffix(v.Word, "lines")
	}
	if v := st.Get(Direction); v != nil {
		st.Leftward = v.Word == "rtl"
	}
	if v := st.Get(TextAlign); v != nil {
		st.Align = v.Word
	}
	if v := st.Get(TextIndent); v != nil && len(v.Numbers) > 0 {
		st.indent, st.indentEm = v.Numbers[0], st.FontSize
	}
}

// The parts of a line of a common font: above and below where letters stand, and between lines. The font size is 1.
const ascent, descent, lineGap = .93, .24, .03

// face is a font that the page declares. above, below and gap are by how much the parts of its lines differ from those of a common one.
type face struct{ size, above, below, gap float64 }

// Lowered returns how far down in their lines the letters are, compared with those of a common font.
func (st *Style) Lowered() float64 { return (st.face.above - st.face.below) / 2 * st.FontSize }

// Blank returns the width of a blank.
func (st *Style) Blank() float64 { return .28*st.FontSize + st.Spacing + st.Between }

// fontFace reads how large the letters of a font are that the page declares.
func (r *sheetReader) fontFace(item css.Item) {
	name, one := "", face{size: 1}
	for d := range r.t.Block(item.Block) {
		v := newReader(r.t.Between(d.Value))
		switch d.Name {
		case "font-family":
			if families, ok := readFamilies(v); ok {
				name = families.Parts[0].Name
			}
		case "size-adjust", "ascent-override", "descent-override", "line-gap-override":
			n, ok := v.numberOf(percentage)
			switch n := n.n / 100; {
			case !ok:
			case d.Name == "size-adjust":
				one.size = max(n, 1e-9)
			case d.Name == "ascent-override":
				one.above = n - ascent
			case d.Name == "descent-override":
				one.below = n - descent
			default:
				one.gap = n - lineGap
			}
		case "unicode-range":
			if text := r.t.Between(d.Value); !strings.Contains(strings.ToLower(text), "u+0") && !strings.Contains(text, "?") {
				return // it has no common letters
			}
		}
	}
	if r.s.faces == nil {
		r.s.faces = map[string]face{}
	}
	r.s.faces[name] = one
}

// Adjusted returns the size of letters as a part of the font size.
func (st *Style) Adjusted() float64 {
	if st.face.size == 0 {
		return 1
	}
	return st.face.size
}
