package cascade

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/internal/css"
)

// key is an id, a class or a tag that all elements have that a selector selects.
type key struct {
	mark byte   // '#', '.' or 0
	name string // "" for any element
}

// index files a selector under its keys.
func (s *Sheets) index(t target) {
	if s.count++; s.count > maxRules {
		s.exhausted = true
		return
	}
	if neverHolds(&t.selector.parts[0]) {
		return
	}
	rules := s.rules
	switch t.selector.element {
	case "":
	case "before", "after", "first-line":
		rules = s.pseudo
	case "slotted", "part":
		s.pseudo[key{}] = append(s.pseudo[key{}], t)
		return
	default:
		return
	}
	for _, k := range keysOf(&t.selector.parts[0], 0) {
		rules[k] = append(rules[k], t)
	}
}

// momentary holds the pseudo-classes that select nothing on a page that was just opened and that nobody touches.
var momentary = wordSet(`active focus focus-visible focus-within hover visited target user-valid user-invalid fullscreen -webkit-full-screen modal popover-open
	never autofill -webkit-autofill picture-in-picture playing has-slotted current past future`)

func neverHolds(c *compound) bool {
	return c.never || slices.ContainsFunc(c.simples, func(s simple) bool { return s.kind == ':' && momentary[s.name] })
}

// keysOf returns keys. An element that the compound selects has at least one of them.
func keysOf(c *compound, depth int) []key {
	for _, mark := range []byte("#.") {
		for i := range c.simples {
			if one := &c.simples[i]; one.kind == mark {
				return []key{{mark, one.name}}
			}
		}
	}
	for i := range c.simples {
		if one := &c.simples[i]; one.kind == ':' && one.name == "is" && depth < 4 && len(one.list) > 0 && len(one.list) <= 16 {
			var all []key
			for j := range one.list {
				all = append(all, keysOf(&one.list[j].parts[0], depth+1)...)
			}
			if !slices.Contains(all, key{}) {
				slices.SortStableFunc(all, compareKeys)
				return slices.Compact(all)
			}
		}
	}
	return []key{{0, c.tag}}
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.mark, b.mark), cmp.Compare(a.name, b.name))
}

// match is a rule that applies to an element.
type match struct {
	rule        *rule
	specificity specificity
	proximity   int // the distance to the root of its scope
}

// maxClass is the length of the longest class attribute that is read, in bytes. No page needs a longer one.
const maxClass = 8 << 10

// matches returns the rules that apply to n, the weakest first.
func (s *Sheets) matches(n *html.Node, parent *Style) []match {
	keys := append(s.keys[:0], key{}, key{name: n.Data})
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "id":
			keys = append(keys, key{'#', s.fold(a.Val)})
		case "class":
			for class := range strings.FieldsSeq(a.Val[:min(len(a.Val), maxClass)]) {
				keys = append(keys, key{'.', s.fold(class)})
			}
		}
	}
	if s.work.steps += len(keys); len(keys) > 8 { // a class that is repeated thousands of times counts once
		slices.SortStableFunc(keys, compareKeys)
		keys = slices.Compact(keys)
	}
	s.keys = keys
	found := s.found[:0]
	rules := s.rules
	if s.element != "" {
		rules = s.pseudo
	}
	for _, k := range keys {
		if k.mark == 0 && s.element == "" { // the browser's style sheet has no classes
			for _, t := range s.agent[k] {
				if s.work.selects(t.selector, n) {
					found = append(found, match{t.rule, t.selector.specificity, 0})
				}
			}
		}
		for _, t := range rules[k] {
			if s.work.steps > maxSteps {
				return nil
			}
			if t.selector.element != s.element || s.host == n && !selectsHost(t.selector) {
				continue
			}
			if proximity, ok := s.selects(t, n, parent); ok {
				found = append(found, match{t.rule, t.selector.specificity, proximity})
			}
		}
	}
	s.found = found
	s.work.steps += len(found)
	if len(found) < 2 {
		return found
	}
	slices.SortStableFunc(found, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rule.origin, b.rule.origin), cmp.Compare(a.rule.layer.index, b.rule.layer.index), a.specificity.compare(b.specificity),
			cmp.Compare(b.proximity, a.proximity), cmp.Compare(a.rule.order, b.rule.order))
	})
	return found
}

