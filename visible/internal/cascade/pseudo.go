package cascade

import (
	"math"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// state decides the pseudo-classes that depend on an element itself and not on its place.
func (m *matcher) state(s *simple, n *html.Node) bool {
	has := func(key string) bool { _, ok := attribute(n, key); return ok }
	switch s.name {
	case "empty":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode || c.Type == html.TextNode && c.Data != "" {
				return false
			}
		}
		return true
	case "link", "any-link", "-webkit-any-link":
		return (n.DataAtom == atom.A || n.DataAtom == atom.Area) && has("href")
	case "checked":
		return n.DataAtom == atom.Input && has("checked") || n.DataAtom == atom.Option && has("selected")
	case "default":
		return has("checked") || has("selected")
	case "disabled":
		return isField(n) && has("disabled")
	case "enabled":
		return isField(n) && !has("disabled")
	case "required":
		return isField(n) && has("required")
	case "optional":
		return (n.DataAtom == atom.Input || n.DataAtom == atom.Select || n.DataAtom == atom.Textarea) && !has("required")
	case "read-write":
		return isEditable(n)
	case "read-only":
		return !isEditable(n)
	case "placeholder-shown":
		value, _ := attribute(n, "value")
		return n.DataAtom == atom.Input && has("placeholder") && value == ""
	case "valid":
		return isField(n) && !has("required") || n.DataAtom == atom.Form
	case "invalid":
		value, _ := attribute(n, "value")
		return isField(n) && has("required") && value == "" && !has("checked")
	case "indeterminate":
		kind, _ := attribute(n, "type")
		return n.DataAtom == atom.Progress && !has("value") || n.DataAtom == atom.Input && strings.EqualFold(kind, "radio") && !chosen(n)
	case "in-range", "out-of-range":
		return n.DataAtom == atom.Input && (has("min") || has("max")) && inRange(n) == (s.name == "in-range")
	case "defined":
		return n.Namespace != "" || !strings.Contains(n.Data, "-")
	case "open":
		return has("open") && (n.DataAtom == atom.Details || n.DataAtom == atom.Dialog)
	case "lang":
		return m.language(s, n)
	case "host":
		return n == m.host && (s.list == nil || m.any(s.list, n))
	case "host-context":
		for at := n; n == m.host && at != nil; at = parentElement(at) {
			if m.steps++; m.any(s.list, at) {
				return true
			}
		}
	case "dir":
		return direction(n) == s.value
	}
	return false
}

// chosen reports whether a radio button of the same name in the same form is chosen.
func chosen(radio *html.Node) bool {
	name, _ := attribute(radio, "name")
	around := radio
	for around.Parent != nil && around.DataAtom != atom.Form {
		around = around.Parent
	}
	for n := range around.Descendants() {
		_, checked := attribute(n, "checked")
		if own, _ := attribute(n, "name"); n.DataAtom == atom.Input && checked && (n == radio || own == name && name != "") {
			return true
		}
	}
	_, checked := attribute(radio, "checked")
	return checked
}

// inRange reports whether the number in a field is within its limits. What is no number is.
func inRange(n *html.Node) bool {
	number := func(key string, otherwise float64) float64 {
		text, _ := attribute(n, key)
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			return value
		}
		return otherwise
	}
	value := number("value", math.NaN())
	return value != value || value >= number("min", value) && value <= number("max", value)
}

func isField(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Input, atom.Select, atom.Textarea, atom.Button, atom.Option, atom.Optgroup, atom.Fieldset:
		return true
	}
	return false
}

func isEditable(n *html.Node) bool {
	if _, ok := attribute(n, "readonly"); ok {
		return false
	}
	switch n.DataAtom {
	case atom.Textarea:
		return true
	case atom.Input:
		switch kind, _ := attribute(n, "type"); strings.ToLower(kind) {
		case "checkbox", "radio", "hidden", "button", "submit", "reset", "image", "file", "color", "range":
			return false
		}
		return true
	}
	value, ok := attribute(n, "contenteditable")
	return ok && !strings.EqualFold(value, "false")
}

func (m *matcher) language(s *simple, n *html.Node) bool {
	for ; n != nil; n = parentElement(n) {
		m.steps++
		if have, ok := attribute(n, "lang"); ok {
			have = strings.ToLower(have)
			for want := range strings.SplitSeq(s.value, ",") {
				want = strings.TrimPrefix(want, "*-")
				if rest, found := strings.CutPrefix(have, want); found && (rest == "" || rest[0] == '-') && want != "" {
					return true
				}
			}
			return false
		}
	}
	return false
}

func direction(n *html.Node) string {
	for ; n != nil; n = parentElement(n) {
		if value, ok := attribute(n, "dir"); ok {
			if value = strings.ToLower(value); value == "ltr" || value == "rtl" {
				return value
			}
		}
	}
	return "ltr"
}

// position is the place of an element among its siblings, from 1. It is counted from the first and from the last, and both among siblings
// with its tag.
type position struct{ first, last, firstOfTag, lastOfTag int }

