package cascade

import "familiar/internal/web/page/visible/css"

// reader reads the value of a declaration.
type reader struct {
	t        *css.Text
	in       css.Span
	at       int
	depth    int                // of functions in functions
	quirks   bool               // lengths need no unit
	channels map[string]float64 // of the colour that a relative colour begins with
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

// done reports whether nothing is left, after white space.
func (v *reader) done() bool {
	for v.kind(v.at) == css.Space {
		v.at++
	}
	return v.at >= v.in.To
}

// word takes the next component value if it is a name, in lower case.
func (v *reader) word() (string, bool) {
	if v.done() || v.kind(v.at) != css.Ident {
		return "", false
	}
	v.at++
	return v.t.Lower(v.at - 1), true
}

// take takes a sign.
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

// numberOf takes a number of one of the quantities. Zero is a length without a unit, and in quirks mode any number is.
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

// function takes a function, and returns its name and a reader of its arguments.
func (v *reader) function() (string, *reader, bool) {
	if v.done() || v.kind(v.at) != css.Function {
		return "", nil, false
	}
	name, inside := v.t.Lower(v.at), v.within(v.t.Inside(v.at, v.in))
	v.at = v.t.After(v.at)
	return name, inside, true
}

// parts returns readers of what commas separate.
func (v *reader) parts() []*reader {
	var all []*reader
	for part := range v.t.Split(css.Span{From: v.at, To: v.in.To}, css.Comma) {
		all = append(all, v.within(part))
	}
	return all
}
