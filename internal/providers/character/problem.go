package character

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Invalid is why a character cannot be loaded: everything that is wrong with it.
type Invalid struct {
	Problems []Problem // never empty
}

// Problem is one thing wrong with one file.
type Problem struct {
	File   string // as the operator knows it
	Line   int    // from 1; 0 if the problem has no place in the file
	Column int    // in bytes, from 1
	Key    string // dotted; empty if the problem isn't about one
	Text   string // what is wrong
	Cure   string // what to do about it; may be empty
}

func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.Text)
	if p.Cure != "" {
		b.WriteString("; " + p.Cure)
	}
	return b.String()
}

// Error lists all problems, one a line.
func (e *Invalid) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// inOrder sorts problems as a reader meets them.
func inOrder(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
