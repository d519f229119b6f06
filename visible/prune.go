package visible

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// Prune removes from the tree of a page everything that a person would not see. It removes hidden elements and texts, comments and scripts.
// Only the attributes of links, tables and names stay. It also removes what is beside the text. That is forms, and navigation, footers and
// asides that hold less than half of the page. It keeps at most about 1 MiB of text, and less if the page is deeply nested.
//
// doc must be the root of a tree that html.Parse made. If Prune returns an error, which can only be [ErrStyles], it has
// not changed the tree.
func Prune(doc *html.Node, o Options) (Count, error) {
	page, err := look(doc, o)
	if err != nil {
		return Count{}, err
	}
	p := pruner{page: page, scripts: o.Scripts, all: dom.Length(doc)}
	p.join()
	p.children(doc)
	return p.count, nil
}

// pruner is the state of Prune.
type pruner struct {
	page    *page
	scripts bool // the browser runs scripts
	count   Count
	all     int // characters before anything was removed
	large   int // elements that were too large to be boilerplate
	depth   int // of the node whose children are visited
	raw     int // elements around that node that keep their white space: <pre> and <code>
	work    int // at most maxWork
	kept    int // bytes of text, at most maxText
}

// Callers may measure and copy the text of each element, so their work grows with the text times its depth. The tree is therefore bounded,
// and the end of a long page is cut off. A page of 10,000 elements and 200 KB of text takes about half of maxWork.
const (
	maxWork = 1_700_000
	maxText = 1 << 20 // bytes
)

// charge adds the price of a node at the current depth. It returns how many bytes of its text are within the bounds.
func (p *pruner) charge(size int) int {
	const node, perNode = 32, 24
	price := node + p.depth + p.depth*p.depth/64
	size = min(size, maxText-p.kept, max(0, (maxWork-p.work)/price*perNode))
	p.work += price * (1 + size/perNode)
	p.kept += size
	return size
}

// children prunes the tree below n. The parser makes no tree deeper than 512.
func (p *pruner) children(n *html.Node) {
	p.depth++
	defer func() { p.depth-- }()
	for c := range dom.Children(n) {
		switch {
		case c.Type == html.TextNode && p.page.marks[c] != seen:
			p.drop(c)
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

// drop removes a node that cannot be seen, and counts its characters.
func (p *pruner) drop(n *html.Node) {
	size := dom.Letters(n.Data)
	if n.Type == html.ElementNode {
		size = length(n)
	}
	if p.page.marks[n] == doubtful {
		p.count.Doubtful += size
	} else {
		p.count.Hidden += size
	}
	n.Parent.RemoveChild(n)
}

// length counts the characters below n as dom.Length does, without text for machines. That is not hidden text wherever it is.
func length(n *html.Node) (total int) {
	for c := range dom.Children(n) {
		switch {
		case c.Type == html.TextNode:
			total += dom.Letters(c.Data)
		case c.Type == html.ElementNode && !isNoText(c):
			total += length(c)
		}
	}
	return total
}

// join puts the content of shadow trees where it is shown.
func (p *pruner) join() {
	for i := range p.page.shades {
		s := &p.page.shades[i]
		for c := range dom.Children(s.host) {
			if c != s.template && !s.holds(c) && (c.Type == html.TextNode || c.Type == html.ElementNode) {
				p.page.marks[c] = max(p.page.marks[c], hidden)
			}
		}
		for slot, all := range s.slots {
			for c := range dom.Children(slot) {
				slot.RemoveChild(c)
			}
			for _, c := range all {
				c.Parent.RemoveChild(c)
				slot.AppendChild(c)
			}
		}
		for c := range dom.Children(s.template) {
			s.template.RemoveChild(c)
			s.host.InsertBefore(c, s.template)
		}
		s.host.RemoveChild(s.template)
	}
}

// holds reports whether a child of the host is in a slot.
func (s *shade) holds(c *html.Node) bool {
	for _, all := range s.slots {
		if slices.Contains(all, c) {
			return true
		}
	}
	return false
}

func (p *pruner) text(n *html.Node) {
	if left, ok := p.page.cut[n]; ok {
		p.count.Hidden += max(0, dom.Letters(n.Data)-dom.Letters(left))
		n.Data = left
	}
	if size := p.charge(len(n.Data)); size < len(n.Data) {
		n.Data = strings.ToValidUTF8(n.Data[:size], "")
	}
	if p.raw == 0 {
		n.Data = foldBlanks(n.Data)
	}
	p.count.Seen += dom.Letters(n.Data)
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
	case p.page.marks[n] != seen:
		p.drop(n)
		return
	}
	n.Attr = keptAttributes(n.Attr)
	p.charge(0)
	if n.DataAtom == atom.Pre || n.DataAtom == atom.Code {
		p.raw++
		defer func() { p.raw-- }()
	}
	p.children(n)
}

// keepTitle empties the head except for the title, so that a reader can recognise a heading that repeats it.
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
	maxForm  = 300 // characters of a form that only asks for something
	maxLarge = 64  // large elements, after which no more are measured: they may be nested in each other
)

// isBoilerplate reports whether an element is beside the text of the page. A person may see it, so it stays if it holds a large part of the
// page. A forgotten end tag or a form around everything can put the text inside.
func (p *pruner) isBoilerplate(n *html.Node) bool {
	limit := p.all / 2
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
	case atom.Form:
		if formFields.MatchFirst(n) == nil { // it only puts a button beside a text
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

// formFields selects the elements of a form that a person fills in.
var formFields = dom.NewSelector("textarea, select, input:not([type=hidden i], [type=submit i], [type=button i], [type=image i], [type=reset i])")

// maxAttribute is the length of the longest attribute that is kept, in bytes.
const maxAttribute = 4 << 10

// keptAttributes keeps the attributes of links and tables, and those that say what an element is for.
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

// dropBlanks removes the white space between blocks, which browsers do not show. It makes the tree much smaller.
func dropBlanks(n *html.Node) {
	for c := range dom.Children(n) {
		if c.Type == html.TextNode && strings.Trim(c.Data, dom.Blanks) == "" && (breaksLine(n, c.PrevSibling) || breaksLine(n, c.NextSibling)) {
			n.RemoveChild(c)
		}
	}
}

// breaksLine reports whether a line ends at c, a child of n. If c is nil it is asked of the edge of n.
func breaksLine(n, c *html.Node) bool {
	if c == nil {
		c = n
	}
	switch c.DataAtom {
	case atom.Html, atom.Body, atom.Main, atom.Article, atom.Section, atom.Header, atom.Div, atom.P, atom.Blockquote, atom.Figure, atom.Hr,
		atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th,
		atom.Nav, atom.Footer, atom.Aside, atom.Form:
		return true
	}
	return dom.HeadingLevel(c) > 0
}

// foldBlanks folds white space in a row to one character, as browsers do. It is a line feed if there is one. Half of the text of pages is
// white space.
func foldBlanks(s string) string {
	first := 0
	for first+1 < len(s) && !(dom.IsSpace(s[first]) && dom.IsSpace(s[first+1])) {
		first++
	}
	if first+1 >= len(s) {
		return s
	}
	folded := append(make([]byte, 0, len(s)), s[:first]...)
	for i := first; i < len(s); i++ {
		last := len(folded) - 1
		switch {
		case !dom.IsSpace(s[i]) || last < 0 || !dom.IsSpace(folded[last]):
			folded = append(folded, s[i])
		case s[i] == '\n':
			folded[last] = '\n'
		}
	}
	return string(folded)
}
