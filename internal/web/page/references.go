package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text/lang"
	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
)

// referenceHeading matches the headings of sections that list sources and other pages.
var referenceHeading = lazyregexp.New(`(?i)^\W*(?:` + lang.All().Page.ReferenceHeadings.String() + `)\W*$`)

// How many headings are tried as the beginning of the references, and how many blocks a section may have.
const (
	maxSections = 8
	maxBlocks   = 500
)

// dropReferences removes the lists of sources and of other pages at the end of a text.
func dropReferences(root *html.Node) {
	total, before, tried := dom.Length(root), 0, 0
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			before += dom.Letters(n.Data)
			continue
		}
		level := dom.HeadingLevel(n)
		if level == 0 || before*5 < total*2 || !referenceHeading.MatchString(dom.Label(n)) {
			continue
		}
		if tried++; tried > maxSections {
			return
		}
		if nodes := section(n, level, root); isListed(nodes) {
			for _, one := range nodes {
				one.Parent.RemoveChild(one)
			}
			return
		}
	}
}

// section returns a heading and what follows it, up to a heading of its level over something other than references.
func section(heading *html.Node, level int, root *html.Node) (nodes []*html.Node) {
	// The heading may have a wrapper of its own, with the section as the wrapper's sibling.
	for range 4 {
		if heading.Parent == root || heading.Parent == nil || dom.Length(heading.Parent) != dom.Length(heading) {
			break
		}
		heading = heading.Parent
	}
	for n := heading; n != nil && len(nodes) < maxBlocks && (n == heading || !endsSection(n, level)); n = n.NextSibling {
		nodes = append(nodes, n)
	}
	return nodes
}

// endsSection reports whether the first heading in n begins another section.
func endsSection(n *html.Node, level int) bool {
	heading := headings.MatchFirst(n)
	return heading != nil && dom.HeadingLevel(heading) <= level && !referenceHeading.MatchString(dom.Label(heading))
}

// isListed reports whether a section is a list. A heading such as "Notes" may also stand over prose.
func isListed(nodes []*html.Node) bool {
	listed, all := 0, 0
	for _, n := range nodes[1:] {
		all += dom.Length(n)
		if n.DataAtom == atom.Ul || n.DataAtom == atom.Ol {
			listed += dom.Length(n)
			continue
		}
		for d := range n.Descendants() {
			if d.DataAtom == atom.Li && d.Parent.Parent.DataAtom != atom.Li {
				listed += dom.Length(d)
			}
		}
	}
	return listed*10 >= all*6
}
