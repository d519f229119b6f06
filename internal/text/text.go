// Package text holds what the program knows of languages, and analyses texts of any language. It knows their words, sentences, dates and
// numbers, and how similar two texts are. It knows neither where a text comes from nor what it is for.
//
// What is known of a language is data, one file per language in the folder lang. [Tables] says what a file holds
// (tables.go). [AllTables] merges the files and [TablesOf] returns one of them (languages.go).
//
// [Words] (words.go) cuts a text into words and gives each a key: lower case, without accents or a plural s. Tables of
// words and phrases (saying.go) are looked up by these keys. [Terms] returns the stems (words.go) of the meaningful
// words. [Language] guesses a text's language (language.go).
//
// [Sentences] and [MessageSentences] cut pages and messages (sentence.go). [Dates] (date.go), [Numbers] and [Quantities] (numbers.go) find
// what can be compared exactly. calendar.go parses relative times such as "yesterday", "last Friday" and "3 days ago". [MomentAt] finds
// them, [AbsoluteDates] replaces them by dates, and [DayIn] returns the day that a question names. A [Saying] (saying.go) is a message in
// which whole phrases are looked for. [Sum] (sum.go) and [Conversion] (unit.go) work out what a message asks for and nothing else.
// [IndexedWords] (runs.go) are the words by which a full-text index finds a text. Long texts are compared by hashes of runs of words
// (similar.go). [LatinLookalike] (language.go) and [LazyRegexp] (lazyregexp.go) are small tools.
package text
