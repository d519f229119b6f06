package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"familiar/internal/app"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints a script that completes the command line in a shell. It is made from the commands, and does not run the program.
func (c completionCommand) Run(p *program, k *kong.Context) error {
	script := map[string]func([]*kong.Node) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	_, err := fmt.Fprint(p.out, script(nodesOf(k.Model.Node)))
	return err
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

// flagsOf returns the flags of a command, including the global ones.
func flagsOf(n *kong.Node) (flags []*kong.Flag) {
	for _, group := range n.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

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

// pathCases returns patterns of a shell's case that match every command.
func pathCases(nodes []*kong.Node) string {
	var paths []string
	for _, n := range nodes[1:] {
		paths = append(paths, "'"+commandPath(n)+"'")
	}
	return strings.Join(paths, "|")
}

// choiceCases returns branches of a shell's case, one for each flag with a list of values. In do, %s is replaced by the list.
func choiceCases(nodes []*kong.Node, do string) string {
	var s strings.Builder
	for _, n := range nodes {
		for _, f := range flagsOf(n) {
			if choices := choicesOf(f.Value); choices != nil {
				fmt.Fprintf(&s, "    '%s --%s') "+do+" ;;\n", commandPath(n), f.Name, strings.Join(choices, " "))
			}
		}
	}
	return s.String()
}

func bashCompletion(nodes []*kong.Node) string {
	var s strings.Builder
	s.WriteString("# Completion of familiar for bash: source <(familiar completion bash)\n_familiar() {\n" +
		"  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= words= word\n" +
		"  if [ \"$cur\" = = ]; then cur=; elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n" +
		"  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case \"${path:+$path }$word\" in\n      " + pathCases(nodes) + ") path=\"${path:+$path }$word\" ;;\n    esac\n  done\n" +
		"  case \"$path $prev\" in\n")
	s.WriteString(choiceCases(nodes, "words='%s'"))
	s.WriteString("    *)\n      case \"$path\" in\n")
	for _, n := range nodes {
		var words []string
		for _, child := range n.Children {
			words = append(words, child.Name)
		}
		words = append(words, argumentChoices(n)...)
		for _, f := range flagsOf(n) {
			words = append(words, "--"+f.Name)
		}
		fmt.Fprintf(&s, "        '%s') words='%s' ;;\n", commandPath(n), strings.Join(words, " "))
	}
	s.WriteString("      esac ;;\n  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _familiar familiar\n")
	return s.String()
}

// inQuotes quotes a text for a shell. A single quote in it becomes a typographic one.
func inQuotes(text string) string { return "'" + strings.ReplaceAll(text, "'", "’") + "'" }

func zshCompletion(nodes []*kong.Node) string {
	var s strings.Builder
	s.WriteString("#compdef familiar\n# Completion of familiar for zsh: put this into a directory of $fpath as _familiar, or source <(familiar completion zsh)\n_familiar() {\n" +
		"  local at= word\n  local -a commands flags\n" +
		"  for word in \"${(@)words[2,CURRENT-1]}\"; do\n    case \"${at:+$at }$word\" in\n      " + pathCases(nodes) + ") at=\"${at:+$at }$word\" ;;\n    esac\n  done\n" +
		"  case \"$at ${words[CURRENT-1]}\" in\n")
	s.WriteString(choiceCases(nodes, "compadd -- %s; return"))
	s.WriteString("  esac\n  case \"$at\" in\n")
	// For _describe a colon ends the name.
	entry := func(name, help string) string {
		return inQuotes(strings.ReplaceAll(name, ":", "\\:") + ":" + help)
	}
	for _, n := range nodes {
		var commands, flags []string
		for _, child := range n.Children {
			commands = append(commands, entry(child.Name, child.Help))
		}
		for _, choice := range argumentChoices(n) {
			commands = append(commands, inQuotes(choice))
		}
		for _, f := range flagsOf(n) {
			flags = append(flags, entry("--"+f.Name, f.Help))
		}
		fmt.Fprintf(&s, "    '%s') commands=(%s); flags=(%s) ;;\n", commandPath(n), strings.Join(commands, " "), strings.Join(flags, " "))
	}
	s.WriteString("  esac\n  if [[ ${words[CURRENT]} == -* ]]; then\n    _describe -o flag flags\n  elif (( $#commands )); then\n    _describe command commands\n  else\n    _files\n  fi\n}\n" +
		"if [ \"${funcstack[1]}\" = _familiar ]; then\n  _familiar \"$@\"\nelse\n  compdef _familiar familiar\nfi\n")
	return s.String()
}

func fishCompletion(nodes []*kong.Node) string {
	var s strings.Builder
	s.WriteString("# Completion of familiar for fish: familiar completion fish > ~/.config/fish/completions/familiar.fish\nfunction __familiar_at\n" +
		"  set -l at\n  for word in (commandline -opc)[2..]\n    switch (string trim -- \"$at $word\")\n      case " + strings.ReplaceAll(pathCases(nodes), "|", " ") + "\n        set at (string trim -- \"$at $word\")\n    end\n  end\n" +
		"  test \"$at\" = \"$argv\"\nend\n")
	for _, n := range nodes {
		at := "complete -c familiar -n \"__familiar_at " + commandPath(n) + "\""
		for _, child := range n.Children {
			fmt.Fprintf(&s, "%s -f -a %s -d %s\n", at, child.Name, inQuotes(child.Help))
		}
		if choices := argumentChoices(n); choices != nil {
			fmt.Fprintf(&s, "%s -f -a '%s'\n", at, strings.Join(choices, " "))
		}
		for _, f := range flagsOf(n) {
			line := at + " -l " + f.Name
			if f.Short != 0 {
				line += " -s " + string(f.Short)
			}
			if choices := choicesOf(f.Value); choices != nil {
				line += " -x -a '" + strings.Join(choices, " ") + "'"
			} else if !f.IsBool() {
				line += " -r"
			}
			s.WriteString(line + " -d " + inQuotes(f.Help) + "\n")
		}
	}
	return s.String()
}

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
