package cascade

import (
	"math"

	"familiar/visible/internal/css"
)

// quantity is the kind of a number.
type quantity byte

const (
	plain quantity = iota
	length
	percentage
	mixed // a length with percentages in it
	angle
	duration // in seconds
	resolution
	flex
)

// Number is a number or an expression. Its value depends on the surroundings of an element.
type Number struct {
	quantity quantity
	op       byte // 0: n times unit; otherwise an operation on args
	n        float64
	unit     byte
	args     []Number
}

// Surroundings holds what relative units are relative to, in pixels.
type Surroundings struct {
	Em, Rem, Line, Percent float64 // Percent is the value of 100 %, NaN if it is not known
	Screen                 Screen
}

// Value computes a number. It is NaN if it depends on something unknown.
func (e *Number) Value(in *Surroundings) float64 {
	switch e.op {
	case 0:
		return e.n * in.of(e.unit)
	case '-':
		return -e.args[0].Value(in)
	case '/':
		return e.args[0].Value(in) / e.args[1].Value(in)
	case '*':
		return e.args[0].Value(in) * e.args[1].Value(in)
	}
	return e.function(in)
}

// function computes an operation on its arguments.
func (e *Number) function(in *Surroundings) float64 {
	v := make([]float64, len(e.args))
	for i := range e.args {
		v[i] = e.args[i].Value(in)
	}
	if compute := operations[e.op]; compute != nil {
		return compute(v)
	}
	return math.NaN()
}

// operations holds the functions of one or more arguments, by [Number.op].
var operations = [256]func(args []float64) float64{
	'+': func(args []float64) float64 { return reduce(args, func(a, b float64) float64 { return a + b }) },
	'<': func(args []float64) float64 { return reduce(args, math.Min) },
	'>': func(args []float64) float64 { return reduce(args, math.Max) },
	'c': func(args []float64) float64 { return math.Max(args[0], math.Min(args[1], args[2])) },
	'a': func(args []float64) float64 { return math.Abs(args[0]) },
	's': func(args []float64) float64 { return signum(args[0]) },
	'r': func(args []float64) float64 { return roundTo(args[0], args[1]) },
	'm': func(args []float64) float64 { return modulo(args[0], args[1]) },
	'e': func(args []float64) float64 { return math.Mod(args[0], args[1]) },
	'p': func(args []float64) float64 { return math.Pow(args[0], args[1]) },
	'q': func(args []float64) float64 { return math.Sqrt(args[0]) },
	'h': hypotenuse,
	'x': func(args []float64) float64 { return math.Exp(args[0]) },
	'l': logarithm,
	'S': func(args []float64) float64 { return math.Sin(args[0] * math.Pi / 180) },
	'C': func(args []float64) float64 { return math.Cos(args[0] * math.Pi / 180) },
	'T': func(args []float64) float64 { return math.Tan(args[0] * math.Pi / 180) },
}

func reduce(args []float64, join func(a, b float64) float64) float64 {
	got := args[0]
	for _, n := range args[1:] {
		got = join(got, n)
	}
	return got
}

// signum returns -1, 0 or 1, and NaN for NaN.
func signum(n float64) float64 {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return n
}

func roundTo(n, step float64) float64 {
	if step == 0 {
		return n
	}
	return math.Round(n/step) * step
}

// modulo returns the remainder with the sign of the divisor.
func modulo(n, by float64) float64 {
	got := math.Mod(n, by)
	if got*by < 0 {
		got += by
	}
	return got
}

func hypotenuse(args []float64) float64 {
	sum := 0.0
	for _, n := range args {
		sum += n * n
	}
	return math.Sqrt(sum)
}

func logarithm(args []float64) float64 {
	got := math.Log(args[0])
	if len(args) > 1 {
		got /= math.Log(args[1])
	}
	return got
}

func (in *Surroundings) of(unit byte) float64 {
	switch unit {
	case 'e':
		return in.Em
	case 'r':
		return in.Rem
	case 'l':
		return in.Line
	case '%':
		return in.Percent / 100
	case 'w':
		return in.Screen.Width / 100
	case 'h':
		return in.Screen.Height / 100
	case '<':
		return min(in.Screen.Width, in.Screen.Height) / 100
	case '>':
		return max(in.Screen.Width, in.Screen.Height) / 100
	}
	return 1
}

// unit is a unit of CSS.
type unit struct {
	quantity quantity
	factor   float64
	of       byte
}

