package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
)

var tableCells = cascadia.MustCompile("td, th")

// maxNesting is how many lists, quotes and tables may lie in each other. Each indents everything in it, so the text of a
// page nested 500 deep would be 500 times as long.
const maxNesting = 8

// simplify prepares a tree for the converter. Links become their text and images nothing, since their addresses are in Links
// and nobody sees their attributes. Emphasis is removed, so that a sentence can be quoted as it reads. Tables for layout
// become blocks, and each cell of other tables one line. depth is how many lists, quotes and tables are around n.
func simplify(n *html.Node, depth int) {
	for c := range dom.Children(n) {
		if c.Type == html.TextNode {
			c.Data = hideBrackets.Replace(c.Data)
			continue
		}
		inside := depth
		switch c.DataAtom {
		case atom.A, atom.Strong, atom.B, atom.Em, atom.I:
			dom.Rename(c, atom.Span)
		case atom.Sup:
			superscript(c)
		case atom.Img, atom.Picture, atom.Source:
			n.RemoveChild(c)
			continue
		case atom.Table:
			inside++
			if inside > maxNesting || !isTabular(c) {
				unwrapTable(c)
			} else {
				for _, cell := range tableCells.MatchAll(c) {
					flatten(cell)
				}
			}
		case atom.Div, atom.Li, atom.Section, atom.Article:
			if inside < maxNesting && isComment(c) {
				quoteContent(c)
			}
		case atom.Ul, atom.Ol, atom.Blockquote:
			if inside++; inside > maxNesting {
				dom.Rename(c, atom.Div)
			}
		}
		simplify(c, inside)
	}
	joinTexts(n)
}

// commentNames are the last words of the class names of what somebody else wrote below a text.
var commentNames = dom.WordSet("comment usercomment")

// isComment reports whether n is one comment below a text. The posts of a thread have lost their names.
func isComment(n *html.Node) bool { return dom.NameEndsIn(n, commentNames) && n.FirstChild != nil }

// quoteContent puts the content of n into a quotation: its words are not the page's own.
func quoteContent(n *html.Node) {
	quotation := &html.Node{Type: html.ElementNode, DataAtom: atom.Blockquote, Data: "blockquote"}
	for n.FirstChild != nil {
		c := n.FirstChild
		n.RemoveChild(c)
		quotation.AppendChild(c)
	}
	n.AppendChild(quotation)
}

// joinTexts joins the texts that stand side by side in n. The converter does so too, in a time that grows with the square
// of their number.
func joinTexts(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.TextNode || c.NextSibling == nil || c.NextSibling.Type != html.TextNode {
			continue
		}
		var joined strings.Builder
		joined.WriteString(c.Data)
		for next := c.NextSibling; next != nil && next.Type == html.TextNode; next = c.NextSibling {
			joined.WriteString(next.Data)
			n.RemoveChild(next)
		}
		c.Data = joined.String()
	}
}

var (
	exponent     = lazyregexp.New(`^[+\-−–]?\d{1,4}$`)
	raisedDigits = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "+", "⁺", "-", "⁻", "−", "⁻", "–", "⁻")
)

// superscript writes an exponent in raised digits. Without them, 10 to the power of 6 would be read as 106.
func superscript(sup *html.Node) {
	if c := sup.FirstChild; c != nil && c == sup.LastChild && c.Type == html.TextNode && exponent.MatchString(strings.TrimSpace(c.Data)) {
		c.Data = raisedDigits.Replace(strings.TrimSpace(c.Data))
	}
}

// maxCell is how long a cell of a data table is at most, in characters.
const maxCell = 500

// isTabular reports whether a table holds data: there is no table in it, some row has two cells, no cell is long, and most
// of the grid is filled. The converter pads rows to the widest one and cells to what they span, so a small table can make a
// large text. Where spans alone would do that, it removes them.
func isTabular(n *html.Node) bool {
	var rows, cells, row, widest, spanned, covered int
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table:
			return false
		case atom.Tr:
			rows, row = rows+1, 0
		case atom.Td, atom.Th:
			if dom.Length(d) > maxCell {
				return false
			}
			across := span(d, "colspan")
			cells, row = cells+1, row+1
			widest = max(widest, row)
			spanned = max(spanned, row+across-1)
			covered += across * span(d, "rowspan")
		}
	}
	if room := 4*cells + 50; rows*spanned > room || covered > room {
		for d := range n.Descendants() {
			d.Attr = slices.DeleteFunc(d.Attr, func(a html.Attribute) bool { return a.Key == "colspan" || a.Key == "rowspan" })
		}
		return widest > 1 && rows*widest <= room
	}
	return widest > 1
}

// span returns how many columns or rows a cell covers, within what the HTML Standard allows.
func span(cell *html.Node, key string) int {
	value, _ := dom.Attr(cell, key)
	size, _ := strconv.Atoi(strings.TrimSpace(value))
	return min(max(size, 1), 1_000)
}

// unwrapTable makes blocks of the parts of a table, down to the tables inside it.
func unwrapTable(n *html.Node) {
	dom.Rename(n, atom.Div)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr:
			unwrapTable(c)
		case atom.Td, atom.Th, atom.Caption:
			dom.Rename(c, atom.Div)
		}
	}
}

// flatten makes one line of the content of a cell.
func flatten(cell *html.Node) {
	for c := cell.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Br, atom.Hr, atom.P, atom.Div, atom.Section, atom.Ul, atom.Ol, atom.Li, atom.Dl, atom.Dt, atom.Dd, atom.Pre, atom.Blockquote,
			atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Center, atom.Figure, atom.Details, atom.Summary:
			dom.Rename(c, atom.Span)
			cell.InsertBefore(&html.Node{Type: html.TextNode, Data: " "}, c)
			c.AppendChild(&html.Node{Type: html.TextNode, Data: " "})
		}
		flatten(c)
	}
}
