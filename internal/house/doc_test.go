package house

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of floors into doc/architecture.md")

const (
	tableBegin = "<!-- floors: written by go test ./internal/house -update -->\n"
	tableEnd   = "<!-- floors end -->\n"
)

// TestTable compares the table in doc/architecture.md with the plan.
func TestTable(t *testing.T) {
	name := filepath.Join(root(t), "doc", "architecture.md")
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(file), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		t.Fatalf("%s has no table between %q and %q", name, tableBegin, tableEnd)
	}
	want := before + tableBegin + table(plan()) + tableEnd + after
	if want == string(file) {
		return
	}
	if !*update {
		t.Fatal("doc/architecture.md shows other floors than internal/house/plan.txt: run go test ./internal/house -update")
	}
	if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table writes rooms as a table in Markdown, a row for each.
func table(rooms []planned) string {
	var b strings.Builder
	b.WriteString("| floor | room | what it is for |\n|---|---|---|\n")
	last := -1
	for _, r := range rooms {
		floor := ""
		if r.floor != last {
			floor = fmt.Sprint(r.floor)
		}
		last = r.floor
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", floor, strings.TrimPrefix(r.path, "internal/"), r.what)
	}
	return b.String()
}
