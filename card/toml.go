package card

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Problem is something that is wrong with a lorebook or a script. The rest of the file keeps working.
type Problem struct {
	Book         string // Book.File of the lorebook; empty for a script
	Line, Column int    // in the file, both from 1, the column in bytes; 0 if the problem has no place
	Key          string // a dotted TOML key, or the item: "entry 3", "script Actions"; may be empty
	Text         string // what is wrong
	Cure         string // what to do about it; may be empty
}

// String returns the problem on one line.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	for _, part := range []string{p.Book, p.Key} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	b.WriteString(p.Text)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return b.String()
}

// decodeTOML reads a file strictly: a key that to has no field for is a problem.
func decodeTOML(data []byte, to any) []Problem {
	err := toml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff")))).DisallowUnknownFields().Decode(to)
	var strict *toml.StrictMissingError
	var broken *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var all []Problem
		for _, e := range strict.Errors {
			line, column := e.Position()
			all = append(all, Problem{Line: line, Column: column, Key: strings.Join(e.Key(), "."), Text: "no such key"})
		}
		return all
	case errors.As(err, &broken):
		line, column := broken.Position()
		return []Problem{{Line: line, Column: column, Key: strings.Join(broken.Key(), "."), Text: strings.TrimPrefix(broken.Error(), "toml: ")}}
	case err != nil:
		return []Problem{{Text: strings.TrimPrefix(err.Error(), "toml: ")}}
	}
	return nil
}
