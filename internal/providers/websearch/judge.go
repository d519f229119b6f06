package websearch

import "familiar/internal/linear"

// What cmd/train, which makes the models, is to know of how they are asked.

// Hints are what the models see of a message.
func Hints(message string) []linear.Feature {
	spoken, _, _ := spokenPart(message)
	return ruled(spoken, nil).hints(spoken, split(spoken))
}

// Judge is whether a message with nothing before it is looked up, and what for.
func (m Models) Judge(message string) (look bool, intent string) {
	n := m.weigh(message, nil)
	core := essence(message, n, nil)
	return n.order != "dont" && n.score >= threshold, string(m.classify(n, core, split(core))[0].Name)
}
