package page

import (
	"iter"
	"log/slog"
	"net/url"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

var (
	titles = dom.NewSelector("title:not(:empty)")
	bodies = dom.NewSelector("body")
	mains  = dom.NewSelector("main, article, [role=main]")
)

// extract finds the content in a tree without hidden elements. It returns the root of the content and its kind. The kind is "article" for
// prose that dominates its page, and "forum" for a conversation. It is "product", "list", or "page" for anything else. It may change doc.
//
// For an article it returns only the text. For a conversation it returns the posts with their authors and dates. For any
// other page it returns everything except the boilerplate.
func extract(doc *html.Node, m *metadata, base *url.URL) (root *html.Node, kind string) {
	if n := titles.MatchFirst(doc); n != nil && m.Title != "" {
		n.FirstChild.Data = m.Title // so that a heading that repeats the chosen title is recognised
	}
	dropMarks(doc, false)
	whole := mainContent(doc)
	if whole == nil {
		return nil, ""
	}
	types := &m.Types
	prose := proseLength(doc)
	var more extras
	if types.isProduct() {
		more = productExtras
		more.keep = productLines(&m.Product, whole, false)
	}
	if more.names == nil && !types.isThread() && (types.isArticle() || types.OpenGraph == "article") {
		more = commentExtras
	}
	dropped := dropBoilerplate(whole, more)
	if (types.isThread() || !types.isArticle()) && rewriteThread(whole, types.isThread()) {
		dropCommands(whole)
		dropLines(whole, "")
		return whole, "forum"
	}
	if types.isArticle() || !dropped || prose*4 >= dom.Length(whole) {
		tree := doc
		if changesTree(doc) {
			tree = copyTree(doc)
		}
		root = article(tree, base)
	}
	if root != nil && (standsOut(root, whole, types) && !lacks(root, more.keep) || !dropped && dom.Length(root) >= lowLength) {
		restoreAtoms(root)
		addLead(root, bodies.MatchFirst(doc), m.Title)
		dropBoilerplate(root, extras{names: articleExtras, maxPercent: maxPercent, keep: productLines(&m.Product, root, more.keep != nil)})
		dropReferences(root)
		if types.isArticle() {
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
	dropAbove(whole)
	dropLines(whole, "")
	switch {
	case types.isProduct():
		return whole, "product"
	case listLength(whole) >= minItems:
		return whole, "list"
	}
	return whole, "page"
}

// article returns the main prose, by the rules of browsers' reading modes. It may change doc (see changesTree).
func article(doc *html.Node, base *url.URL) *html.Node {
	parser := readability.NewParser()
	parser.Logger = slog.New(slog.DiscardHandler) // the default formats every line before dropping it
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
			n.Data = n.DataAtom.String() // readability renames the parts of an article to "div"
		}
	}
	return found.Node
}

// restoreAtoms sets the atoms of the elements that readability created.
func restoreAtoms(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.DataAtom == 0 {
			n.DataAtom = atom.Lookup([]byte(n.Data))
		}
	}
}

// Lengths of an article, in characters without white space. They are the least text of any article, and the least prose if the page does
// not declare itself one.
const (
	minArticle = 400
	longProse  = 2_000
)

// standsOut reports whether the article at root is the main content of the page. It must hold most of the page's prose
// and much of its text. The shares are lower if the page declares itself an article.
func standsOut(root, whole *html.Node, types *pageTypes) bool {
	length, wholeLength := dom.Length(root), dom.Length(whole)
	prose, wholeProse := proseLength(root), proseLength(whole)
	declared := types.OpenGraph == "article"
	switch {
	case types.isArticle() && !types.isThread():
		return length*5 >= wholeLength
	case prose*3 < length || length*20 > wholeLength*21 && !declared || length*10 > wholeLength*13: // little prose, or text from outside the main content
		return false
	case prose >= longProse && prose*10 >= wholeProse*9 && length*10 >= wholeLength*3: // a long text between lists of other texts
		return true
	case declared:
		return length*10 >= wholeLength*6 && prose*10 >= wholeProse*6 || length*10 >= wholeLength*3 && prose*4 >= wholeProse*3
	}
	return length*10 >= wholeLength*7 && prose*10 >= wholeProse*6 && (types.isProduct() || listLength(root)*2 >= listLength(whole))
}

// minParagraph is the least length of a text that is not a label, in characters.
const minParagraph = 100

// proseLength counts the characters in paragraphs below n.
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

// ownLength counts the characters below n that are neither in a nested block nor in links.
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

// mainContent returns the part of the page that declares itself the main one, if it is large enough. Otherwise it
// returns the body.
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

// The least number of items in a list, and the average and greatest length of an item in characters.
const (
	minItems = 6
	minItem  = 16
	maxItem  = 600
)

// listLength returns the number of items in the longest list below n. A list is a run of siblings with the same element
// and class. Each has a link, and on average more text than the entry of a menu.
func listLength(n *html.Node) (longest int) {
	run, total := 0, 0
	var last *html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		longest = max(longest, listLength(c))
		length := dom.Length(c)
		if length == 0 {
			continue
		}
		if last == nil || !isAlike(last, c) {
			run, total = 0, 0
		}
		last = c
		if (c.DataAtom == atom.A || linkLength(c) > 0) && length < maxItem {
			run++
			total += length
		}
		if run >= minItems && total >= run*minItem {
			longest = max(longest, run)
		}
	}
	return longest
}

