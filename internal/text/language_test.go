package text

import (
	"testing"
)

// A small word that occurs in names of all languages decides nothing alone.
func TestLanguage(t *testing.T) {
	english := map[string]bool{"": true, "en": true} // searches are in English if the language is unknown
	for _, text := range []string{
		"lookup x y", "los angeles weather", "la la land cast", "el nino explained", "die hard cast", "de niro age", "les miserables cast", "das boot runtime",
		"da vinci code plot", "al pacino", "del toro films", "do the right thing cast", "no country for old men", "per capita gdp norway", "van gogh", "le mans winner",
		"Der Spiegel", "von neumann", "il divo members", "as good as it gets", "the o c cast", "las vegas shows", "el paso", "san jose costa rica",
		"what is la tour eiffel", "who plays el chapo in narcos", "con air cast",
	} {
		if l := Language(text, Words(text)); !english[l] {
			t.Errorf("%q: %s", text, l)
		}
	}
	for text, want := range map[string]string{
		"wie ist das Wetter in Köln": "de", "Wetter Berlin": "de", "wer hat gestern gewonnen": "de", "der Bürgermeister von Wien": "de",
		"qui est le maire de Lyon": "fr", "météo à Lyon aujourd'hui": "fr", "quién ganó": "es", "¿y en Perú?": "es", "el tiempo en Madrid": "es", "capital de la India y del Perú": "es",
		"quem é o presidente": "pt", "chi è il presidente": "it", "wie is de koning": "nl", "东京天气": "zh", "東京の天気": "ja", "weather in oslo": "en",
	} {
		if l := Language(text, Words(text)); l != want {
			t.Errorf("%q: %q, want %s", text, l, want)
		}
	}
}

// The languages recognised by words fit into the bits of an integer.
func TestCandidates(t *testing.T) {
	if len(candidates()) > maxCandidates {
		t.Errorf("%d languages are told by their function words, and %d can be", len(candidates()), maxCandidates)
	}
}
