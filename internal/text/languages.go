package text

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
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

// files holds the languages, packed: go test ./internal/text -run Packed -update packs them. Each has one file. lang/de.toml has the German
// stop words, question words, months and negations. It also has the phrases by which a message in German is understood. lang/speech has the
// longest tables of some. To add a language, add its file and nothing else.
//
//go:embed lang.zip
var files []byte

// builtIn holds the embedded languages. An invalid file panics, since it means a broken build.
var builtIn = sync.OnceValue(func() *languages {
	packed, err := zip.NewReader(bytes.NewReader(files), int64(len(files)))
	if err != nil {
		panic("text: read the languages: " + err.Error())
	}
	folder, err := fs.Sub(packed, "lang")
	speech, failed := fs.Sub(packed, "lang/speech")
	if err = errors.Join(err, failed); err != nil {
		panic("text: " + err.Error())
	}
	l, err := load(folder, speech)
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

// EnglishName returns the English name of a language, or "" if its code is unknown.
func EnglishName(code string) string {
	if i := slices.Index(Languages(), code); i >= 0 {
		name := TablesOf(code).Names.Fields()[0]
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return ""
}

// Languages returns the codes of the languages, English first.
func Languages() []string { return slices.Clone(builtIn().codes) }

// languages holds the languages of a folder.
type languages struct {
	codes []string
	of    map[string]*Tables
	all   Tables
}

// load reads all files of a folder, which must include English. For each it reads the file of the same name in speech, if there is one. An
// error names the file and line.
func load(folder, speech fs.FS) (*languages, error) {
	names, err := fs.Glob(folder, "*.toml")
	if err != nil {
		return nil, fmt.Errorf("list languages: %w", err)
	}
	const english = "en.toml"
	names = append([]string{english}, slices.DeleteFunc(names, func(name string) bool { return name == english })...)
	l := &languages{of: map[string]*Tables{}}
	var each []reflect.Value
	for _, name := range names {
		data, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, fmt.Errorf("read language: %w", err)
		}
		more, err := fs.ReadFile(speech, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read speech: %w", err)
		}
		one, err := parse(append(append(data, '\n'), more...))
		if err != nil {
			return nil, fmt.Errorf("%s:%w", name, err)
		}
		code := strings.TrimSuffix(name, ".toml")
		l.codes = append(l.codes, code)
		l.of[code] = one
		each = append(each, reflect.ValueOf(one).Elem())
	}
	join(reflect.ValueOf(&l.all).Elem(), each)
	return l, nil
}

// parse parses a file. An error begins with the line.
func parse(data []byte) (*Tables, error) {
	one := &Tables{}
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(one)
	if unknown, is := errors.AsType[*toml.StrictMissingError](err); is {
		first := unknown.Errors[0]
		line, _ := first.Position()
		return nil, fmt.Errorf("%d: there is no table %s", line, strings.Join(first.Key(), "."))
	}
	if wrong, is := errors.AsType[*toml.DecodeError](err); is {
		line, _ := wrong.Position()
		return nil, fmt.Errorf("%d: %w", line, wrong)
	}
	return one, err
}

// join merges the tables of several languages. Fields of other types belong to one language and are skipped.
func join(all reflect.Value, each []reflect.Value) {
	switch t := all.Type(); {
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			var tables []reflect.Value
			for _, one := range each {
				if table := one.Field(i); !table.IsZero() {
					tables = append(tables, table)
				}
			}
			join(all.Field(i), tables)
		}
	case t == reflect.TypeFor[map[string]WordList]():
		all.Set(reflect.ValueOf(joinByKey[WordList](each, " ")))
	case t == reflect.TypeFor[map[string]PhraseList]():
		all.Set(reflect.ValueOf(joinByKey[PhraseList](each, ", ")))
	case t == reflect.TypeFor[WordList]():
		all.SetString(strings.Join(texts(each), " "))
	case t == reflect.TypeFor[PhraseList]():
		all.SetString(strings.Join(texts(each), ", "))
	case t == reflect.TypeFor[Row]():
		all.SetString(beside(texts(each)))
	case t == reflect.TypeFor[Pattern](), t == reflect.TypeFor[Rows]():
		for _, one := range each {
			all.Set(reflect.AppendSlice(all, one))
		}
	}
}

func joinByKey[T ~string](each []reflect.Value, separator T) map[string]T {
	all := map[string]T{}
	for _, one := range each {
		for key, table := range one.Interface().(map[string]T) {
			if all[key] != "" {
				table = all[key] + separator + table
			}
			all[key] = table
		}
	}
	return all
}

func texts(values []reflect.Value) []string {
	var all []string
	for _, v := range values {
		all = append(all, v.String())
	}
	return all
}

// beside merges rows into one that has all their forms for each name.
func beside(rows []string) string {
	var names []string
	for _, row := range rows {
		for i, name := range strings.Fields(row) {
			if i == len(names) {
				names = append(names, name)
			} else {
				names[i] += "/" + name
			}
		}
	}
	return strings.Join(names, " ")
}
