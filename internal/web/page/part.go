package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/visible"
)

// Part reads a piece of HTML that is content from end to end, such as a post or an article as a service delivers it. Only
// hidden text and marks between the words are removed. base is that of [Read]. edit, unless nil, may change the piece
// before it is read, by names that only its caller knows; it is called with the element around it. Only Markdown, Links,
// Hidden and Low of the Page are set. The error is always a *Error.
func Part(text string, base *url.URL, edit func(root *html.Node)) (p Page, err error) {
	defer recoverUnparsable(&err)
	text = strings.ToValidUTF8(text, "\uFFFD")
	doc, err := html.Parse(strings.NewReader(text[:treeLength([]byte(text))]))
	if err != nil { // more than 512 elements are open at once
		return readFlat(text, "")
	}
	body := bodies.MatchFirst(doc)
	if body == nil { // it is a frameset
		return fail(turn.CodeUnparsable)
	}
	if edit != nil {
		edit(body)
	}
	hidden, _, err := visible.Prune(doc, "", true)
	if err != nil {
		return fail(turn.CodeUnparsable)
	}
	dropMarks(body, false)
	p = Page{Hidden: hidden, Links: links(body, base, maxLinks)}
	if p.Markdown, err = markdown(body); err != nil {
		return fail(turn.CodeExtractionFailed)
	}
	if p.Markdown == "" {
		return fail(turn.CodeEmpty)
	}
	p.Low = low(p.Markdown)
	return p, nil
}
