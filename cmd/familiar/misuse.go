package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"familiar/internal/text"

	"github.com/alecthomas/kong"
)

// misuses are what kong says of a command line that it cannot read, which it tells apart by its words alone, and how people are told. The command is
// the one that was being read.
var misuses = []struct {
	said *regexp.Regexp
	told func(command *kong.Node, said []string) string
}{
	{regexp.MustCompile(`^(--?\S+): expected \w+ value but got "(.*?)" \((<EOL>|.*)\)`), func(c *kong.Node, said []string) string {
		if said[3] == "<EOL>" {
			return fmt.Sprintf("%s needs a value behind it: %s", said[1], usage(c, said[1]))
		}
		return fmt.Sprintf("%s needs a value, and %s is a flag: %s", said[1], said[2], usage(c, said[1]))
	}},
	{regexp.MustCompile(`^(--?\S+): missing value, expecting`), func(c *kong.Node, said []string) string {
		return fmt.Sprintf("%s needs a value behind it: %s", said[1], usage(c, said[1]))
	}},
	{regexp.MustCompile(`^unknown flag (-\S+?)(, did you mean .*)?$`), func(c *kong.Node, said []string) string {
		var known []string
		for _, f := range flagsOf(c) {
			known = append(known, "--"+f.Name)
		}
		return fmt.Sprintf("%s has no flag %s; %s", name(c), said[1], instead(said[1], known))
	}},
	{regexp.MustCompile(`^unexpected argument (.+?)(, did you mean .*)?$`), func(c *kong.Node, said []string) string {
		if known := commandsOf(c); len(known) > 0 {
			return fmt.Sprintf("%s has no command %s; %s", name(c), said[1], instead(said[1], known))
		}
		if len(c.Positional) == 0 {
			return fmt.Sprintf("%s takes flags alone, and %s is none; leave it out", name(c), said[1])
		}
		return fmt.Sprintf("%s is one too many; what belongs together stands in quotation marks. For example: %s", said[1], example(c))
	}},
	{regexp.MustCompile(`^expected (.+)$`), func(c *kong.Node, said []string) string {
		if known := commandsOf(c); len(known) > 0 {
			return fmt.Sprintf("%s does nothing by itself; %s. For example: %s", name(c), all(known), example(c.Children[0]))
		}
		return fmt.Sprintf("missing: %s. For example: %s", strings.NewReplacer(`"`, "", " ...", "", "> <", "> and <").Replace(said[1]), example(c))
	}},
	{regexp.MustCompile(`^(.+): expected a valid \d+ bit u?int but got "(.*)"$`), func(c *kong.Node, said []string) string {
		return fmt.Sprintf("%s must be a whole number, and %q is none: %s", strings.TrimSuffix(said[1], " ..."), said[2], usage(c, said[1]))
	}},
	{regexp.MustCompile(`^(--\S+): bool value must be .* but got "(.*)"$`), func(_ *kong.Node, said []string) string {
		return fmt.Sprintf("%s takes no value such as %q: write %s alone, or leave it out", said[1], said[2], said[1])
	}},
	{regexp.MustCompile(`^(.+) must be one of (.*) but got "(.*)"$`), func(_ *kong.Node, said []string) string {
		known := strings.Split(strings.ReplaceAll(said[2], `"`, ""), ",")
		return fmt.Sprintf("%s cannot be %q; %s", said[1], said[3], instead(said[3], known))
	}},
}

// misuse says what is wrong with a command line that could not be read, and what to write.
func misuse(err error) string {
	var at *kong.ParseError
	if !errors.As(err, &at) {
		return err.Error()
	}
	command := at.Context.Selected()
	if command == nil {
		command = at.Context.Model.Node
	}
	if p := command.Parent; p != nil && p.DefaultCmd == command && strings.HasPrefix(err.Error(), "unexpected argument") && !slices.Contains(at.Context.Args, command.Name) {
		command = p // it was not called by its name
	}
	for _, m := range misuses {
		if said := m.said.FindStringSubmatch(err.Error()); said != nil {
			return m.told(command, said)
		}
	}
	return err.Error()
}

// instead names what was most likely meant, or all that there is.
func instead(word string, known []string) string {
	if near := text.Nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return all(known)
}

func all(known []string) string {
	if len(known) == 1 {
		return "there is " + known[0] + " alone"
	}
	return "there are " + strings.Join(known, ", ")
}

// name is how a command is called.
func name(c *kong.Node) string { return strings.TrimSpace("familiar " + commandPath(c)) }

func commandsOf(c *kong.Node) (names []string) {
	for _, child := range c.Children {
		names = append(names, child.Name)
	}
	return names
}

// example is a command line that is right.
func example(c *kong.Node) string {
	first, _, _ := strings.Cut(examples[commandPath(c)], "\n")
	if first == "" {
		return c.Summary()
	}
	return first
}

// usage is a flag with a value, or else an example of the command.
func usage(c *kong.Node, flag string) string {
	for _, f := range flagsOf(c) {
		if "--"+f.Name == flag || f.Short != 0 && "-"+string(f.Short) == flag || f.ShortSummary() == flag {
			return fmt.Sprintf("--%s=%s", f.Name, f.FormatPlaceHolder())
		}
	}
	return example(c)
}
