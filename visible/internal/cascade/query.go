package cascade

import (
	"math"
	"strings"

	"familiar/visible/internal/css"
)

// comparison compares numeric features with the values in a condition.
type comparison struct {
	t       *css.Text
	feature func(name string) (value float64, known bool)
	around  *Surroundings
}

// compare evaluates a numeric feature: alone, with a value, or in a range.
func compare(t *css.Text, in css.Span, feature func(name string) (float64, bool), around *Surroundings) truth {
	c := comparison{t, feature, around}
	if only, ok := c.name(in); ok {
		have, known := feature(only)
		if !known {
			return unknown
		}
		return truthOf(have != 0)
	}
	for i := in.From; i < in.To; i = t.After(i) {
		if t.Kind(i, in) == css.Colon {
			return c.pair(css.Span{From: in.From, To: i}, css.Span{From: i + 1, To: in.To})
		}
	}
	return c.interval(in)
}

// name returns the name that a part consists of.
func (c *comparison) name(part css.Span) (string, bool) {
	part = c.t.Trim(part)
	if part.To != part.From+1 || c.t.Kind(part.From, part) != css.Ident {
		return "", false
	}
	return c.t.Lower(part.From), true
}

// value computes the number, or the ratio of two numbers, that a part consists of.
func (c *comparison) value(part css.Span) (float64, bool) {
	v := &reader{t: c.t, in: c.t.Trim(part)}
	v.at = v.in.From
	if v.done() {
		return 0, false
	}
	n, ok := v.number(v.at)
	if !ok {
		return 0, false
	}
	v.at = v.t.After(v.at)
	got := n.Value(c.around)
	if v.take('/') {
		by, ok := v.number(v.skipTo())
		if !ok {
			return 0, false
		}
		v.at = v.t.After(v.at)
		got /= by.Value(c.around)
	}
	return got, v.done() && got == got
}

// skipTo returns the next token that is not white space.
func (v *reader) skipTo() int {
	v.done()
	return v.at
}

// pair evaluates "name: value". A prefix of the name, min- or max-, makes the value a bound.
func (c *comparison) pair(name, value css.Span) truth {
	key, ok := c.name(name)
	want, ok2 := c.value(value)
	if !ok || !ok2 {
		return unknown
	}
	bound := ""
	for _, prefix := range [...]string{"min-", "max-"} {
		for _, vendor := range [...]string{"", "-webkit-"} {
			if rest, found := strings.CutPrefix(key, vendor+prefix); found {
				key, bound = vendor+rest, prefix
			}
		}
	}
	have, known := c.feature(key)
	switch {
	case !known:
		return unknown
	case bound == "min-":
		return truthOf(have >= want)
	case bound == "max-":
		return truthOf(have <= want)
	}
	return truthOf(math.Abs(have-want) < 1e-6)
}

// interval evaluates a range with one or two signs, such as "400px <= width < 800px". One of its parts is the name of a feature.
func (c *comparison) interval(in css.Span) truth {
	sides, signs := c.sides(in)
	if len(signs) == 0 || len(signs) > 2 {
		return unknown
	}
	numbers := make([]float64, len(sides))
	names := 0
	for i, side := range sides {
		if key, ok := c.name(side); ok {
			have, known := c.feature(key)
			if !known {
				return unknown
			}
			numbers[i] = have
			names++
		} else if numbers[i], ok = c.value(side); !ok {
			return unknown
		}
	}
	if names != 1 || len(signs) == 2 && signs[0][0] != signs[1][0] {
		return unknown
	}
	for i, sign := range signs {
		if !inOrder(numbers[i], sign, numbers[i+1]) {
			return no
		}
	}
	return yes
}

// sides splits a range at its signs.
func (c *comparison) sides(in css.Span) (sides []css.Span, signs []string) {
	from := in.From
	for i := in.From; i < in.To; i = c.t.After(i) {
		if c.t.Is(i, in, '<') || c.t.Is(i, in, '>') || c.t.Is(i, in, '=') {
			sides = append(sides, css.Span{From: from, To: i})
			sign := c.t.Raw(i)
			if c.t.Is(i+1, in, '=') && sign != "=" {
				sign += "="
				i++
			}
			signs = append(signs, sign)
			from = i + 1
		}
	}
	return append(sides, css.Span{From: from, To: in.To}), signs
}

func inOrder(a float64, sign string, b float64) bool {
	switch sign {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	return a == b
}

// containerQuery is the condition of @container.
type containerQuery struct {
	t  *css.Text
	in css.Span
}

func newContainerQuery(text string) containerQuery {
	t := css.Tokenize(text)
	return containerQuery{t, t.Trim(t.All())}
}

// container evaluates a condition of @container for an element whose parent is computed.
func (s *Sheets) container(q containerQuery, parent *Style) bool {
	s.work.steps += 4
	in := q.in
	name := ""
	c := condition{t: q.t}
	if word := c.word(in.From, in); word != "" && word != "not" {
		name = q.t.Name(in.From)
		in = q.t.Trim(css.Span{From: in.From + 1, To: in.To})
		if in.Empty() {
			return containerNamed(parent, name, false) != nil
		}
	}
	c.leaf = func(function string, inside css.Span) truth {
		switch function {
		case "":
			box := containerNamed(parent, name, true)
			if box == nil {
				return unknown
			}
			return compare(q.t, inside, box.feature, box.Around(math.NaN()))
		case "style":
			box := containerNamed(parent, name, false)
			if box == nil {
				return unknown
			}
			return s.styleQuery(q.t, inside, func(name string) (string, bool) { return s.custom(box.customs, name) })
		}
		return unknown
	}
	got := c.eval(in)
	return got == yes && !c.bad
}

// containerNamed returns the nearest container around an element. It has the name and, if the query needs them, a known size.
func containerNamed(st *Style, name string, size bool) *Style {
	for ; st != nil; st = st.Parent {
		if kind := st.Word(ContainerType); size && !strings.Contains(kind, "size") {
			continue
		}
		if name == "" || wordIn(strings.Fields(st.Word(ContainerName)), name) {
			return st
		}
	}
	return nil
}

func (st *Style) feature(name string) (float64, bool) {
	height, known := st.Length(Height, math.NaN())
	known = known && st.Word(ContainerType) == "size"
	switch name {
	case "width", "inline-size":
		return st.Inner, true
	case "height", "block-size":
		return height, known
	case "aspect-ratio":
		return st.Inner / height, known
	}
	return 0, false
}

// styleQuery evaluates a question about a custom property.
func (s *Sheets) styleQuery(t *css.Text, in css.Span, variable func(name string) (string, bool)) truth {
	if t.Kind(in.From, in) == css.Ident && in.To == in.From+1 {
		_, ok := variable(t.Name(in.From))
		return truthOf(ok)
	}
	if strings.ContainsAny(t.Between(in), "<>") {
		around := &Surroundings{Em: 16, Rem: 16, Line: 19, Percent: math.NaN(), Screen: s.screen}
		return compare(t, in, func(name string) (float64, bool) {
			text, _ := variable(name)
			n, ok := newReader(text).numberOf(plain, length, percentage)
			return n.Value(around), ok
		}, around)
	}
	for item := range t.Block(in) {
		if item.IsRule || !strings.HasPrefix(item.Name, "--") {
			return unknown
		}
		have, ok := variable(item.Name)
		want, ok2 := s.substitute(t.Between(item.Value), nil, variable)
		return truthOf(ok && ok2 && strings.TrimSpace(have) == strings.TrimSpace(want))
	}
	return unknown
}
