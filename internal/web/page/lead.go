package page

import (
	"iter"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/dom"
)

// Limits of a lead: the least length of a paragraph in characters, the greatest number of paragraphs, and the bytes of
// two beginnings that are compared.
const (
	minLead      = 50
	maxLeads     = 8
	maxBeginning = 60
)

// addLead puts the lead before an article. The lead is the paragraphs between the headline of the page and the beginning
// of the article, often in a separate header. body is the body from which the article was copied.
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
