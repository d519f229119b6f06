package cascade

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// collect reads the style elements and links below n.
func (s *Sheets) collect(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode || c.DataAtom == atom.Template || c.DataAtom == atom.Noscript && s.screen.Scripts {
			continue
		}
		switch c.DataAtom {
		case atom.Style:
			s.styleElement(c.Attr, textOf(c), n)
		case atom.Link:
			s.link(c.Attr)
		}
		s.collect(c)
	}
}

func textOf(n *html.Node) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil {
		return c.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

// addSource reads the style elements and links in a source.
func (s *Sheets) addSource(source string) {
	_, _, styles := dom.CutFold(source, "<style")
	if _, _, links := dom.CutFold(source, "<link"); !styles && !links {
		return
	}
	z := html.NewTokenizer(strings.NewReader(source))
	templates := 0
	for kind := z.Next(); kind != html.ErrorToken && !s.exhausted; kind = z.Next() {
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			continue
		}
		name, _ := z.TagName()
		switch a := atom.Lookup(name); {
		case a == atom.Template && kind == html.EndTagToken:
			templates = max(templates-1, 0)
		case kind == html.EndTagToken:
		case a == atom.Template:
			templates++
		case templates > 0:
		case a == atom.Link:
			s.link(tagAttributes(z))
		case a == atom.Style:
			attributes := tagAttributes(z)
			if z.Next() == html.TextToken {
				s.styleElement(attributes, string(z.Raw()), nil)
			}
		}
	}
}

func tagAttributes(z *html.Tokenizer) (all []html.Attribute) {
	for len(all) < 100 {
		k, v, more := z.TagAttr()
		if len(k) > 0 {
			all = append(all, html.Attribute{Key: string(k), Val: string(v)})
		}
		if !more {
			break
		}
	}
	return all
}

func (s *Sheets) styleElement(attributes []html.Attribute, text string, parent *html.Node) {
	n := html.Node{Attr: attributes}
	kind, _ := attribute(&n, "type")
	if kind == "" || strings.EqualFold(kind, "text/css") {
		if s.applies(&n, false) {
			var root *scopeRoot
			if parent != nil {
				root = &scopeRoot{parent}
			}
			s.add(text, author, root, s.base, 0)
		}
	}
}

// link reads the style sheet of a <link> that holds it in its address.
func (s *Sheets) link(attributes []html.Attribute) {
	n := html.Node{Attr: attributes}
	rel, _ := attribute(&n, "rel")
	words := strings.Fields(strings.ToLower(rel))
	if !slices.Contains(words, "stylesheet") {
		return
	}
	if _, disabled := attribute(&n, "disabled"); disabled || !s.applies(&n, slices.Contains(words, "alternate")) {
		return
	}
	kind, _ := attribute(&n, "type")
	if media, _, _ := strings.Cut(kind, ";"); kind != "" && !strings.EqualFold(strings.TrimSpace(media), "text/css") {
		return
	}
	address, _ := attribute(&n, "href")
	if text, ok := dataText(address); ok {
		s.add(text, author, nil, s.base, 0)
	} else if address != "" {
		s.unread = true
	}
}

// applies reports whether a style sheet is switched on: by its media and, if it has a title, as one of the preferred ones.
func (s *Sheets) applies(n *html.Node, alternate bool) bool {
	if title, _ := attribute(n, "title"); title != "" {
		if s.first == "" && !alternate {
			s.first = title
		}
		if title != s.first {
			return false
		}
	}
	media, _ := attribute(n, "media")
	return s.screen.mediaApplies(media)
}