func (s *Sheets) fold(name string) string {
	if s.quirks {
		return strings.ToLower(name)
	}
	return name
}

// selects reports whether a rule applies to n, and the distance to the root of its scope.
func (s *Sheets) selects(t target, n *html.Node, parent *Style) (proximity int, ok bool) {
	if s.element == "slotted" {
		return 0, s.work.any(t.selector.slotted, n)
	}
	if s.element == "part" {
		parts, _ := attribute(n, "part")
		have := strings.Fields(parts)
		if slices.ContainsFunc(t.selector.named, func(name string) bool { return !slices.Contains(have, name) }) {
			return 0, false
		}
		for n = parentElement(n); n != nil && n.DataAtom != atom.Template; {
			n = parentElement(n)
		}
		if n = parentElement(n); n == nil {
			return 0, false
		}
		return 0, s.work.selects(t.selector, n)
	}
	for _, c := range t.rule.conditions {
		if !s.container(c, parent) {
			return 0, false
		}
	}
	if len(t.rule.scopes) == 0 {
		return 1 << 20, s.work.selects(t.selector, n)
	}
	last := len(t.rule.scopes) - 1
	for root := n; root != nil; root = parentElement(root) {
		if s.inScopes(t.rule.scopes, last, n, root) {
			s.work.scope = root
			ok = s.work.selects(t.selector, n)
			s.work.scope = nil
			if ok {
				return proximity, true
			}
		}
		proximity++
	}
	return 0, false
}

// inScopes reports whether root is the root of the scope at i. It must contain n, and be inside the scopes around it.
func (s *Sheets) inScopes(scopes []scope, i int, n, root *html.Node) bool {
	one := &scopes[i]
	switch {
	case one.roots != nil:
		if !s.work.any(one.roots, root) {
			return false
		}
	case one.implicit != nil && one.implicit.node != root, one.implicit == nil && parentElement(root) != nil:
		return false
	}
	if one.limits != nil {
		s.work.scope = root
		defer func() { s.work.scope = nil }()
		for c := n; c != nil && c != root; c = parentElement(c) {
			if s.work.any(one.limits, c) {
				return false
			}
		}
	}
	if i == 0 {
		return true
	}
	for outer := root; outer != nil; outer = parentElement(outer) {
		if s.inScopes(scopes, i-1, root, outer) {
			return true
		}
	}
	return false
}

// nameSet is a set of names with one bit for each hash, in 4 KB. It may report a name that was not added.
type nameSet struct {
	seed maphash.Seed
	bits [512]uint64
}

func newNameSet() *nameSet { return &nameSet{seed: maphash.MakeSeed()} }

func (s *nameSet) bit(name string) (word *uint64, mask uint64) {
	hash := maphash.String(s.seed, name)
	return &s.bits[hash/64%uint64(len(s.bits))], 1 << (hash % 64)
}

func (s *nameSet) add(name string) {
	word, mask := s.bit(name)
	*word |= mask
}

func (s *nameSet) mayHold(name string) bool {
	word, mask := s.bit(name)
	return *word&mask != 0
}

// addNames adds the classes and ids of the elements below n.
func (s *Sheets) addNames(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		for i := range c.Attr {
			switch a := &c.Attr[i]; a.Key {
			case "id":
				s.names.add(s.fold(a.Val))
			case "class":
				for class := range strings.FieldsSeq(a.Val) {
					s.names.add(s.fold(class))
				}
			}
		}
		s.addNames(c)
	}
}

// isUnmatched reports whether a selector can select nothing. That is so if no element of the page has one of its classes or ids. Most rules
// of most pages are written for other pages of the site.
func (r *sheetReader) isUnmatched(one css.Span) bool {
	if r.s.names == nil {
		return false
	}
	for i := one.From; i < one.To; i = r.t.After(i) {
		name := i
		switch {
		case r.t.Is(i, one, '.') && r.t.Kind(i+1, one) == css.Ident:
			name++
		case r.t.Kind(i, one) != css.Hash:
			continue
		}
		if !r.s.names.mayHold(r.s.fold(r.t.Name(name))) {
			return true
		}
	}
	return false
}

