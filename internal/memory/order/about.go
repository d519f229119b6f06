package order

import (
	"slices"
	"strings"

	"familiar/internal/text"
)

// About reports whether a text is about its speaker, in the first person, or about an unnamed other person. If the language is unclear, the
// first person of any language counts.
func About(s string) (own, other bool) {
	words := tokens(s)
	code := text.MessageLanguage(s)
	for _, v := range vocabularies() {
		if code != "" && v.code != code {
			continue
		}
		own = own || v.aboutSpeaker(s, words) && (code != "" || len(v.endings) == 0)
		other = other || v.aboutOthers(s, words)
	}
	return own, other && !own
}

// Naming returns a function that reports whether a statement is about what a text names. Words for the speaker do not count.
func Naming(said string) func(statement string) bool {
	words, parts := tokens(said), []string(nil)
	for _, v := range vocabularies() {
		if !v.unspaced {
			words = slices.DeleteFunc(words, func(w token) bool { return v.own.has(w.key) })
		} else if text.Unspaced(said) && v.writes(said) {
			parts = append(parts, v.essence(said)...)
		}
	}
	if text.Unspaced(said) {
		return func(statement string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(statement, part) })
		}
	}
	named := ""
	for _, w := range words {
		named += " " + said[w.from:w.to]
	}
	wanted := text.Unique(text.Terms(named, ""))
	return func(statement string) bool {
		return len(wanted) > 0 && text.Common(text.Unique(text.Terms(statement, "")), wanted) == len(wanted)
	}
}

// essence returns what is left of a text in a script without spaces when words for the speaker and for what was said are taken out.
func (v *vocabulary) essence(said string) []string {
	var all []string
	for _, words := range []wordSet{v.own, v.me, v.known, v.this, v.about} {
		all = append(all, words.list...)
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	for _, word := range all {
		said = strings.ReplaceAll(said, word, " ")
	}
	return strings.Fields(said)
}
