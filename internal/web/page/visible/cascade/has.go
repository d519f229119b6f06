package cascade

import "golang.org/x/net/html"

// has reports whether one of a list of relative selectors, seen from n, selects an element.
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

// selectsPart reports whether a selector that is one compound selects n.
func (m *matcher) selectsPart(s *selector, n *html.Node) bool {
	m.steps++
	return m.compound(&s.parts[0], n)
}

// holdersOf returns the elements of the page that have one in them that s, a single compound, selects.
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
