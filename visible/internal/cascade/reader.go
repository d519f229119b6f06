package cascade

import (
	"strings"

	"familiar/visible/internal/css"
)

// reader reads the value of a declaration.
type reader struct {
	t        *css.Text
	in       css.Span
	at       int
	depth    int                // of functions inside functions
	quirks   bool               // lengths need no unit
	channels map[string]float64 // of the colour from which a relative colour is computed
}

func newReader(text string) *reader {
	t := css.Tokenize(text)
	v := &reader{t: t, in: t.Trim(t.All())}
	v.at = v.in.From
	return v
}

// within returns a reader of a part of the value.
func (v *reader) within(in css.Span) *reader {
	inner := *v
	inner.in = v.t.Trim(in)
	inner.at = inner.in.From
	return &inner
}

func (v *reader) kind(i int) css.Kind { return v.t.Kind(i, v.in) }

// done skips white space and reports whether nothing is left.
func (v *reader) done() bool {
	for v.kind(v.at) == css.Space {
		v.at++
	}
	return v.at >= v.in.To
}

// word reads the next component value if it is a name, in lower case.
func (v *reader) word() (string, bool) {
	if v.done() || v.kind(v.at) != css.Ident {
		return "", false
	}
	v.at++
	return v.t.Lower(v.at - 1), true
}

// take reads a sign.
func (v *reader) take(sign byte) bool {
	if v.done() {
		return false
	}
	if sign == ',' && v.kind(v.at) == css.Comma || v.t.Is(v.at, v.in, sign) {
		v.at++
		return true
	}
	return false
}

// numberOf reads a number of one of the quantities. Zero is a length also without a unit; in quirks mode any number is.
func (v *reader) numberOf(quantities ...quantity) (Number, bool) {
	if v.done() {
		return Number{}, false
	}
	n, ok := v.number(v.at)
	if !ok {
		return n, false
	}
	for _, q := range quantities {
		isLength := q == length && n.quantity == plain && n.op == 0 && (n.n == 0 || v.quirks)
		isAngle := q == angle && n.quantity == plain && n.op == 0 && n.n == 0
		if n.quantity == q || isLength || isAngle || n.quantity == mixed && n.op == '?' || n.quantity == mixed && q == percentage {
			v.at = v.t.After(v.at)
			return n, true
		}
	}
	return n, false
}

// function reads a function and returns its name and a reader of its arguments.
func (v *reader) function() (string, *reader, bool) {
	if v.done() || v.kind(v.at) != css.Function {
		return "", nil, false
	}
	name, inside := v.t.Lower(v.at), v.within(v.t.Inside(v.at, v.in))
	v.at = v.t.After(v.at)
	return name, inside, true
}

// parts returns readers of the parts between commas.
func (v *reader) parts() []*reader {
	var all []*reader
	for part := range v.t.Split(css.Span{From: v.at, To: v.in.To}, css.Comma) {
		all = append(all, v.within(part))
	}
	return all
}

// readWords reads any names.
func readWords(v *reader) (Value, bool) {
	var all []string
	for !v.done() {
		word, ok := v.word()
		if !ok {
			return Value{}, false
		}
		all = append(all, word)
	}
	return Value{Word: strings.Join(all, " ")}, true
}

// readNames reads names whose case matters.
func readNames(v *reader) (Value, bool) {
	start := v.in
	_, ok := readWords(v)
	return Value{Word: v.t.Between(css.Span{From: start.From, To: start.To})}, ok
}

// readAnything reads any value as it is written.
func readAnything(v *reader) (Value, bool) {
	text := strings.ToLower(v.t.Between(v.in))
	v.at = v.in.To
	return Value{Word: text}, true
}

func listOf(read func(v *reader) (Value, bool)) func(v *reader) (Value, bool) {
	return func(v *reader) (Value, bool) {
		var all Value
		for _, part := range v.parts() {
			one, ok := read(part)
			if !ok || !part.done() {
				return Value{}, false
			}
			all.Parts = append(all.Parts, Part{Name: one.Word, Numbers: one.Numbers})
		}
		v.at = v.in.To
		return all, true
	}
}

func listOfWords(list string) func(v *reader) (Value, bool) { return listOf(words(list)) }
