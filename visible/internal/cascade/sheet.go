package cascade

import (
	"slices"
	"strings"

	"golang.org/x/net/html"

	"familiar/visible/internal/css"
)

// rule is a style rule. Its declarations are read when it first selects an element. Most rules never do.
type rule struct {
	declarations []declaration
	unread       []written
	layer        *layer
	origin       origin
	order        int
	conditions   []containerQuery
	scopes       []scope
}

// written is a declaration as a style sheet has it.
type written struct {
	name, value string
	important   bool
}

// declaration is the value of one property, from a rule or a style attribute.
type declaration struct {
	property  Property
	important bool
	value     *Value
	custom    string // the name of a custom property, whose text is in value.later
}

type origin byte

const (
	userAgent origin = iota
	author
	animation
)

// target is a selector of a rule.
type target struct {
	rule     *rule
	selector *selector
}

// scope is a @scope around a rule: the elements below a root that are not a limit or below one.
type scope struct {
	roots, limits []selector
	implicit      *scopeRoot
}

// scopeRoot is the element around a style element. It is the root of a @scope without a selector.
type scopeRoot struct{ node *html.Node }

// place is the place of a rule in a style sheet.
type place struct {
	layer      *layer
	parent     []selector // of the rule around it
	conditions []containerQuery
	scopes     []scope
	depth      int
}

// sheetReader reads one style sheet.
type sheetReader struct {
	s          *Sheets
	t          *css.Text
	origin     origin
	root       *scopeRoot
	namespaces map[string]bool
	imports    int       // sheets around this one
	own        []written // of the rule that is read
	reader     selectorReader
}

// Limits of style sheets.
const (
	maxRules    = 20_000 // selectors
	maxItems    = 4_000  // declarations of one rule
	maxNesting  = 24     // blocks inside blocks
	maxImports  = 4      // sheets inside sheets
	maxCascades = 64     // conditions or scopes around a rule
)

// add reads a style sheet.
func (s *Sheets) add(text string, o origin, root *scopeRoot, l *layer, imports int) {
	if s.count+strings.Count(text, "{") > 2*maxRules {
		s.exhausted = true
	}
	if s.exhausted {
		return
	}
	r := &sheetReader{s: s, origin: o, root: root, namespaces: map[string]bool{}, imports: imports}
	begun := false // there was a rule, so @import and @namespace come too late
	for t, item := range css.Sheet(text) {
		r.t = t
		switch {
		case item.IsRule && item.Name == "charset", item.Name == "layer" && !item.HasBlock:
		case item.Name == "import" && !item.HasBlock:
			if !begun {
				r.load(item.Prelude, l)
			}
			continue
		case item.Name == "namespace" && !item.HasBlock:
			if !begun {
				r.namespace(item.Prelude)
			}
			continue
		default:
			begun = true
		}
		r.rule(item, place{layer: l})
	}
}

// load reads the sheet that @import names, if the address holds it.
func (r *sheetReader) load(in css.Span, l *layer) {
	in = r.t.Trim(in)
	if in.Empty() {
		return
	}
	address := ""
	switch i := in.From; r.t.Kind(i, in) {
	case css.String, css.URL:
		address = r.t.Name(i)
	case css.Function:
		if inside := r.t.Trim(r.t.Inside(i, in)); r.t.Kind(inside.From, inside) == css.String {
			address = r.t.Name(inside.From)
		}
	}
	rest := r.t.Trim(css.Span{From: r.t.After(in.From), To: in.To})
	if rest.From < rest.To {
		switch kind := r.t.Kind(rest.From, rest); {
		case kind == css.Ident && r.t.Lower(rest.From) == "layer":
			l = l.sub("")
			rest = r.t.Trim(css.Span{From: rest.From + 1, To: rest.To})
		case kind == css.Function && r.t.Lower(rest.From) == "layer":
			l = l.sub(r.t.Between(r.t.Trim(r.t.Inside(rest.From, rest))))
			rest = r.t.Trim(css.Span{From: r.t.After(rest.From), To: rest.To})
		}
	}
	if r.t.Kind(rest.From, rest) == css.Function && r.t.Lower(rest.From) == "supports" {
		inside := r.t.Trim(r.t.Inside(rest.From, rest))
		if !supportsDeclaration(r.t, inside) && supported(r.t, inside, r.s.quirks) != yes {
			return
		}
		rest = r.t.Trim(css.Span{From: r.t.After(rest.From), To: rest.To})
	}
	if !r.s.screen.queriesApply(r.t, rest) {
		return
	}
	if text, ok := dataText(address); ok && r.imports < maxImports {
		r.s.add(text, r.origin, r.root, l, r.imports+1)
	}
}

