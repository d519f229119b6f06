package characters_test

import (
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"familiar/characters"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
)

func TestShippedCharacters(t *testing.T) {
	ids, err := character.List(characters.FS)
	if err != nil || len(ids) == 0 {
		t.Fatal(ids, err)
	}
	for _, id := range ids {
		if _, err := character.Load(characters.FS, id); err != nil {
			t.Errorf("%s:\n%v", id, err)
		}
	}
}

// Nothing that a shipped character is told may be cut by its own modes' budgets.
func TestShippedCharactersFit(t *testing.T) {
	var counter llm.Counter
	c, err := character.Load(characters.FS, "sage")
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range turn.Modes() {
		p := &character.Provider{Character: c}
		req := turn.Request{Mode: mode, Message: turn.Message{Author: turn.Author{Name: "Someone with a long name"}}}
		cs, err := p.Contribute(t.Context(), req)
		if err != nil || len(cs) != 3 {
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

// Every key of the defaults says what it is for, or stands in a table that does.
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
