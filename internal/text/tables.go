package text

import (
	"regexp"

	"familiar/internal/text/lang"
)

var SpelledNumbers = Set(lang.All().Number.Words)

var Negations = Set(lang.All().Grammar.Negations)

func Denies(s string) bool {
	for _, w := range Words(s) {
		if Negations[w.Key] {
			return true
		}
	}
	return false
}

// YearPattern is one from 1000 to 2099.
var YearPattern = regexp.MustCompile(`\b(1[0-9]{3}|20[0-9]{2})\b`)

// StopWords carry no meaning in a search.
var StopWords = Set(lang.All().Grammar.StopWords)

// Prepositions are the prepositions that a slot begins with.
var Prepositions = Set(lang.All().Grammar.Prepositions)

// Pronouns stand for somebody or something named before. The value tells what: "he" a person, "it" a thing, and
// with an s the owner of something.
var Pronouns = ByWord(lang.All().Grammar.Pronouns)
