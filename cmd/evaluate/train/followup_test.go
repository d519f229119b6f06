package train

import "testing"

func TestHolds(t *testing.T) {
	for _, test := range []struct {
		text, phrase string
		want         bool
	}{
		{"weather in Faro tomorrow", "faro", true},
		{"weather in Faro tomorrow", "far", false},
		{"far, in Faro", "Far", true},
		{"Farofaro far", "far", true},
		{"population of Évora", "évora", true},
		{"京都の天気", "天気", true},
		{"", "x", false},
	} {
		if got := Holds(test.text, test.phrase); got != test.want {
			t.Errorf("%q holds %q: %v", test.text, test.phrase, got)
		}
	}
}
