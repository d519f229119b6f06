package page

import (
	"strings"
	"testing"
)

const lamp = `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Product","name":"A lamp of brass","sku":"SKU-77",
	"description":"<p>It stands on three feet, and gives a warm light for an evening with a book.</p>",
	"offers":{"@type":"Offer","price":"1249.5","priceCurrency":"EUR","availability":"https://schema.org/InStock"},"aggregateRating":{"ratingValue":"4.9"}}</script>`

func TestProductFacts(t *testing.T) {
	described := `<p>It stands on three feet, and gives a warm light for an evening with a book. ` + strings.Repeat("Brass is bright when it is new, and darkens with the years. ", 6) + `</p>`
	tests := []struct {
		name, source   string
		phrase         string
		kept, unlinked bool // unlinked: kept without JSON-LD
	}{
		{"the price in a sidebar", `<h1>A lamp of brass</h1><div class="sidebar"><span>1.249,50 €</span></div>` + described, "1.249,50", true, false},
		{"another price", `<h1>A lamp of brass</h1><div class="sidebar"><span>99,00 €</span></div>` + described, "99,00", false, false},
		{"the same number without money", `<h1>A lamp of brass</h1><div class="sidebar"><span>Model 1249.50</span></div>` + described, "1249.50", false, false},
		{"the price of something else", `<h1>A lamp of iron</h1><div class="sidebar"><span>1.249,50 €</span></div>` + described, "1.249,50", false, false},
		{"the description", `<h1>A lamp of brass</h1>` + strings.ReplaceAll(described, "It stands", "They stand") + `<div class="feedback">` + described[:80] + `</p></div>`, "It stands", true, false},
		{"opinions", `<h1>A lamp of brass</h1>` + described + `<div class="reviews"><p>It stands on four feet at my place.</p></div>`, "four feet", false, false},
		{"the price beside a long text", `<h1>A lamp of brass</h1><div><span>€1,249.50</span></div><div class="description">` + strings.Repeat(described, 8) + `</div>`, "1,249.50", true, false},
		{"what can't be seen", `<h1>A lamp of brass</h1>` + described, "SKU-77", false, false},
		{"what is hidden", `<h1>A lamp of brass</h1><p hidden>1.249,50 €</p>` + described, "1.249,50", false, false},
	}
	const declared = `<title>A lamp of brass</title><meta property="og:type" content="product">`
	for _, test := range tests {
		for _, linked := range []string{lamp, ""} {
			want := test.kept
			if linked == "" {
				want = test.unlinked
			}
			p, err := Read([]byte(declared+linked+"<body>"+test.source+"</body>"), "text/html", nil)
			if err != nil || strings.Contains(p.Markdown, test.phrase) != want {
				t.Errorf("%s, JSON-LD %v: kept is not %v: %s, %v\n%s", test.name, linked != "", want, p.Type, err, p.Markdown)
			}
		}
	}
}

func TestAmounts(t *testing.T) {
	for text, want := range map[string]string{
		"1249.5": "124950", "1.249,50 €": "124950", "€1,249.50": "124950", "CHF 1’249.50": "124950", "1 249,50": "100", "1,249": "124900", "49": "4900", "49.": "4900",
		"0.00": "", "no number": "", "99999999999999999999999": "", "1e3": "100", "map[price:5]": "500",
	} {
		if got := amount(text); got != want {
			t.Errorf("amount(%q) = %q, want %q", text, got, want)
		}
	}
}
