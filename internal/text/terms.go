package text

import (
	"math"
	"slices"
)

// IDF is the inverse document frequency of BM25: what a term is worth that stands in some of the texts. The rarer it
// is, the more (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
func IDF(in, of int) float64 {
	return math.Log(1 + (float64(of)-float64(in)+0.5)/(float64(in)+0.5))
}

// Terms returns the words of s that carry meaning, stemmed; in scripts without spaces, pairs of characters. They are
// in the order of the text, and may come again.
func Terms(s, language string) []string {
	var out []string
	for _, w := range Words(s) {
		if Unspaced(s[w.Start:w.End]) {
			out = append(out, Pairs(s[w.Start:w.End])...)
		} else if Meaningful(w.Key) {
			out = append(out, Stem(w.Key, language))
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
