package characters_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"familiar/characters"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/text"
)

func shipped(t *testing.T) (all []*character.Character) {
	t.Helper()
	ids, err := character.List(characters.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		c, err := character.Load(characters.FS, id)
		if err != nil {
			t.Fatalf("%s:\n%v", id, err)
		}
		all = append(all, c)
	}
	return all
}

// Six characters ship, each with its own picture and its own first words. None has a fixed text of another or of the defaults.
func TestShippedCharacters(t *testing.T) {
	all := shipped(t)
	if len(all) != 6 {
		t.Fatal(len(all), "characters")
	}
	whose := map[string]string{}
	var defaults struct{ Texts map[string]string }
	data, err := characters.FS.ReadFile("_default/character.toml")
	if err := errors.Join(err, toml.Unmarshal(data, &defaults)); err != nil {
		t.Fatal(err)
	}
	for name, said := range defaults.Texts {
		whose[said] = "the default " + name
	}
	for _, c := range all {
		for _, said := range []string{c.Texts.NoModel, c.Texts.RateLimited, c.Texts.ModelDown, c.Texts.TooSlow, c.Texts.Quota, c.Texts.Placeholder, first(c),
			c.Texts.Hello, c.Texts.Thanks, c.Texts.Bye, c.Texts.Mood, c.Texts.Sad, c.Texts.Who, c.Texts.Can, c.Texts.Morning, c.Texts.Birthday, c.Texts.Mute, c.Texts.Empty, c.Texts.NoWeb} {
			if whose[said] != "" || said == "" {
				t.Errorf("%s says %q, which is also of %s", c.ID, said, whose[said])
			}
			whose[said] = c.ID
		}
		picture, err := characters.FS.ReadFile(c.ID + "/avatar.png")
		if err != nil || len(picture) > 16<<10 {
			t.Error(c.ID, len(picture), err)
		}
	}
}

// Nothing that a shipped character is told may be cut by its own modes' budgets.
func TestShippedCharactersFit(t *testing.T) {
	for _, c := range shipped(t) {
		t.Run(c.ID, func(t *testing.T) { fits(t, c) })
	}
}

func fits(t *testing.T, c *character.Character) {
	var counter llm.Counter
	for _, mode := range turn.Modes() {
		p := &character.Provider{Character: c}
		req := turn.Request{Mode: mode, Message: turn.Message{Author: turn.Author{Name: "Someone with a long name"}}}
		cs, err := p.Contribute(t.Context(), req)
		if err != nil || len(cs) < 3 {
			t.Fatalf("%s: %d contributions, %v", mode, len(cs), err)
		}
		for _, offered := range cs {
			n, budget := counter.Count(offered.Text)+2, c.Modes[mode].Layers[offered.Layer]
			if n > budget {
				t.Errorf("%s: %s takes %d of %d tokens", mode, offered.Source, n, budget)
			}
			if strings.Contains(offered.Text, "{{") {
				t.Errorf("%s: %s holds a macro that nobody fills in", mode, offered.Source)
			}
		}
	}
}

// Every key of the defaults says what it is for, or is in a table that does.
func TestDefaultsExplainThemselves(t *testing.T) {
	data, err := characters.FS.ReadFile("_default/character.toml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	comments := ""
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			comments += line
		}
	}
	explained, table := false, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		name, _, isKey := strings.Cut(line, " = ")
		switch {
		case strings.HasPrefix(line, "#"):
			explained = true
		case strings.HasPrefix(line, "["):
			table = strings.Trim(line, "[]")
		case line == "":
			explained = false
		case isKey:
			// The same keys again: side_model is as model, and the modes' are in a list above them.
			listed := table == "side_model" || strings.Contains(comments, "#   "+name+" ")
			if !explained && !listed {
				t.Errorf("%s %s is not explained", table, name)
			}
		}
	}
}

func first(c *character.Character) string {
	if len(c.Greetings.Texts) == 0 {
		return ""
	}
	return c.Greetings.Texts[0]
}

// A shipped character has its own words for some sentences of the program. They are English, so that others get the program's translation.
func TestShippedCharactersAreEnglish(t *testing.T) {
	for _, c := range shipped(t) {
		for _, said := range []string{c.Texts.Hello, c.Texts.Thanks, c.Texts.Bye, c.Texts.Mood, c.Texts.Sad, c.Texts.Who, c.Texts.Can, c.Texts.Morning, c.Texts.Birthday, c.Texts.Mute, c.Texts.Empty, c.Texts.NoWeb} {
			if language := text.MessageLanguage(said); language != "en" {
				t.Errorf("%s: %q is in %q", c.ID, said, language)
			}
		}
		if !strings.Contains(c.Texts.Who, "{{char}}") || !strings.Contains(strings.ToLower(c.Texts.Who), "bot") {
			t.Errorf("%s says of itself %q", c.ID, c.Texts.Who)
		}
	}
}
