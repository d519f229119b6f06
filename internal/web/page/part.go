package page

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/visible"
)

// Part reads a piece of HTML that is matter from end to end, such as a post or an article as a service delivers it:
// nothing is looked for in it, and nothing but hidden text and marks between the words is taken out. base is as for
// [Read]. edit, unless nil, may change the piece before it is read, by names that only its author knows; it is called
// with the element around it. Only Markdown, Links, Hidden and Low of the Page are set. The error is always a *Error.
func Part(text string, base *url.URL, edit func(root *html.Node)) (p Page, err error) {
	defer func() { // see readHTML
		if recover() != nil {
			p, err = Page{}, &Error{Code: turn.CodeUnparsable}
		}
	}()
	text = strings.ToValidUTF8(text, "\uFFFD")
	doc, parseErr := html.Parse(strings.NewReader(text[:affordable([]byte(text))]))
	if parseErr != nil { // more than 512 elements are open at once
		return readFlat(text, "")
	}
	var m measure
	m.walk(doc)
	if edit != nil {
		edit(m.body)
	}
	if p.Hidden, _, err = visible.Prune(doc, "", true); err != nil {
		return Page{}, &Error{Code: turn.CodeUnparsable}
	}
	dropMarks(m.body, false)
	p.Links = links(m.body, base, maxLinks)
	if p.Markdown, err = markdown(m.body); err != nil {
		return Page{}, &Error{Code: turn.CodeExtractionFailed}
	}
	if p.Markdown == "" {
		return Page{}, &Error{Code: turn.CodeEmpty}
	}
	p.Low = low(p.Markdown)
	return p, nil
}
