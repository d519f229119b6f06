package reply

import (
	"fmt"
	"slices"
	"strings"

	"familiar/internal/context/turn"
)

// These are the kinds of buttons under a reply. The buttons under the list of sources are "outdated" and "wrong", with the source's number:
// "wrong:2".
const (
	StopButton       = "stop" // while the reply grows; then there is no other
	SourcesButton    = "sources"
	WhyButton        = "why"
	RegenerateButton = "regenerate"
	ContinueButton   = "continue" // of a reply that was cut
	DeleteButton     = "delete"
	UndoButton       = "undo"       // of what an order changed in memory
	ForgetAllButton  = "forget-all" // confirms that everything is forgotten
	SpeakButton      = "speak"      // says the reply aloud
)

// The labels of buttons.
const (
	labelStop       sentence = "Stop"
	labelWhy        sentence = "Why"
	labelRegenerate sentence = "Regenerate"
	labelContinue   sentence = "Continue"
	labelDelete     sentence = "Delete"
	LabelUndo       sentence = "Undo"
	labelForgetAll  sentence = "Forget everything"
	labelSpeak      sentence = "Say it aloud"
)

var buttonLabels = map[string]sentence{
	StopButton: labelStop, SourcesButton: LabelSources, WhyButton: labelWhy, RegenerateButton: labelRegenerate, ContinueButton: labelContinue, DeleteButton: labelDelete,
	UndoButton: LabelUndo, ForgetAllButton: labelForgetAll, SpeakButton: labelSpeak,
}

// Buttons returns the buttons of some kinds, with labels in a language. It returns none without key, which returns the id of a button.
func Buttons(language string, key func(kind string) string, kinds ...string) (buttons []turn.Button) {
	if key == nil {
		return nil
	}
	for _, kind := range kinds {
		one := turn.Button{ID: key(kind), Label: buttonLabels[kind].In(language)}
		if strings.HasPrefix(kind, SwipeButton+":") {
			one.Label, one.Disabled = swipeLabel(kind)
		}
		buttons = append(buttons, one)
	}
	return buttons
}

// FinalButtons returns the kinds of buttons under the complete reply of a turn. Nobody can have a greeting written again. speaks says that
// the character can say the reply aloud.
func FinalButtons(t *turn.Trace, speaks bool) (kinds []string) {
	if t.Request.Addressed == turn.ByGreeting {
		return []string{WhyButton, DeleteButton}
	}
	if l := t.Lookup(); l != nil && len(l.Sources) > 0 {
		kinds = append(kinds, SourcesButton)
	}
	for _, m := range t.Memory.All() {
		switch {
		case m.Asks && !slices.Contains(kinds, ForgetAllButton):
			kinds = append(kinds, ForgetAllButton)
		case Undoable(m) && !slices.Contains(kinds, UndoButton):
			kinds = append(kinds, UndoButton)
		}
	}
	kinds = append(kinds, WhyButton, RegenerateButton)
	if t.Cut {
		kinds = append(kinds, ContinueButton)
	}
	if speaks {
		kinds = append(kinds, SpeakButton)
	}
	return append(kinds, DeleteButton)
}

// SwipeButton is the beginning of the kinds of buttons that change between the answers to one question. Then come the number of the answer
// that it shows, and its place in the row.
const SwipeButton = "swipe"

const (
	swipeBack = "back"
	swipeOn   = "on"
)

// Swipes returns the kinds of these buttons under the answer with a number, of n. There are none under a single answer.
func Swipes(number, n int) []string {
	if n < 2 {
		return nil
	}
	to := func(i int, place string) string { return fmt.Sprintf("%s:%d:%s", SwipeButton, (i+n)%n, place) }
	return []string{to(number-1, swipeBack), to(number, fmt.Sprintf("%d-%d", number+1, n)), to(number+1, swipeOn)}
}

// swipeLabel returns what a button of such a kind shows, and whether it only shows that.
func swipeLabel(kind string) (label string, still bool) {
	switch place := kind[strings.LastIndexByte(kind, ':')+1:]; place {
	case swipeBack:
		return "◀", false
	case swipeOn:
		return "▶", false
	default:
		return strings.ReplaceAll(place, "-", "/"), true
	}
}
