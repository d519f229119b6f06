// Package dom answers what golang.org/x/net/html leaves open about a tree: what an attribute holds, what text lies
// below a node and how long it is (text.go), what kind of element a tag names, and what the names in a class say of
// their element (names.go).
package dom

import (
	"iter"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Attr returns the value of an attribute of n, and whether n has it.
func Attr(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return n.Attr[i].Val, true
		}
	}
	return "", false
}

// Children yields the children of n. The one that is yielded may be removed or replaced.
func Children(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
			if next = c.NextSibling; !yield(c) {
				return
			}
		}
	}
}

// Rename turns n into another element.
func Rename(n *html.Node, a atom.Atom) { n.DataAtom, n.Data = a, a.String() }

// HeadingLevel returns the level of a heading, where <h4> and deeper count as 4, and 0 for anything else.
func HeadingLevel(n *html.Node) int {
	switch n.DataAtom {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4, atom.H5, atom.H6:
		return 4
	}
	return 0
}

// IsVoid reports whether an element has no content and no end tag.
func IsVoid(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// IsFormatting reports whether an element is in the HTML Standard's "list of active formatting elements".
func IsFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// IsInline reports whether an element breaks no line.
func IsInline(a atom.Atom) bool {
	switch a {
	case atom.Span, atom.Label, atom.Abbr, atom.Cite, atom.Q, atom.Sub, atom.Sup, atom.Time, atom.Mark, atom.Kbd, atom.Var, atom.Samp, atom.Wbr, atom.Img:
		return true
	}
	return IsFormatting(a)
}
