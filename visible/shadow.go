package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// slots holds the places in a shadow tree for the children of its host.
type slots struct {
	sheets *cascade.Sheets
	named  map[string]bool // whether content in that slot is shown
}

// shadow returns the slots of an element whose markup declares a shadow tree, or nil for any other element.
func (v *view) shadow(n *html.Node, in *frame) *slots {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Template {
			continue
		}
		mode, _ := dom.Attr(c, "shadowrootmode")
		if mode = strings.ToLower(mode); mode != "open" && mode != "closed" || !canHost(n) {
			continue
		}
		s := &slots{v.sheets.Shadow(c, n), map[string]bool{}}
		host := &frame{}
		s.sheets.Compute(&host.style, n, in.style.Parent)
		if host.style.Authored(cascade.Display) && host.style.Display == "none" && !in.style.Authored(cascade.Display) || s.sheets.Exhausted() {
			return s
		}
		s.find(c, in, 0)
		return s
	}
	return nil
}

// find searches for the slots below n, whose frame is in.
func (s *slots) find(n *html.Node, in *frame, depth int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || isMachine(c) || depth > 100 {
			continue
		}
		f := &frame{}
		s.sheets.Compute(&f.style, c, &in.style)
		if !f.show(in) {
			continue
		}
		if c.DataAtom == atom.Slot {
			f.look()
			if name, _ := dom.Attr(c, "name"); !s.named[name] {
				s.named[name] = f.text == seen
			}
			continue
		}
		s.find(c, f, depth+1)
	}
}

// take reports whether a child of the host has a slot and is shown there.
func (s *slots) take(c *html.Node, in *frame) bool {
	switch {
	case c.DataAtom == atom.Template:
		return true
	case c.Type == html.TextNode:
		return s.named[""]
	case c.Type != html.ElementNode:
		return true
	}
	name, _ := dom.Attr(c, "slot")
	if !s.named[name] {
		return false
	}
	f := &frame{}
	if !s.sheets.ComputePart(&f.style, "slotted", c, &in.style) {
		return true
	}
	if f.style.Display == "inline" && !f.style.Authored(cascade.Display) {
		f.style.Display = "block"
	}
	if !f.show(in) {
		return false
	}
	f.look()
	return f.text == seen
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
