package visible

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// dropBlanks removes the white space between blocks, which is not shown. Everything that follows visits each node many
// times.
func dropBlanks(n *html.Node) {
	for c := range dom.Children(n) {
		if c.Type == html.TextNode && strings.Trim(c.Data, dom.Blanks) == "" && (breaksLine(n, c.PrevSibling) || breaksLine(n, c.NextSibling)) {
			n.RemoveChild(c)
		}
	}
}

// breaksLine reports whether a line ends at c, a child of n, or at the edge of n if c is nil.
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

// foldBlanks leaves one of several white-space characters in a row, as a browser shows them: a line feed if there was one.
// Half of the text of pages is white space, and the extraction reads every text many times.
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
