package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/text"
	"familiar/visible/dom"
)

// productExtras describes what accompanies the facts on the page of a product.
var productExtras = extras{
	names:      dom.WordSet("review reviews rating ratings testimonial testimonials comment comments opinions accessories addons"),
	headings:   text.NewLazyRegexp(`(?i)^\W*(?:(?:\d+ )?(?:customer |user )?(?:reviews|ratings|testimonials|opinions)\b|what (?:our |other )?(?:customers|people|clients|users|players|critics) |(?:this is what )?customers who|choose your|accessories|bundles)`),
	maxPercent: 70,
}

// Lengths in bytes: maxPrice of a line with a price, minStart of the text that must match the description.
const (
	maxPrice = 60
	minStart = 40
)

// productLines finds where a page shows the facts from its product's JSON-LD. They are the heading with the name, the first price after it,
// and the description. These lines stay, whatever the elements around them are called. hasName means that the name was found before.
func productLines(p *product, root *html.Node, hasName bool) (found []*html.Node) {
	if p.Name == "" {
		return nil
	}
	name := normalWords(p.Name)
	hasPrice := false
	for _, line := range textLines(root) {
		label := dom.Label(line)
		switch {
		case !hasName && dom.HeadingLevel(line) > 0 && normalWords(label) == name:
			hasName = true
		case hasName && !hasPrice && len(label) <= maxPrice && p.costs(label):
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
func describes(p *product, line *html.Node) bool {
	if len(p.Description) < minStart || dom.HeadingLevel(line) > 0 || dom.Length(line) < minStart {
		return false
	}
	start := normalWords(dom.Text(line))
	if len(start) > minStart {
		start = start[:minStart]
		start = start[:strings.LastIndexByte(start, ' ')+1]
	}
	return len(start) > minStart/2 && strings.Contains(p.Description, start)
}

// lacks reports whether one of lines is missing from the text below n.
func lacks(n *html.Node, lines []*html.Node) bool {
	if len(lines) == 0 {
		return false
	}
	text := normalWords(dom.Text(n))
	for _, line := range lines {
		if line.DataAtom != atom.H1 && !strings.Contains(text, normalWords(dom.Text(line))) {
			return true
		}
	}
	return false
}

// product is what JSON-LD says about the one product of a page (schema.org/Product). It is not text of the page. It
// helps to find the visible texts about this product.
type product struct {
	Name        string   // in one line
	Description string   // in normalised words
	prices      []string // in hundredths, see amount
}

// maxOffers is how many offers for a product are read.
const maxOffers = 20

var productTypes = [...]string{"Product", "ProductGroup", "IndividualProduct"}

func isProductType(types []string) bool {
	return len(types) > 0 && slices.Contains(productTypes[:], types[0][strings.LastIndexByte(types[0], '/')+1:])
}

func readProduct(object map[string]any) product {
	description, _ := object["description"].(string)
	p := product{Name: dom.Line(propertyText(object["name"])), Description: normalWords(description)}
	p.readPrices(object["offers"])
	return p
}

func (p *product) readPrices(offers any) {
	switch v := offers.(type) {
	case []any:
		for _, one := range v[:min(len(v), maxOffers)] {
			if offer, ok := one.(map[string]any); ok {
				p.readPrices(offer)
			}
		}
	case map[string]any:
		for _, key := range [...]string{"price", "lowPrice", "highPrice"} {
			if price := amount(fmt.Sprint(v[key])); price != "" && len(p.prices) < maxOffers {
				p.prices = append(p.prices, price)
			}
		}
		if inside, ok := v["priceSpecification"]; ok && len(p.prices) == 0 {
			p.readPrices(inside)
		}
	}
}

var (
	number   = text.NewLazyRegexp(`\d[\d.,'’\x{A0}\x{202F}]*`)
	currency = text.NewLazyRegexp(`(?i)\p{Sc}|\b(?:usd|eur|gbp|cad|aud|nzd|chf|sek|nok|dkk|pln|czk|jpy|inr|brl|kr|zł|kč|fr|rs)\b`)
)

// amount returns the first number of a text in hundredths, or "" if there is none. A separator before the last one or
// two digits precedes the hundredths. Any other separates thousands.
func amount(text string) string {
	found := strings.TrimRight(number.FindString(text), ".,'’\u00A0\u202F")
	whole, cents := found, "00"
	if end := strings.LastIndexAny(found, ".,"); end >= 0 && len(found)-end <= 3 {
		whole, cents = found[:end], (found[end+1:] + "0")[:2]
	}
	digits := strings.Map(func(c rune) rune {
		if c < '0' || c > '9' {
			return -1
		}
		return c
	}, whole)
	if n, err := strconv.Atoi(digits + cents); err == nil && n > 0 {
		return strconv.Itoa(n)
	}
	return ""
}

// normalWords returns the words of a text in lower case, separated by single spaces.
func normalWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text[:min(len(text), 32*dom.MaxLine)]), dom.NotWord), " ")
}

// costs reports whether a line contains one of the product's prices.
func (p *product) costs(line string) bool {
	return currency.MatchString(line) && slices.ContainsFunc(number.FindAllString(line, 4), func(text string) bool {
		return slices.Contains(p.prices, amount(text))
	})
}
