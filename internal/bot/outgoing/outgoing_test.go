package outgoing

import (
	"strings"
	"testing"

	"familiar/internal/context/turn"
)

// A link is allowed if a person wrote it, and never because a bot did: what this one posted may come from a page, and
// what another posted from anybody.
func TestLinksOfTheParent(t *testing.T) {
	const link = "https://example.org/a"
	for _, tt := range []struct {
		name    string
		parent  turn.Message
		allowed bool
	}{
		{"a person's", turn.Message{}, true},
		{"our own", turn.Message{Own: true}, false},
		{"another bot's", turn.Message{Author: turn.Author{Machine: true}}, false},
	} {
		tt.parent.Text = "see " + link
		rules := RulesFor(turn.Request{Message: turn.Message{Text: "and this?"}, Parent: &tt.parent}, nil, nil)
		if got, _ := rules.Guard(link); rules.URLs[link] != tt.allowed || strings.Contains(got, link) != tt.allowed {
			t.Errorf("%s: allowed %v, says %q", tt.name, rules.URLs, got)
		}
	}
}

func TestTypedLinks(t *testing.T) {
	const planet = "https://en.example.org/wiki/Mercury_(planet)"
	tests := []struct{ typed, want string }{
		{planet, planet},
		{"(see " + planet + ").", planet},
		{planet + "?", planet},
		{"(https://example.org/a)", "https://example.org/a"},
		{"[a](https://example.org/a), please", "https://example.org/a"},
		{`"https://example.org/a"!`, "https://example.org/a"},
		{"<https://example.org/a>", "https://example.org/a"},
		{"**https://example.org/a**", "https://example.org/a"},
		{"https://example.org/a{b}.", "https://example.org/a%7Bb%7D"},
	}
	for _, tt := range tests {
		rules := RulesFor(turn.Request{Message: turn.Message{Text: tt.typed}}, nil, nil)
		if len(rules.URLs) != 1 || !rules.URLs[tt.want] {
			t.Errorf("%q: %v, want %q", tt.typed, rules.URLs, tt.want)
		}
	}
}
