package page

import (
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// What a page may cost before it is parsed. Two thirds of the largest bodies are scripts and pictures written as
// text; a large encyclopedia article has 30,000 nodes and as many attributes.
const (
	maxSource = 6 << 20 // bytes of UTF-8
	maxToken  = 4 << 20 // bytes of one tag or text
	maxNodes  = 150_000 // nodes and attributes

	maxAttributes = 1_000 // of one element
)

// affordable is the length of the part of a page, from its beginning, whose tree has at most maxNodes nodes and
// attributes and takes no longer to parse than so many should.
func affordable(text []byte) int {
	t := tags{source: text[:min(len(text), maxSource)]}
	o := outline{open: map[atom.Atom]int{}}
	nodes := 0
	for {
		read := t.at
		one, ok := t.next()
		if !ok && len(t.source)-read < maxToken {
			return len(t.source)
		}
		switch {
		case one.attributes > maxAttributes:
			return read
		case one.start:
			nodes += o.start(one.name) + one.attributes
		case one.end:
			o.end(one.name)
			nodes++ // </p> makes a paragraph
		case one.comment:
			nodes++
		}
		if nodes > maxNodes || t.at-read >= maxToken {
			return read
		}
	}
}

// outline knows of the open elements as much as bounds the work of parsing. Tags alone say little: formatting
// elements that are left open are opened again in every block that follows, so a page of 5 MB could ask for 50
// million nodes; and many tags make the parser search through all open elements.
type outline struct {
	open    map[atom.Atom]int // how many are open, of each name
	formats int               // formatting elements among them
	depth   int
	lowest  int       // what formats can't sink below until the innermost barrier is closed
	around  []barrier // the others, outermost first
}

// barrier is an element inside which end tags don't close what was opened outside.
type barrier struct {
	name   atom.Atom
	lowest int // outside it
}

// start returns what an element costs, in nodes.
func (o *outline) start(a atom.Atom) int {
	const perNode = 16 // open elements that are passed in the time that a node takes
	cost := 2 + o.formats + o.depth/perNode
	switch a {
	case atom.P, atom.Li, atom.Td, atom.Th, atom.Tr, atom.Dd, atom.Dt, atom.Option: // mostly closed by the next one
		return cost
	case atom.Table, atom.Object, atom.Applet, atom.Marquee, atom.Template, atom.Select, atom.Svg, atom.Math:
		o.around = append(o.around, barrier{a, o.lowest})
		o.lowest = o.formats
	}
	if !dom.IsVoid(a) {
		o.open[a]++
		o.depth = min(o.depth+1, 512)
	}
	if dom.IsFormatting(a) {
		o.formats = min(o.formats+1, 512)
	}
	return cost
}

func (o *outline) end(a atom.Atom) {
	if o.open[a] == 0 {
		return
	}
	o.open[a]--
	o.depth = max(o.depth-1, 0)
	if dom.IsFormatting(a) {
		o.formats = max(o.formats-1, o.lowest)
	}
	if last := len(o.around) - 1; last >= 0 && o.around[last].name == a {
		o.lowest, o.around = o.around[last].lowest, o.around[:last]
	}
}
