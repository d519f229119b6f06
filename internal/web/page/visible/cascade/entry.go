package cascade

import "golang.org/x/net/html"

// entry is a declaration that applies to an element.
type entry struct {
	declaration *declaration
	group       int // what revert-layer goes back over: the layer, with the origin
	origin      origin
}

// collectEntries lists the declarations that apply to n, the weakest first. Important ones come last, those of layers reversed.
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
		s.addEntries(hints, false, hintGroup, author)
	}
	s.addEntries(own, false, attributeGroup, author)
	s.addEntries(animated, false, animationGroup, animation)
	if someImportant {
		s.addImportant(found)
	}
	s.addEntries(own, true, attributeGroup, author)
	if someImportant {
		for _, m := range found {
			if m.rule.origin == userAgent {
				s.addEntries(m.rule.declarations, true, agentGroup, userAgent)
			}
		}
	}
	return s.entries
}

// addEntries adds the declarations of a list that are important, or those that are not.
func (s *Sheets) addEntries(list []declaration, important bool, group int, o origin) {
	for i := range list {
		if list[i].important == important {
			s.entries = append(s.entries, entry{&list[i], group, o})
		}
	}
}

// addImportant adds the important declarations of the author's rules. Those of stronger layers come first.
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

// maxStyle is how long a style attribute may be that is read, in bytes. It may hold a picture.
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

// groups of what belongs to no layer.
const (
	hintGroup      = -3
	agentGroup     = -2
	attributeGroup = 1 << 20
	animationGroup = 1 << 21
)
