package meta

import "testing"

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
