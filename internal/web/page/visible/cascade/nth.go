package cascade

import "golang.org/x/net/html"

// position is where an element stands among its siblings, from one: from the first, from the last, and both among those of its tag.
type position struct{ first, last, firstOfTag, lastOfTag int }

// listed is an element, as one of those that a list of selectors selects.
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

// position returns where an element stands. All siblings are counted at once.
func (m *matcher) position(n *html.Node) position {
	if p, ok := m.positions[n]; ok {
		return p
	}
	if n.Parent == nil { // of a page that makes no tree
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

// positionIn returns where an element stands among the siblings that a list selects. It is zero if the list does not select it.
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
