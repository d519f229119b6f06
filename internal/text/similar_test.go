package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// A text has at most twice as many terms as characters.
func FuzzHashTerms(f *testing.F) {
	for _, s := range []string{"", "Ada Lovelace 1815", "東京の天気", "погода в Москве", "a\xffb\u0301", "ไทย中文abc123", "٣٤٥ x9 ½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := HashTerms(nil, s)
		if len(all) > 2*utf8.RuneCountInString(s) {
			t.Errorf("%d terms of %q", len(all), s)
		}
		if upper := HashTerms(nil, strings.ToUpper(s)); strings.ToLower(strings.ToUpper(s)) == s && !slices.Equal(all, upper) {
			t.Errorf("%q and its capitals have different terms", s)
		}
	})
}
