package draft

import (
	"cmp"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/memory/order"
	"familiar/internal/reply"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// CouldNotBeSaved is said if the store fails.
const CouldNotBeSaved sentence = "That could not be saved. The operator's log says why."

// YouOptedOut is said if nothing is kept of the person.
const YouOptedOut sentence = "You have opted out of everything that I keep, so I did not keep this. /privacy changes that."

// These are the receipts of orders. Code writes them below each answer.
const (
	memoryKept      sentence = "Kept: “%s”"
	memoryChanged   sentence = "Changed from “%s” to “%s”"
	memoryForgotten sentence = "Forgotten: %d"
	memoryAsks      sentence = "Forget everything I know of you, everywhere? Press the button or say yes. For a day you can undo it."
	memoryWiped     sentence = "Forgotten: everything (%d). For a day you can undo it with /memory undo; then it is gone everywhere."
	memoryUnclear   sentence = "Nothing was changed in my memory. /memory remembers, corrects and forgets."
	memoryOthers    sentence = "I keep nothing about other people in my memory unless they ask for it themselves."
	memoryUnknown   sentence = "I have nothing of that kind in my memory."
	memorySecret    sentence = "That looks like a secret, so I don't keep it in my memory."
	memoryOrder     sentence = "I remember what people tell me, but no orders on how I am to behave, and no addresses."
	memoryFull      sentence = "I have as much in my memory for you as I keep for one person. /memory shows it."
	memoryUndo      sentence = "/memory undo takes it back, for a day."
)

// These answer a command that did the same.
const (
	memoryKeptDone      sentence = "I have put that in my memory."
	memoryForgottenDone sentence = "I have deleted that from my memory."
	memoryCorrectedDone sentence = "I have corrected that in my memory."
)

const longestReceipt = 120 // characters of a statement in a receipt

// receipts say what became of the orders; empty if there were none.
func (r Draft) receipts() (all []string) {
	undo := false
	for _, m := range r.Trace.Memory.All() {
		receipt, _ := r.Rules.Guard(r.receipt(m))
		all = append(all, receipt)
		undo = undo || Undoable(m)
	}
	if undo && !r.Trace.Request.Buttons {
		all = append(all, reply.Receipt(r.spoken(), string(memoryUndo)))
	}
	return slices.Compact(all)
}

func (r Draft) receipt(m turn.MemoryChange) string {
	brief := func(s string) string { return clean.Line(s, longestReceipt) }
	say := func(s sentence, values ...any) string { return reply.Receipt(r.spoken(), string(s), values...) }
	switch {
	case m.Refused != "":
		return say(MemorySaid(m))
	case m.Asks:
		return say(memoryAsks)
	case m.Wiped:
		return say(memoryWiped, m.Gone)
	case m.Deed == string(order.Forget):
		return say(memoryForgotten, max(1, len(m.IDs)))
	case m.From != "":
		return say(memoryChanged, brief(m.From), brief(m.Text))
	}
	return say(memoryKept, brief(m.Text))
}

// spoken returns the language of the message. It may be one in which the bot says nothing but receipts.
func (r Draft) spoken() string {
	req := &r.Trace.Request
	return cmp.Or(text.LanguageNamed(req.Card[turn.CardLanguage]), text.MessageLanguage(req.Message.Text), req.Language)
}

// Undoable reports whether a change can be undone.
func Undoable(m turn.MemoryChange) bool {
	return m.Refused == "" && !m.Asks && (len(m.IDs) > 0 || m.Field != "" || m.Wiped)
}

// MemorySaid says what became of an order without its words.
func MemorySaid(m turn.MemoryChange) sentence {
	switch m.Refused {
	case "":
		return map[string]sentence{string(order.Keep): memoryKeptDone, string(order.Forget): memoryForgottenDone, string(order.Correct): memoryCorrectedDone}[m.Deed]
	case turn.MemoryOthers:
		return memoryOthers
	case turn.MemoryNothing:
		return memoryUnknown
	case turn.MemorySecret:
		return memorySecret
	case turn.MemoryOrder:
		return memoryOrder
	case turn.MemoryFull:
		return memoryFull
	case turn.MemoryOptOut:
		return YouOptedOut
	case turn.MemoryUnclear:
		return memoryUnclear
	}
	return CouldNotBeSaved
}
