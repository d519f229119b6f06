package main

import (
	_ "embed"
	"slices"
	"strings"
	"text/template"

	"github.com/alecthomas/kong"

	"familiar/internal/app"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script that completes the command line in a shell. It is made from the commands, and does not run the program.
func (c completionCommand) Run(p *program, k *kong.Context) error { return describe(p, k, c.Shell) }

type manCommand struct{}

// Run prints the manual page, made from the commands and the settings, in roff with the macros of man(7).
func (manCommand) Run(p *program, k *kong.Context) error { return describe(p, k, "man") }

//go:embed completion.tmpl
var descriptions string

// describe prints one of the templates of completion.tmpl.
func describe(p *program, k *kong.Context, name string) error {
	nodes := nodesOf(k.Model.Node)
	_, date := source()
	all, err := template.New("").Funcs(template.FuncMap{
		"path": commandPath, "flags": flagsOf, "choices": choicesOf, "arguments": argumentChoices, "words": wordsOf, "roff": roff, "quote": inQuotes,
		"join":     func(all []string) string { return strings.Join(all, " ") },
		"paths":    func(between string) string { return "'" + strings.Join(pathsOf(nodes), "'"+between+"'") + "'" },
		"sentence": func(words string) string { return strings.ToUpper(words[:1]) + words[1:] + "." },
		// For zsh's _describe a colon ends the name.
		"entry": func(name, help string) string { return inQuotes(strings.ReplaceAll(name, ":", `\:`) + ":" + help) },
	}).Parse(descriptions)
	if err != nil {
		return err
	}
	return all.ExecuteTemplate(p.out, name, struct {
		Nodes         []*kong.Node
		Settings      []app.Setting
		Version, Date string
	}{nodes, app.Settings(), version(), date})
}

// nodesOf returns the program and all its commands, each before those below it.
func nodesOf(n *kong.Node) []*kong.Node {
	all := []*kong.Node{n}
	for _, child := range n.Children {
		if !child.Hidden {
			all = append(all, nodesOf(child)...)
		}
	}
	return all
}

// commandPath returns a command without the program's name, such as "memory show"; "" for the program.
func commandPath(n *kong.Node) string {
	if n.Parent == nil {
		return ""
	}
	return strings.TrimSpace(commandPath(n.Parent) + " " + n.Name)
}

// pathsOf returns the paths of all commands below the program.
func pathsOf(nodes []*kong.Node) (paths []string) {
	for _, n := range nodes[1:] {
		paths = append(paths, commandPath(n))
	}
	return paths
}

// flagsOf returns the flags of a command, including the global ones.
func flagsOf(n *kong.Node) []*kong.Flag { return slices.Concat(n.AllFlags(true)...) }

// choicesOf returns the values that a flag may have, nil if there is no list of them.
func choicesOf(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// argumentChoices returns the values that a command's arguments may have, if there are lists of them.
func argumentChoices(n *kong.Node) (all []string) {
	for _, a := range n.Positional {
		all = append(all, choicesOf(a)...)
	}
	return all
}

// wordsOf returns what may follow a command.
func wordsOf(n *kong.Node) []string {
	words := append(commandsOf(n), argumentChoices(n)...)
	for _, f := range flagsOf(n) {
		words = append(words, "--"+f.Name)
	}
	return words
}

// inQuotes quotes a text for a shell. A single quote in it becomes a typographic one.
func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", "’") + "'" }

// escaped replaces the characters that have a meaning in roff.
var escaped = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a text. A point at the beginning of a line would be a macro.
func roff(text string) string {
	text = strings.ReplaceAll("\n"+escaped.Replace(text), "\n.", "\n"+`\&.`)
	return text[1:]
}
