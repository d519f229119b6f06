package cascade

import (
	"slices"
	"strconv"
	"strings"

	"familiar/visible/internal/css"
)

// selector is a complex selector: compounds with combinators, the last in the source first.
type selector struct {
	parts       []compound
	combinators []byte // between parts[i] and parts[i+1]: ' ', '>', '+' or '~'; one more in front of a relative selector
	specificity specificity
	element     string     // its pseudo-element, "" for none
	slotted     []selector // the argument of ::slotted
	named       []string   // the arguments of ::part
}

// specificity counts ids, then classes, attributes and pseudo-classes, then tags.
type specificity [3]int

func (s specificity) compare(t specificity) int { return slices.Compare(s[:], t[:]) }

func (s *specificity) add(t specificity) {
	for i := range s {
		s[i] += t[i]
	}
}

// compound is a compound selector.
type compound struct {
	tag     string // in lower case, "" for any
	never   bool   // it selects only in another namespace
	simples []simple
}

// simple is a simple selector other than a tag.
type simple struct {
	kind  byte // '#', '.', '[' or ':'
	op    byte // of an attribute: '=', '~', '|', '^', '$', '*', or 0 if any value will do
	fold  bool // case does not matter
	name  string
	value string // of an attribute, or the argument of a pseudo-class
	list  []selector
	a, b  int // of :nth-child and similar ones
}

// Limits of selectors. A style sheet that exceeds them takes too much work.
const (
	maxParts     = 64
	maxSelectors = 2_000 // of one list
	maxLevels    = 8     // of selectors inside selectors
)

// selectorReader reads selectors.
type selectorReader struct {
	t          *css.Text
	namespaces map[string]bool // by prefix: whether HTML is in it; "" is the default one
	parent     []selector      // the selectors that "&" means; nil for the scope
	level      int
	quirks     bool
	nested     bool // "&" was read
	exceeded   bool

	// What has been read of incomplete selectors; inner selectors come after the outer ones.
	parts   []compound
	simples []simple
}

// list reads a list of selectors. An invalid selector makes the list invalid, unless the list is forgiving.
func (r *selectorReader) list(in css.Span, forgiving, relative bool) (list []selector, ok bool) {
	if r.level++; r.level > maxLevels {
		r.exceeded = true
	}
	defer func() { r.level-- }()
	if r.exceeded {
		return nil, false
	}
	for one := range r.t.Split(in, css.Comma) {
		s, ok := r.complex(one, relative)
		if ok && s.element != "" && r.level > 1 {
			ok = false
		}
		if ok {
			if list = append(list, s); len(list) > maxSelectors {
				r.exceeded = true
				return nil, false
			}
		} else if !forgiving {
			return nil, false
		}
	}
	return list, true
}

func (r *selectorReader) complex(in css.Span, relative bool) (s selector, ok bool) {
	i := in.From
	if relative {
		s.combinators = append(s.combinators, ' ')
		if c := r.combinator(i, in); c != 0 {
			s.combinators[0] = c
			i = r.skipSpace(i+1, in)
		}
	}
	from := len(r.parts)
	defer func() { r.parts = r.parts[:from] }()
	for {
		part, next, ok := r.compound(i, in, &s)
		if !ok || len(r.parts)-from == maxParts {
			r.exceeded = r.exceeded || ok
			return s, false
		}
		r.parts = append(r.parts, part)
		at := r.skipSpace(next, in)
		if at >= in.To {
			break
		}
		if s.element != "" {
			return s, false
		}
		c := r.combinator(at, in)
		if c != 0 {
			at = r.skipSpace(at+1, in)
		} else if c = ' '; at == next {
			return s, false
		}
		s.combinators = append(s.combinators, c)
		i = at
	}
	s.parts = slices.Clone(r.parts[from:])
	slices.Reverse(s.parts)
	slices.Reverse(s.combinators)
	return s, true
}

func (r *selectorReader) skipSpace(i int, in css.Span) int {
	for r.t.Kind(i, in) == css.Space {
		i++
	}
	return i
}

func (r *selectorReader) combinator(i int, in css.Span) byte {
	for _, c := range []byte(">+~") {
		if r.t.Is(i, in, c) {
			return c
		}
	}
	return 0
}

