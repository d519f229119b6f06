package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"familiar/internal/text"
)

// usageErrors translate kong's errors about a command line, which differ only in their words. command is the one that was being read.
var usageErrors = []struct {
	said *text.LazyRegexp
	told func(command *kong.Node, said []string) string
}{
	{text.NewLazyRegexp(`^(--?\S+): expected \w+ value but got "(.*?)" \((<EOL>|.*)\)`), func(c *kong.Node, said []string) string {
		if said[3] == "<EOL>" {
			return fmt.Sprintf("%s needs a value after it: %s", said[1], usage(c, said[1]))
		}
		return fmt.Sprintf("%s needs a value, and %s is a flag: %s", said[1], said[2], usage(c, said[1]))
	}},
	{text.NewLazyRegexp(`^(--?\S+): missing value, expecting`), func(c *kong.Node, said []string) string {
		return fmt.Sprintf("%s needs a value after it: %s", said[1], usage(c, said[1]))
	}},
	{text.NewLazyRegexp(`^unknown flag (-\S+?)(, did you mean .*)?$`), func(c *kong.Node, said []string) string {
		var known []string
		for _, f := range flagsOf(c) {
			known = append(known, "--"+f.Name)
		}
		return fmt.Sprintf("%s has no flag %s; %s", name(c), said[1], instead(said[1], known))
	}},
	{text.NewLazyRegexp(`^unexpected argument (.+?)(, did you mean .*)?$`), func(c *kong.Node, said []string) string {
		if known := commandsOf(c); len(known) > 0 {
			if usual := elsewhere[said[1]]; usual != "" && c.Parent == nil {
				return fmt.Sprintf("%s has no command %s; that is familiar %s", name(c), said[1], usual)
			}
			return fmt.Sprintf("%s has no command %s; %s", name(c), said[1], instead(said[1], known))
		}
		if len(c.Positional) == 0 {
			return fmt.Sprintf("%s takes only flags, and %s is not one; leave it out", name(c), said[1])
		}
		return fmt.Sprintf("%s is one argument too many; put quotation marks around words that belong together. For example: %s", said[1], example(c))
	}},
	{text.NewLazyRegexp(`^expected (.+)$`), func(c *kong.Node, said []string) string {
		if known := commandsOf(c); len(known) > 0 {
			return fmt.Sprintf("%s does nothing by itself; %s. For example: %s", name(c), all(known), example(c.Children[0]))
		}
		return fmt.Sprintf("missing: %s. For example: %s", strings.NewReplacer(`"`, "", " ...", "", "> <", "> and <").Replace(said[1]), example(c))
	}},
	{text.NewLazyRegexp(`^(.+): expected a valid \d+ bit u?int but got "(.*)"$`), func(c *kong.Node, said []string) string {
		return fmt.Sprintf("%s must be a whole number, and %q is none: %s", strings.TrimSuffix(said[1], " ..."), said[2], usage(c, said[1]))
	}},
	{text.NewLazyRegexp(`^(--\S+): bool value must be .* but got "(.*)"$`), func(_ *kong.Node, said []string) string {
		return fmt.Sprintf("%s takes no value such as %q: write only %s, or leave it out", said[1], said[2], said[1])
	}},
	{text.NewLazyRegexp(`^(.+) must be one of (.*) but got "(.*)"$`), func(_ *kong.Node, said []string) string {
		known := strings.Split(strings.ReplaceAll(said[2], `"`, ""), ",")
		return fmt.Sprintf("%s cannot be %q; %s", said[1], said[3], instead(said[3], known))
	}},
}

// usageError says what is wrong with a command line, and what to write instead.
func usageError(err error) string {
	var at *kong.ParseError
	if !errors.As(err, &at) {
		return err.Error()
	}
	command := at.Context.Selected()
	if command == nil {
		command = at.Context.Model.Node
	}
	if p := command.Parent; p != nil && p.DefaultCmd == command && strings.HasPrefix(err.Error(), "unexpected argument") && !slices.Contains(at.Context.Args, command.Name) {
		command = p // it was not named
	}
	if command.Parent == nil && len(at.Context.Args) > 2 && strings.HasPrefix(err.Error(), "unexpected argument") && !strings.HasPrefix(at.Context.Args[0], "-") && elsewhere[at.Context.Args[0]] == "" {
		return fmt.Sprintf("familiar has no command %s; to ask that: familiar ask %q", at.Context.Args[0], strings.Join(at.Context.Args, " "))
	}
	for _, m := range usageErrors {
		if said := m.said.FindStringSubmatch(err.Error()); said != nil {
			return m.told(command, said)
		}
	}
	return err.Error()
}

// elsewhere are commands that other programs have, with what does that here.
var elsewhere = map[string]string{
	"setup": "init", "install": "init", "configure": "init", "login": "init", "token": "init", "settings": "config check", "env": "config check",
	"start": "run", "serve": "run", "bot": "run", "discord": "run", "status": "health", "ping": "health", "stop": "run, which Ctrl-C or SIGTERM ends",
	"restart": "run, which Ctrl-C or SIGTERM ends", "logs": "trace", "log": "trace", "history": "trace", "models": "doctor model", "test": "doctor", "check": "doctor",
	"debug": "doctor", "fix": "doctor --fix", "talk": "chat", "hello": "chat", "hi": "chat", "forget": "erase", "delete": "erase", "characters": "character list", "list": "character list",
}

// instead names the word that was probably meant, or all known ones.
func instead(word string, known []string) string {
	if i := slices.IndexFunc(known, func(k string) bool { return len(word) > 4 && strings.HasPrefix(k, word+"-") }); i >= 0 {
		return "did you mean " + known[i] + "?"
	}
	if near := text.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return all(known)
}

func all(known []string) string {
	if len(known) == 1 {
		return "there is only " + known[0]
	}
	return "there are " + strings.Join(known, ", ")
}

// name returns a command as it is called.
func name(c *kong.Node) string { return strings.TrimSpace("familiar " + commandPath(c)) }

func commandsOf(c *kong.Node) (names []string) {
	for _, child := range c.Children {
		names = append(names, child.Name)
	}
	return names
}

// example returns a correct command line.
func example(c *kong.Node) string {
	first, _, _ := strings.Cut(examples[commandPath(c)], "\n")
	return cmp.Or(first, c.Summary())
}

// usage returns a flag with its value, or an example of the command.
func usage(c *kong.Node, flag string) string {
	for _, f := range flagsOf(c) {
		if "--"+f.Name == flag || f.Short != 0 && "-"+string(f.Short) == flag || f.ShortSummary() == flag {
			return fmt.Sprintf("--%s=%s", f.Name, f.FormatPlaceHolder())
		}
	}
	return example(c)
}
