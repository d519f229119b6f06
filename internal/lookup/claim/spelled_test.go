package claim

import (
	"fmt"
	"testing"

	"familiar/internal/text"
)

func TestSpelledNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"eighty-five and twenty thousand":              "[eighty-five=85 twenty thousand=20000]",
		"Two hundred and fifty-six steps":              "[Two hundred and fifty-six=256]",
		"two hundred and then two hundred":             "[two hundred=200 two hundred=200]",
		"two hundred and and two":                      "[two hundred=200 two=2]",
		"two hundred and two hundred":                  "[two hundred and two=202]",
		"three million two hundred thousand and eight": "[three million two hundred thousand=3.2e+06 eight=8]",
		"one two three":                                "[]",
		"in nineteen seventy and twenty twenty-one":    "[]",
		"one hundred thousand":                         "[one hundred thousand=100000]",
		"a million in Thousand Oaks":                   "[]",
		"5 million":                                    "[]",
		"twenty. Five":                                 "[twenty=20 Five=5]",
	} {
		got := []string{}
		for _, n := range spelledNumbers(in, text.Words(in)) {
			got = append(got, fmt.Sprintf("%s=%v", in[n.From:n.To], n.value))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", in, got, want)
		}
	}
}
