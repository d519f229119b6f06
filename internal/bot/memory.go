package bot

import (
	"context"
	"slices"
	"strings"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/memory"
)

// applyMemoryOrders carries out what a turn's message orders to be remembered, forgotten or corrected, and notes the results in the record.
func (b *Bot) applyMemoryOrders(ctx context.Context, t *turn.Trace, before *memory.Applied) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	k := memory.Keeper{Memories: b.Memories, Traces: b.Traces, Rooms: b.Servers, Redact: b.Redact, Log: b.Log}
	if all := k.Apply(ctx, t.Request, before); len(all) > 0 {
		t.Memory = &all[0]
		t.Memory.Also = all[1:]
	}
}

// tellMemory tells the model what became of the orders.
func (b *Bot) tellMemory(actor *Actor, t *turn.Trace, p *prompt.Prompt) {
	if told := memory.Told(t.Memory.All()); told != "" && actor.Model != nil {
		actor.Builder.Inject(p, "memory", told)
		t.Prompt, t.Layers, t.Dropped = p.Messages, p.Layers, p.Dropped
	}
}

// CouldNotBeSaved is said if the store fails.
const CouldNotBeSaved sentence = "That could not be saved. The operator's log says why."

// These are said of an order if no model can.
const (
	memoryKept      sentence = "I have put that in my memory."
	memoryForgotten sentence = "I have deleted that from my memory."
	memoryCorrected sentence = "I have corrected that in my memory."
	memoryOthers    sentence = "I keep nothing about other people in my memory unless they ask for it themselves."
	memoryUnknown   sentence = "I have nothing of that kind in my memory."
	memorySecret    sentence = "That looks like a secret, so I don't keep it in my memory."
	memoryFull      sentence = "I have as much in my memory for you as I keep for one person. /memory shows it."
)

// remembered says what became of the orders; empty if there were none.
func (r draft) remembered() string {
	var all []string
	for _, m := range r.trace.Memory.All() {
		all = append(all, r.say(MemorySaid(m)))
	}
	return strings.Join(slices.Compact(all), " ")
}

func MemorySaid(m turn.MemoryChange) sentence {
	switch m.Refused {
	case "":
		return map[string]sentence{string(memory.Keep): memoryKept, string(memory.Forget): memoryForgotten, string(memory.Correct): memoryCorrected}[m.Deed]
	case turn.MemoryOthers:
		return memoryOthers
	case turn.MemoryNothing:
		return memoryUnknown
	case turn.MemorySecret:
		return memorySecret
	case turn.MemoryFull:
		return memoryFull
	}
	return CouldNotBeSaved
}
