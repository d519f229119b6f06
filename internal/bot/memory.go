package bot

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/draft"
	"familiar/internal/llm"
	"familiar/internal/memory"
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

// memoryButtons returns the kinds of buttons that the orders of a turn call for.
func memoryButtons(changes *turn.MemoryChange) (kinds []string) {
	for _, m := range changes.All() {
		switch {
		case m.Asks && !slices.Contains(kinds, ForgetAllButton):
			kinds = append(kinds, ForgetAllButton)
		case draft.Undoable(m) && !slices.Contains(kinds, UndoButton):
			kinds = append(kinds, UndoButton)
		}
	}
	return kinds
}
