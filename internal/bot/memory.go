package bot

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/memory"
	"familiar/internal/reply"
	"familiar/internal/text"
	"familiar/internal/web/clean"
)

// askMemoryLimit is how long a turn waits for a side model to say what a message orders.
const askMemoryLimit = 2500 * time.Millisecond

// applyMemoryOrders carries out what a turn's message orders to be remembered, forgotten or corrected, and notes the results in the record.
func (b *Bot) applyMemoryOrders(ctx context.Context, actor *Actor, t *turn.Trace, before *memory.Applied) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	k := memory.Keeper{Memories: b.Memories, Traces: b.Traces, Rooms: b.Servers, Redact: b.Redact, Log: b.Log}
	if actor.Side != nil {
		k.Ask = func(ctx context.Context, order, text string, answer any) error {
			return b.askOrders(ctx, actor, t, order, text, answer)
		}
	}
	if all := k.Apply(ctx, t.Request, before); len(all) > 0 {
		t.Memory = &all[0]
		t.Memory.Also = all[1:]
		card, err := b.Memories.Card(ctx, t.Request.Message.Author.ID) // it may have changed
		b.logged("read a person's card", err)
		t.Request.Card = card
	}
}

// askOrders asks the side model what a message orders, and records that.
func (b *Bot) askOrders(ctx context.Context, actor *Actor, t *turn.Trace, order, text string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, askMemoryLimit)
	defer cancel()
	began := time.Now()
	a, err := actor.Side.Ask(ctx, llm.Question{Lane: t.Request.ChannelID, Order: order, Text: text, Tokens: 200}, answer)
	asked := turn.Processed{By: "orders", Model: a.Model, Status: turn.OK, Text: strings.TrimSpace(a.Text), Usage: turn.Usage(a.Usage), Took: time.Since(began)}
	if err != nil {
		asked.Status, asked.Err = turn.Failed, b.Redact.String(cause(err))
	}
	t.Processed = append(t.Processed, asked)
	return err
}

// tellMemory tells the model what became of the orders, and how the author wants to be spoken to.
func (b *Bot) tellMemory(actor *Actor, t *turn.Trace, p *prompt.Prompt) {
	if told := memory.Told(t.Memory.All()); told != "" && actor.Model != nil {
		actor.Builder.Inject(p, "memory", told)
		t.Prompt, t.Layers, t.Dropped = p.Messages, p.Layers, p.Dropped
	}
}

// CouldNotBeSaved is said if the store fails.
const CouldNotBeSaved sentence = "That could not be saved. The operator's log says why."

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
func (r draft) receipts() (all []string) {
	undo := false
	for _, m := range r.trace.Memory.All() {
		receipt, _ := r.rules.Guard(r.receipt(m))
		all = append(all, receipt)
		undo = undo || undoable(m)
	}
	if undo && !r.trace.Request.Buttons {
		all = append(all, reply.Receipt(r.spoken(), string(memoryUndo)))
	}
	return slices.Compact(all)
}

func (r draft) receipt(m turn.MemoryChange) string {
	brief := func(s string) string { return clean.Line(s, longestReceipt) }
	say := func(s sentence, values ...any) string { return reply.Receipt(r.spoken(), string(s), values...) }
	switch {
	case m.Refused != "":
		return say(MemorySaid(m))
	case m.Asks:
		return say(memoryAsks)
	case m.Wiped:
		return say(memoryWiped, m.Gone)
	case m.Deed == string(memory.Forget):
		return say(memoryForgotten, max(1, len(m.IDs)))
	case m.From != "":
		return say(memoryChanged, brief(m.From), brief(m.Text))
	}
	return say(memoryKept, brief(m.Text))
}

// spoken returns the language of the message. It may be one in which the bot says nothing but receipts.
func (r draft) spoken() string {
	req := &r.trace.Request
	return cmp.Or(text.LanguageNamed(req.Card[turn.CardLanguage]), text.MessageLanguage(req.Message.Text), req.Language)
}

// undoable reports whether a change can be undone.
func undoable(m turn.MemoryChange) bool {
	return m.Refused == "" && !m.Asks && (len(m.IDs) > 0 || m.Field != "" || m.Wiped)
}

// memoryButtons returns the kinds of buttons that the orders of a turn call for.
func memoryButtons(changes *turn.MemoryChange) (kinds []string) {
	for _, m := range changes.All() {
		switch {
		case m.Asks && !slices.Contains(kinds, ForgetAllButton):
			kinds = append(kinds, ForgetAllButton)
		case undoable(m) && !slices.Contains(kinds, UndoButton):
			kinds = append(kinds, UndoButton)
		}
	}
	return kinds
}

// MemorySaid says what became of an order without its words.
func MemorySaid(m turn.MemoryChange) sentence {
	switch m.Refused {
	case "":
		return map[string]sentence{string(memory.Keep): memoryKeptDone, string(memory.Forget): memoryForgottenDone, string(memory.Correct): memoryCorrectedDone}[m.Deed]
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
	case turn.MemoryUnclear:
		return memoryUnclear
	}
	return CouldNotBeSaved
}
