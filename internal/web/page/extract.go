package page

import (
	"log/slog"
	"net/url"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

// extract finds the body copy in a tree from which everything hidden is gone. It returns the root of it, and as
// what it was found: "article" for prose that stands out from its page, "forum" for a conversation, "product", "list"
// or "page" for anything else. It may change doc.
//
// Of an article there is only the text; of a conversation, who said what and when. Of any other page (a list, a product, a service) there is all that is left
// when what stands around its matter has been taken away.
func extract(doc *html.Node, title string, base *url.URL, told *meta.Metadata) (root *html.Node, kind string) {
	entitle(doc, title)
	dropMarks(doc, false)
	whole := largest(doc)
	if whole == nil {
		return nil, ""
	}
	prose := proseOf(doc)
	var more surplus
	if told.Types.Product() {
		more = opinions
		more.but = productLines(&told.Product, whole, false)
	}
	trimmed := trim(whole, more)
	if (told.Types.Thread() || !told.Types.Article()) && thread(whole, told.Types.Thread()) {
		dropCommands(whole)
		dropEdges(whole, "")
		return whole, "forum"
	}
	if told.Types.Article() || !trimmed || prose*4 >= dom.Length(whole) {
		root = article(copyTree(doc), base)
	}
	if root != nil && (standsOut(root, whole, told) && !lacks(root, more.but) || !trimmed && dom.Length(root) >= lowLength) {
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && n.DataAtom == 0 { // a paragraph that was made for a text
				n.DataAtom = atom.Lookup([]byte(n.Data))
			}
		}
		trim(root, surplus{names: articleWords, most: most, but: productLines(&told.Product, root, more.but != nil)})
		quiet(root)
		if told.Types.Article() {
			dropPointers(root)
			dropCaptions(root)
		}
		dropEdges(root, title)
		if dom.Length(root) >= proseLength {
			return root, "article"
		}
		return root, "page"
	}
	quiet(whole)
	dropCommands(whole)
	dropEdges(whole, "")
	switch {
	case told.Types.Product():
		return whole, "product"
	case items(whole) >= fewItems:
		return whole, "list"
	}
	return whole, "page"
}

// entitle gives doc the title that was settled on, so that a heading which repeats it is known as such.
func entitle(doc *html.Node, title string) {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil && title != "" {
			n.FirstChild.Data = title
			return
		}
	}
}

// article is the prose that stands out, by the rules that browsers' reading modes use. It takes doc apart.
func article(doc *html.Node, base *url.URL) *html.Node {
	parser := readability.NewParser()
	parser.Logger = slog.New(slog.DiscardHandler) // its own writes every line, to nobody
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
			n.Data = n.DataAtom.String() // the parts that an article is put together from are called "div"
		}
	}
	return found.Node
}

// proseLength is how much text an article has at least, in characters.
const proseLength = 400

// longProse is how much prose, in characters, an article has that needs no other witness.
const longProse = 2_000

// standsOut says that an article is what the page is there for: it has to have most of the page's prose and much
// of its text, less if the page calls itself an article.
func standsOut(root, whole *html.Node, told *meta.Metadata) bool {
	got, there := dom.Length(root), dom.Length(whole)
	prose, allProse := proseOf(root), proseOf(whole)
	switch {
	case told.Types.Article() && !told.Types.Thread():
		return got*5 >= there
	case prose*3 < got || got*20 > there*21 && told.Types.OpenGraph != "article" || got*10 > there*13: // little of it is prose, or it has what is no part of the main part
		return false
	case prose >= longProse && prose*10 >= allProse*9 && got*10 >= there*3: // a long text among lists of others
		return true
	case told.Types.OpenGraph == "article":
		return got*10 >= there*6 && prose*10 >= allProse*6 || got*10 >= there*3 && prose*4 >= allProse*3
	}
	return got*10 >= there*7 && prose*10 >= allProse*6 && (told.Types.Product() || items(root)*2 >= items(whole))
}

// proseOf counts the characters of n that stand in paragraphs.
func proseOf(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		switch c.DataAtom {
		case atom.P, atom.Li, atom.Div, atom.Td, atom.Dd, atom.Blockquote, atom.Section, atom.Article:
			if own := ownText(c); own >= paragraph {
				total += own
			}
		}
		total += proseOf(c)
	}
	return total
}

// ownText counts the characters of n that are in no block inside it, and not in links.
func ownText(n *html.Node) (total int) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case 0:
			if c.Type == html.TextNode {
				total += dom.Letters(c.Data)
			}
		case atom.B, atom.Strong, atom.I, atom.Em, atom.Span, atom.Code, atom.Font, atom.U, atom.Mark, atom.Small:
			total += ownText(c)
		}
	}
	return total
}

// largest is the part of the page that says of itself that it is the main one, else the body.
func largest(doc *html.Node) *html.Node {
	var m measure
	m.walk(doc)
	if m.best != nil && m.size >= lowLength && m.size*3 >= m.whole {
		return m.best
	}
	return m.body
}

// measure finds the body and the largest main part in one walk.
type measure struct {
	body, best  *html.Node
	whole, size int
}

func (m *measure) walk(n *html.Node) (length int) {
	if n.Type == html.TextNode {
		return dom.Letters(n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		length += m.walk(c)
	}
	role, _ := dom.Attr(n, "role")
	switch {
	case n.DataAtom == atom.Body:
		m.body, m.whole = n, length
	case (n.DataAtom == atom.Main || n.DataAtom == atom.Article || role == "main") && length > m.size:
		m.best, m.size = n, length
	}
	return length
}
