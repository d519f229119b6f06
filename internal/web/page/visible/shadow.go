package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// slots are the places that a shadow tree has for the children of its host.
type slots struct {
	named map[string]bool
}

// slotsOf returns the slots of an element whose markup declares a shadow tree, nil if it does not.
func slotsOf(n *html.Node) *slots {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Template {
			continue
		}
		mode, _ := dom.Attr(c, "shadowrootmode")
		if mode = strings.ToLower(mode); mode != "open" && mode != "closed" || !canHost(n) {
			continue
		}
		s := &slots{map[string]bool{}}
		for d := range c.Descendants() {
			if d.DataAtom == atom.Slot {
				name, _ := dom.Attr(d, "name")
				s.named[name] = true
			}
		}
		return s
	}
	return nil
}

// canHost reports whether browsers attach a shadow tree to an element.
func canHost(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Div, atom.Footer, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Main, atom.Nav, atom.P,
		atom.Section, atom.Span:
		return true
	}
	return strings.Contains(n.Data, "-")
}

// take reports whether a child of the host is put into a slot.
func (s *slots) take(c *html.Node) bool {
	if c.Type != html.ElementNode {
		return s.named[""] || c.Type != html.TextNode
	}
	if c.DataAtom == atom.Template {
		return true
	}
	name, _ := dom.Attr(c, "slot")
	return s.named[name]
}
