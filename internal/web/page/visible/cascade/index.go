package cascade

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// key is what the elements that a selector selects have in common: an id, a class or a tag.
type key struct {
	mark byte   // '#', '.' or 0
	name string // "" for any element
}

// index files a selector under what all elements have that it can select.
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
	case "slotted":
		s.pseudo[key{}] = append(s.pseudo[key{}], t)
		return
	default:
		return
	}
	for _, k := range keysOf(&t.selector.parts[0], 0) {
		rules[k] = append(rules[k], t)
	}
}

// momentary are the pseudo-classes that hold for nothing on a page that was just opened and that nobody touches.
var momentary = wordSet(`active focus focus-visible focus-within hover visited target user-valid user-invalid fullscreen -webkit-full-screen modal popover-open
	never autofill -webkit-autofill picture-in-picture playing has-slotted current past future`)

func neverHolds(c *compound) bool {
	return c.never || slices.ContainsFunc(c.simples, func(s simple) bool { return s.kind == ':' && momentary[s.name] })
}

// keysOf returns the keys of which an element has one if a compound selects it.
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
				slices.SortFunc(all, compareKeys)
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
	proximity   int // how far the root of its scope is
}

// A longer class is not read. No page needs one.
const maxClass = 8 << 10

// matches finds the rules that apply to n, the weakest first.
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
	if s.work.steps += len(keys); len(keys) > 8 { // a class that is named thousands of times counts once
		slices.SortFunc(keys, compareKeys)
		keys = slices.Compact(keys)
	}
	s.keys = keys
	found := s.found[:0]
	rules := s.rules
	if s.element != "" {
		rules = s.pseudo
	}
	for _, k := range keys {
		if k.mark == 0 && s.element == "" { // the browser knows no classes
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
	slices.SortFunc(found, func(a, b match) int {
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

// selects reports whether a rule applies to n, and how far the root of its scope is.
func (s *Sheets) selects(t target, n *html.Node, parent *Style) (proximity int, ok bool) {
	if s.element == "slotted" {
		return 0, s.work.any(t.selector.slotted, n)
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

// inScopes reports whether root is the root of the scope at i, with n in it, and lies in the scopes around it.
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
