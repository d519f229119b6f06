package cascade

import "familiar/visible/internal/css"

const lineStyles = "none hidden dotted dashed solid double groove ridge inset outset auto"

var borderProperties = func() (all []Property) {
	for p := BorderTopWidth; p <= BorderImage; p++ {
		all = append(all, p)
	}
	return all
}()

// thicknesses maps the named widths of lines to pixels.
var thicknesses = map[string]float64{"thin": 1, "medium": 3, "thick": 5}

func readThickness(v *reader) (Value, bool) {
	if word, ok := v.word(); ok {
		n, known := thicknesses[word]
		return Value{Numbers: []Number{pixels(n)}}, known
	}
	n, ok := v.numberOf(length)
	return Value{Numbers: []Number{n}}, ok
}

// line reads the width, style and colour of a line around a box.
func (v *reader) line(set func(Property, Value), width, style, colour Property) bool {
	values := map[Property]Value{width: {Numbers: []Number{pixels(3)}}, style: {Word: "none"}, colour: currentColour}
	isStyle := words(lineStyles)
	for !v.done() {
		at := v.at
		if got, ok := isStyle(v); ok {
			values[style] = got
			continue
		}
		v.at = at
		if got, ok := readThickness(v); ok {
			values[width] = got
			continue
		}
		v.at = at
		got, ok := readColour(v)
		if !ok {
			return false
		}
		values[colour] = got
	}
	for p, value := range values {
		set(p, value)
	}
	return true
}

var currentColour = Value{Colour: Colour{compute: func(current RGBA, _ bool) RGBA { return current }}}

func readOutline(v *reader, set func(Property, Value)) bool {
	return v.line(set, OutlineWidth, OutlineStyle, OutlineColor)
}

func readBorder(v *reader, set func(Property, Value)) bool {
	return v.line(func(p Property, value Value) {
		for i := range Property(4) {
			set(p+i, value)
		}
	}, BorderTopWidth, BorderTopStyle, BorderTopColor)
}

// readBorderImage reads the image around a box. The word is "fill" if it also covers the inside.
func readBorderImage(v *reader) (Value, bool) {
	got := Value{}
	for !v.done() {
		at := v.at
		if word, ok := v.word(); ok {
			if word == "fill" {
				got.Word = word
			}
			continue
		}
		if one, ok := v.image(); ok {
			got.Parts = []Part{one}
			continue
		}
		v.at = v.t.After(at)
	}
	return got, true
}

// readOrigin reads a point in a box: two numbers.
func readOrigin(v *reader) (Value, bool) {
	place := [2]Number{{quantity: percentage, n: 50, unit: '%'}, {quantity: percentage, n: 50, unit: '%'}}
	for i := 0; !v.done() && i < 3; i++ {
		if word, ok := v.word(); ok {
			n, known := positionWords[word]
			if !known {
				return Value{}, false
			}
			switch word {
			case "left", "right":
				place[0].n = n
			case "top", "bottom":
				place[1].n = n
			}
			continue
		}
		n, ok := v.numberOf(length, percentage, mixed)
		if !ok {
			return Value{}, false
		}
		if i < 2 {
			place[i] = n
		}
	}
	return Value{Numbers: place[:]}, true
}

// readFamilies reads the names of fonts.
func readFamilies(v *reader) (Value, bool) {
	var all Value
	for _, part := range v.parts() {
		name := ""
		for at := part.at; at < part.in.To; at = part.t.After(at) {
			if k := part.kind(at); k == css.Ident || k == css.String {
				name += " " + part.t.Lower(at)
			}
		}
		if name == "" {
			return Value{}, false
		}
		all.Parts = append(all.Parts, Part{Name: name[1:]})
	}
	v.at = v.in.To
	return all, true
}