func (r *sheetReader) namespace(in css.Span) {
	in = r.t.Trim(in)
	prefix := ""
	if r.t.Kind(in.From, in) == css.Ident {
		prefix = r.t.Name(in.From)
		in = r.t.Trim(css.Span{From: in.From + 1, To: in.To})
	}
	if in.Empty() {
		return
	}
	address := r.t.Name(in.From)
	if inside := r.t.Trim(r.t.Inside(in.From, in)); r.t.Kind(in.From, in) == css.Function && !inside.Empty() {
		address = r.t.Name(inside.From)
	}
	r.namespaces[prefix] = address == "http://www.w3.org/1999/xhtml"
}

// rule reads a rule of a sheet or of a block.
func (r *sheetReader) rule(item css.Item, at place) {
	if at.depth++; at.depth > maxNesting || r.s.exhausted {
		r.s.exhausted = true
		return
	}
	if item.Name == "" {
		r.styleRule(item, at)
		return
	}
	if !item.HasBlock {
		if item.Name == "layer" {
			r.declareLayers(item.Prelude, at.layer)
		}
		return
	}
	switch item.Name {
	case "media":
		if !r.s.screen.queriesApply(r.t, item.Prelude) {
			return
		}
	case "supports":
		if supported(r.t, r.t.Trim(item.Prelude), r.s.quirks) != yes {
			return
		}
	case "layer":
		name, ok := r.layerName(r.t.Trim(item.Prelude))
		if !ok {
			return
		}
		at.layer = at.layer.sub(name)
	case "container":
		at.conditions = append(slices.Clip(at.conditions), newContainerQuery(r.t.Between(item.Prelude)))
	case "scope":
		one, ok := r.scope(item.Prelude)
		if !ok {
			return
		}
		at.scopes = append(slices.Clip(at.scopes), one)
		at.parent = nil
	case "keyframes", "-webkit-keyframes":
		r.keyframes(item)
		return
	case "property":
		r.property(item)
		return
	case "font-face":
		r.fontFace(item)
		return
	default:
		return
	}
	if len(at.conditions) > maxCascades || len(at.scopes) > maxCascades {
		r.s.exhausted = true
		return
	}
	r.block(item.Block, at, nil)
}

func (r *sheetReader) scope(in css.Span) (one scope, ok bool) {
	in = r.t.Trim(in)
	i := in.From
	if r.t.Is(i, in, '(') {
		s := r.selectors(nil)
		if one.roots, ok = s.list(r.t.Inside(i, in), true, false); !ok {
			return one, false
		}
		i = r.t.After(i)
	} else {
		one.implicit = r.root
	}
	for r.t.Kind(i, in) == css.Space {
		i++
	}
	if r.t.Kind(i, in) == css.Ident && r.t.Lower(i) == "to" {
		for i++; r.t.Kind(i, in) == css.Space; i++ {
		}
		if !r.t.Is(i, in, '(') {
			return one, false
		}
		s := r.selectors(nil)
		if one.limits, ok = s.list(r.t.Inside(i, in), true, false); !ok {
			return one, false
		}
		i = r.t.After(i)
	}
	return one, i >= in.To
}

// selectors returns a reader of selectors, which is valid until the next call.
func (r *sheetReader) selectors(parent []selector) *selectorReader {
	last := &r.reader
	r.reader = selectorReader{t: r.t, namespaces: r.namespaces, parent: parent, quirks: r.s.quirks, parts: last.parts, simples: last.simples}
	return &r.reader
}

