package text

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// If MayHold returns false, the words do not contain the keys of the phrase.
func TestMayHold(t *testing.T) {
	pieces := []string{"Persephone", "personality", "won't", "wont", "CFCs", "glasses", "whatcha", "gonna", "Élodie", "it's", "ß", " ", " ", "'", "-", "42", "s"}
	some := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6)
	no := 0
	rapid.Check(t, func(t *rapid.T) {
		words, phrase := Words(strings.Join(some.Draw(t, "words"), "")), strings.Join(some.Draw(t, "phrase"), "")
		if MayHold(words, phrase) {
			return
		}
		no++
		keys := PhraseKeys(phrase)
		for i := range words {
			if len(keys) > 0 && HasPrefix(words[i:], keys) {
				t.Errorf("%q is in %v", phrase, words)
			}
		}
	})
	if !MayHold(Words("I won't"), "wonts") { // the s is taken for that of a plural
		t.Error("wonts is not in won't")
	}
	if no == 0 {
		t.Error("it never says no")
	}
}
