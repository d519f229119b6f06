package page

import (
	"log/slog"
	"net/url"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

var (
	titles = cascadia.MustCompile("title:not(:empty)")
	bodies = cascadia.MustCompile("body")
	mains  = cascadia.MustCompile("main, article, [role=main]")
)

// extract finds the content in a tree from which everything hidden is gone. It returns the root of it and what it is:
// "article" for prose that stands out from its page, "forum" for a conversation, "product", "list", or "page" for anything
// else. It may change doc.
//
// Of an article it returns the text alone, and of a conversation who wrote what and when. Of any other page (a list, a
// product, a service) it returns everything but the boilerplate.
func extract(doc *html.Node, m *meta.Metadata, base *url.URL) (root *html.Node, kind string) {
	if n := titles.MatchFirst(doc); n != nil && m.Title != "" {
		n.FirstChild.Data = m.Title // so that a heading which repeats the chosen title is recognised
	}
	dropMarks(doc, false)
	whole := mainContent(doc)
	if whole == nil {
		return nil, ""
	}
	types := &m.Types
	prose := proseLength(doc)
	var more extras
	if types.Product() {
		more = productExtras
		more.keep = productLines(&m.Product, whole, false)
	}
	if more.names == nil && !types.Thread() && (types.Article() || types.OpenGraph == "article") {
		more = commentExtras
	}
	dropped := dropBoilerplate(whole, more)
	if (types.Thread() || !types.Article()) && rewriteThread(whole, types.Thread()) {
		dropCommands(whole)
		dropLines(whole, "")
		return whole, "forum"
	}
	if types.Article() || !dropped || prose*4 >= dom.Length(whole) {
		tree := doc
		if isRewritten(doc) {
			tree = copyTree(doc)
		}
		root = article(tree, base)
	}
	if root != nil && (standsOut(root, whole, types) && !lacks(root, more.keep) || !dropped && dom.Length(root) >= lowLength) {
		restoreAtoms(root)
		addLead(root, bodies.MatchFirst(doc), m.Title)
		dropBoilerplate(root, extras{names: articleExtras, maxPercent: maxPercent, keep: productLines(&m.Product, root, more.keep != nil)})
		dropReferences(root)
		if types.Article() {
			dropPointerLists(root)
			dropCaptions(root)
		}
		dropLines(root, m.Title)
		if dom.Length(root) >= minArticle {
			return root, "article"
		}
		return root, "page"
	}
	dropReferences(whole)
	dropCommands(whole)
	dropLines(whole, "")
	switch {
	case types.Product():
		return whole, "product"
	case listLength(whole) >= minItems:
		return whole, "list"
	}
	return whole, "page"
}

// article returns the prose that stands out, by the rules of browsers' reading modes. It may change doc, see isRewritten.
func article(doc *html.Node, base *url.URL) *html.Node {
	parser := readability.NewParser()
	parser.Logger = slog.New(slog.DiscardHandler) // its own formats every line before it drops it
	parser.DisableJSONLD = true
	parser.KeepClasses = true // they name the language of code
	if base == nil {
		base = &url.URL{}
	}
	found, err := parser.ParseAndMutate(doc, base)
	if err != nil || found.Node == nil {
		return nil
	}
	for n := range found.Node.Descendants() {
		switch n.DataAtom {
		case atom.Blockquote, atom.Pre, atom.Table, atom.Dl:
			n.Data = n.DataAtom.String() // readability calls the parts that it puts an article together from "div"
		}
	}
	return found.Node
}

// restoreAtoms names the paragraphs that readability made for texts without one.
func restoreAtoms(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == 0 {
			n.DataAtom = atom.Lookup([]byte(n.Data))
		}
	}
}

// Lengths of an article, in characters that are not white space: how much text it has at least, and how much prose makes an
// article of a page that does not declare itself one.
const (
	minArticle = 400
	longProse  = 2_000
)

// standsOut reports whether the article at root is what the page is there for: it has to hold most of the prose of the page
// and much of its text, and less of them if the page declares itself an article.
func standsOut(root, whole *html.Node, types *meta.Types) bool {
	length, wholeLength := dom.Length(root), dom.Length(whole)
	prose, wholeProse := proseLength(root), proseLength(whole)
	declared := types.OpenGraph == "article"
	switch {
	case types.Article() && !types.Thread():
		return length*5 >= wholeLength
	case prose*3 < length || length*20 > wholeLength*21 && !declared || length*10 > wholeLength*13: // little of it is prose, or it holds what is not in the main content
		return false
	case prose >= longProse && prose*10 >= wholeProse*9 && length*10 >= wholeLength*3: // a long text among lists of others
		return true
	case declared:
		return length*10 >= wholeLength*6 && prose*10 >= wholeProse*6 || length*10 >= wholeLength*3 && prose*4 >= wholeProse*3
	}
	return length*10 >= wholeLength*7 && prose*10 >= wholeProse*6 && (types.Product() || listLength(root)*2 >= listLength(whole))
}

// minParagraph is how long a text is at least, in characters, that is not a label.
const minParagraph = 100

// proseLength counts the characters below n that stand in paragraphs.
func proseLength(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		switch c.DataAtom {
		case atom.P, atom.Li, atom.Div, atom.Td, atom.Dd, atom.Blockquote, atom.Section, atom.Article:
			if own := ownLength(c); own >= minParagraph {
				total += own
			}
		}
		total += proseLength(c)
	}
	return total
}

// ownLength counts the characters below n that are neither in a block inside it nor in links.
func ownLength(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case 0:
			if c.Type == html.TextNode {
				total += dom.Letters(c.Data)
			}
		case atom.B, atom.Strong, atom.I, atom.Em, atom.Span, atom.Code, atom.Font, atom.U, atom.Mark, atom.Small:
			total += ownLength(c)
		}
	}
	return total
}

// mainContent returns the part of the page that declares itself the main one if it is large enough, else the body.
func mainContent(doc *html.Node) *html.Node {
	var main *html.Node
	length := lowLength - 1
	for _, n := range mains.MatchAll(doc) {
		if l := dom.Length(n); l > length {
			main, length = n, l
		}
	}
	body := bodies.MatchFirst(doc)
	if main != nil && length*3 >= dom.Length(body) {
		return main
	}
	return body
}
