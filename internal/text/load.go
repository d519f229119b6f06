package text

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// languages holds the languages of a folder.
type languages struct {
	codes []string
	of    map[string]*Tables
	all   Tables
}

// load reads all files of a folder, which must include English, and for each the file of the same name in speech, if
// there is one. An error names the file and line.
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
