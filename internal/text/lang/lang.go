// Package lang holds what the program knows about languages. Each language has one file: de.toml has the German stop words,
// question words, months, negations and the phrases by which a message in German is understood. To add a language, add
// its file and nothing else.
//
// Language describes the tables. Most of them serve texts of all languages at once, because people mix languages and many
// messages are too short to tell theirs. All returns the merged tables of all files, and Of the tables of one language.
// The package holds only data: package text and the packages above it make word sets, phrases and regular expressions
// from it.
package lang

import (
	"archive/zip"
	"bytes"
	"embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Words are words separated by spaces.
type Words string

// Fields returns the words.
func (w Words) Fields() []string { return strings.Fields(string(w)) }

// Has reports whether a word is in the list, exactly as written.
func (w Words) Has(word string) bool { return slices.Contains(w.Fields(), word) }

// Phrases are phrases separated by commas.
type Phrases string

// Pattern is a list of alternatives of a regular expression.
type Pattern []string

// String returns the alternatives for use inside "(?:" and ")".
func (p Pattern) String() string { return strings.Join(p, "|") }

// Row is a list of numbered names, such as month names. Slashes separate the forms of a name, and "-" is a missing
// name.
type Row string

// Rows are lists in a format that their user parses.
type Rows []string

// All yields the forms of all names, each with the number of its name, from 0.
func (r Row) All() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, name := range strings.Fields(string(r)) {
			for form := range strings.SplitSeq(name, "/") {
				if form != "-" && !yield(i, form) {
					return
				}
			}
		}
	}
}

// Name returns the first form of a name.
func (r Row) Name(number int) string {
	for i, form := range r.All() {
		if i == number {
			return form
		}
	}
	return ""
}

//go:embed *.toml
var files embed.FS

// speech has the files of the folder speech, which are long, packed: go test ./internal/text/lang -update packs them.
//
//go:embed speech.zip
var speech []byte

// builtIn holds the embedded languages. An invalid file panics, since it means a broken build.
var builtIn = sync.OnceValue(func() *languages {
	packed, err := zip.NewReader(bytes.NewReader(speech), int64(len(speech)))
	if err != nil {
		panic("lang: read speech: " + err.Error())
	}
	l, err := load(files, packed)
	if err != nil {
		panic("lang: " + err.Error())
	}
	return l
})

// All returns the tables of all languages merged, English first. Tables that make sense for only one language, such as
// stems, are empty. The result is shared and must not be changed.
func All() *Language { return &builtIn().all }

// Of returns the tables of a language by its ISO 639-1 code. They are empty if there is no such file. The result is
// shared and must not be changed.
func Of(code string) *Language {
	if l := builtIn().of[code]; l != nil {
		return l
	}
	return &Language{}
}

// Codes returns the codes of the languages, English first.
func Codes() []string { return slices.Clone(builtIn().codes) }
