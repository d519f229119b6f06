package page

import (
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// How much of a page is parsed. Two thirds of the largest bodies are scripts and pictures written as text. A large article
// of an encyclopedia has 30,000 nodes and as many attributes.
const (
	maxSource = 6 << 20 // bytes of UTF-8
	maxToken  = 4 << 20 // bytes of one tag or text
	maxNodes  = 150_000 // nodes and attributes

	maxAttributes = 1_000 // of one element
)

// treeLength returns the length of the beginning of a page whose tree has at most maxNodes nodes and attributes, and takes
// no longer to parse than that many should.
func treeLength(text []byte) int {
	s := scanner{source: text[:min(len(text), maxSource)]}
	o := openElements{count: map[atom.Atom]int{}}
	nodes := 0
	for {
		start := s.at
		t, ok := s.next()
		if !ok && len(s.source)-start < maxToken {
			return len(s.source)
		}
		switch {
		case t.attributes > maxAttributes:
			return start
		case t.start:
			nodes += o.start(t.name) + t.attributes
		case t.end:
			o.end(t.name)
			nodes++ // </p> makes a paragraph
		case t.comment:
			nodes++
		}
		if nodes > maxNodes || s.at-start >= maxToken {
			return start
		}
	}
}

// openElements tracks the open elements as far as it takes to bound the work of parsing. The number of tags alone does not:
// formatting elements that are left open are opened again in every block that follows, so a page of 5 MB could ask for 50
// million nodes, and many tags make the parser search through all open elements.
type openElements struct {
	count      map[atom.Atom]int // by name
	formatting int               // formatting elements among them
	depth      int
	minimum    int     // of formatting, until the innermost scope is closed
	scopes     []scope // outermost first
}

// scope is an element inside which end tags do not close what was opened outside.
type scope struct {
	name    atom.Atom
	minimum int // outside it
}

// start opens an element and returns what it costs, in nodes.
func (o *openElements) start(a atom.Atom) int {
	const perNode = 16 // open elements that are searched in the time that a node takes
	cost := 2 + o.formatting + o.depth/perNode
	switch a {
	case atom.P, atom.Li, atom.Td, atom.Th, atom.Tr, atom.Dd, atom.Dt, atom.Option: // the next one mostly closes it
		return cost
	case atom.Table, atom.Object, atom.Applet, atom.Marquee, atom.Template, atom.Select, atom.Svg, atom.Math:
		o.scopes = append(o.scopes, scope{a, o.minimum})
		o.minimum = o.formatting
	}
	if !dom.IsVoid(a) {
		o.count[a]++
		o.depth = min(o.depth+1, 512)
	}
	if dom.IsFormatting(a) {
		o.formatting = min(o.formatting+1, 512)
	}
	return cost
}

func (o *openElements) end(a atom.Atom) {
	if o.count[a] == 0 {
		return
	}
	o.count[a]--
	o.depth = max(o.depth-1, 0)
	if dom.IsFormatting(a) {
		o.formatting = max(o.formatting-1, o.minimum)
	}
	if last := len(o.scopes) - 1; last >= 0 && o.scopes[last].name == a {
		o.minimum, o.scopes = o.scopes[last].minimum, o.scopes[:last]
	}
}