// units holds the units. The fonts are not known, so units of a font have the usual proportions of letters.
var units = map[string]unit{
	"px": {length, 1, 0}, "cm": {length, 96 / 2.54, 0}, "mm": {length, 96 / 25.4, 0}, "q": {length, 96 / 101.6, 0}, "in": {length, 96, 0}, "pc": {length, 16, 0}, "pt": {length, 96. / 72, 0},
	"em": {length, 1, 'e'}, "rem": {length, 1, 'r'}, "ex": {length, .5, 'e'}, "rex": {length, .5, 'r'}, "ch": {length, .5, 'e'}, "rch": {length, .5, 'r'}, "cap": {length, .7, 'e'}, "rcap": {length, .7, 'r'},
	"ic": {length, 1, 'e'}, "ric": {length, 1, 'r'}, "lh": {length, 1, 'l'}, "rlh": {length, 1.2, 'r'},
	"vw": {length, 1, 'w'}, "vh": {length, 1, 'h'}, "vi": {length, 1, 'w'}, "vb": {length, 1, 'h'}, "vmin": {length, 1, '<'}, "vmax": {length, 1, '>'},
	"svw": {length, 1, 'w'}, "svh": {length, 1, 'h'}, "svi": {length, 1, 'w'}, "svb": {length, 1, 'h'}, "svmin": {length, 1, '<'}, "svmax": {length, 1, '>'},
	"lvw": {length, 1, 'w'}, "lvh": {length, 1, 'h'}, "lvi": {length, 1, 'w'}, "lvb": {length, 1, 'h'}, "lvmin": {length, 1, '<'}, "lvmax": {length, 1, '>'},
	"dvw": {length, 1, 'w'}, "dvh": {length, 1, 'h'}, "dvi": {length, 1, 'w'}, "dvb": {length, 1, 'h'}, "dvmin": {length, 1, '<'}, "dvmax": {length, 1, '>'},
	"cqw": {length, 1, 'w'}, "cqh": {length, 1, 'h'}, "cqi": {length, 1, 'w'}, "cqb": {length, 1, 'h'}, "cqmin": {length, 1, '<'}, "cqmax": {length, 1, '>'},
	"deg": {angle, 1, 0}, "grad": {angle, .9, 0}, "rad": {angle, 180 / math.Pi, 0}, "turn": {angle, 360, 0},
	"s": {duration, 1, 0}, "ms": {duration, .001, 0}, "dppx": {resolution, 1, 0}, "x": {resolution, 1, 0}, "dpi": {resolution, 1. / 96, 0}, "dpcm": {resolution, 2.54 / 96, 0}, "fr": {flex, 1, 0},
}

// pixels returns a known length.
func pixels(n float64) Number { return Number{quantity: length, n: n} }

// notANumber is an unknown number.
func notANumber() Number { return Number{op: '?', args: []Number{{}}} }

// number reads the component value at i as a number.
func (v *reader) number(i int) (Number, bool) {
	switch v.kind(i) {
	case css.Number:
		n, _ := v.t.Number(i)
		return Number{n: n}, true
	case css.Percentage:
		n, _ := v.t.Number(i)
		return Number{quantity: percentage, n: n, unit: '%'}, true
	case css.Dimension:
		n, name := v.t.Number(i)
		u, known := units[name]
		return Number{quantity: u.quantity, n: n * u.factor, unit: u.of}, known
	case css.Function:
		return v.math(i)
	}
	return Number{}, false
}

// mathFunctions maps functions to their operation and the number of their arguments.
var mathFunctions = map[string]struct {
	op         byte
	least, top int
}{
	"calc": {0, 1, 1}, "-webkit-calc": {0, 1, 1}, "min": {'<', 1, 32}, "max": {'>', 1, 32}, "clamp": {'c', 3, 3}, "abs": {'a', 1, 1}, "sign": {'s', 1, 1}, "round": {'r', 1, 3}, "mod": {'m', 2, 2}, "rem": {'e', 2, 2},
	"pow": {'p', 2, 2}, "sqrt": {'q', 1, 1}, "hypot": {'h', 1, 32}, "exp": {'x', 1, 1}, "log": {'l', 1, 2}, "sin": {'S', 1, 1}, "cos": {'C', 1, 1}, "tan": {'T', 1, 1},
}

