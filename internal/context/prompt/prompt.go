// Package prompt builds the messages for the model. It asks all context providers at once, fits their contributions into the budget, and
// renders what fits.
//
//   - gather.go runs the [Provider]s concurrently under the turn's deadline. It turns their results, also panics and silence, into a
//     [turn.Outcome] for each.
//   - fit.go decides what is kept: by layer, by priority within a layer, and by the total.
//   - render.go writes the messages.
//
// [Builder.Build] cannot fail. A provider that fails costs the turn its contribution, never the reply. Equal contributions always give the
// same prompt, regardless of timing.
package prompt

import (
	"context"
	"slices"
	"time"

	"familiar/internal/context/turn"
)

// Provider offers context for a turn.
//
// Contribute must return soon after ctx is done. It then returns what it has with an error. The builder uses the contributions in either
// case and owns the returned slice.
type Provider interface {
	Name() string
	Contribute(ctx context.Context, req turn.Request) ([]turn.Contribution, error)
}

// Builder builds prompts. It is safe for concurrent use and must not be copied after first use.
type Builder struct {
	Providers []Provider // run concurrently; put the slowest first, because it starts first; the outcomes have the same order

	Preamble string // opens the system prompt and explains the form of the messages; empty: [Speakers], or [Private] outside of servers

	// Count returns the number of tokens in a text. nil: a quarter of its bytes, rounded up.
	Count func(string) int

	// BlockRole is the role of web text, just before the turn's message. "user" (the default) makes it a message of its own. "system" makes it
	// a part of the system message there.
	BlockRole string

	// Deadlines limit providers by name, from the start of Build. The turn's deadline applies too.
	Deadlines map[string]time.Duration

	// Clock is the time zone of the "[15:04]" before people's messages in text mode. nil: no times.
	Clock *time.Location

	// Own returns what rewrites the bot's earlier messages in one prompt. depth is a message's distance from the newest one of the
	// conversation. nil: no changes.
	Own func(turn.Request) func(text string, depth int) string

	Names []string // the bot's names; no line of anyone else may begin with one of them

	// Window returns the tokens that the model's context holds, the answer included; 0: unknown. nil: it is unknown.
	Window func(context.Context) int

	Redact func(string) string // removes secrets from the errors of providers; nil: removes nothing

	strays strays // abandoned calls that have not returned
}

// Prompt is the prompt of a turn with what led to it. It shares nothing with the builder.
type Prompt struct {
	Messages []turn.Rendered    // the system prompt first, the turn's message last
	Outcomes []turn.Outcome     // by provider, in the builder's order
	Layers   []turn.LayerTokens // in reading order
	Dropped  []turn.Dropped     // what did not fit the budget
	Lookup   *turn.Lookup       // the first lookup among the outcomes, or nil

	left int // tokens of the total that are not used
}

// Speakers is the preamble of prompts in which people's messages begin with their names.
const Speakers = `You are in a chat channel with several people. Each of their messages begins with its writer's name and a colon, sometimes after the time in brackets; "(replying to …)" after a name shows what is answered. Your own messages carry no name and no time: write only your words, and never speak for anybody else.`

// Private is the preamble of a chat with one person.
const Private = `You are in a private chat with one person. Their messages begin with their name and a colon, sometimes after the time in brackets; "(replying to …)" after the name shows what is answered. Your own messages carry no name and no time: write only your words, and never speak for anybody else.`

// Build asks every provider and returns the prompt for req. It returns when each provider has answered or was abandoned, shortly after
// req.Deadline at the latest.
func (b *Builder) Build(ctx context.Context, req turn.Request) Prompt {
	if b.Window != nil {
		req.Budget = scaled(req.Budget, b.Window(ctx))
	}
	outcomes := b.gather(ctx, req)
	b.rewrite(req, outcomes)
	fitted := b.fit(req, outcomes)
	return Prompt{
		Messages: b.render(fitted),
		Outcomes: outcomes,
		Layers:   fitted.layers,
		Dropped:  fitted.dropped,
		left:     fitted.left,
		Lookup:   firstLookup(outcomes),
	}
}

// rewrite applies Own to the bot's earlier messages.
func (b *Builder) rewrite(req turn.Request, outcomes []turn.Outcome) {
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
	rewritten := b.Own(req)
	for i, m := range said {
		if m.Own {
			m.Text = rewritten(m.Text, i+1) // depth 0 is the turn's message
		}
	}
}

// Inject puts a text before the turn's message, cut to the room left in the layer [turn.DepthInject]. It reports whether any of it fits.
func (b *Builder) Inject(p *Prompt, source, text string) bool {
	l := &p.Layers[turn.DepthInject]
	size := b.count(text)
	short, n := cut(text, min(l.Budget-l.Used, p.left)-perMessage, size, b.count)
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
	p.left -= n + perMessage
	p.Messages = slices.Insert(p.Messages, len(p.Messages)-1, turn.Rendered{Role: "system", Text: short, Tokens: n + perMessage})
	return true
}

// Wait waits until every abandoned call has returned, or returns ctx's error.
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
