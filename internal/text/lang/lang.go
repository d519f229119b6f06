// Package lang holds what the program knows of languages, a file a language: de.toml has the stop words of German, its
// question words, months, negations and the phrases by which a message in German is understood. Whoever adds a
// language adds its file and nothing else.
//
// Language describes the tables. Most of them serve texts of all languages at once: people mix these, and many a
// message is too short to tell its language. All returns the tables joined from all files, Of those of one language, for
// what is written in it. There is nothing here but data: text and the rooms above it make word sets, phrases and
// regular expressions of it.
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

// Words are single words with blanks between them.
type Words string

// Fields returns the words.
func (w Words) Fields() []string { return strings.Fields(string(w)) }

// Has reports whether a word is one of these, as it is written here.
func (w Words) Has(word string) bool { return slices.Contains(w.Fields(), word) }

// Phrases have commas between them.
type Phrases string

// Pattern is a part of a regular expression: alternatives, of which one is to match.
type Pattern []string

// String returns the pattern as it stands between "(?:" and ")".
func (p Pattern) String() string { return strings.Join(p, "|") }

// Row is a list of names by number, such as those of the months. Forms of one name have slashes between them, and "-" is a
// name that is left out.
type Row string

// Rows are lists, or whatever else a room takes apart by itself.
type Rows []string

// All ranges over the forms of all names, each with the number of its name, from 0 on.
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

// builtIn are the languages of the files beside this one. A file that cannot be read is a broken build.
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

// All returns the tables of all languages joined, English first. What belongs to one language alone, such as its stems, is
// empty. The result is shared: it must not be changed.
func All() *Language { return &builtIn().all }

// Of returns the tables of the language with an ISO 639-1 code, all of them empty where there is no file of that name. The
// result is shared: it must not be changed.
func Of(code string) *Language {
	if l := builtIn().of[code]; l != nil {
		return l
	}
	return &Language{}
}

// Codes returns the codes of the languages, that of English first.
func Codes() []string { return slices.Clone(builtIn().codes) }
