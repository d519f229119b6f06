package doctor

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"familiar/internal/text"
)

// width is how wide a page is, in columns.
const width = 100

// mostRows is how many channels of a server are shown. The JSON has all.
const mostRows = 25

// View writes the findings for a terminal, and counts them by state.
func View(all []Finding) string { return Lines(all, 0) + "\n" + Sum(all) + "\n" }

// Lines writes the findings from a column on: one line each, what to do below, and the rows of tables in which something is missing.
func Lines(all []Finding, column int) string {
	names := 0
	for _, f := range all {
		names = max(names, utf8.RuneCountInString(f.Name()))
	}
	names = min(names, 34)
	var b strings.Builder
	margin := strings.Repeat(" ", column)
	indent := column + 9 + names + 2
	for _, f := range all {
		fmt.Fprintf(&b, "%s%-7s  %s  %s\n", margin, f.State, pad(f.Name(), names), wrap(f.Text, indent))
		if f.Cure != "" {
			b.WriteString(strings.Repeat(" ", indent) + "→ " + wrap(f.Cure, indent+2) + "\n")
		}
		if f.Table != nil && f.State != OK {
			f.Table.view(&b)
		}
	}
	return b.String()
}

// Sum counts the findings by state, in a sentence.
func Sum(all []Finding) string {
	return fmt.Sprintf("%d ok, %s, %s, %d skipped.", Count(all, OK), number(Count(all, Warning), "warning"), number(Count(all, Failure), "failure"), Count(all, Skipped))
}

// Name says what was examined: "model: qwen3", or "token" if there is only one.
func (f Finding) Name() string {
	if f.Subject == "" {
		return f.ID
	}
	return f.ID + ": " + f.Subject
}

// pad cuts or fills a name to a length in characters.
func pad(s string, n int) string {
	if r := []rune(s); len(r) > n {
		s = string(r[:n-1]) + "…"
	}
	return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s)))
}

// wrap breaks a text between words. All lines except the first begin at a column.
func wrap(s string, column int) string {
	indent := strings.Repeat(" ", column)
	return strings.TrimPrefix(text.Hanging(indent+strings.Join(strings.Fields(s), " "), column, width), indent)
}

// view writes the rows in which something is missing.
func (t *Table) view(b *strings.Builder) {
	lacking := slices.DeleteFunc(slices.Clone(t.Rows), func(r Row) bool { return !slices.Contains(r.Cells, Missing) })
	if len(lacking) == 0 {
		return
	}
	names := 0
	for _, r := range lacking {
		names = max(names, utf8.RuneCountInString(r.Name))
	}
	names = min(names, 30)
	shown := lacking[:min(len(lacking), mostRows)]
	for i, column := range t.Columns {
		fmt.Fprintf(b, "%s%s┌ %s\n", strings.Repeat(" ", 11+names), strings.Repeat("│ ", i), column)
	}
	for _, r := range shown {
		b.WriteString(strings.Repeat(" ", 9) + pad(r.Name, names) + "  ")
		for i, c := range r.Cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(c.Mark())
		}
		b.WriteByte('\n')
	}
	if more := len(lacking) - len(shown); more > 0 {
		fmt.Fprintf(b, "%sand %d more: familiar doctor --json has all\n", strings.Repeat(" ", 9), more)
	}
}
