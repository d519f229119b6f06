package text

import (
	"archive/zip"
	"bytes"
	"embed"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
)

// WordList are words separated by spaces.
type WordList string

// Fields returns the words.
func (w WordList) Fields() []string { return strings.Fields(string(w)) }

// Has reports whether a word is in the list, exactly as written.
func (w WordList) Has(word string) bool { return slices.Contains(w.Fields(), word) }

// PhraseList are phrases separated by commas.
type PhraseList string

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

// files holds the languages. Each has one file: lang/de.toml has the German stop words, question words, months, negations and the
// phrases by which a message in German is understood. To add a language, add its file and nothing else.
//
//go:embed lang/*.toml
var files embed.FS

// speech has the files of the folder lang/speech, which are long, packed: go test ./internal/text -run Speech -update packs them.
//
//go:embed lang/speech.zip
var speech []byte

// builtIn holds the embedded languages. An invalid file panics, since it means a broken build.
var builtIn = sync.OnceValue(func() *languages {
	packed, err := zip.NewReader(bytes.NewReader(speech), int64(len(speech)))
	if err != nil {
		panic("text: read speech: " + err.Error())
	}
	folder, err := fs.Sub(files, "lang")
	if err != nil {
		panic("text: " + err.Error())
	}
	l, err := load(folder, packed)
	if err != nil {
		panic("text: " + err.Error())
	}
	return l
})

// AllTables returns the tables of all languages merged, English first. Tables that make sense for only one language, such as
// stems, are empty. The result is shared and must not be changed.
func AllTables() *Tables { return &builtIn().all }

// TablesOf returns the tables of a language by its ISO 639-1 code. They are empty if there is no such file. The result is
// shared and must not be changed.
func TablesOf(code string) *Tables {
	if l := builtIn().of[code]; l != nil {
		return l
	}
	return &Tables{}
}

// LanguageNamed returns the code of the language that a text names, as "German" or "auf Deutsch", or "".
func LanguageNamed(s string) string {
	for _, code := range Languages() {
		names := TablesOf(code).Names.Fields()
		for word := range strings.FieldsSeq(strings.ToLower(s)) {
			if word = strings.Trim(word, ".,!()"); word == code || slices.Contains(names, word) {
				return code
			}
		}
	}
	return ""
}

// Languages returns the codes of the languages, English first.
func Languages() []string { return slices.Clone(builtIn().codes) }
