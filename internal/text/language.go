package text

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// nameWords are function words that names carry into all languages: Los Angeles, El Niño, De Niro, Die Hard, La La
// Land.
var nameWords = LazySet(func() WordList { return AllTables().Grammar.NameWords })

// MostlyLatin reports whether at least half of a text's letters are Latin.
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

// Language guesses the language of a text. It returns an ISO 639-1 code, or "" if the language is unclear. A script or
// its special letters decide, otherwise the language with the most distinct function words. A single word that also
// occurs in names decides nothing.
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
		of := candidatesOf()[w.Key]
		if of == 0 || slices.Contains(seen, w.Key) {
			continue
		}
		seen = append(seen, w.Key)
		for i := range candidates() {
			if of>>i&1 == 1 {
				counts[i]++
				sure[i] = sure[i] || counts[i] > 1 || !nameWords()[w.Key]
			}
		}
	}
	best, most, tied := "", 0, false
	for i, l := range candidates() {
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

// candidates are the languages recognised by function words. English is first and wins a tie.
var candidates = sync.OnceValue(func() []string {
	return slices.DeleteFunc(Languages(), func(code string) bool { return TablesOf(code).Grammar.FunctionWords == "" })
})

// maxCandidates limits their number to the bits of an integer.
const maxCandidates = 64

// candidatesOf maps each function word to its languages, one bit each.
var candidatesOf = sync.OnceValue(func() map[string]uint64 {
	all := map[string]uint64{}
	for i, code := range candidates() {
		for w := range Set(TablesOf(code).Grammar.FunctionWords) {
			all[w] |= 1 << i
		}
	}
	return all
})

// alphabet is a set of letters that identifies a language.
type alphabet struct {
	code string
	has  func(letter rune) bool
}

// alphabets lists the languages that have a script, or letters of a script, to themselves. Letters come before scripts.
var alphabets = sync.OnceValue(func() []alphabet {
	var byLetters, byScript []alphabet
	for _, code := range Languages() {
		if letters := TablesOf(code).Letters; letters != "" {
			byLetters = append(byLetters, alphabet{code, func(r rune) bool { return strings.ContainsRune(letters, r) }})
		}
		for _, name := range TablesOf(code).Scripts {
			byScript = append(byScript, alphabet{code, func(r rune) bool { return unicode.Is(unicode.Scripts[name], r) }})
		}
	}
	return append(byLetters, byScript...)
})

// byScript returns the language of the first letter that identifies one, or "". Chinese letters occur in Japanese too,
// next to its own.
func byScript(text string) string {
	chinese := ""
	for _, r := range text {
		i := slices.IndexFunc(alphabets(), func(a alphabet) bool { return a.has(r) })
		switch {
		case i < 0:
		case alphabets()[i].code != "zh":
			return alphabets()[i].code
		default:
			chinese = "zh"
		}
	}
	return chinese
}
