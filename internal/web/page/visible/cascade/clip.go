package cascade

import "familiar/internal/web/page/visible/css"

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

// readClipPath reads a shape. Its numbers are those of its arguments, NaN for words.
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

// shapes are the readers of shapes by name. They report whether a shape is valid.
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

// lengths reads at least least and at most most lengths or words.
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

// positionWords are the words for a position, in percent.
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