// compound reads a compound selector and adds to the specificity of s.
func (r *selectorReader) compound(i int, in css.Span, s *selector) (c compound, next int, ok bool) {
	start := i
	if isHTML, declared := r.namespaces[""]; declared {
		c.never = !isHTML
	}
	i, ok = r.tag(i, in, &c, s)
	if !ok {
		return c, i, false
	}
	from := len(r.simples)
	defer func() { r.simples = r.simples[:from] }()
	for i < in.To {
		kind := r.t.Kind(i, in)
		var one simple
		ok := true
		switch {
		case kind == css.Hash && r.t.Tokens[i].ID:
			one = simple{kind: '#', name: r.fold(r.t.Name(i))}
			s.specificity[0]++
			i++
		case r.t.Is(i, in, '.') && r.t.Kind(i+1, in) == css.Ident:
			one = simple{kind: '.', name: r.fold(r.t.Name(i + 1))}
			s.specificity[1]++
			i += 2
		case r.t.Is(i, in, '['):
			one, ok = r.attribute(r.t.Inside(i, in))
			s.specificity[1]++
			i = r.t.After(i)
		case r.t.Is(i, in, '&'):
			one = r.nesting(s)
			i++
		case kind == css.Colon:
			one, i, ok = r.pseudo(i, in, s)
		default:
			c.simples = slices.Clone(r.simples[from:])
			return c, i, i > start
		}
		if !ok {
			return c, i, false
		}
		if one.kind != 0 {
			r.simples = append(r.simples, one)
		}
	}
	c.simples = slices.Clone(r.simples[from:])
	return c, i, i > start
}

func (r *selectorReader) fold(name string) string {
	if r.quirks {
		return strings.ToLower(name)
	}
	return name
}

// nesting returns the selector that "&" means.
func (r *selectorReader) nesting(s *selector) simple {
	r.nested = true
	if r.parent == nil {
		return simple{kind: ':', name: "scope"}
	}
	s.specificity.add(highest(r.parent))
	return simple{kind: ':', name: "is", list: r.parent}
}

func highest(list []selector) (most specificity) {
	for _, s := range list {
		if s.specificity.compare(most) > 0 {
			most = s.specificity
		}
	}
	return most
}

// tag reads the type selector at i, if there is one.
func (r *selectorReader) tag(i int, in css.Span, c *compound, s *selector) (int, bool) {
	isName := func(i int) bool { return r.t.Kind(i, in) == css.Ident || r.t.Is(i, in, '*') }
	prefix, prefixed := "", false
	switch {
	case r.t.Is(i, in, '|') && isName(i+1):
		prefixed = true
		i++
	case isName(i) && r.t.Is(i+1, in, '|') && isName(i+2):
		prefix, prefixed = r.t.Name(i), true
		if r.t.Is(i, in, '*') {
			prefix = "*"
		}
		i += 2
	}
	if !isName(i) {
		return i, !prefixed
	}
	if prefixed {
		switch isHTML, declared := r.namespaces[prefix]; {
		case prefix == "*":
			c.never = false
		case prefix == "":
			c.never = true
		case !declared:
			return i, false
		default:
			c.never = !isHTML
		}
	}
	if r.t.Kind(i, in) == css.Ident {
		c.tag = r.t.Lower(i)
		s.specificity[2]++
	}
	return i + 1, true
}

// attribute reads the content of the brackets of an attribute selector.
func (r *selectorReader) attribute(in css.Span) (one simple, ok bool) {
	in = r.t.Trim(in)
	i := in.From
	if r.t.Is(i, in, '*') && r.t.Is(i+1, in, '|') {
		i += 2
	} else if r.t.Is(i, in, '|') {
		i++
	}
	if r.t.Kind(i, in) != css.Ident {
		return one, false
	}
	one = simple{kind: '[', name: r.t.Lower(i)}
	if i = r.skipSpace(i+1, in); i >= in.To {
		return one, true
	}
	one.op = '='
	if !r.t.Is(i, in, '=') {
		if !r.t.Is(i+1, in, '=') || r.t.Kind(i, in) != css.Delim || !strings.Contains("~|^$*", r.t.Raw(i)) {
			return one, false
		}
		one.op = r.t.Raw(i)[0]
		i++
	}
	i = r.skipSpace(i+1, in)
	if k := r.t.Kind(i, in); k != css.Ident && k != css.String {
		return one, false
	}
	one.value = r.t.Name(i)
	one.fold = foldedAttributes[one.name]
	if i = r.skipSpace(i+1, in); i < in.To {
		if r.t.Kind(i, in) != css.Ident || r.skipSpace(i+1, in) < in.To {
			return one, false
		}
		switch r.t.Lower(i) {
		case "i":
			one.fold = true
		case "s":
			one.fold = false
		default:
			return one, false
		}
	}
	return one, true
}

