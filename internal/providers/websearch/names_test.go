package websearch

import (
	"testing"

	"familiar/internal/context/turn"
)

// TestCalledByName checks that a character answers to its name and aliases, but not to the name of its folder.
func TestCalledByName(t *testing.T) {
	for text, query := range map[string]string{
		"Sage, how high is Mount Everest?":      "how high is Mount Everest",
		"sage: how high is Mount Everest?":      "how high is Mount Everest",
		"Old Owl, how high is Mount Everest?":   "how high is Mount Everest",
		"hey owlet, how high is Mount Everest?": "how high is Mount Everest",
		"how high is Mount Everest, Sage?":      "how high is Mount Everest",
		"soak: how high is it?":                 "",
		"bob: how high is it?":                  "",
	} {
		w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
		req := ask(text)
		req.GuildID, req.Character, req.Names, req.Addressed = "G", "soak", []string{"Sage", "Old Owl", "Owlet"}, turn.ByName
		if l := w.lookup(t, req); l.Query != query || (l.State == turn.Found) != (query != "") {
			t.Errorf("%q: %s (%s), query %q", text, l.State, l.Reason, l.Query)
		}
	}
}

// TestCalledByAnotherName checks that in a direct message any name at the beginning means the character.
func TestCalledByAnotherName(t *testing.T) {
	for guild, query := range map[string]string{"": "how high is Mount Everest", "G": ""} {
		w := newWorld(t, &finder{hits: hits("https://peaks.example.org/everest.html")})
		req := ask("familiar, tell me how high is Mount Everest")
		req.GuildID, req.Names = guild, []string{"Sage"}
		if l := w.lookup(t, req); l.Query != query {
			t.Errorf("in guild %q: %s (%s), query %q", guild, l.State, l.Reason, l.Query)
		}
	}
}
