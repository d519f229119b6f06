package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestUsageErrors writes each command wrongly, in all ways that there are for it. Each error names the cause and what to write, without
// words of the parser.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	const path = "testdata/usage/errors.txtar"
	data, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	c := newConversation(t, &txtar.Archive{})
	root, err := kong.New(&commands{}, kong.Name("familiar"), variables(""))
	if err != nil {
		t.Fatal(err)
	}
	var each func(n *kong.Node)
	each = func(n *kong.Node) {
		var said strings.Builder
		for _, args := range usageErrorsOf(n) {
			code, out, complaint := c.command(nil, args...)
			if code != exitUsage || out != "" {
				t.Errorf("%q: exit code %d, %s", args, code, out)
			}
			for _, word := range []string{"EOL", "expect", "bit int", "bool", "string"} {
				if strings.Contains(complaint, word) {
					t.Errorf("%q: %s", args, complaint)
				}
			}
			fmt.Fprintf(&said, "$ familiar %s\n%s", strings.Join(args, " "), complaint)
		}
		golden(t, path, archive, strings.TrimSpace("familiar "+commandPath(n)), said.String())
		for _, child := range n.Children {
			each(child)
		}
	}
	each(root.Model.Node)
}

// usageErrorsOf are command lines of a command that cannot be read.
func usageErrorsOf(n *kong.Node) (all [][]string) {
	path := strings.Fields(commandPath(n))
	add := func(args ...string) { all = append(all, append(path[:len(path):len(path)], args...)) }
	add("--colour=blue")
	if len(n.Children) > 0 {
		if add("tell"); len(path) > 0 && n.DefaultCmd == nil { // familiar alone shows its help
			add()
		}
	}
	for _, f := range flagsOf(n) {
		switch {
		case f.Name == "help" || f.Name == "version":
		case f.IsBool():
			add("--" + f.Name + "=perhaps")
		default:
			add("--" + f.Name)
			if add("--"+f.Name, "--json"); f.Enum != "" || f.Target.CanInt() {
				add("--" + f.Name + "=seven")
			}
		}
	}
	enough, many := []string{}, false
	for _, p := range n.Positional {
		if p.Required {
			add(enough...)
		}
		if p.IsCumulative() && p.Target.Type().Elem().Kind() == reflect.Int64 {
			add("seven")
		}
		word := "1"
		if p.Enum != "" {
			add("seven")
			word, _, _ = strings.Cut(p.Enum, ",")
		}
		enough, many = append(enough, word), many || p.IsCumulative()
	}
	if n.Leaf() && !many {
		add(append(enough, "more")...)
	}
	return all
}

// TestNoTerminal: nobody sits at /dev/null, which is a device of characters as a terminal is.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) {
		t.Errorf("%s is taken for a terminal", os.DevNull)
	}
}
