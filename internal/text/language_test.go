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

// Addresses, code, names and quotations do not decide the language of a message.
func TestAskersLanguage(t *testing.T) {
	for message, want := range map[string]string{
		"look at https://example.com": "en", "have a look at www.example.com.br please": "en", "what does `para i in lista` do?": "en", "he said \"das ist nicht mein Problem\", what does it mean?": "en",
		"is Les Misérables on tonight?": "en", "ask Maria da Silva about the plan": "en", "the file is C:\\Users\\der\\das.txt, can you read it?": "en", "why does ```de la den der``` not compile?": "en",
		"schau mal auf https://the-and-of.com nach, ob das stimmt": "de", "was heißt \"what are you doing here\" auf Deutsch?": "de", "ich habe `if this then that` probiert und es geht nicht": "de", "wer spielt in The Lord of the Rings mit?": "de",
		"regarde ce lien https://what-is-this.org s'il te plaît": "fr", "que veut dire \"the early bird\" ici ?": "fr", "mira https://www.this-is-it.com y dime qué es": "es", "¿qué significa \"how are you\"?": "es",
		"olha https://the-end.com e diz-me o que achas disto": "pt", "o que significa \"see you later\" em português?": "pt", "guarda https://is-it-the.one e dimmi che cos'è": "it", "che cosa vuol dire \"for real\" in italiano?": "it",
		"kijk eens naar https://der-die-das.de en zeg wat het is": "nl", "wat betekent \"out of the blue\" eigenlijk?": "nl", "zobacz https://the-and.com i powiedz mi, co to jest": "pl", "co znaczy \"what is up\" po polsku?": "pl",
		"посмотри https://example.com и скажи, что это": "ru", "что значит \"never mind\"?": "ru", "https://example.com sitesine bakar mısın, bu ne?": "tr", "\"break a leg\" ne demek?": "tr",
		"https://example.com を見てください": "ja", "\"long time no see\" はどういう意味ですか": "ja", "请看 https://example.com 这是什么": "zh", "\"see you\" 是什么意思": "zh", "https://example.com 좀 봐 줘": "ko", "\"good luck\"이 무슨 뜻이야?": "ko",
		"translate this for me: 駅はどこですか": "en", "SomeError: the value is not in the list, warum denn?": "de", "il a dit 'this is not my problem' et il est parti": "fr",
		"git log --oneline почему пусто": "ru", "東京駅는 어디야?": "ko", "这个 ありがとう 是什么意思": "zh",
	} {
		if got := MessageLanguage(message); got != want {
			t.Errorf("%q: %q, want %s", message, got, want)
		}
	}
}
