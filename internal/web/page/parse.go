package page

import (
	"errors"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxNodes bounds the tree. A large encyclopedia article has 30,000 nodes.
const maxNodes = 200_000

var errTooLarge = errors.New("parse page: too many nodes")

// parse builds the tree. It fails on more than 512 open elements (the parser's own limit) and on a page whose
// tree could exceed maxNodes.
func parse(text string) (*html.Node, error) {
	if estimate(text) > maxNodes {
		return nil, errTooLarge
	}
	return html.Parse(strings.NewReader(text))
}

// estimate is an upper bound of the nodes that parsing makes. Tags alone say little: formatting elements that
// are left open are opened again in every block that follows, so a page of 5 MB could ask for 50 million.
func estimate(text string) int {
	if strings.Count(text, "<")*2 < maxNodes/512 {
		return 0
	}
	nodes, open := 0, 0
	z := html.NewTokenizer(strings.NewReader(text))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return nodes
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			nodes += 2 + open // the element, its text, and what is opened again
			if formatting(atom.Lookup(name)) {
				open = min(open+1, 512)
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); formatting(atom.Lookup(name)) {
				open = max(open-1, 0)
			}
		}
		if nodes > maxNodes {
			return nodes
		}
	}
}

// formatting are the elements of the HTML Standard's "list of active formatting elements".
func formatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}
