package page

import (
	"net/url"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// extract finds the body copy in a tree from which everything hidden is gone. It returns the root of it, and as
// what it was found: "article" for prose that stands out from its page, "page" for anything else. It may change doc.
//
// Other kinds of page (threads, products, lists) are told apart here, before the article is looked for: each is
// a function from a tree to a root, nil where the page is of another kind.
func extract(doc *html.Node, title string, base *url.URL) (root *html.Node, kind string) {
	entitle(doc, title)
	dropMarks(doc, false)
	whole := largest(doc)
	if whole == nil {
		return nil, ""
	}
	if root = article(doc, base); root != nil && tells(root, whole) {
		quiet(root)
		if textLength(root) >= proseLength {
			return root, "article"
		}
		return root, "page"
	}
	quiet(whole)
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

// article is the prose that stands out, by the rules that browsers' reading modes use. doc is left as it is.
func article(doc *html.Node, base *url.URL) *html.Node {
	parser := readability.NewParser()
	parser.DisableJSONLD = true
	parser.KeepClasses = true // they name the language of code
	if base == nil {
		base = &url.URL{}
	}
	found, err := parser.ParseDocument(doc, base)
	if err != nil {
		return nil
	}
	return found.Node
}

// proseLength is how much text an article has at least, in characters.
const proseLength = 400

// tells says that an article is enough of the page: not a teaser or a caption while the text is elsewhere.
func tells(root, whole *html.Node) bool {
	got, there := textLength(root), textLength(whole)
	return got*5 >= there || got >= lowLength*8 || got >= lowLength && got*10 >= there
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
		return letters(n.Data)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		length += m.walk(c)
	}
	role, _ := attr(n, "role")
	switch {
	case n.DataAtom == atom.Body:
		m.body, m.whole = n, length
	case (n.DataAtom == atom.Main || n.DataAtom == atom.Article || role == "main") && length > m.size:
		m.best, m.size = n, length
	}
	return length
}
