package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// How many blocks of one kind stand in a row in a list, and how much text, in characters, each has at least and at
// most, on average.
const (
	fewItems  = 6
	shortItem = 16
	longItem  = 600
)

// items is the length of the longest list in n: blocks of the same element and class that follow each other, each
// with a link, of which most have more to say than a menu.
func items(n *html.Node) (most int) {
	run, total := 0, 0
	var last *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		most = max(most, items(c))
		own := dom.Length(c)
		if own == 0 {
			continue
		}
		if last == nil || !alike(last, c) {
			run, total = 0, 0
		}
		last = c
		if (c.DataAtom == atom.A || linkLength(c) > 0) && own < longItem {
			run++
			total += own
		}
		if run >= fewItems && total >= run*shortItem {
			most = max(most, run)
		}
	}
	return most
}

// alike says that two siblings are of one kind.
func alike(a, b *html.Node) bool {
	if a.DataAtom != b.DataAtom || a.DataAtom == atom.P {
		return false
	}
	one, _ := dom.Attr(a, "class")
	other, _ := dom.Attr(b, "class")
	return one == other
}
