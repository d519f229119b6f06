package cascade

import (
	"familiar/visible/internal/css"
)

func readClip(v *reader) (Value, bool) {
	if word, ok := v.word(); ok {
		return Value{Word: word}, word == "auto"
	}
	name, args, ok := v.function()
	if !ok || name != "rect" {
		return Value{}, false
	}
	got := Value{}
	for !args.done() {
		args.take(',')
		one, ok := readOffset(args)
		if !ok {
			return Value{}, false
		}
		if one.Numbers == nil {
			one.Numbers = []Number{notANumber()}
		}
		got.Numbers = append(got.Numbers, one.Numbers[0])
	}
	return got, len(got.Numbers) == 4
}

var boxWords = wordSet("border-box padding-box content-box margin-box fill-box stroke-box view-box")

// readClipPath reads a shape. Its numbers are its arguments, NaN for keywords.
func readClipPath(v *reader) (Value, bool) {
	var got Value
	for !v.done() {
		if word, ok := v.peekWord(); ok {
			v.at++
			if !boxWords[word] && word != "none" {
				return Value{}, false
			}
			continue
		}
		if v.kind(v.at) == css.URL {
			v.at++
			got.Doubt = true
			continue
		}
		name, args, ok := v.function()
		if !ok || len(got.Parts) > 0 {
			return Value{}, false
		}
		if name == "url" {
			got.Doubt = true
			continue
		}
		one, ok := readShape(name, args)
		if !ok {
			return Value{}, false
		}
		got.Parts = append(got.Parts, one)
	}
	return got, true
}

// shapeReader reads the arguments of the function of a shape.
type shapeReader struct {
	*reader
	shape Part
}

// shapes holds the readers of shapes by name. They report whether a shape is valid.
var shapes = map[string]func(s *shapeReader) bool{
	"inset":   func(s *shapeReader) bool { return s.lengths(nil, 1, 4) && s.rounded() },
	"rect":    func(s *shapeReader) bool { return s.lengths(autoWord, 4, 4) && s.rounded() },
	"xywh":    func(s *shapeReader) bool { return s.lengths(nil, 4, 4) && s.rounded() },
	"circle":  (*shapeReader).ellipse,
	"ellipse": (*shapeReader).ellipse,
	"polygon": (*shapeReader).polygon,
	"path":    (*shapeReader).path,
	"shape":   func(*shapeReader) bool { return true },
}

func readShape(name string, v *reader) (Part, bool) {
	read := shapes[name]
	if read == nil {
		return Part{}, false
	}
	s := shapeReader{v, Part{Name: name}}
	ok := read(&s)
	return s.shape, ok
}

var (
	autoWord    = wordSet("auto")
	radiusWords = wordSet("closest-side farthest-side closest-corner farthest-corner")
)

// lengths reads lengths or keywords, as many as the bounds allow.
func (s *shapeReader) lengths(words map[string]bool, least, most int) bool {
	n := 0
	for ; n < most && !s.done(); n++ {
		if word, ok := s.peekWord(); ok {
			if !words[word] {
				break
			}
			s.at++
			s.shape.Numbers = append(s.shape.Numbers, notANumber())
			s.shape.Address += word + " "
			continue
		}
		if !s.length() {
			return false
		}
	}
	return n >= least
}

func (s *shapeReader) length() bool {
	n, ok := s.numberOf(length, percentage, mixed)
	s.shape.Numbers = append(s.shape.Numbers, n)
	return ok
}

// rounded reads the rest of a shape, which may say how its corners are rounded.
func (s *shapeReader) rounded() bool {
	if word, ok := s.peekWord(); ok && word == "round" {
		s.at = s.in.To
	}
	return s.done()
}

// ellipse reads the two radii of a circle or an ellipse, and then its centre.
func (s *shapeReader) ellipse() bool {
	if !s.lengths(radiusWords, 0, 2) {
		return false
	}
	if s.shape.Name == "circle" && len(s.shape.Numbers) == 1 {
		s.shape.Numbers = append(s.shape.Numbers, s.shape.Numbers[0])
	}
	if word, ok := s.peekWord(); !ok || word != "at" {
		return s.done()
	}
	s.at++
	for len(s.shape.Numbers) < 2 {
		s.shape.Numbers = append(s.shape.Numbers, notANumber())
	}
	return s.centre() && len(s.shape.Numbers) <= 6
}

// positionWords maps the keywords of positions to percentages.
var positionWords = map[string]float64{"left": 0, "top": 0, "center": 50, "right": 100, "bottom": 100}

func (s *shapeReader) centre() bool {
	for !s.done() {
		word, ok := s.word()
		if !ok {
			if !s.length() {
				return false
			}
			continue
		}
		n, known := positionWords[word]
		if !known {
			return false
		}
		s.shape.Numbers = append(s.shape.Numbers, Number{quantity: percentage, n: n, unit: '%'})
	}
	return true
}

func (s *shapeReader) polygon() bool {
	for i, part := range s.parts() {
		if word, ok := part.peekWord(); i == 0 && ok && (word == "nonzero" || word == "evenodd") {
			continue
		}
		corner := shapeReader{part, s.shape}
		if x, y := corner.length(), corner.length(); !x || !y || !corner.done() {
			return false
		}
		s.shape = corner.shape
	}
	return len(s.shape.Numbers) > 0
}

