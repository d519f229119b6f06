package websearch

import (
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// terms are the words of s that carry meaning, stemmed; in scripts without spaces, pairs of characters.
func terms(s, lang string) []string {
	var out []string
	for _, w := range split(s) {
		if unspaced(s[w.start:w.end]) {
			out = append(out, pairs(s[w.start:w.end])...)
		} else if meaningful(w.key) {
			out = append(out, stem(w.key, lang))
		}
	}
	return out
}

func meaningful(key string) bool { return !stopWords[key] && (len(key) > 1 || numeric(key)) }

func pairs(s string) []string {
	r := []rune(s)
	if len(r) < 3 {
		return []string{s}
	}
	out := make([]string, 0, len(r)-1)
	for i := range len(r) - 1 {
		out = append(out, string(r[i:i+2]))
	}
	return out
}

func stem(w, lang string) string {
	switch lang {
	case "", "en":
		return english.Stem(w, false)
	case "es":
		return spanish.Stem(w, false)
	case "fr":
		return french.Stem(w, false)
	case "ru":
		return russian.Stem(w, false)
	}
	if utf8.RuneCountInString(w) > 6 { // of languages without a stemmer, the beginning of a long word
		return string([]rune(w)[:6])
	}
	return w
}
