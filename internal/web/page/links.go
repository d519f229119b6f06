package page

import (
	"bytes"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/page/dom"
)

const (
	// maxLinks is how many links of a page's matter are kept.
	maxLinks = 300
	// maxMenu is how many of a whole page are: a large manual names all its pages on each.
	maxMenu = 3000
)

// Links lists where the whole of an HTML page points to, menus and what a reader has to unfold included, each address
// once, in order, without fragments. body, contentType and base are as for [Read]. The error is always a *Error.
func Links(body []byte, contentType string, base *url.URL) (found []Link, err error) {
	defer func() { // see readHTML
		if recover() != nil {
			found, err = nil, &Error{Code: turn.CodeUnparsable}
		}
	}()
	text, err := charset.Decode(body, contentType, true)
	if err != nil {
		return nil, &Error{Code: turn.CodeBadCharset}
	}
	doc, parseErr := html.Parse(bytes.NewReader(text[:affordable(text)]))
	if parseErr != nil { // more than 512 elements are open at once
		return nil, &Error{Code: turn.CodeUnparsable}
	}
	if href := baseHref(doc, base); href != nil {
		base = href
	}
	return links(doc, base, maxMenu), nil
}

// links lists where the text points to, as far as the first most links.
func links(root *html.Node, base *url.URL, most int) []Link {
	var found []Link
	known := map[string]bool{}
	for n := range root.Descendants() {
		if n.DataAtom != atom.A || len(found) == most {
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
		target.Fragment, target.RawFragment = "", ""
		if address := target.String(); !known[address] && (base == nil || address != withoutFragment(base)) {
			known[address] = true
			found = append(found, Link{URL: address, Text: label})
		}
	}
	return found
}

// resolve is href as an absolute web address, nil if it is none.
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

func withoutFragment(u *url.URL) string {
	v := *u
	v.Fragment, v.RawFragment = "", ""
	return v.String()
}

// baseHref is the address that the page wants its links resolved against; nil if it has no wish.
func baseHref(doc *html.Node, base *url.URL) *url.URL {
	for n := range doc.Descendants() {
		if n.DataAtom != atom.Base {
			continue
		}
		if href, ok := dom.Attr(n, "href"); ok {
			return resolve(base, href)
		}
	}
	return nil
}
