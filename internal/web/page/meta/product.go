package meta

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"familiar/internal/web/page/dom"
)

// Product are the facts about the one product of a page that its JSON-LD tells (schema.org/Product). A fact is no text:
// it tells which of the texts that can be seen are about this product, and these stay, whatever stands around them
// is called. What can't be seen stays out.
type Product struct {
	Name, Description string // as said, in one line
	prices            []string
}

// maxOffers is how many offers of a product are listened to.
const maxOffers = 20

// hear keeps the facts of the first product.
func (g *Product) hear(v map[string]any) {
	if g.Name != "" {
		return
	}
	description, _ := v["description"].(string)
	*g = Product{Name: dom.Line(nameOf(v["name"])), Description: Words(description)}
	g.hearOffers(v["offers"])
}

func (g *Product) hearOffers(value any) {
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

// Words are the words of a text in lower case, one blank between them.
func Words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text[:min(len(text), 32*dom.MaxLine)]), dom.NotWord), " ")
}

// Costs says that a line has one of the product's prices.
func (g *Product) Costs(line string) bool {
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
