package cascade

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/visible/css"
)

// readBlock reads the declarations of a style attribute. One that is too long hides, since it is not known what it says.
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

// hints returns what attributes say about the look of an element, as weak declarations.
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

// legacyColour reads the colour of an old attribute, by the HTML Standard's rules for parsing a legacy colour value.
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
