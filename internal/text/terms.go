package text

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
)

// IDF is the inverse document frequency of BM25: what a term is worth that stands in some of the texts. The rarer it
// is, the more (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
func IDF(in, of int) float64 {
	return math.Log(1 + (float64(of)-float64(in)+0.5)/(float64(in)+0.5))
}

// Terms returns the words of s that carry meaning, stemmed; in scripts without spaces, pairs of characters. They are
// in the order of the text, and may come again.
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

// ContentWords returns the words of s that carry meaning, as written.
func ContentWords(s string) []Word {
	return slices.DeleteFunc(Words(s), func(w Word) bool { return !Meaningful(w.Key) })
}

// Meaningful reports whether a word, by its key, says something by itself: a stop word does not.
func Meaningful(key string) bool { return !StopWords[key] && (len(key) > 1 || Numeric(key)) }

// Numeric reports whether a word is a number.
func Numeric(key string) bool { return key != "" && IsDigit(key[0]) }

// Pairs returns the pairs of neighbouring characters of s, which stand for words where a script has no spaces.
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

// Stem returns the stem of a word, by its key: in English where the language is "".
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
