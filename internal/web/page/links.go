package page

import (
	"bytes"
	"net/url"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/context/turn"
	"familiar/internal/web/page/charset"
	"familiar/internal/web/page/dom"
)

const (
	maxLinks     = 300  // of the content of a page
	maxPageLinks = 3000 // of a whole page: each page of a large manual names all the others
)

// Links lists where the whole of an HTML page points to, with its menus and what a reader has to unfold: each address once,
// in order, without fragments. body, contentType and base are those of [Read]. The error is always a *Error.
func Links(body []byte, contentType string, base *url.URL) (found []Link, err error) {
	defer recoverUnparsable(&err)
	text, err := charset.Decode(body, contentType, true)
	if err != nil {
		return nil, &Error{Code: turn.CodeBadCharset}
	}
	doc, err := html.Parse(bytes.NewReader(text[:treeLength(text)]))
	if err != nil { // more than 512 elements are open at once
		return nil, &Error{Code: turn.CodeUnparsable}
	}
	return links(doc, baseOf(doc, base), maxPageLinks), nil
}

// links returns the first most links below root.
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

// resolve returns href as an absolute web address, nil if it is none.
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

// withoutFragment removes the fragment of u, and returns its address.
func withoutFragment(u *url.URL) string {
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

var baseElement = cascadia.MustCompile("base[href]")

// baseOf returns the address that links are resolved against: what doc declares, else base.
func baseOf(doc *html.Node, base *url.URL) *url.URL {
	if n := baseElement.MatchFirst(doc); n != nil {
		href, _ := dom.Attr(n, "href")
		if declared := resolve(base, href); declared != nil {
			return declared
		}
	}
	return base
}
