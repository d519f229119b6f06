package text

import (
	"slices"
	"strings"
	"unicode"

	"familiar/internal/text/lang"
)

// nameWords are the function words that names carry into every language: Los Angeles, El Niño, De Niro, Die Hard, La La
// Land.
var nameWords = Set(lang.All().Grammar.NameWords)

// Language guesses the language of a text: an ISO 639-1 code, or "" when it cannot tell. What decides is how many
// function words of a language it has, each counted once. A single one that stands in names, too, decides nothing.
func Language(text string, words []Word) string {
	if !ASCII(text) {
		if l := byScript(text); l != "" {
			return l
		}
	}
	var counts [maxSpoken]int
	var telling [maxSpoken]bool
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

// spoken are the languages that are told by their function words: those that are none, or rare, in the others. English,
// which is first, wins a tie.
var spoken = slices.DeleteFunc(lang.Codes(), func(code string) bool { return lang.Of(code).Grammar.FunctionWords == "" })

// maxSpoken is how many these may be.
const maxSpoken = 64

// spokenIn are the languages of a function word, a bit for each.
var spokenIn = func() map[string]uint64 {
	all := map[string]uint64{}
	for i, code := range spoken {
		for w := range Set(lang.Of(code).Grammar.FunctionWords) {
			all[w] |= 1 << i
		}
	}
	return all
}()

// alphabet says which letters tell a language.
type alphabet struct {
	code string
	has  func(letter rune) bool
}

// alphabets are those of the languages with a script, or letters of one, to themselves. Letters come first.
var alphabets = func() []alphabet {
	var byLetters, byScript []alphabet
	for _, code := range lang.Codes() {
		if letters := lang.Of(code).Letters; letters != "" {
			byLetters = append(byLetters, alphabet{code, func(r rune) bool { return strings.ContainsRune(letters, r) }})
		}
		for _, name := range lang.Of(code).Scripts {
			byScript = append(byScript, alphabet{code, func(r rune) bool { return unicode.Is(unicode.Scripts[name], r) }})
		}
	}
	return append(byLetters, byScript...)
}()

// byScript tells the languages that have letters to themselves, by the first of these. Those of Chinese stand in Japanese
// too, beside its own.
func byScript(text string) string {
	chinese := ""
	for _, r := range text {
		i := slices.IndexFunc(alphabets, func(a alphabet) bool { return a.has(r) })
		switch {
		case i < 0:
		case alphabets[i].code != "zh":
			return alphabets[i].code
		default:
			chinese = "zh"
		}
	}
	return chinese
}
