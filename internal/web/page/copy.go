package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// isRewritten reports whether article changes a tree from which everything hidden is gone. What it takes apart is its own copy;
// before it makes that it removes images without an address, calls <font> another name, and makes paragraphs of what stands
// between blank lines.
func isRewritten(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Font:
			return true
		case atom.Img:
			if _, ok := dom.Attr(c, "src"); !ok {
				return true
			}
		case atom.Br:
			next := c.NextSibling
			for next != nil && next.Type == html.TextNode && dom.Letters(next.Data) == 0 {
				next = next.NextSibling
			}
			if next != nil && next.DataAtom == atom.Br {
				return true
			}
		}
		if isRewritten(c) {
			return true
		}
	}
	return false
}

// copyTree copies a tree into two pieces of memory, one for its nodes and one for their attributes. A page has thousands of
// each, and to allocate them one by one takes longer than to copy them.
func copyTree(root *html.Node) *html.Node {
	nodes, attributes := 1, len(root.Attr)
	for n := range root.Descendants() {
		nodes++
		attributes += len(n.Attr)
	}
	c := copier{make([]html.Node, nodes), make([]html.Attribute, 0, attributes)}
	return c.copy(root)
}

// copier holds the memory that is left.
type copier struct {
	nodes      []html.Node
	attributes []html.Attribute
}

func (c *copier) copy(n *html.Node) *html.Node {
	to := &c.nodes[0]
	c.nodes = c.nodes[1:]
	from := len(c.attributes)
	c.attributes = append(c.attributes, n.Attr...)
	// Capped, so that a node that gets another attribute does not overwrite those of the next node.
	own := c.attributes[from:len(c.attributes):len(c.attributes)]
	*to = html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: own}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		to.AppendChild(c.copy(child))
	}
	return to
}
