package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"familiar/internal/test/discordtest"
)

// TestLongOptions gives each option of each command the 6,000 characters that Discord allows. Each is refused with its limit, before any
// work, and the limit is what Discord was told.
func TestLongOptions(t *testing.T) {
	t.Parallel()
	c := newConversation(t, txtar.Parse([]byte("-- search --\nwhen .\nA | https://a.example.org/ | B.\n-- model --\nsay Yes.\n")))
	c.deeds()["start"]("")
	defer c.stop()
	if !c.discord.WaitCommands(1, patience) {
		t.Fatal("no commands")
	}
	type option struct {
		Type         int
		Name         string
		Required     bool
		Autocomplete bool
		MaxLength    int `json:"max_length"`
		Choices      []struct{ Value string }
	}
	var commands []struct {
		Name    string
		Options []option
	}
	offered, _ := c.discord.Commands()
	c.must(json.Unmarshal([]byte(offered), &commands))
	tried := 0
	for _, command := range commands {
		for _, long := range command.Options {
			if long.Type != 3 || len(long.Choices) > 0 {
				continue
			}
			options := map[string]string{}
			for _, o := range command.Options {
				if o.Required && len(o.Choices) > 0 {
					options[o.Name] = o.Choices[0].Value
				}
			}
			for _, letters := range []string{"x", "語 ", "😀", "@everyone `", "<@1> "} {
				options[long.Name] = string([]rune(strings.Repeat(letters, 6000))[:6000])
				answer, ok := c.discord.Interact("general", "ana", command.Name, options, true).WaitAnswer(1, patience)
				if !ok || !strings.Contains(answer.Text, long.Name) || !strings.Contains(answer.Text, "characters at most") {
					t.Errorf("/%s %s of %q: %v %.200q", command.Name, long.Name, letters, ok, answer.Text)
				}
				tried++
			}
			if long.MaxLength == 0 || long.MaxLength > 2000 {
				t.Errorf("/%s %s: Discord was told of %d characters", command.Name, long.Name, long.MaxLength)
			}
			if !long.Autocomplete {
				continue
			}
			if _, ok := c.discord.Order(discordtest.Order{Channel: "general", Author: "ana", Command: command.Name, Options: options, Focused: long.Name, May: discordtest.ManageServer}).WaitChoices(patience); !ok {
				t.Errorf("/%s %s: no suggestions", command.Name, long.Name)
			}
		}
	}
	if tried < 40 || len(c.search.asked()) != 0 || len(c.model.Requests()) != 0 {
		t.Errorf("%d options, %d searches, %d requests of models", tried, len(c.search.asked()), len(c.model.Requests()))
	}
}
