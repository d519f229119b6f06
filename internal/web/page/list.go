package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// How many items a list has at least, and how long they are in characters: at least on average, and at most each.
const (
	minItems = 6
	minItem  = 16
	maxItem  = 600
)

// listLength returns how many items the longest list below n has: blocks of the same element and class that follow each
// other, each with a link, and with more to say on average than a menu.
func listLength(n *html.Node) (longest int) {
	run, total := 0, 0
	var last *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		longest = max(longest, listLength(c))
		length := dom.Length(c)
		if length == 0 {
			continue
		}
		if last == nil || !isAlike(last, c) {
			run, total = 0, 0
		}
		last = c
		if (c.DataAtom == atom.A || linkLength(c) > 0) && length < maxItem {
			run++
			total += length
		}
		if run >= minItems && total >= run*minItem {
			longest = max(longest, run)
		}
	}
	return longest
}

// isAlike reports whether two siblings are of the same element and class.
func isAlike(a, b *html.Node) bool {
	if a.DataAtom != b.DataAtom || a.DataAtom == atom.P {
		return false
	}
	class, _ := dom.Attr(a, "class")
	other, _ := dom.Attr(b, "class")
	return class == other
}

// linkLength counts the characters below n that belong to links.
func linkLength(n *html.Node) (total int) {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			total += dom.Length(d)
		}
	}
	return total
}
