package page

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
	"familiar/internal/web/page/meta"
)

// longPrice is how long a line with a price is at most, in bytes; longStart how much of a text, in bytes, has to be
// the description's.
const (
	longPrice = 60
	longStart = 40
)

// lines finds where on a page the product's facts can be seen: the heading with its name, the first of its prices
// behind it, and its description. named says that the name has been found before.
func productLines(g *meta.Product, root *html.Node, named bool) (found []*html.Node) {
	if g.Name == "" {
		return nil
	}
	var lines []*html.Node
	collectLines(root, &lines)
	name := meta.Words(g.Name)
	priced := false
	for _, line := range lines {
		own := dom.Label(line)
		switch {
		case !named && dom.HeadingLevel(line) > 0 && meta.Words(own) == name:
			named = true
		case named && !priced && len(own) <= longPrice && g.Costs(own):
			priced = true
		case describes(g, line):
		default:
			continue
		}
		found = append(found, line)
	}
	if !named {
		return nil // the facts are those of something else
	}
	return found
}

// describes says that a block begins with a part of the product's description.
func describes(g *meta.Product, line *html.Node) bool {
	if len(g.Description) < longStart || dom.HeadingLevel(line) > 0 || dom.Length(line) < longStart {
		return false
	}
	start := meta.Words(dom.Text(line))
	if len(start) > longStart {
		start = start[:longStart]
		start = start[:strings.LastIndexByte(start, ' ')+1]
	}
	return len(start) > longStart/2 && strings.Contains(g.Description, start)
}

// lacks says that one of the lines is not in the text below n.
func lacks(n *html.Node, lines []*html.Node) bool {
	all := meta.Words(dom.Text(n))
	for _, line := range lines {
		if own := meta.Words(dom.Text(line)); line.DataAtom != atom.H1 && !strings.Contains(all, own) {
			return true
		}
	}
	return false
}

// opinions are what a product's page carries beside the facts.
var opinions = surplus{
	names:    dom.WordSet("review reviews rating ratings testimonial testimonials comment comments opinions accessories addons"),
	headings: regexp.MustCompile(`(?i)^\W*(?:(?:\d+ )?(?:customer |user )?(?:reviews|ratings|testimonials|opinions)\b|what (?:our |other )?(?:customers|people|clients|users|players|critics) |(?:this is what )?customers who|choose your|accessories|bundles)`),
	most:     70,
}
