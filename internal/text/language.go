package text

import (
	"slices"
	"strings"
	"unicode"
)

// functionWords are the small words that give a language away: words of one language that are none, or rare,
// in the others of the table.
var functionWords = map[string]map[string]bool{
	"en": Set("the is are of and what who how does do did in to for which with that was were will when where it you on there i my me am have feel about"),
	"de": Set("der die das und ist nicht ein eine wer wie wann wo mit auf für von den dem im wird gibt welche hat es ich du bitte sind morgen heute wetter macht mache"),
	"fr": Set("le la les des est et une du qui quel quelle dans pour sur avec où pourquoi comment combien qu je tu ce cette aujourd hui pas au aux en temps fait"),
	"es": Set("el la los las es y una del quién qué cuál cuándo dónde cómo por para con en hoy cuánto cuántos está hay mañana hace qué tiempo hacer puedo"),
	"pt": Set("o os as um uma é e do da dos das quem qual quando onde como por para com em no na hoje quanto não está tem você previsão tempo fazer posso"),
	"it": Set("il lo gli un è di della del chi cosa quale quando dove perché come per con oggi quanto sono nel che tempo fa domani"),
	"nl": Set("de het een en is van wie wat wanneer waar hoe welke met voor op niet vandaag ik je zijn morgen weer"),
	"pl": Set("jest na nie kto co kiedy gdzie jaki jaka jak dlaczego się czy dzisiaj ile pogoda"),
	"tr": Set("ve bir bu ne kim nerede nasıl için mi mı bugün kaç hangi hava"),
	"sv": Set("och är en ett det som vem vad när var hur inte på för idag med vädret"),
}

// nameWords are the function words that names carry into every language: Los Angeles, El Niño, De Niro, Die Hard, La La
// Land.
var nameWords = Set("el la los las y de del der die das den dem von im le les du des un une a os as o e da do dos em no na il lo gli di della van het en ein per con bir bu ve mi och nie na")

// Language guesses the language of a text: an ISO 639-1 code, or "" when it cannot tell. What decides is how many
// function words of a language it has, each counted once. A single one that stands in names, too, decides nothing.
func Language(text string, words []Word) string {
	if !ASCII(text) {
		if l := byScript(text); l != "" {
			return l
		}
	}
	var counts [len(spoken)]int
	var telling [len(spoken)]bool
	var heard []string // each counts once
	for _, w := range words {
		of := spokenIn[w.Key]
		if of == 0 || slices.Contains(heard, w.Key) {
			continue
		}
		heard = append(heard, w.Key)
		for i := range spoken {
			if of>>i&1 == 1 {
				counts[i]++
				telling[i] = telling[i] || counts[i] > 1 || !nameWords[w.Key]
			}
		}
	}
	best, most, tied := "", 0, false
	for i, l := range spoken {
		switch n := counts[i]; {
		case n == 0 || l != "en" && !telling[i] && !(l == "es" && strings.ContainsAny(text, "¿¡")):
		case n > most:
			best, most, tied = l, n, false
		case n == most:
			tied = true
		}
	}
	if tied && best != "en" {
		return ""
	}
	return best
}

// spoken are the languages of the table, of which the first wins a tie.
var spoken = [...]string{"en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "sv"}

// spokenIn are the languages of a function word, a bit for each.
var spokenIn = func() map[string]uint16 {
	all := map[string]uint16{}
	for i, l := range spoken {
		for w := range functionWords[l] {
			all[w] |= 1 << i
		}
	}
	return all
}()

// byScript tells the languages that have a script to themselves.
func byScript(text string) string {
	han := false
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			return "ja"
		case unicode.Is(unicode.Hangul, r):
			return "ko"
		case unicode.Is(unicode.Han, r):
			han = true
		case unicode.Is(unicode.Cyrillic, r):
			if r == 'і' || r == 'ї' || r == 'є' || r == 'ґ' {
				return "uk"
			}
			return "ru"
		case unicode.Is(unicode.Arabic, r):
			return "ar"
		case unicode.Is(unicode.Hebrew, r):
			return "he"
		case unicode.Is(unicode.Greek, r):
			return "el"
		case unicode.Is(unicode.Thai, r):
			return "th"
		case unicode.Is(unicode.Devanagari, r):
			return "hi"
		}
	}
	if han {
		return "zh"
	}
	return ""
}