// isAlike reports whether two siblings have the same element and class.
func isAlike(a, b *html.Node) bool {
	if a.DataAtom != b.DataAtom || a.DataAtom == atom.P {
		return false
	}
	class, _ := dom.Attr(a, "class")
	other, _ := dom.Attr(b, "class")
	return class == other
}

// linkLength counts the characters in links below n.
func linkLength(n *html.Node) (total int) {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			total += dom.Length(d)
		}
	}
	return total
}

// changesTree reports whether article changes a tree without hidden elements. It works mostly on its own copy. Before it
// copies, it removes images without an address, renames <font>, and makes paragraphs of text between double line breaks.
func changesTree(n *html.Node) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Font:
			return true
		case atom.Img:
			if _, ok := dom.Attr(c, "src"); !ok {
				return true
			}
		case atom.Br:
			next := c.NextSibling
			for next != nil && next.Type == html.TextNode && dom.Letters(next.Data) == 0 {
				next = next.NextSibling
			}
			if next != nil && next.DataAtom == atom.Br {
				return true
			}
		}
		if changesTree(c) {
			return true
		}
	}
	return false
}

// copyTree copies a tree into two allocations, one for its nodes and one for their attributes. A page has thousands of
// each, and allocating them one by one takes longer than copying them.
func copyTree(root *html.Node) *html.Node {
	nodes, attributes := 1, len(root.Attr)
	for n := range root.Descendants() {
		nodes++
		attributes += len(n.Attr)
	}
	c := copier{make([]html.Node, nodes), make([]html.Attribute, 0, attributes)}
	return c.copy(root)
}

// copier holds the memory that is not used yet.
type copier struct {
	nodes      []html.Node
	attributes []html.Attribute
}

func (c *copier) copy(n *html.Node) *html.Node {
	to := &c.nodes[0]
	c.nodes = c.nodes[1:]
	from := len(c.attributes)
	c.attributes = append(c.attributes, n.Attr...)
	// The capacity is limited, so that adding an attribute does not overwrite those of the next node.
	own := c.attributes[from:len(c.attributes):len(c.attributes)]
	*to = html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: own}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		to.AppendChild(c.copy(child))
	}
	return to
}

// Limits of a lead. They are the least length of a paragraph in characters, and the greatest number of paragraphs. The third is the bytes
// of two beginnings that are compared.
const (
	minLead      = 50
	maxLeads     = 8
	maxBeginning = 60
)

// addLead puts the lead before an article. The lead is the paragraphs between the headline of the page and the beginning of the article. It
// is often in a separate header. body is the body from which the article was copied.
func addLead(root, body *html.Node, title string) {
	start := beginning(root)
	if start == "" {
		return
	}
	var leads []*html.Node
	headed, length := false, 0
	for _, line := range textLines(body) {
		label := dom.Label(line)
		switch {
		case headed && strings.HasPrefix(normalWords(beginningOf(line)), start):
			if length*5 <= dom.Length(root) && isNew(leads, root) {
				prepend(root, leads)
			}
			return
		case dom.HeadingLevel(line) > 0 && sharesWords(label, title) && sharesWords(title, label):
			headed, leads, length = true, nil, 0
		case headed && isLead(line, label):
			if leads = append(leads, line); len(leads) > maxLeads {
				return
			}
			length += dom.Length(line)
		}
	}
}

// beginning returns the first words of the first paragraph below root.
func beginning(root *html.Node) string {
	for _, line := range textLines(root) {
		if dom.HeadingLevel(line) == 0 && dom.Length(line) >= minLead {
			return normalWords(beginningOf(line))
		}
	}
	return ""
}

// beginningOf returns the first maxBeginning bytes of the text of n, without surrounding white space.
func beginningOf(n *html.Node) string {
	text := strings.Join(strings.Fields(dom.Text(n)), " ")
	return strings.ToValidUTF8(text[:min(len(text), maxBeginning)], "")
}

// isLead reports whether a line between the headline and the article is part of the text.
func isLead(line *html.Node, label string) bool {
	length := dom.Length(line)
	return length >= minLead && linkLength(line)*3 < length && !isPictureCredit(label) && !dateLine.MatchString(label) && !hasName(line, articleExtras) && !hasName(line.Parent, articleExtras)
}

// Lengths in bytes: words shorter than minWord are not compared, and only the first maxStem bytes count.
const (
	minWord = 5
	maxStem = 6
)

// isNew reports whether at least one in eight words of lines is missing from the text below root. A lead that only
// repeats the text is not needed.
func isNew(lines []*html.Node, root *html.Node) bool {
	words := map[string]bool{}
	for _, line := range lines {
		for word := range stems(dom.Text(line)) {
			words[word] = true
		}
	}
	total := len(words)
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			for word := range stems(n.Data) {
				delete(words, word)
			}
		}
	}
	return len(words)*8 >= total
}

func stems(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(text, dom.NotWord) {
			if len(word) >= minWord && !yield(strings.ToLower(word[:min(len(word), maxStem)])) {
				return
			}
		}
	}
}

// prepend inserts copies of lines at the beginning of root, as paragraphs.
func prepend(root *html.Node, lines []*html.Node) {
	first := root.FirstChild
	for _, line := range lines {
		paragraph := copyTree(line)
		dom.Rename(paragraph, atom.P)
		root.InsertBefore(paragraph, first)
	}
}