// math reads a function that returns a number. A known function that cannot be computed here returns NaN.
func (v *reader) math(i int) (Number, bool) {
	name := v.t.Lower(i)
	f, known := mathFunctions[name]
	switch name {
	case "sibling-index", "sibling-count", "progress":
		return notANumber(), true
	case "asin", "acos", "atan", "atan2", "random", "calc-size", "anchor", "anchor-size", "calc-interpolate":
		return Number{quantity: mixed, op: '?', args: []Number{{}}}, true
	}
	if v.depth++; !known || v.depth > 16 {
		v.depth--
		return Number{}, false
	}
	defer func() { v.depth-- }()
	inside := v.t.Inside(i, v.in)
	var args []Number
	for part := range v.t.Split(inside, css.Comma) {
		if name == "round" && len(args) == 0 && v.t.Kind(part.From, part) == css.Ident {
			continue // the rounding strategy
		}
		arg, ok := v.sum(part)
		if !ok {
			return Number{}, false
		}
		args = append(args, arg)
	}
	if name == "round" && len(args) == 1 {
		args = append(args, Number{n: 1})
	}
	if len(args) < f.least || len(args) > f.top {
		return Number{}, false
	}
	if f.op == 0 {
		return args[0], true
	}
	q, ok := args[0].quantity, true
	for _, a := range args[1:] {
		if f.op != 'p' && f.op != 'l' {
			q, ok = sameQuantity(q, a.quantity)
		}
		if !ok {
			return Number{}, false
		}
	}
	switch f.op {
	case 's', 'S', 'C', 'T', 'x', 'l', 'p', 'q':
		q = plain
	}
	if (f.op == 'S' || f.op == 'C' || f.op == 'T') && args[0].quantity == plain {
		args[0] = Number{op: '*', args: []Number{args[0], {n: 180 / math.Pi}}}
	}
	return Number{quantity: q, op: f.op, args: args}, true
}

// sameQuantity returns the quantity of the sum of two quantities.
func sameQuantity(a, b quantity) (quantity, bool) {
	isLength := func(q quantity) bool { return q == length || q == percentage || q == mixed }
	switch {
	case a == b:
		return a, true
	case isLength(a) && isLength(b):
		return mixed, true
	}
	return 0, false
}

// sum reads a sum of products. Plus and minus need white space around them.
func (v *reader) sum(in css.Span) (Number, bool) {
	terms := []Number{}
	negative := false
	from := in.From
	add := func(to int) bool {
		term, ok := v.product(v.t.Trim(css.Span{From: from, To: to}))
		if !ok {
			return false
		}
		if len(terms) > 0 {
			if _, ok := sameQuantity(terms[0].quantity, term.quantity); !ok {
				return false
			}
		}
		if negative {
			term = Number{quantity: term.quantity, op: '-', args: []Number{term}}
		}
		terms = append(terms, term)
		return true
	}
	for i := in.From; i < in.To; i = v.t.After(i) {
		plus, minus := v.t.Is(i, in, '+'), v.t.Is(i, in, '-')
		if !plus && !minus {
			continue
		}
		if v.t.Kind(i-1, in) != css.Space || v.t.Kind(i+1, in) != css.Space || !add(i) {
			return Number{}, false
		}
		negative, from = minus, i+1
	}
	if !add(in.To) {
		return Number{}, false
	}
	if len(terms) == 1 {
		return terms[0], true
	}
	q := terms[0].quantity
	for _, t := range terms[1:] {
		q, _ = sameQuantity(q, t.quantity)
	}
	return Number{quantity: q, op: '+', args: terms}, true
}

func (v *reader) product(in css.Span) (Number, bool) {
	var got Number
	from, op := in.From, byte('*')
	begun := false
	multiply := func(to int) bool {
		one := v.t.Trim(css.Span{From: from, To: to})
		if one.Empty() || v.t.After(one.From) < one.To {
			return false
		}
		factor, ok := v.term(one)
		switch {
		case !ok:
			return false
		case !begun:
			got, begun = factor, true
			return true
		}
		q := got.quantity
		switch {
		case op == '/' && factor.quantity == got.quantity:
			q = plain
		case op == '/' && factor.quantity != plain:
			return false
		case q == plain:
			q = factor.quantity
		case factor.quantity != plain:
			return false
		}
		got = Number{quantity: q, op: op, args: []Number{got, factor}}
		return true
	}
	for i := in.From; i < in.To; i = v.t.After(i) {
		times, by := v.t.Is(i, in, '*'), v.t.Is(i, in, '/')
		if !times && !by {
			continue
		}
		if !multiply(i) {
			return got, false
		}
		from, op = i+1, '*'
		if by {
			op = '/'
		}
	}
	return got, multiply(in.To)
}

func (v *reader) term(in css.Span) (Number, bool) {
	if v.t.Is(in.From, in, '(') {
		if v.depth++; v.depth > 16 {
			v.depth--
			return Number{}, false
		}
		defer func() { v.depth-- }()
		return v.sum(v.t.Trim(v.t.Inside(in.From, in)))
	}
	if v.t.Kind(in.From, in) == css.Ident {
		switch v.t.Lower(in.From) {
		case "pi":
			return Number{n: math.Pi}, true
		case "e":
			return Number{n: math.E}, true
		case "infinity":
			return Number{n: math.Inf(1)}, true
		case "-infinity":
			return Number{n: math.Inf(-1)}, true
		case "nan":
			return Number{n: math.NaN()}, true
		}
		if n, ok := v.channels[v.t.Lower(in.From)]; ok {
			return Number{n: n}, true
		}
	}
	return v.number(in.From)
}
