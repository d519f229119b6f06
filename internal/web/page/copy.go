package page

import "golang.org/x/net/html"

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
