package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
	"familiar/visible/internal/cascade"
)

// flat is the state of Flat.
type flat struct {
	view    *view
	hidden  int
	text    strings.Builder
	begun   bool // something has been read
	title   string
	inTitle bool
	open    *html.Node // the innermost open element; its ancestors are the others
	opened  int        // how many elements are open
	skipped string     // the tag of an element whose content is not read; "" for none
	depth   int        // open elements with that tag
}

// maxFrames is how many open elements pass their styles on to their content. If an element further inside hides any
// text, it is left out with all its content.
const maxFrames = 2_000

// Text is the visible text of a page.
type Text struct {
	Title  string // at most 300 characters, on one line
	Body   string // in the order of the source
	Hidden int    // characters that were left out, also those of scripts and styles, without white space
}

// Flat reads a page that is nested too deeply for html.Parse, without making a tree. It reads the source from its
// beginning and knows only the elements that are open. An element that hides its content and is never closed hides the
// rest of the page. The page is always read as a browser with scripts shows it. The only error is [ErrStyles].
func Flat(source string, o Options) (Text, error) {
	f := flat{view: newView(cascade.FromSource(source, o.Rest, screen(true)))}
	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		switch token := z.Token(); {
		case f.depth > 0:
			f.skip(kind, token)
		case kind == html.TextToken:
			f.read(token.Data)
		case kind == html.StartTagToken || kind == html.SelfClosingTagToken:
			f.start(token)
		case kind == html.EndTagToken:
			f.end(token)
		}
	}
	if f.view.sheets.Exhausted() {
		return Text{}, ErrStyles
	}
	return Text{Title: dom.Line(f.title), Body: f.text.String(), Hidden: f.hidden}, nil
}

func (f *flat) skip(kind html.TokenType, token html.Token) {
	switch {
	case kind == html.TextToken:
		f.hidden += dom.Letters(token.Data)
	case kind == html.StartTagToken && token.Data == f.skipped:
		f.depth++
	case kind == html.EndTagToken && token.Data == f.skipped:
		f.depth--
	}
}

func (f *flat) read(text string) {
	if f.inTitle {
		f.title, f.inTitle = text, false
		return
	}
	f.begun = f.begun || strings.TrimSpace(text) != ""
	f.text.WriteString(text)
}

func (f *flat) start(token html.Token) {
	if !dom.IsInline(token.DataAtom) {
		f.text.WriteByte('\n')
	}
	if f.inTitle = token.DataAtom == atom.Title && !f.begun && f.title == ""; f.inTitle {
		return
	}
	n := &html.Node{Type: html.ElementNode, Data: token.Data, DataAtom: token.DataAtom, Attr: token.Attr, Parent: f.open}
	switch {
	case dom.IsVoid(n.DataAtom):
	case n.DataAtom != atom.Html && n.DataAtom != atom.Body && (isNoText(n) || isBeside(n)), !f.shows(n):
		f.skipped, f.depth = n.Data, 1
	default:
		f.open = n
		f.opened++
	}
}

// shows reports whether an element and the text in it are shown.
func (f *flat) shows(n *html.Node) bool {
	at := min(f.opened, maxFrames)
	if !f.view.element(n, at) {
		return false
	}
	inside := f.view.frames[at+1]
	inside.look()
	return inside.text == seen || n.DataAtom == atom.Html || n.DataAtom == atom.Body
}

// isBeside reports whether an element is beside the text, or is a closed <details>.
func isBeside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Details:
		_, open := dom.Attr(n, "open")
		return !open
	}
	return false
}

// maxClosed is the number of open elements that an end tag may close.
const maxClosed = 32

func (f *flat) end(token html.Token) {
	if !dom.IsInline(token.DataAtom) {
		f.text.WriteByte('\n')
	}
	for i, n := 1, f.open; i <= maxClosed && n != nil; i, n = i+1, n.Parent {
		if n.Data == token.Data {
			f.open = n.Parent
			f.opened -= i
			return
		}
	}
}
