package css

import (
	"iter"
	"strconv"
	"strings"
)

// Span is a range of tokens of a [Text], by their indices.
type Span struct{ From, To int }

// Empty reports whether there is nothing in a span.
func (s Span) Empty() bool { return s.From >= s.To }

// Item is a declaration or a rule in a block.
type Item struct {
	Name      string // of a declaration, in lower case unless it is a custom one; of an at-rule, without its "@"; "" of a rule
	Prelude   Span   // of a rule: its selectors, or the part of an at-rule before its block
	Block     Span   // of a rule, without its brackets
	HasBlock  bool
	IsRule    bool
	Value     Span // of a declaration
	Important bool
}

// All returns the span of all tokens.
func (t *Text) All() Span { return Span{0, len(t.Tokens)} }

// Kind returns the kind of a token, or End outside of the span.
func (t *Text) Kind(i int, in Span) Kind {
	if i < in.From || i >= in.To {
		return End
	}
	return t.Tokens[i].Kind
}

// Raw returns the source of a token.
func (t *Text) Raw(i int) string { return t.Source[t.Tokens[i].Start:t.Tokens[i].End] }

// Between returns the source of a span, with its comments.
func (t *Text) Between(s Span) string {
	if s.Empty() {
		return ""
	}
	return t.Source[t.Tokens[s.From].Start:t.Tokens[s.To-1].End]
}

// Name returns the name in a token of the kinds Ident, Function, At and Hash. It returns the text of a String or a URL.
func (t *Text) Name(i int) string {
	raw := t.Raw(i)
	switch t.Tokens[i].Kind {
	case Function:
		raw = raw[:len(raw)-1]
	case At, Hash:
		raw = raw[1:]
	case String:
		if last := len(raw) - 1; last > 0 && raw[last] == raw[0] {
			raw = raw[:last]
		}
		raw = raw[1:]
	case URL:
		raw = strings.TrimSuffix(raw[strings.IndexByte(raw, '(')+1:], ")")
		raw = strings.Trim(raw, " \t\r\n\f")
	}
	return unescape(raw)
}

// Lower returns the name of a token in lower case.
func (t *Text) Lower(i int) string { return strings.ToLower(t.Name(i)) }

// Is reports whether a token is a certain sign.
func (t *Text) Is(i int, in Span, sign byte) bool {
	k := t.Kind(i, in)
	return (k == Delim || k == Open || k == Close) && t.Source[t.Tokens[i].Start] == sign
}

// Number returns the value of a Number, a Percentage or a Dimension, and its unit in lower case.
func (t *Text) Number(i int) (n float64, unit string) {
	raw := t.Raw(i)
	z := tokenizer{s: raw}
	z.numeral()
	n, _ = strconv.ParseFloat(raw[:z.at], 64) // too large a number is infinite, as it should be
	return n, strings.ToLower(unescape(raw[z.at:]))
}

// After returns the index after the component value at i: a token, or a bracket with its content.
func (t *Text) After(i int) int {
	if one := t.Tokens[i]; one.Kind == Open || one.Kind == Function {
		return int(one.Match) + 1
	}
	return i + 1
}

// Inside returns the content of the brackets that the token at i opens.
func (t *Text) Inside(i int, in Span) Span { return Span{i + 1, min(int(t.Tokens[i].Match), in.To)} }

// Trim returns a span without the white space at its ends.
func (t *Text) Trim(s Span) Span {
	for s.From < s.To && t.Tokens[s.From].Kind == Space {
		s.From++
	}
	for s.From < s.To && t.Tokens[s.To-1].Kind == Space {
		s.To--
	}
	return s
}

// Split yields the parts of a span between separators at its top level, without white space around them.
func (t *Text) Split(s Span, separator Kind) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		from := s.From
		for i := s.From; i < s.To; i = t.After(i) {
			if t.Tokens[i].Kind == separator {
				if !yield(t.Trim(Span{from, i})) {
					return
				}
				from = i + 1
			}
		}
		yield(t.Trim(Span{from, s.To}))
	}
}

