package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/visible/cascade"
)

// flat is the state of Flat. It knows only which elements are open, so one that hides and is never closed hides the rest.
type flat struct {
	view    *view
	hidden  int
	text    strings.Builder
	begun   bool // something has been read
	title   string
	inTitle bool
	open    *html.Node // the innermost open element; its parents are the others
	opened  int        // how many they are
	skipped string     // the tag inside which nothing is read, "" for none
	depth   int        // how often it is open
}

// maxFrames is how many of the open elements pass on their styles to what is in them. An element further inside that would hide
// text in any way is left out with all that is in it.
const maxFrames = 2_000

// Flat returns the title and the visible text of a page that makes no tree, in the order of its source, and how many
// characters were hidden. rest and the error are those of [Prune].
func Flat(source, rest string) (title, text string, hidden int, err error) {
	f := flat{view: newView(cascade.FromSource(source, rest, screen(true)))}
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
		return "", "", 0, ErrStyles
	}
	return dom.Line(f.title), f.text.String(), f.hidden, nil
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

// isBeside reports whether an element stands beside the text, or is a closed <details>.
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

// maxClosed is how many open elements an end tag may close.
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
