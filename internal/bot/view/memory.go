package view

import (
	"fmt"

	"familiar/internal/context/turn"
	"familiar/internal/web/clean"
)

// memoryChange says what became of an order to remember or to forget.
func memoryChange(m *turn.MemoryChange) string {
	if m.Refused != "" {
		return fmt.Sprintf("%s refused: %s", m.Deed, m.Refused)
	}
	deed := map[string]string{"keep": "kept", "forget": "forgot", "correct": "corrected"}[m.Deed]
	text := fmt.Sprintf("%s %d", deed, len(m.IDs))
	if m.Text != "" {
		text += fmt.Sprintf(": %q", clean.Line(m.Text, 200))
	}
	if m.Scope != "" {
		text += fmt.Sprintf(" · %s · %s", m.Kind, m.Scope)
	}
	return text
}
