package cascade

import (
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/visible/css"
)

// fontSizes are the sizes that have names, in pixels.
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
	v.at = v.in.To
	return true
}

// skipFontWords goes over the style, the variant, the weight and the width of a font.
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

// isFamily reports whether all of a value is the name of a font family: a string, or words.
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
	if v := st.values[FontSize]; v != nil {
		st.Doubt = st.Doubt || v.Doubt
		if len(v.Numbers) > 0 {
			if n := v.Numbers[0].Value(around); n == n {
				st.FontSize = max(n, 0)
			} else {
				st.Doubt = true
			}
		}
	}
	if v := st.values[FontSizeAdjust]; v != nil {
		st.Shrunk = len(v.Numbers) > 0 && v.Numbers[0].Value(around) < .1
	}
	if v := st.values[LineHeight]; v != nil {
		st.lineFactor = 1.2
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
	if st.lineFactor >= 0 {
		st.Line = st.FontSize * st.lineFactor
	}
	if v := st.values[LetterSpacing]; v != nil {
		st.Spacing = 0
		if len(v.Numbers) > 0 {
			if n := v.Numbers[0].Value(st.Around(st.FontSize)); n == n {
				st.Spacing = n
			}
		}
	}
	if v := st.values[WhiteSpace]; v != nil {
		st.Nowrap = v.Word == "nowrap"
	}
	if v := st.values[TextIndent]; v != nil && len(v.Numbers) > 0 {
		st.indent, st.indentEm = v.Numbers[0], st.FontSize
	}
}
