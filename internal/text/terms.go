package text

import (
	"math"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// IDF is BM25's idf.
func IDF(in, of int) float64 {
	return math.Log(1 + (float64(of)-float64(in)+0.5)/(float64(in)+0.5))
}

// Terms are the words of s that carry meaning, stemmed; in scripts without spaces, pairs of characters.
func Terms(s, lang string) []string {
	var out []string
	for _, w := range Words(s) {
		if Unspaced(s[w.Start:w.End]) {
			out = append(out, Pairs(s[w.Start:w.End])...)
		} else if Meaningful(w.Key) {
			out = append(out, Stem(w.Key, lang))
		}
	}
	return out
}

func Meaningful(key string) bool { return !StopWords[key] && (len(key) > 1 || Numeric(key)) }

func Pairs(s string) []string {
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

func Stem(w, lang string) string {
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
