package page

import (
	"bytes"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
	"familiar/internal/text"
	"familiar/visible/dom"
)

// markdown returns a tree as Markdown. It changes the tree.
func markdown(root *html.Node) (string, error) {
	simplify(root, 0)
	conv := converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false)),
			table.NewTablePlugin(table.WithSkipEmptyRows(true), table.WithHeaderPromotion(true), table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
		),
	)
	out, err := conv.ConvertNode(root)
	if err != nil {
		return "", err
	}
	return tidy(restoreBrackets.Replace(string(out))), nil
}

// The converter writes "<" as "&lt;", which suits a browser but not a reader of the text. While it works, two characters
// that cannot occur in a text replace the brackets.
var (
	hideBrackets    = strings.NewReplacer("<", "\uFDD0", ">", "\uFDD1")
	restoreBrackets = strings.NewReplacer("\uFDD0", "<", "\uFDD1", ">")
)

// tidy removes white space at the ends of lines, and repeated blank lines.
func tidy(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	blank := true
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" {
			if !blank {
				b.WriteByte('\n')
			}
			blank = true
			continue
		}
		b.WriteString(line)
		b.WriteByte('\n')
		blank = false
	}
	return strings.TrimSpace(b.String())
}

var tableCells = dom.NewSelector("td, th")

// maxNesting is how deep lists, quotes and tables may be nested. Each level indents its content, so the text of a page
// nested 500 deep would be 500 times as long.
const maxNesting = 8

// simplify prepares a tree for the converter. Links become their text, because their addresses are in Page.Links. Images
// are removed, because nobody sees their attributes. Emphasis is removed, so that a sentence can be quoted as it reads.
// Layout tables become blocks, and each cell of a data table becomes one line. depth is the number of lists, quotes and
// tables around n.
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

// commentNames are the last words of the class names of comments below a text.
var commentNames = dom.WordSet("comment usercomment")

// isComment reports whether n is one comment below a text. rewriteThread has removed the names of posts.
func isComment(n *html.Node) bool { return dom.NameEndsIn(n, commentNames) && n.FirstChild != nil }

// quoteContent puts the content of n into a blockquote, because its words are not the page's own.
func quoteContent(n *html.Node) {
	quotation := &html.Node{Type: html.ElementNode, DataAtom: atom.Blockquote, Data: "blockquote"}
	for n.FirstChild != nil {
		c := n.FirstChild
		n.RemoveChild(c)
		quotation.AppendChild(c)
	}
	n.AppendChild(quotation)
}

// joinTexts joins adjacent texts in n. The converter would do so in quadratic time.
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
	exponent     = text.NewLazyRegexp(`^[+\-−–]?\d{1,4}$`)
	raisedDigits = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "+", "⁺", "-", "⁻", "−", "⁻", "–", "⁻")
)

// superscript writes an exponent in raised digits. Otherwise 10 to the power of 6 would read as 106.
func superscript(sup *html.Node) {
	if c := sup.FirstChild; c != nil && c == sup.LastChild && c.Type == html.TextNode && exponent.MatchString(strings.TrimSpace(c.Data)) {
		c.Data = raisedDigits.Replace(strings.TrimSpace(c.Data))
	}
}

// maxCell is the greatest length of a cell in a data table, in characters.
const maxCell = 500

// isTabular reports whether a table holds data. It has no nested table and no long cell, and some row has two cells. Most of the grid is
// filled. The converter pads rows to the widest one and cells to their span. So a small table can make a large text. If only the spans are
// too large, isTabular removes them.
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

// span returns how many columns or rows a cell covers, within the limit of the HTML Standard.
func span(cell *html.Node, key string) int {
	value, _ := dom.Attr(cell, key)
	size, _ := strconv.Atoi(strings.TrimSpace(value))
	return min(max(size, 1), 1_000)
}

// unwrapTable turns the parts of a table into blocks. Nested tables are left as they are.
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

// flatten turns the content of a cell into one line.
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

const (
	maxLinks     = 300  // in the content of a page
	maxPageLinks = 3000 // in a whole page: each page of a large manual links to all others
)

// Links returns the links of a whole HTML page, with its menus and folded parts. Each address occurs once, in order,
// without its fragment. The arguments are those of [Read]. The error is always a *Error.
func Links(body []byte, contentType string, base *url.URL) (found []Link, err error) {
	defer recoverUnparsable(&err)
	text, err := ToUTF8(body, contentType, true)
	if err != nil {
		return nil, &Error{Code: turn.CodeBadCharset}
	}
	doc, err := html.Parse(bytes.NewReader(text[:treeLength(text)]))
	if err != nil { // more than 512 elements are open at once
		return nil, &Error{Code: turn.CodeUnparsable}
	}
	return links(doc, baseOf(doc, base), maxPageLinks), nil
}

// links returns at most the first most links below root.
func links(root *html.Node, base *url.URL, most int) []Link {
	var found []Link
	seen := map[string]bool{}
	if base != nil {
		own := *base
		seen[withoutFragment(&own)] = true
	}
	for n := range root.Descendants() {
		if len(found) == most {
			break
		}
		if n.DataAtom != atom.A {
			continue
		}
		href, _ := dom.Attr(n, "href")
		label := dom.Line(dom.Text(n))
		if strings.HasPrefix(href, "#") || label == "" {
			continue
		}
		target := resolve(base, href)
		if target == nil {
			continue
		}
		if address := withoutFragment(target); !seen[address] {
			seen[address] = true
			found = append(found, Link{URL: address, Text: label})
		}
	}
	return found
}

// resolve returns href as an absolute web address, or nil if it isn't one.
func resolve(base *url.URL, href string) *url.URL {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil {
		return nil
	}
	if base != nil {
		u = base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil
	}
	return u
}

// withoutFragment removes the fragment of u and returns its address.
func withoutFragment(u *url.URL) string {
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

var baseElement = dom.NewSelector("base[href]")

// baseOf returns the base address of links: the one that doc declares, or else base.
func baseOf(doc *html.Node, base *url.URL) *url.URL {
	if n := baseElement.MatchFirst(doc); n != nil {
		href, _ := dom.Attr(n, "href")
		if declared := resolve(base, href); declared != nil {
			return declared
		}
	}
	return base
}