func (s *shapeReader) path() bool {
	for !s.done() {
		if s.kind(s.at) == css.String {
			s.shape.Address = s.t.Name(s.at)
		}
		s.at++
	}
	return s.shape.Address != ""
}

// transformFunctions holds the transforms: the quantities of their arguments, and how many they take.
var transformFunctions = map[string]struct {
	quantities  []quantity
	least, most int
}{
	"matrix": {[]quantity{plain}, 6, 6}, "matrix3d": {[]quantity{plain}, 16, 16},
	"translate": {[]quantity{length, percentage, mixed}, 1, 2}, "translatex": {[]quantity{length, percentage, mixed}, 1, 1}, "translatey": {[]quantity{length, percentage, mixed}, 1, 1},
	"translatez": {[]quantity{length}, 1, 1}, "translate3d": {[]quantity{length, percentage, mixed}, 3, 3},
	"scale": {[]quantity{plain, percentage}, 1, 2}, "scalex": {[]quantity{plain, percentage}, 1, 1}, "scaley": {[]quantity{plain, percentage}, 1, 1}, "scalez": {[]quantity{plain, percentage}, 1, 1}, "scale3d": {[]quantity{plain, percentage}, 3, 3},
	"rotate": {[]quantity{angle}, 1, 1}, "rotatex": {[]quantity{angle}, 1, 1}, "rotatey": {[]quantity{angle}, 1, 1}, "rotatez": {[]quantity{angle}, 1, 1}, "rotate3d": {[]quantity{plain, angle}, 4, 4},
	"skew": {[]quantity{angle}, 1, 2}, "skewx": {[]quantity{angle}, 1, 1}, "skewy": {[]quantity{angle}, 1, 1}, "perspective": {[]quantity{length}, 1, 1},
}

func readTransform(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	var all Value
	for !v.done() {
		name, args, ok := v.function()
		f, known := transformFunctions[name]
		if !ok || !known {
			return Value{}, false
		}
		one := Part{Name: name}
		if word, ok := args.peekWord(); ok && word == "none" && name == "perspective" {
			args.at++
			one.Numbers = append(one.Numbers, pixels(0))
		}
		for !args.done() {
			if len(one.Numbers) > 0 && !args.take(',') {
				return Value{}, false
			}
			n, ok := args.numberOf(f.quantities...)
			if !ok {
				return Value{}, false
			}
			all.Doubt = all.Doubt || n.op == '?'
			one.Numbers = append(one.Numbers, n)
		}
		if len(one.Numbers) < f.least || len(one.Numbers) > f.most {
			return Value{}, false
		}
		all.Parts = append(all.Parts, one)
	}
	return all, true
}

func readTranslate(v *reader) (Value, bool) {
	return readFunctionProperty(v, "translate", length, percentage, mixed)
}
func readScale(v *reader) (Value, bool) {
	return readFunctionProperty(v, "scale", plain, percentage)
}

// readFunctionProperty reads a property that is short for the transform of that name, such as rotate.
func readFunctionProperty(v *reader, name string, quantities ...quantity) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	one := Part{Name: name}
	for !v.done() {
		n, ok := v.numberOf(quantities...)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(one.Numbers) == 3 {
		one.Numbers = one.Numbers[:2]
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) > 0 && len(one.Numbers) < 3
}

func readRotate(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok && word == "none" {
		v.at++
		return Value{Word: word}, true
	}
	one := Part{Name: "rotate"}
	var axis []Number
	for !v.done() {
		if word, ok := v.word(); ok {
			if word != "x" && word != "y" && word != "z" {
				return Value{}, false
			}
			one.Name = "rotate" + word
			continue
		}
		if n, ok := v.numberOf(plain); ok && len(axis) < 3 {
			axis = append(axis, n)
			continue
		}
		n, ok := v.numberOf(angle)
		if !ok {
			return Value{}, false
		}
		one.Numbers = append(one.Numbers, n)
	}
	if len(axis) == 3 {
		one.Name, one.Numbers = "rotate3d", append(axis, one.Numbers...)
		return Value{Parts: []Part{one}}, len(one.Numbers) == 4
	}
	return Value{Parts: []Part{one}}, len(one.Numbers) == 1 && axis == nil
}

// filterFunctions maps filters to the quantity that they take.
var filterFunctions = map[string]quantity{"blur": length, "brightness": plain, "contrast": plain, "grayscale": plain, "hue-rotate": angle, "invert": plain, "opacity": plain, "saturate": plain, "sepia": plain}

func readFilters(v *reader) (Value, bool) {
	if word, ok := v.peekWord(); ok {
		v.at++
		return Value{Word: word}, word == "none"
	}
	var all Value
	for !v.done() {
		if v.kind(v.at) == css.URL {
			v.at++
			all.Doubt = true
			continue
		}
		name, args, ok := v.function()
		if !ok {
			return Value{}, false
		}
		one := Part{Name: name}
		switch q, known := filterFunctions[name]; {
		case name == "drop-shadow":
		case name == "url":
			all.Doubt = true
		case !known:
			return Value{}, false
		default:
			if n, ok := args.numberOf(q, percentageOf(q)); ok {
				one.Numbers = []Number{n}
			}
			if !args.done() {
				return Value{}, false
			}
			all.Parts = append(all.Parts, one)
		}
	}
	return all, true
}

// percentageOf says that a number may also be a percentage.
func percentageOf(q quantity) quantity {
	if q == plain {
		return percentage
	}
	return q
}
