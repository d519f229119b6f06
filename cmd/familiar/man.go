package main

import (
	"fmt"
	"strings"

	"familiar/internal/app"

	"github.com/alecthomas/kong"
)

type manCommand struct{}

// Run prints the manual page, made from the commands and the settings, in roff with the macros of man(7).
func (manCommand) Run(p *program, k *kong.Context) error {
	_, err := fmt.Fprint(p.out, manPage(k.Model.Node))
	return err
}

// escaped replaces the characters that have a meaning in roff.
var escaped = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a text.
func roff(text string) string {
	lines := strings.Split(escaped.Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manPage writes the manual page of section 1.
func manPage(root *kong.Node) string {
	var s strings.Builder
	_, date := source()
	fmt.Fprintf(&s, ".TH FAMILIAR 1 \"%s\" \"familiar %s\" \"User Commands\"\n", date, version())
	s.WriteString(".SH NAME\nfamiliar \\- a Discord companion that can look things up and show its work\n" +
		".SH SYNOPSIS\n.B familiar\n.I command\n.RI [ options ]\n" +
		".SH DESCRIPTION\nWithout a command it talks at a terminal. With\n.B \\-\\-help\nit lists its commands. Everything has a default: what is needed for what is in the list of variables below.\n" +
		".SH COMMANDS\n")
	for _, n := range nodesOf(root)[1:] {
		if n.Leaf() {
			manCommandOf(&s, n)
		}
	}
	s.WriteString(".SH ENVIRONMENT\nVariables are read from the environment and from the file .env in the working directory; the environment wins. Each may be given as\n" +
		".IB NAME _FILE = path\nin place of its value, so that secrets need not be in the environment.\n")
	for _, v := range app.Settings() {
		s.WriteString(".TP\n.B " + roff(v.Name) + "\n" + roff(sentenceOf(v.About)))
		if v.Preset != "" {
			s.WriteString(" Preset: " + roff(v.Preset) + ".")
		}
		s.WriteString("\n")
	}
	s.WriteString(".SH FILES\n.TP\n.I .env\nvariables, a line each: NAME=value\n.TP\n.I characters/\nyour characters, a directory each\n.TP\n.I data/\nthe database, readable for its owner alone\n" +
		".SH EXIT STATUS\n.TP\n0\nit did what was asked\n.TP\n1\nit failed\n.TP\n2\nwrong usage or configuration: trying again without a change is of no use\n")
	return s.String()
}

// manCommandOf describes a command.
func manCommandOf(s *strings.Builder, n *kong.Node) {
	s.WriteString(".SS familiar " + roff(commandPath(n)))
	for _, a := range n.Positional {
		s.WriteString(" " + roff(a.Summary()))
	}
	s.WriteString("\n" + roff(n.Help) + "\n")
	for _, a := range n.Positional {
		s.WriteString(".TP\n.I " + roff(a.Name) + "\n" + roff(a.Help) + "\n")
	}
	for _, f := range n.Flags {
		if !f.Hidden && f.Name != "help" {
			s.WriteString(".TP\n.B " + roff(f.String()) + "\n" + roff(f.Help) + "\n")
		}
	}
	if n.Detail != "" {
		s.WriteString(".PP\n.EX\n" + roff(n.Detail) + "\n.EE\n")
	}
}

// sentenceOf makes words a sentence.
func sentenceOf(words string) string {
	return strings.ToUpper(words[:1]) + words[1:] + "."
}
