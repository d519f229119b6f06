package command_test

import (
	"maps"
	"strings"
	"testing"

	"familiar/internal/command"
	"familiar/internal/context/turn"
)

func TestParse(t *testing.T) {
	commands := []turn.Definition{
		{Kind: turn.ChatInput, Name: "lookup", Options: []turn.Option{
			{Name: "query"}, {Name: "site"}, {Name: "web", Choices: []turn.Choice{{Name: "on", Value: "on"}, {Name: "off", Value: "off"}}},
		}},
		{Kind: turn.ChatInput, Name: "mode", Options: []turn.Option{{Name: "mode", Choices: []turn.Choice{{Name: "Text", Value: "text"}}}}},
		{Kind: turn.ChatInput, Name: "help"},
		{Kind: turn.MessageMenu, Name: "Look this up"},
	}
	for _, test := range []struct {
		order, name string
		options     map[string]string
		err         string
	}{
		{"lookup the  tides: when?", "lookup", map[string]string{"query": "the  tides: when?"}, ""},
		{"lookup off", "lookup", map[string]string{"web": "off"}, ""},
		{"lookup web off", "lookup", map[string]string{"web": "off"}, ""},
		{"lookup web:off", "lookup", map[string]string{"web": "off"}, ""},
		{"lookup web off in the sea", "lookup", map[string]string{"query": "web off in the sea"}, ""},
		{"lookup site:example.org the tides", "lookup", map[string]string{"site": "example.org the tides"}, ""},
		{"lookup query:the tides site:example.org", "lookup", map[string]string{"query": "the tides", "site": "example.org"}, ""},
		{"lookup the tides site:example.org", "lookup", map[string]string{"query": "the tides", "site": "example.org"}, ""},
		{"LOOKUP https://example.org/a:b", "lookup", map[string]string{"query": "https://example.org/a:b"}, ""},
		{"mode text", "mode", map[string]string{"mode": "text"}, ""},
		{"mode", "mode", map[string]string{}, ""},
		{"mode txt", "", nil, `/mode does not take "txt"; it is given as /mode [mode:text]`},
		{"help me", "", nil, `/help does not take "me"; it is given as /help`},
		{"lokup x", "", nil, "there is no /lokup; did you mean /lookup? /help lists all commands"},
		{"quti", "", nil, "there is no /quti; did you mean /quit? /help lists all commands"},
		{"xyzzyx", "", nil, "there is no /xyzzyx; /help lists all commands"},
	} {
		c, err := command.Parse(commands, []string{"quit"}, test.order)
		switch {
		case test.err != "":
			if err == nil || err.Error() != test.err {
				t.Errorf("%q: error %v, want %s", test.order, err, test.err)
			}
		case err != nil || c.Name != test.name || !maps.Equal(c.Options, test.options):
			t.Errorf("%q: %+v, %v; want %s %v", test.order, c, err, test.name, test.options)
		}
	}
}

func TestComplete(t *testing.T) {
	commands := []turn.Definition{
		{Kind: turn.ChatInput, Name: "lookup", Description: "Look up", Options: []turn.Option{{Name: "web", Choices: []turn.Choice{{Name: "On", Value: "on"}}}}},
		{Kind: turn.ChatInput, Name: "lookups"},
	}
	for line, want := range map[string]string{"/lo": "/lookup /lookups", "/lookup ": "web: web:on", "/lookup web:o": "web:on", "hi": "", "/x": ""} {
		var got []string
		for _, c := range command.Complete(commands, line) {
			got = append(got, c[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
