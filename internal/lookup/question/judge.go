package question

import (
	"familiar/internal/context/turn"
	"familiar/internal/lookup/need"
	"familiar/internal/text"
)

// Judge is whether a message with nothing before it is looked up, and what for.
func Judge(m need.Models, message string) (look bool, intent turn.Intent) {
	n := m.Weigh(message, nil)
	core := essence(message, n, nil)
	return n.Order != "dont" && n.Score >= need.Threshold, m.Classify(n, core, text.Words(core))[0].Name
}
