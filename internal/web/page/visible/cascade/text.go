package cascade

import (
	"math"
	"strings"

	"familiar/internal/web/page/visible/css"
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
	got := Value{Word: "wrap"}
	for !v.done() {
		word, ok := v.word()
		if !ok || !spaceWords[word] {
			return Value{}, false
		}
		if word == "nowrap" || word == "pre" {
			got.Word = "nowrap"
		}
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

// readShadows reads the shadows of a text. The numbers of a part are its offsets and how far it is blurred.
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
			c, ok := part.colour()
			if !ok || len(one.Colours) > 0 {
				return Value{}, false
			}
			one.Colours = append(one.Colours, c)
		}
		if len(one.Numbers) < 2 || len(one.Numbers) > 3 {
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

// text computes what the letters look like.
func (s *Sheets) text(st *Style) {
	if v := st.values[Visibility]; v != nil {
		st.Hidden = v.Word != "visible"
		st.Doubt = st.Doubt || v.Doubt
	}
	if v := st.values[ColorScheme]; v != nil {
		st.Dark = strings.Contains(v.Word, "dark") && !strings.Contains(v.Word, "light")
	}
	if v := st.values[Color]; v != nil {
		st.Color = v.Colour.At(st.Color, st.Dark)
		st.Doubt = st.Doubt || v.Doubt
	}
	if v := st.values[TextFill]; v != nil {
		st.fillSet = v.wide == ""
		st.Fill = v.Colour.At(st.Color, st.Dark)
		st.Doubt = st.Doubt || v.Doubt
	}
	if !st.fillSet {
		st.Fill = st.Color
	}
	if v := st.values[TextStrokeWidth]; v != nil {
		st.Stroke = 1
		if len(v.Numbers) > 0 {
			st.Stroke = v.Numbers[0].Value(st.Around(math.NaN()))
		}
	}
	if v := st.values[TextStrokeColor]; v != nil {
		st.strokeSet = v.wide == ""
		st.StrokeIn = v.Colour.At(st.Color, st.Dark)
	}
	if !st.strokeSet {
		st.StrokeIn = st.Color
	}
	if v := st.values[TextShadow]; v != nil {
		st.Shadows, st.ShadowIn = v.Parts, st.Color
	}
	if v := st.values[TextSecurity]; v != nil {
		st.Masked = v.Word != "none" && v.wide == ""
	}
}
