package page

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

// productExtras are what the page of a product carries beside the facts.
var productExtras = extras{
	names:      dom.WordSet("review reviews rating ratings testimonial testimonials comment comments opinions accessories addons"),
	headings:   lazyregexp.New(`(?i)^\W*(?:(?:\d+ )?(?:customer |user )?(?:reviews|ratings|testimonials|opinions)\b|what (?:our |other )?(?:customers|people|clients|users|players|critics) |(?:this is what )?customers who|choose your|accessories|bundles)`),
	maxPercent: 70,
}

// maxPrice is how long a line with a price is at most, minStart how much of a text has to be the description's, in bytes.
const (
	maxPrice = 60
	minStart = 40
)

// productLines finds where a page shows what its JSON-LD says about its product: the heading with its name, the first of its
// prices after that, and its description. These stay, whatever the elements around them are called. hasName means that
// the name was found before.
func productLines(p *meta.Product, root *html.Node, hasName bool) (found []*html.Node) {
	if p.Name == "" {
		return nil
	}
	name := meta.Words(p.Name)
	hasPrice := false
	for _, line := range textLines(root) {
		label := dom.Label(line)
		switch {
		case !hasName && dom.HeadingLevel(line) > 0 && meta.Words(label) == name:
			hasName = true
		case hasName && !hasPrice && len(label) <= maxPrice && p.Costs(label):
			hasPrice = true
		case describes(p, line):
		default:
			continue
		}
		found = append(found, line)
	}
	if !hasName {
		return nil // the JSON-LD is about something else
	}
	return found
}

// describes reports whether a block begins with a part of the product's description.
func describes(p *meta.Product, line *html.Node) bool {
	if len(p.Description) < minStart || dom.HeadingLevel(line) > 0 || dom.Length(line) < minStart {
		return false
	}
	start := meta.Words(dom.Text(line))
	if len(start) > minStart {
		start = start[:minStart]
		start = start[:strings.LastIndexByte(start, ' ')+1]
	}
	return len(start) > minStart/2 && strings.Contains(p.Description, start)
}

// lacks reports whether one of lines is not in the text below n.
func lacks(n *html.Node, lines []*html.Node) bool {
	if len(lines) == 0 {
		return false
	}
	text := meta.Words(dom.Text(n))
	for _, line := range lines {
		if line.DataAtom != atom.H1 && !strings.Contains(text, meta.Words(dom.Text(line))) {
			return true
		}
	}
	return false
}
