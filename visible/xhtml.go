package visible

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth is how deep elements of XHTML may be nested, as in pages of HTML.
const maxDepth = 512

// ErrDepth is the error for XHTML that is nested too deeply.
var ErrDepth = errors.New("elements are nested too deeply")

// entityDeclaration matches the declaration of an entity that stands for plain text.
var entityDeclaration = regexp.MustCompile(`<!ENTITY\s+([\w.-]+)\s+(?:"([^"<&%]*)"|'([^'<&%]*)')\s*>`)

// maxEntities is how many declared entities are known.
const maxEntities = 100

// XHTML parses a page of XHTML, in UTF-8, into a tree as html.Parse makes it, by the rules of XML. The case of names matters, every element
// is closed, and scripts and styles are ordinary text. Like browsers, it keeps what comes before the first error. Elements of other
// languages keep their namespace. The only error is [ErrDepth].
func XHTML(source string) (*html.Node, error) {
	doc := &html.Node{Type: html.DocumentNode}
	doc.AppendChild(&html.Node{Type: html.DoctypeNode, Data: "html"})
	in, depth := doc, 0
	d := xml.NewDecoder(strings.NewReader(source))
	d.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := d.Token()
		if err != nil {
			return doc, nil
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return nil, ErrDepth
			}
			n := element(t)
			in.AppendChild(n)
			in = n
		case xml.EndElement:
			in = in.Parent
			depth--
		case xml.CharData:
			if in != doc {
				in.AppendChild(&html.Node{Type: html.TextNode, Data: string(t)})
			}
		case xml.Directive:
			d.Entity = entities("<!" + string(t) + ">")
		case xml.ProcInst:
			if t.Target == "xml-stylesheet" && in == doc {
				doc.AppendChild(sheetLink(string(t.Inst)))
			}
		}
	}
}

// element makes the node of an element.
func element(t xml.StartElement) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: t.Name.Local}
	switch t.Name.Space {
	case "http://www.w3.org/1999/xhtml":
		n.DataAtom = atom.Lookup([]byte(n.Data))
	case "http://www.w3.org/2000/svg":
		n.Namespace, n.DataAtom = "svg", atom.Lookup([]byte(n.Data))
	case "http://www.w3.org/1998/Math/MathML":
		n.Namespace = "math"
	default:
		n.Namespace = "xml"
	}
	for _, a := range t.Attr {
		if a.Name.Space == "" {
			n.Attr = append(n.Attr, html.Attribute{Key: a.Name.Local, Val: a.Value})
		}
	}
	return n
}

// entities returns the entities that a document type declares. Those of XHTML have the names of HTML.
func entities(doctype string) map[string]string {
	known := map[string]string{}
	if strings.Contains(doctype, "-//W3C//DTD XHTML") {
		for name, text := range xml.HTMLEntity {
			known[name] = text
		}
	}
	for _, found := range entityDeclaration.FindAllStringSubmatch(doctype, maxEntities) {
		known[found[1]] = found[2] + found[3]
	}
	return known
}

// sheetLink makes the element that does what a processing instruction for a style sheet does.
func sheetLink(text string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: "link", DataAtom: atom.Link, Attr: []html.Attribute{{Key: "rel", Val: "stylesheet"}}}
	var link struct {
		Attr []xml.Attr `xml:",any,attr"`
	}
	if xml.Unmarshal([]byte("<link "+text+"/>"), &link) == nil {
		for _, a := range link.Attr {
			n.Attr = append(n.Attr, html.Attribute{Key: a.Name.Local, Val: a.Value})
		}
	}
	return n
}
