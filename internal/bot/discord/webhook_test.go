package discord

import (
	"strings"
	"testing"
)

func TestPersonaName(t *testing.T) {
	for name, want := range map[string]string{
		"Moss": "Moss", "  Old\nMoss ": "OldMoss", "Discordia": "Disc·ordia", "clyde": "cly·de", "Everyone": "Everyone·",
		"@#:`": webhookName, strings.Repeat("ä", 100): strings.Repeat("ä", 80),
	} {
		if got := PersonaName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
