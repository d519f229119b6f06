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

// MostlyLatin reports whether no more letters of a text are of other scripts than of the Latin one.
func MostlyLatin(text string) bool {
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return latin >= others
}

// Language guesses the language of a text: an ISO 639-1 code, or "" if it is not clear. A script or its letters decide, or
// else the language with the most function words in the text, each counted once. A single one that stands in names, too,
// decides nothing.
func Language(text string, words []Word) string {
	if !ASCII(text) {
		if l := byScript(text); l != "" {
			return l
		}
	}
	var counts [maxCandidates]int
	var sure [maxCandidates]bool
	var seen []string // each counts once
	for _, w := range words {
		of := candidatesOf[w.Key]
		if of == 0 || slices.Contains(seen, w.Key) {
			continue
		}
		seen = append(seen, w.Key)
		for i := range candidates {
			if of>>i&1 == 1 {
				counts[i]++
				sure[i] = sure[i] || counts[i] > 1 || !nameWords[w.Key]
			}
		}
	}
	best, most, tied := "", 0, false
	for i, l := range candidates {
		switch n := counts[i]; {
		case n == 0 || l != "en" && !sure[i] && !(l == "es" && strings.ContainsAny(text, "¿¡")):
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

// candidates are the languages that are recognised by their function words. English, which is first, wins a tie.
var candidates = slices.DeleteFunc(lang.Codes(), func(code string) bool { return lang.Of(code).Grammar.FunctionWords == "" })

// maxCandidates is how many there may be.
const maxCandidates = 64

// candidatesOf maps a function word to its languages, a bit for each.
var candidatesOf = func() map[string]uint64 {
	all := map[string]uint64{}
	for i, code := range candidates {
		for w := range Set(lang.Of(code).Grammar.FunctionWords) {
			all[w] |= 1 << i
		}
	}
	return all
}()

// alphabet is the letters by which a language is recognised.
type alphabet struct {
	code string
	has  func(letter rune) bool
}

// alphabets are those of the languages that have a script, or letters of one, to themselves. Letters come first.
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

// byScript returns the language of the first letter that gives one away, or "". The letters of Chinese are in Japanese, too,
// beside its own.
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
