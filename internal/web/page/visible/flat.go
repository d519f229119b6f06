package visible

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// flat reads a page that has no tree: its visible text in the order of the source, by the same rules of what is
// hidden. It knows only which elements are open, so one that hides and is never closed hides the rest.
type flat struct {
	veil
	text     strings.Builder
	begun    bool // something has been read
	title    string
	inTitle  bool
	open     *html.Node // the innermost open element; its parents are the others
	lights   []light    // what each of them hands down, outermost first
	skipping string     // the tag inside which nothing is read, "" for none
	depth    int        // how often it is open
}

// Flat reads source; of the rest, only the styles count.
func Flat(source, rest string) (title, text string, hidden int, err error) {
	f := flat{veil: veil{sheet: newSheet()}}
	for _, part := range [...]string{source, rest} {
		for css := range flatStyles(part) {
			f.sheet.add(css)
		}
	}
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
	if f.sheet.exhausted() {
		return "", "", 0, ErrStyles
	}
	return dom.Line(f.title), f.text.String(), f.hidden, nil
}

func (f *flat) skip(kind html.TokenType, token html.Token) {
	switch {
	case kind == html.TextToken:
		f.hidden += dom.Letters(token.Data)
	case kind == html.StartTagToken && token.Data == f.skipping:
		f.depth++
	case kind == html.EndTagToken && token.Data == f.skipping:
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
	l := light{}
	if len(f.lights) > 0 {
		l = f.lights[len(f.lights)-1]
	}
	switch {
	case dom.IsVoid(n.DataAtom):
	case n.DataAtom != atom.Html && n.DataAtom != atom.Body && (dropped(n) || beside(n) || f.hides(n, &l) || l.dark()):
		f.skipping, f.depth = n.Data, 1
	default:
		f.open, f.lights = n, append(f.lights, l)
	}
}

// beside says that an element stands beside the text, or is closed.
func beside(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Nav, atom.Footer, atom.Aside:
		return true
	case atom.Details:
		_, open := dom.Attr(n, "open")
		return !open
	}
	return false
}

// reach is how many open elements an end tag may close at once.
const reach = 32

func (f *flat) end(token html.Token) {
	if !dom.IsInline(token.DataAtom) {
		f.text.WriteByte('\n')
	}
	n := f.open
	for i := 1; i <= reach && n != nil; i++ {
		if n.Data == token.Data {
			f.open, f.lights = n.Parent, f.lights[:len(f.lights)-i]
			return
		}
		n = n.Parent
	}
}

// flatStyles yields the contents of the style elements, and of what looks like one in a comment or a script.
func flatStyles(source string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, after, found := cutFold(source, "<style")
			if !found {
				return
			}
			_, inside, _ := strings.Cut(after, ">")
			css, rest, _ := cutFold(inside, "</style")
			if !yield(css) {
				return
			}
			source = rest
		}
	}
}

// cutFold is strings.Cut for a tag, in upper or in lower case.
func cutFold(s, tag string) (before, after string, found bool) {
	for i := 0; ; i++ {
		next := strings.IndexByte(s[i:], '<')
		if next < 0 || len(s)-i-next < len(tag) {
			return s, "", false
		}
		if i += next; strings.EqualFold(s[i:i+len(tag)], tag) {
			return s[:i], s[i+len(tag):], true
		}
	}
}