// listed is an element among the siblings that a list of selectors selects.
type listed struct {
	list *selector
	n    *html.Node
}

func (p position) fromFirst() int { return p.first }

func (p position) fromLast() int { return p.last }

func (m *matcher) isNth(s *simple, n *html.Node, of func(position) int) bool {
	var p position
	if s.list == nil {
		p = m.position(n)
	} else if p = m.positionIn(s.list, n); p.first == 0 {
		return false
	}
	at := of(p) - s.b
	return s.a == 0 && at == 0 || s.a != 0 && at%s.a == 0 && at/s.a >= 0
}

// position returns the place of an element. It counts all siblings at once.
func (m *matcher) position(n *html.Node) position {
	if p, ok := m.positions[n]; ok {
		return p
	}
	if n.Parent == nil { // a page without a tree
		return position{1, 1, 1, 1}
	}
	if m.positions == nil {
		m.positions = map[*html.Node]position{}
	}
	tags := map[string]int{}
	all := 0
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode {
			all++
			tags[c.Data]++
			m.positions[c] = position{first: all, firstOfTag: tags[c.Data]}
		}
	}
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if p, ok := m.positions[c]; ok {
			p.last, p.lastOfTag = all-p.first+1, tags[c.Data]-p.firstOfTag+1
			m.positions[c] = p
		}
	}
	m.steps += all
	p, ok := m.positions[n]
	if !ok {
		p = position{1, 1, 1, 1}
	}
	return p
}

// positionIn returns the place of an element among the siblings that a list selects. It is zero if the list does not select
// the element.
func (m *matcher) positionIn(list []selector, n *html.Node) position {
	if len(list) == 0 || n.Parent == nil {
		return position{}
	}
	if p, ok := m.selected[listed{&list[0], n}]; ok {
		return p
	}
	if m.selected == nil {
		m.selected = map[listed]position{}
	}
	all := 0
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		at := position{}
		if m.any(list, c) {
			all++
			at.first = all
		}
		m.selected[listed{&list[0], c}] = at
	}
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if p := m.selected[listed{&list[0], c}]; p.first > 0 {
			p.last = all - p.first + 1
			m.selected[listed{&list[0], c}] = p
		}
	}
	return m.selected[listed{&list[0], n}]
}

// has reports whether a relative selector of a list selects an element, seen from n.
func (m *matcher) has(list []selector, n *html.Node) bool {
	outer := m.scope
	m.scope = n
	defer func() { m.scope = outer }()
	for i := range list {
		s := &list[i]
		simple := len(s.parts) == 1
		switch s.combinators[len(s.combinators)-1] {
		case '+', '~':
			for c := nextElement(n); c != nil && m.steps < maxSteps; c = nextElement(c) {
				if m.relative(s, c) || !simple && m.below(s, c) {
					return true
				}
			}
		case '>':
			for c := n.FirstChild; simple && c != nil; c = c.NextSibling {
				if c.Type == html.ElementNode && m.selectsPart(s, c) {
					return true
				}
			}
			if !simple && m.below(s, n) {
				return true
			}
		default:
			if simple && outer == nil {
				if m.holdersOf(s, n)[n] {
					return true
				}
			} else if m.below(s, n) {
				return true
			}
		}
	}
	return false
}

// selectsPart reports whether a selector of one compound selects n.
func (m *matcher) selectsPart(s *selector, n *html.Node) bool {
	m.steps++
	return m.compound(&s.parts[0], n)
}

// holdersOf returns the elements of the page that contain an element that s, a single compound, selects.
func (m *matcher) holdersOf(s *selector, n *html.Node) map[*html.Node]bool {
	if known, ok := m.holders[s]; ok {
		return known
	}
	if m.holders == nil {
		m.holders = map[*selector]map[*html.Node]bool{}
	}
	root := n
	for root.Parent != nil {
		root = root.Parent
	}
	scope := m.scope
	m.scope = nil
	found := map[*html.Node]bool{}
	for d := range root.Descendants() {
		if d.Type == html.ElementNode && m.selectsPart(s, d) {
			for p := parentElement(d); p != nil && !found[p]; p = parentElement(p) {
				found[p] = true
			}
		}
	}
	m.scope = scope
	m.holders[s] = found
	return found
}

func (m *matcher) below(s *selector, n *html.Node) bool {
	for d := range n.Descendants() {
		if m.steps++; m.steps > maxSteps {
			return false
		}
		if d.Type == html.ElementNode && m.relative(s, d) {
			return true
		}
	}
	return false
}

// relative reports whether a relative selector selects n, seen from the scope.
func (m *matcher) relative(s *selector, n *html.Node) bool {
	anchored := *s
	anchored.parts = append(s.parts[:len(s.parts):len(s.parts)], compound{simples: []simple{{kind: ':', name: "scope"}}})
	return m.selects(&anchored, n)
}