// foldedAttributes holds the attributes of HTML whose values selectors compare without case.
var foldedAttributes = wordSet(`accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir direction
	disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref noresize noshade nowrap readonly rel rev
	rules scope scrolling selected shape target text type valign valuetype vlink`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// plainPseudos holds the pseudo-classes without arguments that browsers know. Those that match.go does not decide select no
// element of a page that was just opened.
var plainPseudos = wordSet(`active any-link autofill -webkit-autofill -webkit-any-link buffering checked default defined disabled empty enabled
	first-child first-of-type focus focus-visible focus-within fullscreen -webkit-full-screen future past current hover in-range indeterminate invalid
	last-child last-of-type link modal muted only-child only-of-type open optional out-of-range paused picture-in-picture placeholder-shown
	playing popover-open read-only read-write required root scope seeking stalled target user-invalid user-valid valid visited volume-locked
	active-view-transition has-slotted host target-current -webkit-drag interest-source interest-target xr-overlay video-persistent`)

// plainElements holds the pseudo-elements that may have one colon, and some others.
var (
	oldElements   = wordSet("before after first-line first-letter")
	plainElements = wordSet(`before after first-line first-letter placeholder selection marker backdrop file-selector-button cue grammar-error
		spelling-error target-text view-transition details-content search-text scroll-marker scroll-marker-group column checkmark picker-icon`)
	elementFunctions = wordSet(`slotted part highlight cue view-transition-group view-transition-image-pair view-transition-new view-transition-old
		view-transition-group-children scroll-button picker column`)
)

// pseudo reads a pseudo-class or a pseudo-element.
func (r *selectorReader) pseudo(i int, in css.Span, s *selector) (one simple, next int, ok bool) {
	double := r.t.Kind(i+1, in) == css.Colon
	if i++; double {
		i++
	}
	kind := r.t.Kind(i, in)
	if kind != css.Ident && kind != css.Function {
		return one, i, false
	}
	name, next := r.t.Lower(i), r.t.After(i)
	if double || kind == css.Ident && oldElements[name] {
		known := kind == css.Ident && (plainElements[name] || strings.HasPrefix(name, "-webkit-")) || kind == css.Function && elementFunctions[name]
		s.element = name
		s.specificity[2]++
		if name == "slotted" && kind == css.Function {
			s.slotted, _ = r.list(r.t.Trim(r.t.Inside(i, in)), false, false)
		}
		if name == "part" && kind == css.Function {
			s.named = strings.Fields(r.t.Between(r.t.Inside(i, in)))
		}
		return one, next, known
	}
	if kind == css.Ident {
		s.specificity[1]++
		return simple{kind: ':', name: name}, next, plainPseudos[name]
	}
	if s.element != "" {
		return one, next, false
	}
	one, ok = r.pseudoFunction(name, r.t.Trim(r.t.Inside(i, in)), s)
	return one, next, ok
}

// pseudoFunction reads a pseudo-class with arguments.
func (r *selectorReader) pseudoFunction(name string, in css.Span, s *selector) (one simple, ok bool) {
	one = simple{kind: ':', name: name}
	switch name {
	case "is", "where", "-webkit-any":
		one.name = "is"
		one.list, ok = r.list(in, name != "-webkit-any", false)
		if name != "where" {
			s.specificity.add(highest(one.list))
		}
	case "not", "has":
		one.list, ok = r.list(in, false, name == "has")
		s.specificity.add(highest(one.list))
	case "nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type":
		s.specificity[1]++
		ok = r.nth(&one, in, strings.HasSuffix(name, "child"))
		s.specificity.add(highest(one.list))
	case "lang", "dir":
		s.specificity[1]++
		one.value, ok = r.values(in)
	case "host", "host-context":
		s.specificity[1]++
		one.list, ok = r.list(in, false, false)
	case "state", "active-view-transition-type", "current", "nth-col", "nth-last-col":
		s.specificity[1]++
		ok = !in.Empty()
		one.name = "never"
	}
	return one, ok
}

// values reads names or strings between commas. It returns them in lower case, with the commas.
func (r *selectorReader) values(in css.Span) (string, bool) {
	var all []string
	for value := range r.t.Split(in, css.Comma) {
		if k := r.t.Kind(value.From, value); value.To != value.From+1 || k != css.Ident && k != css.String {
			return "", false
		}
		all = append(all, r.t.Lower(value.From))
	}
	return strings.Join(all, ","), true
}

// nth reads "2n+1", "odd", "3 of .x" and similar formulas.
func (r *selectorReader) nth(one *simple, in css.Span, child bool) bool {
	end := in.To
	for i := in.From; i < in.To; i = r.t.After(i) {
		if child && r.t.Kind(i, in) == css.Ident && r.t.Lower(i) == "of" {
			list, ok := r.list(r.t.Trim(css.Span{From: i + 1, To: in.To}), false, false)
			if !ok {
				return false
			}
			one.list, end = list, i
			break
		}
	}
	text := strings.ToLower(r.t.Between(r.t.Trim(css.Span{From: in.From, To: end})))
	switch text {
	case "odd":
		one.a, one.b = 2, 1
		return true
	case "even":
		one.a = 2
		return true
	}
	step, offset, ok := strings.Cut(text, "n")
	if !ok {
		n, err := strconv.Atoi(text)
		one.b = n
		return err == nil
	}
	switch step {
	case "", "+":
		one.a = 1
	case "-":
		one.a = -1
	default:
		n, err := strconv.Atoi(step)
		if one.a = n; err != nil {
			return false
		}
	}
	if offset = strings.TrimSpace(offset); offset == "" {
		return true
	}
	sign, digits := offset[:1], strings.TrimSpace(offset[1:])
	n, err := strconv.Atoi(digits)
	if sign != "+" && sign != "-" || err != nil || digits[0] == '+' || digits[0] == '-' {
		return false
	}
	if one.b = n; sign == "-" {
		one.b = -n
	}
	return true
}