// styleRule reads a rule with selectors.
func (r *sheetReader) styleRule(item css.Item, at place) {
	plain := r.isPlain(item.Block)
	if plain && r.areUnmatched(item.Prelude) {
		return
	}
	reader := r.selectors(at.parent)
	var list []selector
	for one := range r.t.Split(item.Prelude, css.Comma) {
		relative := reader.combinator(one.From, one) != 0
		if relative && at.parent == nil && len(at.scopes) == 0 {
			return
		}
		reader.nested = false
		reader.level = 1
		s, ok := reader.complex(one, relative)
		if !ok {
			r.s.exhausted = r.s.exhausted || reader.exceeded
			return
		}
		if relative || at.parent != nil && !reader.nested {
			if !relative {
				s.combinators = append(s.combinators, ' ')
			}
			var whole selector
			s.parts = append(s.parts, compound{simples: []simple{reader.nesting(&whole)}})
			s.specificity.add(whole.specificity)
		}
		if plain && r.isUnmatched(one) {
			continue
		}
		if list = append(list, s); len(list) > maxSelectors {
			r.s.exhausted = true
			return
		}
	}
	at.parent = list
	r.block(item.Block, at, list)
}

// block reads the declarations and rules of a block. Declarations after a rule count as another rule.
func (r *sheetReader) block(in css.Span, at place, list []selector) {
	r.own = r.own[:0]
	for item := range r.t.Block(in) {
		if !item.IsRule {
			if matters(item.Name) {
				if r.own = append(r.own, written{item.Name, r.t.Between(item.Value), item.Important}); len(r.own) > maxItems {
					r.s.exhausted = true
					return
				}
			}
			continue
		}
		r.declare(at, list)
		r.rule(item, at)
		r.own = r.own[:0]
	}
	r.declare(at, list)
}

// matters reports whether a property can hide something.
func matters(name string) bool {
	return strings.HasPrefix(name, "--") || name == "all" || declarations()[name].of != nil
}

// declare adds a rule with the declarations that were read.
func (r *sheetReader) declare(at place, list []selector) {
	if len(r.own) == 0 {
		return
	}
	if list == nil {
		if list = at.parent; list == nil && len(at.scopes) > 0 {
			reader := r.selectors(nil)
			var whole selector
			list = []selector{{parts: []compound{{simples: []simple{reader.nesting(&whole)}}}}}
		}
	}
	one := &rule{unread: slices.Clone(r.own), layer: at.layer, origin: r.origin, order: r.s.count, conditions: at.conditions, scopes: at.scopes}
	for i := range list {
		r.s.index(target{one, &list[i]})
	}
}

// read returns the declarations of a rule.
func (r *rule) read(quirks bool) []declaration {
	if r.unread == nil {
		return r.declarations
	}
	for _, one := range r.unread {
		r.declarations = appendDeclarations(r.declarations, one.name, one.value, one.important, quirks)
	}
	r.unread = nil
	return r.declarations
}

// appendDeclarations adds what a declaration says to a list.
func appendDeclarations(to []declaration, name, text string, important, quirks bool) []declaration {
	if strings.HasPrefix(name, "--") {
		return append(to, declaration{custom: name, important: important, value: &Value{later: text}})
	}
	readDeclaration(name, text, quirks, func(p Property, v Value) {
		to = append(to, declaration{property: p, important: important, value: &v})
	})
	return to
}

// layer is a cascade layer.
type layer struct {
	name   string
	layers []*layer
	index  int // in the order of strength
}

// sub returns a layer below l by its name, with points between its parts. An empty name is a new layer.
func (l *layer) sub(name string) *layer {
	for part := range strings.SplitSeq(name, ".") {
		i := slices.IndexFunc(l.layers, func(s *layer) bool { return s.name == part && part != "" })
		if i < 0 {
			i = len(l.layers)
			l.layers = append(l.layers, &layer{name: part})
		}
		l = l.layers[i]
	}
	return l
}

// number orders the layers: a layer is stronger than the layers below it.
func (l *layer) number(next int) int {
	for _, s := range l.layers {
		next = s.number(next)
	}
	l.index = next
	return next + 1
}

// declareLayers reads a list of layers. Layers become stronger in the order in which they are first named.
func (r *sheetReader) declareLayers(in css.Span, l *layer) {
	for part := range r.t.Split(in, css.Comma) {
		if name, ok := r.layerName(part); ok && name != "" {
			l.sub(name)
		}
	}
}

func (r *sheetReader) layerName(in css.Span) (string, bool) {
	text := r.t.Between(in)
	if text == "" {
		return "", true
	}
	for i := in.From; i < in.To; i++ {
		if k := r.t.Kind(i, in); k != css.Ident && !r.t.Is(i, in, '.') {
			return "", false
		}
	}
	return text, true
}
