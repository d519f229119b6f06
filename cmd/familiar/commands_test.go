package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

const commandsPath = "../../doc/commands.md"

// TestCommandsPage holds doc/commands.md against the program's own help.
func TestCommandsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(commandsPath)
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&commands{}, kong.Name("familiar"), variables(""))
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- commands: written by go test ./cmd/familiar -run CommandsPage -update -->\n", "<!-- commands end -->"
	before, rest, begun := strings.Cut(string(page), begin)
	_, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatal("doc/commands.md has no place for the commands")
	}
	want := before + begin + commandsTable(parser.Model) + end + after
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("doc/commands.md differs from the program's help; go test ./cmd/familiar -run CommandsPage -update writes it")
	}
	if err := os.WriteFile(commandsPath, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commandsTable has a line for each command: how it is called, its options, and what it does.
func commandsTable(model *kong.Application) string {
	var s strings.Builder
	s.WriteString("| Command | | Options |\n|---|---|---|\n")
	for _, n := range model.Leaves(true) {
		fmt.Fprintf(&s, "| `familiar %s", commandPath(n))
		for _, a := range n.Positional {
			s.WriteString(" " + strings.ReplaceAll(a.Summary(), "|", `\|`))
		}
		s.WriteString("` | " + n.Help + " | ")
		for _, f := range n.Flags {
			if !f.Hidden && f.Name != "help" {
				fmt.Fprintf(&s, "`--%s` ", f.Name)
			}
		}
		s.WriteString("|\n")
	}
	return s.String()
}
