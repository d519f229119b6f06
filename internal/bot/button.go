package bot

import (
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// The kinds of buttons under a reply. Those that stand under what a press of sourcesButton shows are outdated and wrong, with
// the source's number: "wrong:2".
const (
	stopButton       = "stop" // while the reply grows, and then no other
	sourcesButton    = "sources"
	whyButton        = "why"
	regenerateButton = "regenerate"
	continueButton   = "continue" // of a reply that was cut
	deleteButton     = "delete"
)

// The labels of buttons.
const (
	labelStop       sentence = "Stop"
	labelSources    sentence = "Sources"
	labelWhy        sentence = "Why"
	labelRegenerate sentence = "Regenerate"
	labelContinue   sentence = "Continue"
	labelDelete     sentence = "Delete"
)

var buttonLabels = map[string]sentence{
	stopButton: labelStop, sourcesButton: labelSources, whyButton: labelWhy, regenerateButton: labelRegenerate, continueButton: labelContinue, deleteButton: labelDelete,
}

// buttoned reports whether replies in a channel have buttons.
func (b *Bot) buttoned(actor *Actor, settings store.Channel) bool {
	return b.Pace.Buttons && actor.Buttons && !settings.Bare
}

// finalButtons are the kinds of buttons under a complete reply, which may have been cut.
func finalButtons(l *turn.Lookup, cut bool) []string {
	kinds := []string{whyButton, regenerateButton}
	if l != nil && len(l.Sources) > 0 {
		kinds = slices.Insert(kinds, 0, sourcesButton)
	}
	if cut {
		kinds = append(kinds, continueButton)
	}
	return append(kinds, deleteButton)
}

// keys returns the keys of buttons under a turn's reply, by kind.
func (b *Bot) keys(turnID string, kinds ...string) map[string]string {
	keys := map[string]string{}
	for _, kind := range kinds {
		keys[kind] = b.Store.ButtonKey(store.Button{TurnID: turnID, Kind: kind})
	}
	return keys
}

// row is the buttons of some kinds, as far as there are keys for them, labelled in a language.
func row(language string, keys map[string]string, kinds ...string) (buttons []turn.Button) {
	for _, kind := range kinds {
		if key := keys[kind]; key != "" {
			buttons = append(buttons, turn.Button{ID: key, Label: buttonLabels[kind].in(language)})
		}
	}
	return buttons
}
