package meta

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"familiar/internal/text/lazyregexp"
	"familiar/internal/web/page/dom"
)

// Product is what JSON-LD says about the one product of a page (schema.org/Product). It is not text of the page: it helps
// to tell which of the visible texts are about this product.
type Product struct {
	Name        string   // in one line
	Description string   // its words, see [Words]
	prices      []string // see amount
}

// maxOffers is how many offers of a product are read.
const maxOffers = 20

var productTypes = [...]string{"Product", "ProductGroup", "IndividualProduct"}

func describesProduct(types []string) bool {
	return len(types) > 0 && slices.Contains(productTypes[:], types[0][strings.LastIndexByte(types[0], '/')+1:])
}

func readProduct(object map[string]any) Product {
	description, _ := object["description"].(string)
	p := Product{Name: dom.Line(nameOf(object["name"])), Description: Words(description)}
	p.readPrices(object["offers"])
	return p
}

func (p *Product) readPrices(offers any) {
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
	number   = lazyregexp.New(`\d[\d.,'’\x{A0}\x{202F}]*`)
	currency = lazyregexp.New(`(?i)\p{Sc}|\b(?:usd|eur|gbp|cad|aud|nzd|chf|sek|nok|dkk|pln|czk|jpy|inr|brl|kr|zł|kč|fr|rs)\b`)
)

// amount returns the first number of a text in hundredths, "" if there is none. A sign before the last one or two digits
// separates the hundredths, any other thousands.
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

// Words returns the words of a text in lower case, separated by one blank.
func Words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text[:min(len(text), 32*dom.MaxLine)]), dom.NotWord), " ")
}

// Costs reports whether a line holds one of the product's prices.
func (p *Product) Costs(line string) bool {
	return currency.MatchString(line) && slices.ContainsFunc(number.FindAllString(line, 4), func(text string) bool {
		return slices.Contains(p.prices, amount(text))
	})
}