// isPlain reports whether a block holds only declarations, which have no effect unless its rule selects something.
func (r *sheetReader) isPlain(block css.Span) bool {
	for i := block.From; i < block.To; i++ {
		if r.t.Kind(i, block) == css.At || r.t.Is(i, block, '{') {
			return false
		}
	}
	return true
}

// areUnmatched reports whether all selectors of a list are unmatched.
func (r *sheetReader) areUnmatched(list css.Span) bool {
	for one := range r.t.Split(list, css.Comma) {
		if !r.isUnmatched(one) {
			return false
		}
	}
	return true
}

// entry is a declaration that applies to an element.
type entry struct {
	declaration *declaration
	group       int // the declarations that revert-layer removes together: a layer of an origin
	origin      origin
}

// collectEntries lists the declarations that apply to n, the weakest first. Important declarations come last, with the order
// of layers reversed.
func (s *Sheets) collectEntries(n *html.Node, parent *Style, animated []declaration) []entry {
	found := s.matches(n, parent)
	var hints, own []declaration
	if s.element == "" && s.host != n {
		hints, own = s.hints(n), s.styleAttribute(n)
	}
	s.entries = s.entries[:0]
	someImportant := false
	hinted := false
	for _, m := range found {
		if m.rule.origin == author && !hinted {
			s.addWithin()
			s.addEntries(hints, false, hintGroup, author)
			hinted = true
		}
		list := m.rule.read(s.quirks)
		for i := range list {
			someImportant = someImportant || list[i].important
		}
		s.addEntries(list, false, m.group(), m.rule.origin)
	}
	if !hinted {
		s.addWithin()
		s.addEntries(hints, false, hintGroup, author)
	}
	s.addEntries(own, false, attributeGroup, author)
	for _, m := range s.around {
		s.addEntries(m.rule.read(s.quirks), false, hostGroup, author)
		s.addEntries(m.rule.read(s.quirks), true, hostGroup, author)
	}
	s.addEntries(animated, false, animationGroup, animation)
	if someImportant {
		s.addImportant(found)
	}
	s.addEntries(own, true, attributeGroup, author)
	for _, m := range s.within {
		s.addEntries(m.rule.read(s.quirks), true, hostGroup, author)
	}
	if someImportant {
		for _, m := range found {
			if m.rule.origin == userAgent {
				s.addEntries(m.rule.declarations, true, agentGroup, userAgent)
			}
		}
	}
	return s.entries
}

// addWithin adds the declarations of a shadow tree's rules.
func (s *Sheets) addWithin() {
	for _, m := range s.within {
		s.addEntries(m.rule.read(s.quirks), false, hostGroup, author)
	}
}

// addEntries adds either the important or the other declarations of a list.
func (s *Sheets) addEntries(list []declaration, important bool, group int, o origin) {
	for i := range list {
		if list[i].important == important {
			s.entries = append(s.entries, entry{&list[i], group, o})
		}
	}
}

// addImportant adds the important declarations of the author's rules, those of stronger layers first.
func (s *Sheets) addImportant(found []match) {
	for from := len(found); from > 0; {
		to := from
		for from--; from > 0 && found[from-1].group() == found[to-1].group(); from-- {
		}
		if found[from].rule.origin == author {
			for _, m := range found[from:to] {
				s.addEntries(m.rule.declarations, true, m.group(), author)
			}
		}
	}
}

// group returns the group of the declarations of a rule.
func (m match) group() int {
	if m.rule.origin == userAgent {
		return agentGroup
	}
	return m.rule.layer.index
}

// maxStyle is the length of the longest style attribute that is read, in bytes. It may hold a picture.
const maxStyle = 64 << 10

// styleAttribute returns the declarations of a style attribute.
func (s *Sheets) styleAttribute(n *html.Node) []declaration {
	text, ok := attribute(n, "style")
	if !ok || text == "" {
		return nil
	}
	if list, ok := s.attributes[text]; ok {
		return list
	}
	list := s.readBlock(text)
	if len(s.attributes) < 10_000 {
		s.attributes[text] = list
	}
	return list
}

// The groups of declarations outside of layers.
const (
	hostGroup      = -4
	hintGroup      = -3
	agentGroup     = -2
	attributeGroup = 1 << 20
	animationGroup = 1 << 21
)
