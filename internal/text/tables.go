package text

import (
	"maps"
	"regexp"
	"slices"

	"familiar/internal/text/lang"
)

// Set returns the words of a table as a set, by key.
func Set(table lang.Words) map[string]bool {
	out := map[string]bool{}
	for _, w := range table.Fields() {
		out[Fold(w)] = true
	}
	return out
}

// ByWord maps the words of tables, by key, to the names of the tables.
func ByWord(tables map[string]lang.Words) map[string]string {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for w := range Set(tables[name]) {
			out[w] = name
		}
	}
	return out
}

// Tables that several rooms look words up in, by key.
var (
	SpelledNumbers = Set(lang.All().Number.Words)
	Negations      = Set(lang.All().Grammar.Negations)
	StopWords      = Set(lang.All().Grammar.StopWords)    // say nothing in a search
	Prepositions   = Set(lang.All().Grammar.Prepositions) // begin a slot of a question

	// Pronouns stand for somebody or something that was named before: "he" for a person, "it" for a thing, "there" for a
	// place, and with an s for the owner of something.
	Pronouns = ByWord(lang.All().Grammar.Pronouns)
)

// YearPattern finds years from 1000 to 2099.
var YearPattern = regexp.MustCompile(`\b(1[0-9]{3}|20[0-9]{2})\b`)

// Denies reports whether a text has a negation.
func Denies(s string) bool { return ContainsAny(Words(s), Negations) }
