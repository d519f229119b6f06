package command

import (
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
	"familiar/internal/text"
)

// Parse reads "name arguments" as one of some commands. Options are given as in Discord: option:value. The rest is the first free option,
// or the option that has it as a choice. Examples are "mode full_rp", "lookup off" and "lookup the tides". The error is for the person who
// wrote the line; others are names that the person may have meant.
func Parse(commands []turn.Definition, others []string, order string) (*turn.Command, error) {
	name, rest, _ := strings.Cut(order, " ")
	name = strings.ToLower(name)
	i := slices.IndexFunc(commands, func(d turn.Definition) bool { return d.Kind == turn.ChatInput && d.Name == name })
	if i < 0 {
		return nil, unknownCommand(commands, others, name)
	}
	c := &turn.Command{Name: name, Options: make(map[string]string)}
	words := strings.Fields(rest)
	words = namedOptions(commands[i], words, c.Options)
	if len(words) == 0 {
		return c, nil
	}
	if rest = strings.TrimSpace(rest); len(c.Options) > 0 {
		rest = strings.Join(words, " ")
	}
	if option, value, ok := chosenOption(commands[i], words, c.Options); ok {
		c.Options[option] = value
		return c, nil
	}
	for _, o := range commands[i].Options {
		if c.Options[o.Name] == "" && len(o.Choices) == 0 {
			c.Options[o.Name] = rest
			return c, nil
		}
	}
	return nil, fmt.Errorf("/%s does not take %q; %s", name, rest, commandUsage(commands[i]))
}

// namedOptions takes options that are given by name out of the words.
func namedOptions(d turn.Definition, words []string, options map[string]string) (rest []string) {
	open := "" // the option that takes the following words
	for _, word := range words {
		name, value, given := strings.Cut(word, ":")
		at := slices.IndexFunc(d.Options, func(o turn.Option) bool { return given && o.Name == strings.ToLower(name) })
		switch {
		case at >= 0 && !strings.HasPrefix(value, "//"):
			open = d.Options[at].Name
			options[open] = value
			if len(d.Options[at].Choices) > 0 && value != "" {
				open = ""
			}
		case open != "":
			options[open] = strings.TrimSpace(options[open] + " " + word)
		default:
			rest = append(rest, word)
		}
	}
	return rest
}

// chosenOption finds the option that has the words as a choice, with or without its name before it.
func chosenOption(d turn.Definition, words []string, options map[string]string) (name, value string, ok bool) {
	for _, o := range d.Options {
		if options[o.Name] != "" {
			continue
		}
		word := words
		if len(words) == 2 && strings.EqualFold(words[0], o.Name) {
			word = words[1:]
		}
		for _, choice := range o.Choices {
			if len(word) == 1 && strings.EqualFold(word[0], choice.Value) {
				return o.Name, choice.Value, true
			}
		}
	}
	return "", "", false
}

// unknownCommand says that there is no such command, and which one was probably meant.
func unknownCommand(commands []turn.Definition, others []string, name string) error {
	all := slices.Clone(others)
	for _, d := range commands {
		if d.Kind == turn.ChatInput {
			all = append(all, d.Name)
		}
	}
	if near := text.Nearest(name, all); near != "" {
		return fmt.Errorf("there is no /%s; did you mean /%s? /help lists all commands", name, near)
	}
	return fmt.Errorf("there is no /%s; /help lists all commands", name)
}

// commandUsage says how a command is given.
func commandUsage(d turn.Definition) string {
	parts := []string{"/" + d.Name}
	for _, o := range d.Options {
		var values []string
		for _, c := range o.Choices {
			values = append(values, c.Value)
		}
		parts = append(parts, "["+o.Name+":"+strings.Join(values, "|")+"]")
	}
	return "it is given as " + strings.Join(parts, " ")
}

// Complete returns what may come next in a line that begins with a slash. That is names of commands and options, and choices.
func Complete(commands []turn.Definition, line string) (all [][2]string) {
	order, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		return nil
	}
	name, rest, named := strings.Cut(order, " ")
	for _, d := range commands {
		switch {
		case d.Kind != turn.ChatInput:
		case !named && strings.HasPrefix(d.Name, name):
			all = append(all, [2]string{"/" + d.Name, d.Description})
		case named && d.Name == name:
			all = append(all, completeOption(d, rest[strings.LastIndexByte(rest, ' ')+1:])...)
		}
	}
	return all
}

func completeOption(d turn.Definition, word string) (all [][2]string) {
	for _, o := range d.Options {
		if strings.HasPrefix(o.Name+":", word) {
			all = append(all, [2]string{o.Name + ":", o.Description})
		}
		for _, c := range o.Choices {
			if value := o.Name + ":" + c.Value; strings.HasPrefix(value, word) {
				all = append(all, [2]string{value, c.Name})
			}
		}
	}
	return all
}
