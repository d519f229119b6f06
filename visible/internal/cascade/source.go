package cascade

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/visible/internal/css"
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
		case atom.Meta:
			if name, _ := attribute(c, "name"); strings.EqualFold(name, "color-scheme") {
				content, _ := attribute(c, "content")
				s.dark = isDark(strings.ToLower(content))
			}
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

// maySetStyles reports whether a source has the beginning of a style element or of a link.
func maySetStyles(source string) bool {
	for tag := range strings.SplitSeq(source, "<") {
		if len(tag) > 4 && (strings.EqualFold(tag[:4], "link") || strings.EqualFold(tag[:5], "style")) {
			return true
		}
	}
	return false
}

// addSource reads the style elements and links in a source.
func (s *Sheets) addSource(source string) {
	if !maySetStyles(source) {
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

// link reads the style sheet in the address of a <link>.
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

// applies reports whether a style sheet is on. Its media apply and, if it has a title, it is a preferred one.
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

// dataText returns the text of a style sheet in an address of the scheme data.
func dataText(address string) (string, bool) {
	text, kind, ok := Data(address)
	if media, _, _ := strings.Cut(kind, ";"); strings.TrimSpace(media) != "text/css" && media != "" {
		return "", false
	}
	return text, ok
}

// Data returns what is in an address of the scheme data, and its type.
func Data(address string) (data, kind string, ok bool) {
	address = strings.TrimSpace(address)
	if len(address) < 5 || !strings.EqualFold(address[:5], "data:") {
		return "", "", false
	}
	kind, text, ok := strings.Cut(address[5:], ",")
	if !ok {
		return "", "", false
	}
	kind = strings.ToLower(kind)
	text, _, _ = strings.Cut(text, "#")
	plain := unescapePercent(text)
	if strings.HasSuffix(kind, ";base64") {
		data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(plain), ""))
		if err != nil {
			data, err = base64.RawStdEncoding.DecodeString(strings.Join(strings.Fields(plain), ""))
		}
		return string(data), kind, err == nil
	}
	return plain, kind, true
}

// unescapePercent resolves percent escapes and keeps invalid ones.
func unescapePercent(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if plain, err := url.PathUnescape(s[i : i+3]); err == nil {
				b.WriteString(plain)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// readBlock reads the declarations of a style attribute. An attribute that is too long hides its element.
func (s *Sheets) readBlock(text string) (list []declaration) {
	hides := []declaration{{property: Display, important: true, value: &Value{Word: "none"}}}
	if len(text) > maxStyle {
		return hides
	}
	t := css.Tokenize(text)
	for item := range t.Block(t.All()) {
		if len(list) > maxItems {
			return hides
		}
		if !item.IsRule && matters(item.Name) {
			list = appendDeclarations(list, item.Name, t.Between(item.Value), item.Important, s.quirks)
		}
	}
	return list
}

// hints returns the presentational hints of an element's attributes, which are weak declarations.
func (s *Sheets) hints(n *html.Node) (list []declaration) {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "hidden":
			if strings.EqualFold(a.Val, "until-found") {
				list = append(list, declaration{property: ContentVisibility, value: &Value{Word: "hidden"}})
			} else {
				list = append(list, declaration{property: Display, value: &Value{Word: "none"}})
			}
		case "bgcolor":
			switch n.DataAtom {
			case atom.Body, atom.Table, atom.Tr, atom.Td, atom.Th, atom.Tbody, atom.Thead, atom.Tfoot, atom.Marquee:
				if c, ok := legacyColour(a.Val); ok {
					list = append(list, declaration{property: BackgroundColor, value: &Value{Colour: Colour{fixed: c}}})
				}
			}
		case "color", "text":
			if n.DataAtom == atom.Font && a.Key == "color" || n.DataAtom == atom.Body && a.Key == "text" {
				if c, ok := legacyColour(a.Val); ok {
					list = append(list, declaration{property: Color, value: &Value{Colour: Colour{fixed: c}}})
				}
			}
		case "background":
			switch n.DataAtom {
			case atom.Body, atom.Table, atom.Tr, atom.Td, atom.Th:
				if strings.TrimSpace(a.Val) != "" {
					list = append(list, declaration{property: BackgroundImage, value: &Value{Parts: []Part{{Name: "url", Address: a.Val}}}})
				}
			}
		}
	}
	return list
}

// legacyColour reads the colour in an attribute by the HTML Standard's rules for parsing a legacy color value.
func legacyColour(text string) (RGBA, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "transparent") {
		return RGBA{}, false
	}
	if c, ok := namedColours()[strings.ToLower(text)]; ok {
		return c, true
	}
	if len(text) == 4 && text[0] == '#' {
		if c, ok := hexColour(text[1:]); ok {
			return c, true
		}
	}
	text = text[:min(len(text), 512)]
	var digits []byte
	for _, c := range strings.TrimPrefix(text, "#") {
		switch {
		case c >= utf8.RuneSelf && c > 0xFFFF:
			digits = append(digits, '0', '0')
		case strings.ContainsRune("0123456789abcdefABCDEF", c):
			digits = append(digits, byte(c))
		default:
			digits = append(digits, '0')
		}
	}
	for len(digits) == 0 || len(digits)%3 != 0 {
		digits = append(digits, '0')
	}
	size := len(digits) / 3
	parts := [3][]byte{digits[:size], digits[size : 2*size], digits[2*size:]}
	skip := max(size-8, 0)
	for size-skip > 2 && parts[0][skip] == '0' && parts[1][skip] == '0' && parts[2][skip] == '0' {
		skip++
	}
	hex := ""
	for _, p := range parts {
		p = p[skip:min(skip+2, len(p))]
		if len(p) == 1 {
			p = append([]byte{'0'}, p...)
		}
		hex += string(p)
	}
	return hexColour(hex)
}
