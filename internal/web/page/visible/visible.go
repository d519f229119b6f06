// Package visible removes from a page what a person would not see.
//
// view.go looks at a page as on a [screen], without changing it: it goes down the tree with the styles that package cascade computes,
// and decides of each element and each text whether it can be seen. box.go places boxes as far as that takes no setting of text, paint.go
// compares letters with what lies behind them, shape.go knows clipping and masks, transform.go transforms, shadow.go shadow trees, and name.go the
// attributes and classes that say that something is hidden. In doubt it is. [Prune] then takes out of the tree what cannot be seen, and what
// is not text at all or stands beside it. [Flat] reads a page that makes no tree, by the same rules; it knows only what stands before.
//
// What a style sheet outside the page or a script hides is not known here. Command judge asks a browser, for the tests.
package visible

import (
	"errors"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// ErrStyles is the error of a page whose styles take too much work, so that it is not known what they hide.
var ErrStyles = errors.New("the styles take too much work")

// pruner is the state of Prune.
type pruner struct {
	unseen  map[*html.Node]bool // what the styles hide
	scripts bool                // the reader's browser runs scripts
	hidden  int                 // characters that were hidden
	seen    int                 // characters that are left
	all     int                 // characters before anything was removed
	large   int                 // elements that were too large to be boilerplate
	depth   int                 // of the node whose children are visited
	raw     int                 // how many elements around it keep their white space: <pre> and <code>
	work    int                 // at most maxWork
	kept    int                 // at most maxText
}

// Extraction and conversion measure and copy the text of each element again, so their work grows with the text times its
// depth as well as with the nodes. What they get is bounded, and what comes later in a page is cut off. A page of 10,000
// elements and 200 KB of text takes about half of maxWork.
const (
	maxWork = 1_700_000
	maxText = 1 << 20 // bytes
)

// charge adds a node at the present depth to the work, and returns how many bytes of its text are within the bounds.
func (p *pruner) charge(size int) int {
	const node, perNode = 32, 24
	price := node + p.depth + p.depth*p.depth/64
	size = min(size, maxText-p.kept, max(0, (maxWork-p.work)/price*perNode))
	p.work += price * (1 + size/perNode)
	p.kept += size
	return size
}

// Prune removes from doc what is hidden and what is not text: scripts, forms, navigation, comments, and attributes that
// nobody sees. It returns how many characters were hidden and how many are left. With scripts, it removes what is there
// for browsers that run none. rest is the part of the page that is not in the tree; only its styles count. The only error
// is [ErrStyles].
func Prune(doc *html.Node, rest string, scripts bool) (hidden, seen int, err error) {
	unseen, err := look(doc, rest, scripts)
	if err != nil {
		return 0, 0, err
	}
	p := pruner{unseen: unseen, scripts: scripts, all: dom.Length(doc)}
	p.children(doc)
	return p.hidden, p.seen, nil
}

// children prunes what is below n. The parser makes no tree deeper than 512.
func (p *pruner) children(n *html.Node) {
	p.depth++
	defer func() { p.depth-- }()
	for c := range dom.Children(n) {
		switch {
		case c.Type == html.TextNode && p.unseen[c]:
			p.hidden += dom.Letters(c.Data)
			n.RemoveChild(c)
		case p.work >= maxWork, c.Type != html.TextNode && c.Type != html.ElementNode:
			n.RemoveChild(c)
		case c.Type == html.TextNode:
			p.text(c)
		default:
			p.element(c)
		}
	}
	if p.raw == 0 {
		dropBlanks(n)
	}
}

func (p *pruner) text(n *html.Node) {
	if size := p.charge(len(n.Data)); size < len(n.Data) {
		n.Data = strings.ToValidUTF8(n.Data[:size], "")
	}
	if p.raw == 0 {
		n.Data = foldBlanks(n.Data)
	}
	p.seen += dom.Letters(n.Data)
}

func (p *pruner) element(n *html.Node) {
	if n.DataAtom == atom.Noscript && !p.scripts {
		dom.Rename(n, atom.Div)
	}
	switch {
	case n.DataAtom == atom.Head:
		keepTitle(n)
		return
	case n.DataAtom == atom.Html || n.DataAtom == atom.Body:
		// Pages hide these until their scripts have run. If that counted, nothing would be left.
	case isNoText(n) || p.isBoilerplate(n):
		n.Parent.RemoveChild(n)
		return
	case p.unseen[n]:
		p.hidden += dom.Length(n)
		n.Parent.RemoveChild(n)
		return
	}
	if n.DataAtom == atom.Details {
		p.closeDetails(n)
	}
	n.Attr = keptAttributes(n.Attr)
	p.charge(0)
	if n.DataAtom == atom.Pre || n.DataAtom == atom.Code {
		p.raw++
		defer func() { p.raw-- }()
	}
	p.children(n)
}

// keepTitle empties the head except for the title, by which the extraction knows a heading that repeats it.
func keepTitle(head *html.Node) {
	for c := range dom.Children(head) {
		if c.DataAtom != atom.Title {
			head.RemoveChild(c)
		}
	}
}

// isNoText reports whether an element holds no text, or text for a machine.
func isNoText(n *html.Node) bool {
	if n.Namespace != "" {
		return true
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Embed, atom.Canvas,
		atom.Audio, atom.Video, atom.Meta, atom.Link, atom.Base, atom.Input, atom.Textarea, atom.Select, atom.Button,
		atom.Frame, atom.Frameset, atom.Noembed, atom.Noframes, atom.Plaintext, atom.Xmp, atom.Title, atom.Datalist, atom.Applet, atom.Progress, atom.Meter:
		return true
	}
	return false
}

const (
	maxForm  = 300 // characters of a form that asks for something and says nothing
	maxLarge = 64  // bounds the measuring of elements nested in each other
)

// isBoilerplate reports whether an element stands beside the text. It may be seen, so it stays if it holds a large part of
// the page: a forgotten end tag or a form around everything puts that inside.
func (p *pruner) isBoilerplate(n *html.Node) bool {
	limit := p.all / 2
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
	case atom.Form:
		if formFields.MatchFirst(n) == nil { // it is only wrapped around a text, for a button
			return false
		}
		limit = min(limit, maxForm)
	default:
		return false
	}
	if p.large == maxLarge || dom.Length(n) >= limit {
		p.large = min(p.large+1, maxLarge)
		return false
	}
	return true
}

// formFields are the elements of a form that a reader fills in.
var formFields = cascadia.MustCompile("textarea, select, input:not([type=hidden i], [type=submit i], [type=button i], [type=image i], [type=reset i])")

// closeDetails removes the content of a closed <details>, of which only the summary is seen.
func (p *pruner) closeDetails(n *html.Node) {
	if _, open := dom.Attr(n, "open"); open {
		return
	}
	first := true
	for c := range dom.Children(n) {
		if c.DataAtom == atom.Summary && first {
			first = false
			continue
		}
		p.hidden += dom.Length(c)
		n.RemoveChild(c)
	}
}

// maxAttribute is how long an attribute that is kept may be, in bytes.
const maxAttribute = 4 << 10

// keptAttributes keeps the attributes that the extraction looks at, and those that links and tables need.
func keptAttributes(all []html.Attribute) []html.Attribute {
	kept := all[:0]
	for _, a := range all {
		if len(a.Val) > maxAttribute {
			continue
		}
		switch a.Key {
		case "id", "class", "href", "role", "rel", "itemprop", "itemtype", "colspan", "rowspan", "start", "dir", "src", "aria-modal":
			kept = append(kept, a)
		}
	}
	return kept
}
