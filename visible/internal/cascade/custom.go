package cascade

import (
	"strings"

	"familiar/visible/internal/css"
)

// customs holds the custom properties of an element. It inherits those that it does not declare.
type customs struct {
	parent *customs
	own    map[string]string // their texts, without variables
	none   map[string]bool   // declared, but without a valid value
}

func (s *Sheets) custom(c *customs, name string) (string, bool) {
	one, registered := s.registered[name]
	for ; c != nil; c = c.parent {
		s.work.steps++
		if text, ok := c.own[name]; ok {
			return text, true
		}
		if c.none[name] || registered && !one.inherits {
			break
		}
	}
	if registered && one.initial != "" {
		return one.initial, true
	}
	return "", false
}

// declareCustoms computes the custom properties that an element declares. declared holds their texts, which may be "initial"
// and the like.
func (s *Sheets) declareCustoms(declared map[string]string, parent *customs, n attributeSource) *customs {
	c := &customs{parent: parent, own: map[string]string{}, none: map[string]bool{}}
	open := map[string]bool{}
	var resolve func(name string)
	resolve = func(name string) {
		text, ok := declared[name]
		if !ok || open[name] {
			if open[name] {
				c.none[name] = true // it depends on itself
			}
			return
		}
		if _, done := c.own[name]; done || c.none[name] {
			return
		}
		switch word := strings.ToLower(text); {
		case word == "initial":
			c.none[name] = true
			return
		case wideWords[word]:
			return // all others inherit
		}
		if len(open) > 64 {
			c.none[name] = true
			return
		}
		open[name] = true
		got, ok := s.substitute(text, n, func(other string) (string, bool) {
			resolve(other)
			if open[other] {
				return "", false
			}
			return s.custom(c, other)
		})
		delete(open, name)
		if !ok || c.none[name] {
			c.none[name] = true
			return
		}
		c.own[name] = got
	}
	for name := range declared {
		resolve(name)
	}
	return c
}

// attributeSource returns the attributes of an element.
type attributeSource func(name string) (string, bool)

// maxValue is the length of the longest value after substitution, in bytes.
const maxValue = 16 << 10

// substitute replaces the functions in a value that insert text from elsewhere.
func (s *Sheets) substitute(text string, attributes attributeSource, variable func(name string) (string, bool)) (string, bool) {
	t := css.Tokenize(text)
	var b strings.Builder
	ok := s.substituteSpan(&b, t, t.All(), 0, attributes, variable)
	return strings.TrimSpace(b.String()), ok
}

func (s *Sheets) substituteSpan(b *strings.Builder, t *css.Text, in css.Span, depth int, attributes attributeSource, variable func(name string) (string, bool)) bool {
	for i := in.From; i < in.To; i++ {
		if s.work.steps++; b.Len() > maxValue || s.work.steps > maxSteps || depth > 16 {
			return false
		}
		if t.Kind(i, in) != css.Function || !substitutes[t.Lower(i)] {
			if i > in.From && t.Tokens[i-1].End < t.Tokens[i].Start {
				b.WriteString("/**/") // there was a comment
			}
			b.WriteString(t.Raw(i))
			continue
		}
		inside := t.Inside(i, in)
		if t.Lower(i) == "if" {
			b.WriteString("/**/")
			if branch := s.branch(t, inside, variable); !s.substituteSpan(b, t, branch, depth+1, attributes, variable) {
				return false
			}
			b.WriteString("/**/")
			i = t.After(i) - 1
			continue
		}
		comma := inside.From
		for comma < inside.To && t.Tokens[comma].Kind != css.Comma {
			comma = t.After(comma)
		}
		first := t.Trim(css.Span{From: inside.From, To: comma})
		got, ok := "", false
		switch t.Lower(i) {
		case "var":
			if first.To != first.From+1 || t.Kind(first.From, first) != css.Ident || !strings.HasPrefix(t.Raw(first.From), "--") {
				return false
			}
			got, ok = variable(t.Name(first.From))
		case "attr":
			got, ok = attributeValue(t, first, attributes)
		case "env":
			if t.Kind(first.From, first) == css.Ident && strings.HasPrefix(t.Lower(first.From), "safe-area-inset-") {
				got, ok = "0px", true
			}
		default:
			return false
		}
		b.WriteString("/**/")
		switch {
		case ok:
			b.WriteString(got)
		case comma < inside.To:
			if !s.substituteSpan(b, t, css.Span{From: comma + 1, To: inside.To}, depth+1, attributes, variable) {
				return false
			}
		default:
			return false
		}
		b.WriteString("/**/")
		i = t.After(i) - 1
	}
	return true
}

// branch returns the value in if() whose condition holds. It is empty if there is none.
func (s *Sheets) branch(t *css.Text, in css.Span, variable func(name string) (string, bool)) css.Span {
	c := condition{t: t}
	c.leaf = func(function string, inside css.Span) truth {
		nested := t.Is(inside.From, inside, '(') || c.word(inside.From, inside) == "not" || t.Kind(inside.From, inside) == css.Function
		switch {
		case function == "supports" && nested:
			return supported(t, inside, s.quirks)
		case function == "supports":
			return truthOf(supportsDeclaration(t, inside))
		case function == "style" && !nested:
			return s.styleQuery(t, inside, variable)
		case function == "media" && !nested:
			return s.screen.feature(t, "", inside)
		case function == "media" || function == "style":
			outer := c.leaf
			defer func() { c.leaf = outer }()
			c.leaf = func(_ string, inside css.Span) truth { return outer(function, inside) }
			return c.eval(inside)
		}
		return unknown
	}
	for part := range t.Split(in, css.Semicolon) {
		part = t.Trim(part)
		for i := part.From; i < part.To; i = t.After(i) {
			if t.Kind(i, part) == css.Colon {
				when := t.Trim(css.Span{From: part.From, To: i})
				if c.bad = false; c.word(when.From, when) == "else" || c.eval(when) == yes && !c.bad {
					return t.Trim(css.Span{From: i + 1, To: part.To})
				}
				break
			}
		}
	}
	return css.Span{}
}

// attributeValue returns the text that replaces attr(). Its arguments are the name of the attribute and how to read it.
func attributeValue(t *css.Text, in css.Span, attributes attributeSource) (string, bool) {
	if t.Kind(in.From, in) != css.Ident || attributes == nil {
		return "", false
	}
	text, ok := attributes(t.Lower(in.From))
	if !ok {
		return "", false
	}
	kind := t.Trim(css.Span{From: in.From + 1, To: in.To})
	switch {
	case kind.Empty() || t.Kind(kind.From, kind) == css.Ident && t.Lower(kind.From) == "raw-string":
		return `"` + strings.NewReplacer(`"`, "", `\`, "", "\n", " ").Replace(text) + `"`, true
	case t.Kind(kind.From, kind) == css.Function:
		return text, true
	case t.Is(kind.From, kind, '%'):
		return text + "%", true
	}
	return text + t.Name(kind.From), true
}

// registration is what @property says about a custom property.
type registration struct {
	initial  string
	inherits bool
}

func (r *sheetReader) property(item css.Item) {
	name := r.t.Trim(item.Prelude)
	if r.t.Kind(name.From, name) != css.Ident || !strings.HasPrefix(r.t.Raw(name.From), "--") {
		return
	}
	one := registration{inherits: true}
	for d := range r.t.Block(item.Block) {
		switch text := r.t.Between(d.Value); d.Name {
		case "initial-value":
			one.initial = text
		case "inherits":
			one.inherits = strings.EqualFold(text, "true")
		}
	}
	r.s.registered[r.t.Name(name.From)] = one
}
