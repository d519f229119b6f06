package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestExamples takes every command's examples at their word: the command line knows what they say.
func TestExamples(t *testing.T) {
	for name, text := range examples {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			_, call, found := strings.Cut(line, "familiar ")
			if !found {
				t.Errorf("%s: no example: %s", name, line)
				continue
			}
			call, _, _ = strings.Cut(call, " | ")
			call, _, _ = strings.Cut(call, " < ")
			call, _, _ = strings.Cut(call, " > ")
			if !strings.HasPrefix(call, strings.TrimPrefix(name, "help")) && name != "help" {
				t.Errorf("%s: an example of something else: %s", name, line)
			}
			parser, err := kong.New(&commands{}, variables(""), kong.Exit(func(int) {}), kong.Writers(new(bytes.Buffer), new(bytes.Buffer)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(quotedFields(call)); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	parser, err := kong.New(&commands{}, variables(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range parser.Model.Leaves(false) {
		if examples[commandPath(node)] == "" {
			t.Errorf("familiar %s --help has no example", commandPath(node))
		}
	}
}

// quotedFields are the words of a line; those in quotation marks are one.
func quotedFields(line string) (words []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}
