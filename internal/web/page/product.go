package page

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"familiar/internal/web/page/dom"
)

// goods are the facts about the one product of a page that its JSON-LD tells (schema.org/Product). A fact is no text:
// it tells which of the texts that can be seen are about this product, and these stay, whatever stands around them
// is called. What can't be seen stays out.
type goods struct {
	name, description string // as said, in one line
	prices            []string
}

// maxOffers is how many offers of a product are listened to.
const maxOffers = 20

// hearProduct keeps the facts of the first product.
func (h *hints) hearProduct(v map[string]any) {
	if h.goods.name != "" {
		return
	}
	description, _ := v["description"].(string)
	h.goods = goods{name: dom.Line(nameOf(v["name"])), description: spoken(description)}
	h.goods.hearOffers(v["offers"])
}

func (g *goods) hearOffers(value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v[:min(len(v), maxOffers)] {
			if offer, ok := one.(map[string]any); ok {
				g.hearOffers(offer)
			}
		}
	case map[string]any:
		for _, key := range [...]string{"price", "lowPrice", "highPrice"} {
			if price := amount(fmt.Sprint(v[key])); price != "" && len(g.prices) < maxOffers {
				g.prices = append(g.prices, price)
			}
		}
		if inside, ok := v["priceSpecification"]; ok && len(g.prices) == 0 {
			g.hearOffers(inside)
		}
	}
}

var (
	number   = regexp.MustCompile(`\d[\d.,'’\x{A0}\x{202F}]*`)
	currency = regexp.MustCompile(`(?i)\p{Sc}|\b(?:usd|eur|gbp|cad|aud|nzd|chf|sek|nok|dkk|pln|czk|jpy|inr|brl|kr|zł|kč|fr|rs)\b`)
)

// amount is the first number of a text, in hundredths, "" if there is none. A sign before the last two digits parts off
// the hundredths, any other thousands.
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

// spoken are the words of a text in lower case, one blank between them.
func spoken(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text[:min(len(text), 32*dom.MaxLine)]), dom.NotWord), " ")
}

// longPrice is how long a line with a price is at most, in bytes; longStart how much of a text, in bytes, has to be
// the description's.
const (
	longPrice = 60
	longStart = 40
)

// lines finds where on a page the product's facts can be seen: the heading with its name, the first of its prices
// behind it, and its description. named says that the name has been found before.
func (g *goods) lines(root *html.Node, named bool) (found []*html.Node) {
	if g.name == "" {
		return nil
	}
	var lines []*html.Node
	collectLines(root, &lines)
	name := spoken(g.name)
	priced := false
	for _, line := range lines {
		own := dom.Label(line)
		switch {
		case !named && dom.HeadingLevel(line) > 0 && spoken(own) == name:
			named = true
		case named && !priced && len(own) <= longPrice && g.costs(own):
			priced = true
		case g.describes(line):
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

// costs says that a line has one of the product's prices.
func (g *goods) costs(line string) bool {
	if !currency.MatchString(line) {
		return false
	}
	for _, shown := range number.FindAllString(line, 4) {
		price := amount(shown)
		for _, told := range g.prices {
			if price == told {
				return true
			}
		}
	}
	return false
}

// describes says that a block begins with a part of the product's description.
func (g *goods) describes(line *html.Node) bool {
	if len(g.description) < longStart || dom.HeadingLevel(line) > 0 || dom.Length(line) < longStart {
		return false
	}
	start := spoken(dom.Text(line))
	if len(start) > longStart {
		start = start[:longStart]
		start = start[:strings.LastIndexByte(start, ' ')+1]
	}
	return len(start) > longStart/2 && strings.Contains(g.description, start)
}

// lacks says that one of the lines is not in the text below n.
func lacks(n *html.Node, lines []*html.Node) bool {
	all := spoken(dom.Text(n))
	for _, line := range lines {
		if own := spoken(dom.Text(line)); line.DataAtom != atom.H1 && !strings.Contains(all, own) {
			return true
		}
	}
	return false
}
