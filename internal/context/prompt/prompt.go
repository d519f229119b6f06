// Package prompt builds what the model is sent: it asks every context provider at once, fits what they
// offer into the budget, and renders the rest as messages.
//
// A turn reads in three steps, one file each. gather.go runs the [Provider]s side by side under the turn's
// deadline and turns whatever they do, also a panic and silence, into a [turn.Outcome]. fit.go decides what
// is kept: by layer, by priority within a layer, and by the total; cut.go shortens a text at a sentence.
// render.go writes the messages in their order.
//
// [Builder.Build] cannot fail: a provider that does costs the turn its contribution, never the reply. The
// same answers always give the same prompt, whoever was quickest.
package prompt

import (
	"context"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// Provider offers context for a turn.
//
// Contribute must return soon after ctx is done. Cut short, it returns what it has together with the error;
// the contributions are used either way. The returned slice belongs to the builder.
type Provider interface {
	Name() string
	Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error)
}

// Builder builds prompts. It may be used by many turns at once and must not be copied after first use.
type Builder struct {
	Providers []Provider // asked all at once, the one first that takes longest; their order is the order of the outcomes

	// Preamble opens the system prompt and explains to the model how messages are written.
	// Empty: [Speakers].
	Preamble string

	// Count returns the number of tokens in a text. nil: a quarter of its bytes, rounded up.
	Count func(string) int

	// BlockRole is the role of web text: "user" (the default) makes it a message of its own just before the
	// turn's message; "system" makes it a system message there.
	BlockRole string

	// Deadlines limit single providers, by name, from the start of Build. The turn's deadline holds for all
	// of them.
	Deadlines map[string]time.Duration

	// Clock is the time zone in which messages of people carry "[15:04]" in text mode. nil: no times.
	Clock *time.Location

	// Own rewrites an earlier message of the bot's, which is depth messages from the newest of the conversation. nil: they stay.
	Own func(text string, depth int) string

	Names []string // the bot's: nobody else's line begins with one of them

	Redact func(string) string // takes secrets out of what providers report as errors; nil: nothing is taken out

	strays strays // calls of providers that were given up and have not returned
}

// Prompt is what a turn knows before the model is asked. Nothing in it is shared with the builder.
type Prompt struct {
	Messages []turn.Rendered    // the system prompt first, the turn's message last
	Outcomes []turn.Outcome     // by provider, in the builder's order
	Layers   []turn.LayerTokens // in reading order
	Dropped  []turn.Dropped     // what the budget cut
	Lookup   *turn.Lookup       // the first lookup among the outcomes, or nil
}

// Speakers is the preamble for prompts in which people's messages begin with their name.
const Speakers = `You are in a chat channel with several people. Each of their messages begins with its writer's name and a colon, sometimes with the time in brackets before it; "(replying to …)" after a name shows what is being answered. Your own messages carry no name and no time: write only your words, and never speak for anybody else.`

// Build asks every provider and returns the prompt for req. It returns when the last provider has answered
// or was given up, at most a moment after req.Deadline.
func (b *Builder) Build(ctx context.Context, req turn.Request) Prompt {
	outcomes := b.gather(ctx, req)
	b.rewrite(outcomes)
	fitted := b.fit(req, outcomes)
	return Prompt{
		Messages: b.render(fitted),
		Outcomes: outcomes,
		Layers:   fitted.layers,
		Dropped:  fitted.dropped,
		Lookup:   firstLookup(outcomes),
	}
}

// rewrite has the bot's earlier messages rewritten.
func (b *Builder) rewrite(outcomes []turn.Outcome) {
	if b.Own == nil {
		return
	}
	var said []*turn.Message
	for _, o := range outcomes {
		for _, c := range o.Contributions {
			if c.Message != nil {
				said = append(said, c.Message)
			}
		}
	}
	slices.SortStableFunc(said, func(x, y *turn.Message) int { return y.At.Compare(x.At) })
	for i, m := range said {
		if m.Own {
			m.Text = b.Own(m.Text, i+1) // 0 is the turn's
		}
	}
}

// Inject puts a text that is about this turn before its message, cut to what is left of the layer for that. It reports whether any of it
// had room.
func (b *Builder) Inject(p *Prompt, source, text string) bool {
	l := &p.Layers[turn.DepthInject]
	size := b.count(text)
	short, n := cut(text, l.Budget-l.Used-perMessage, size, b.count)
	if n < size {
		reason := "truncated"
		if n == 0 {
			reason = "dropped"
		}
		p.Dropped = append(p.Dropped, turn.Dropped{Layer: turn.DepthInject, Source: source, Reason: reason, Tokens: size - n})
	}
	if short == "" {
		return false
	}
	l.Used += n + perMessage
	p.Messages = slices.Insert(p.Messages, len(p.Messages)-1, turn.Rendered{Role: "system", Text: short, Tokens: n + perMessage})
	return true
}

// Wait returns when every call that a Build gave up has returned, or with ctx's error.
func (b *Builder) Wait(ctx context.Context) error { return b.strays.wait(ctx) }

func (b *Builder) count(text string) int {
	if text == "" {
		return 0
	}
	if b.Count == nil {
		return (len(text) + 3) / 4
	}
	return b.Count(text)
}

func firstLookup(outcomes []turn.Outcome) *turn.Lookup {
	t := turn.Trace{Outcomes: outcomes}
	return t.Lookup()
}
