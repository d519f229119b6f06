// Package catalogue has what the program says by itself in other languages than English: replies without a model, notices, answers
// to commands, and the commands themselves. There is a file a language, de.toml for German, with the English sentence on the left
// and its translation on the right. A sentence that is not there stays English.
//
// A sentence may be a format for [fmt.Sprintf]. Its translation takes the same values, in any order: %[2]s.
//
// The English sentences stand where they are said. A test of package bot compares them with the files: whoever adds or changes a
// sentence changes every file.
package catalogue

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// English is the language of the sentences themselves.
const English = "en"

//go:embed *.toml
var files embed.FS

// translations are the files by language, each a sentence's translation by the sentence. A file that cannot be read is a broken build.
var translations = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	names, err := fs.Glob(files, "*.toml")
	for _, name := range names {
		data, readErr := files.ReadFile(name)
		one := map[string]string{}
		if err = readErr; err == nil {
			err = toml.Unmarshal(data, &one)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
		all[strings.TrimSuffix(name, ".toml")] = one
	}
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	return all
})

// Languages returns the ISO 639-1 codes of the languages but English, sorted.
func Languages() []string {
	var all []string
	for code := range translations() {
		all = append(all, code)
	}
	slices.Sort(all)
	return all
}

// Language returns the code of the language that a BCP 47 tag names, such as "pt" for "pt-BR", or English where that is none of ours.
func Language(tag string) string {
	code, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if translations()[code] == nil {
		return English
	}
	return code
}

// Say returns a sentence in a language, with the values that it has room for.
func Say(language, sentence string, values ...any) string {
	if translated, ok := translations()[language][sentence]; ok {
		sentence = translated
	}
	if len(values) == 0 {
		return sentence
	}
	return fmt.Sprintf(sentence, values...)
}

// In returns a sentence in all languages that have it, by code.
func In(sentence string) map[string]string {
	all := map[string]string{}
	for code, one := range translations() {
		if translated, ok := one[sentence]; ok {
			all[code] = translated
		}
	}
	return all
}

// Sentences returns the sentences that are translated into a language, sorted.
func Sentences(language string) []string {
	var all []string
	for sentence := range translations()[language] {
		all = append(all, sentence)
	}
	slices.Sort(all)
	return all
}
