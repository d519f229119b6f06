// Package text reads texts of any language: their words, sentences, dates and numbers, and how much two of them are
// alike. It knows nothing of where a text comes from or what it is for.
//
// Everything begins with [Words] (words.go), which cuts a text into words and gives each a key: small letters, no
// accents, no plural s (fold.go). Tables of words and of phrases are looked up by these keys (tables.go, phrases.go);
// the tables themselves are data, a file a language, in the room lang. [Terms] are the stems of the words that carry
// meaning (terms.go). [Language] guesses what language they are of (language.go).
//
// [Sentences] and [MessageSentences] cut pages and messages (sentence.go). [Dates] (date.go), [Numbers] (numbers.go) and
// [Quantities] (quantity.go) find what can be compared exactly. Texts are compared by sets of terms (sets.go) or, where
// there is much of them, by the hashes of runs of words (similar.go). [Hanging] (wrap.go), [Thousands] and [Size] (figure.go) write for people.
package text
