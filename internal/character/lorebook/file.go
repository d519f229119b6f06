package lorebook

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Mistake is what is wrong with a book's file, and where.
type Mistake struct {
	Line, Column int
	Key, Text    string
}

// Parse reads a book's file. It is strict: a key that does not exist is a mistake, and so is a value that makes no sense.
func Parse(file string, data []byte) (Book, []Mistake) {
	b := Book{File: file}
	d := toml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	err := d.DisallowUnknownFields().Decode(&b)
	var strict *toml.StrictMissingError
	var broken *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var all []Mistake
		for _, e := range strict.Errors {
			line, column := e.Position()
			all = append(all, Mistake{Line: line, Column: column, Key: strings.Join(e.Key(), "."), Text: "no such key"})
		}
		return b, all
	case errors.As(err, &broken):
		line, column := broken.Position()
		return b, []Mistake{{Line: line, Column: column, Key: strings.Join(broken.Key(), "."), Text: strings.TrimPrefix(broken.Error(), "toml: ")}}
	case err != nil:
		return b, []Mistake{{Text: strings.TrimPrefix(err.Error(), "toml: ")}}
	}
	return b, b.check()
}

// check looks for values that make no sense.
func (b *Book) check() (all []Mistake) {
	wrong := func(i int, key, format string, values ...any) {
		all = append(all, Mistake{Key: fmt.Sprintf("entry[%d].%s", i, key), Text: fmt.Sprintf(format, values...)})
	}
	for key, n := range map[string]int{"min_activations": b.MinActivations, "min_activations_depth": b.MinActivationsDepth} {
		if n < 0 {
			all = append(all, Mistake{Key: key, Text: fmt.Sprintf("%d is out of range; use 0 or more", n)})
		}
	}
	for i, e := range b.Entries {
		if !slices.Contains([]Logic{"", AndAny, AndAll, NotAny, NotAll}, e.Logic) {
			wrong(i, "logic", "%q is not allowed; use one of and_any, and_all, not_any, not_all", e.Logic)
		}
		if !slices.Contains(Positions(), e.Position) && e.Position != "" {
			wrong(i, "position", "%q is not allowed; use one of %s", e.Position, joined(Positions()))
		}
		if (e.Position == InOutlet) != (strings.TrimSpace(e.Outlet) != "") {
			wrong(i, "outlet", "is the name of an outlet, where position is \"outlet\", and there alone")
		}
		if !slices.Contains([]Role{"", System, User, Assistant}, e.Role) {
			wrong(i, "role", "%q is not allowed; use one of system, user, assistant", e.Role)
		}
		for _, field := range e.Match {
			if !slices.Contains(Fields(), field) {
				wrong(i, "match", "%q is not allowed; use one of %s", field, strings.Join(Fields(), ", "))
			}
		}
		if p := or(e.Probability, 100); p < 0 || p > 100 {
			wrong(i, "probability", "%d is out of range; use 0 to 100", p)
		}
		for key, n := range map[string]int{"sticky": e.Sticky, "cooldown": e.Cooldown, "delay": e.Delay, "delay_until_recursion": e.DelayUntilRecursion, "depth": or(e.Depth, 0), "scan_depth": or(e.ScanDepth, 0)} {
			if n < 0 {
				wrong(i, key, "%d is out of range; use 0 or more", n)
			}
		}
	}
	return all
}

// Positions lists all positions.
func Positions() []Position {
	return []Position{BeforeChar, AfterChar, NoteTop, NoteBottom, AtDepth, BeforeExamples, AfterExamples, InPersonality, InScenario, InOutlet}
}

// Fields lists the texts of a character that entries can be looked for in.
func Fields() []string {
	return []string{"description", "personality", "scenario", "depth", "examples"}
}

func joined[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

// Encode writes a book's file.
func (b Book) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := toml.NewEncoder(&out)
	e.SetIndentTables(false)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("write lorebook: %w", err)
	}
	return out.Bytes(), nil
}