// Rules yields the rules of a style sheet.
func (t *Text) Rules(in Span) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for i := in.From; i < in.To; {
			var rule Item
			ok := true
			switch t.Tokens[i].Kind {
			case Space, CDO, CDC:
				i++
				continue
			case At:
				rule, i = t.atRule(i, in)
			default:
				rule, i, ok = t.qualifiedRule(i, in, false)
			}
			if ok && !yield(rule) {
				return
			}
		}
	}
}

// Block yields the declarations and rules of a block.
func (t *Text) Block(in Span) iter.Seq[Item] {
	return func(yield func(Item) bool) {
		for i := in.From; i < in.To; {
			var one Item
			ok := true
			switch t.Tokens[i].Kind {
			case Space, Semicolon:
				i++
				continue
			case At:
				one, i = t.atRule(i, in)
			default:
				next := 0
				if one, next, ok = t.declaration(i, in); ok {
					i = next
				} else {
					one, i, ok = t.qualifiedRule(i, in, true)
				}
			}
			if ok && !yield(one) {
				return
			}
		}
	}
}

func (t *Text) atRule(i int, in Span) (Item, int) {
	rule := Item{Name: t.Lower(i), IsRule: true, Prelude: Span{i + 1, in.To}}
	for i++; i < in.To; i = t.After(i) {
		if t.Tokens[i].Kind == Semicolon {
			rule.Prelude.To = i
			return rule, i + 1
		}
		if t.Is(i, in, '{') {
			rule.Prelude.To, rule.Block, rule.HasBlock = i, t.Inside(i, in), true
			return rule, t.After(i)
		}
	}
	return rule, in.To
}

// qualifiedRule reads a rule. Inside a block, a semicolon ends one that is not valid.
func (t *Text) qualifiedRule(i int, in Span, nested bool) (Item, int, bool) {
	rule := Item{IsRule: true, HasBlock: true, Prelude: Span{i, in.To}}
	for ; i < in.To; i = t.After(i) {
		if nested && t.Tokens[i].Kind == Semicolon {
			return rule, i + 1, false
		}
		if t.Is(i, in, '{') {
			rule.Prelude.To, rule.Block = i, t.Inside(i, in)
			p := t.Trim(rule.Prelude)
			custom := t.Kind(p.From, p) == Ident && strings.HasPrefix(t.Raw(p.From), "--")
			if at := t.skipSpace(p.From+1, p); custom && t.Kind(at, p) == Colon {
				if nested {
					for i < in.To && t.Tokens[i].Kind != Semicolon {
						i = t.After(i)
					}
					return rule, i + 1, false
				}
				return rule, t.After(i), false
			}
			return rule, t.After(i), true
		}
	}
	return rule, in.To, false
}

func (t *Text) skipSpace(i int, in Span) int {
	for i < in.To && t.Tokens[i].Kind == Space {
		i++
	}
	return i
}

// declaration reads a declaration. A block in its value makes it invalid, unless the block is the whole value.
func (t *Text) declaration(i int, in Span) (Item, int, bool) {
	if t.Tokens[i].Kind != Ident {
		return Item{}, 0, false
	}
	one := Item{Name: t.Name(i)}
	custom := strings.HasPrefix(one.Name, "--")
	if !custom {
		one.Name = strings.ToLower(one.Name)
	}
	if i = t.skipSpace(i+1, in); t.Kind(i, in) != Colon {
		return Item{}, 0, false
	}
	i++
	value := Span{i, in.To}
	blocks, others := 0, 0
	for ; i < in.To; i = t.After(i) {
		kind := t.Tokens[i].Kind
		if kind == Semicolon {
			break
		}
		if t.Is(i, in, '{') {
			blocks++
		} else if kind != Space {
			others++
		}
	}
	value.To = min(i, in.To)
	one.Value = t.Trim(value)
	if last := one.Value.To - 1; t.Kind(last, one.Value) == Ident && t.Lower(last) == "important" {
		mark := last - 1
		for mark > one.Value.From && t.Tokens[mark].Kind == Space {
			mark--
		}
		if t.Is(mark, one.Value, '!') {
			one.Important = true
			one.Value = t.Trim(Span{one.Value.From, mark})
			others -= 2
		}
	}
	if !custom && blocks > 0 && (blocks > 1 || others > 0) {
		return Item{}, 0, false
	}
	return one, i + 1, true
}
