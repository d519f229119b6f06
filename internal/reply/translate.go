package reply

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// English is the language of the sentences themselves.
const English = "en"

// files has the catalogues, packed: go test ./internal/reply -run Packed -update packs them.
//
//go:embed catalogues.zip
var files []byte

// translations holds the files by language: translations by English sentence.
var translations = sync.OnceValue(func() map[string]map[string]string { return read("*.toml") })

// receipts holds the receipts of orders and what people ask of their memory, which more languages have than the rest.
var receipts = sync.OnceValue(func() map[string]map[string]string { return read("receipts/*.toml") })

// read reads files. An invalid file panics, since it means a broken build.
func read(pattern string) map[string]map[string]string {
	all := map[string]map[string]string{}
	packed, err := zip.NewReader(bytes.NewReader(files), int64(len(files)))
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	names, err := fs.Glob(packed, pattern)
	for _, name := range names {
		data, readErr := fs.ReadFile(packed, name)
		one := map[string]string{}
		if err = readErr; err == nil {
			err = toml.Unmarshal(data, &one)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			break
		}
		all[strings.TrimSuffix(path.Base(name), ".toml")] = one
	}
	if err != nil {
		panic("catalogue: " + err.Error())
	}
	return all
}

// Receipt formats a receipt in a language, given by its BCP 47 tag. The language may have no other sentences.
func Receipt(tag, sentence string, values ...any) string {
	language, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if translated, ok := receipts()[language][sentence]; ok {
		return fmt.Sprintf(translated, values...)
	}
	return Sentence(sentence).In(LanguageOf(language), values...)
}

// Languages returns the ISO 639-1 codes of the languages other than English, sorted.
func Languages() []string {
	var all []string
	for code := range translations() {
		all = append(all, code)
	}
	slices.Sort(all)
	return all
}

// LanguageOf returns the supported language of a BCP 47 tag, such as "pt" for "pt-BR". It returns "en" if it is not supported.
func LanguageOf(tag string) string {
	code, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if translations()[code] == nil {
		return English
	}
	return code
}

// Sentence is an English sentence of the program, or a format for [fmt.Sprintf]. A translation takes the same values in
// any order: %[2]s.
type Sentence string

// In formats the sentence in a language with the values that it takes.
func (s Sentence) In(language string, values ...any) string {
	said := string(s)
	if translated, ok := translations()[language][said]; ok {
		said = translated
	}
	if len(values) == 0 {
		return said
	}
	return fmt.Sprintf(said, values...)
}

// Translations returns the translations of a sentence, by language code.
func Translations(sentence string) map[string]string {
	all := map[string]string{}
	for _, some := range []map[string]map[string]string{translations(), receipts()} {
		for code, one := range some {
			if translated, ok := one[sentence]; ok {
				all[code] = translated
			}
		}
	}
	return all
}

// Translated returns the sentences that have a translation into a language, sorted.
func Translated(language string) []string {
	var all []string
	for sentence := range translations()[language] {
		all = append(all, sentence)
	}
	slices.Sort(all)
	return all
}
