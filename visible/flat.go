package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// maxNested is how many elements inside each other have styles in a page without a tree of the parser. The text of those further inside
// belongs to the last of them. It is left out if one has attributes, since those could hide it.
const maxNested = 2_000

// Text is the visible text of a page.
type Text struct {
	Title  string // at most 300 characters, on one line
	Body   string // in the order of the source
	Hidden int    // characters that were left out, also those of scripts and styles, without white space
}

// Flat reads a page that is nested too deeply for html.Parse. It makes a simple tree from the tags as they are in the
// source. An element that hides its content and is never closed hides the rest of the page. The page is always read as a
// browser with scripts shows it. The only error is [ErrStyles].
func Flat(source string, o Options) (Text, error) {
	f := flat{page: &html.Node{Type: html.DocumentNode}}
	f.open = f.page
	f.grow(source)
	p, err := look(f.page, Options{Scripts: true, Rest: o.Rest})
	if err != nil {
		return Text{}, err
	}
	f.marks = p.marks
	f.cut = p.cut
	f.read(f.page)
	return Text{Title: dom.Line(f.title), Body: f.text.String(), Hidden: f.hidden}, nil
}

// flat is the state of Flat.
type flat struct {
	page, open *html.Node // the page, and the innermost open element
	opened     int        // how many elements are open
	deepest    *html.Node // the innermost element with styles, while others are open in it
	marks      map[*html.Node]sight
	cut        map[*html.Node]string
	title      string
	begun      bool // something has been read
	hidden     int
	text       strings.Builder
}

// grow makes the tree.
func (f *flat) grow(source string) {
	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch token := z.Token(); kind {
		case html.TextToken:
			if in := f.in(); in == nil {
				f.hidden += dom.Letters(token.Data)
			} else {
				in.AppendChild(&html.Node{Type: html.TextNode, Data: token.Data})
			}
		case html.DoctypeToken:
			f.page.AppendChild(&html.Node{Type: html.DoctypeNode, Data: strings.ToLower(token.Data)})
		case html.StartTagToken, html.SelfClosingTagToken:
			f.start(token)
		case html.EndTagToken:
			f.end(token)
		}
	}
}

func (f *flat) start(token html.Token) {
	n := &html.Node{Type: html.ElementNode, Data: token.Data, DataAtom: token.DataAtom, Attr: token.Attr}
	in := f.in()
	switch {
	case dom.IsVoid(n.DataAtom) && in != nil:
		in.AppendChild(n)
	case dom.IsVoid(n.DataAtom):
	case f.opened < maxNested:
		f.open.AppendChild(n)
		f.open, f.opened = n, f.opened+1
	default:
		if in != nil {
			if f.deepest = in; len(n.Attr) == 0 {
				n.Type = html.RawNode
			}
		}
		n.Parent = f.open // it is not in the tree
		f.open, f.opened = n, f.opened+1
	}
}

// in returns the element of the tree to which text belongs now, or nil if the text is left out.
func (f *flat) in() *html.Node {
	switch {
	case f.opened <= maxNested:
		return f.open
	case f.open.Type == html.RawNode:
		return f.deepest
	}
	return nil
}

// maxClosed is the number of open elements that an end tag may close.
const maxClosed = 32

func (f *flat) end(token html.Token) {
	for i, n := 1, f.open; i <= maxClosed && n != f.page; i, n = i+1, n.Parent {
		if n.Data == token.Data {
			f.open = n.Parent
			f.opened -= i
			return
		}
	}
}

// read writes the text below n that can be seen.
func (f *flat) read(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && f.marks[c] == seen:
			text, part := f.cut[c]
			if !part {
				text = c.Data
			}
			f.hidden += dom.Letters(c.Data) - dom.Letters(text)
			f.begun = f.begun || strings.TrimSpace(text) != ""
			f.text.WriteString(text)
		case c.DataAtom == atom.Title && !f.begun && f.title == "":
			f.title = dom.Text(c)
		case c.Type == html.ElementNode:
			f.element(c)
		default:
			f.hidden += dom.Letters(c.Data)
		}
	}
}

func (f *flat) element(c *html.Node) {
	isRoot := c.DataAtom == atom.Html || c.DataAtom == atom.Body || c.DataAtom == atom.Head
	if !isRoot && (isNoText(c) || isBeside(c) || f.marks[c] != seen) {
		f.hidden += dom.Length(c)
		return
	}
	if !dom.IsInline(c.DataAtom) {
		f.text.WriteByte('\n')
		defer f.text.WriteByte('\n')
	}
	f.read(c)
}

// isBeside reports whether an element is beside the text.
func isBeside(n *html.Node) bool {
	return n.DataAtom == atom.Nav || n.DataAtom == atom.Footer || n.DataAtom == atom.Aside
}
