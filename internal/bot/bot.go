// Package bot is the loop between the doors and the model: it decides which messages are meant for it, gives every
// channel a lane of its own, takes one turn at a time in each, and delivers the replies.
//
// A turn, as take.go has it: gather (prompt.Builder), ask (llm.Client), answer (speech), remember (trace.Store).
// Nothing is visible before its record is on disk, and no event is answered twice, because the lane claims it in
// the store first. With no model configured the reply is made from the lookup alone, in the pages' own words.
//
// One step below stand bot/outgoing, which decides what of a reply may be posted, bot/view, which writes records for
// people, and the doors, Discord and the terminal, which know nothing of this package. They bring [turn.Event]s and carry
// out [turn.Post]s.
package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/llm"
	"familiar/internal/providers/character"
	"familiar/internal/providers/websearch"
	"familiar/internal/redact"
	"familiar/internal/store"
	"familiar/internal/trace"
)

// Door is how a bot reaches people.
type Door interface {
	// Deliver posts a message, or edits one, and returns its id. A repeated nonce must not post twice.
	Deliver(ctx context.Context, p turn.Post) (id string, err error)
	// Typing shows for a few seconds that the bot is busy.
	Typing(ctx context.Context, channelID string) error
	// Respond answers a command, visible to the person who gave it alone. A second answer replaces the first.
	Respond(ctx context.Context, c turn.Command, a turn.Answer) error
}

// Bot is one character behind one door. Every field but Model, Redact and WebOff is required; they must not be
// changed while it runs.
type Bot struct {
	Door      Door
	Builder   *prompt.Builder
	Model     *llm.Client // nil: no model is configured
	Lookup    *websearch.Provider
	Store     *store.DB
	Traces    *trace.Store
	Character *character.Character
	Redact    *redact.Redactor
	Log       *slog.Logger
	Pace      Pace
	WebOff    bool          // the operator switched the web off for all channels
	Limit     time.Duration // for the model's answer, after the prompt is built; 0 is two minutes

	lanes    lanes
	commands sync.WaitGroup // commands that are being carried out
	notices  notices
}

// Pace is how often and in which pieces a door wants a reply.
type Pace struct {
	First time.Duration // from the first words to the first post, to gather a few more
	Every time.Duration // between two edits of one message
	Units int           // UTF-16 units in a post; 0: no limit
	Close bool          // tell the door that a reply has ended even when its text stays the same
}

const (
	answerLimit  = 2 * time.Minute
	commandLimit = time.Minute
	noticeEvery  = 10 * time.Second
)

// Run takes events until ctx is done or events is closed, then waits for the turns that have begun. A turn's own
// deadline ends it, not ctx.
func (b *Bot) Run(ctx context.Context, events <-chan turn.Event) {
	defer b.commands.Wait()
	defer b.lanes.wait()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-events:
			if !open {
				return
			}
			b.receive(ctx, e)
		}
	}
}

// Stop ends the answer that is being given in a channel; what is posted stays. It reports whether there was one.
func (b *Bot) Stop(channelID string) bool { return b.lanes.stop(channelID) }

func (b *Bot) receive(ctx context.Context, e turn.Event) {
	if e.Kind == turn.Ordered {
		b.commands.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandLimit)
			defer cancel()
			b.command(ctx, e)
		})
		return
	}
	a := arrival{Event: e, at: time.Now()}
	if e.Kind == turn.Created || e.Kind == turn.Edited {
		a.addressed = b.addressed(ctx, e)
	}
	b.lanes.put(e.Message.ChannelID, a, func(l *lane) { b.drive(ctx, l) })
}

// notices limits how often a channel gets a notice.
type notices struct {
	mu   sync.Mutex
	last map[string]time.Time // by channel; guarded by mu
}

func (n *notices) due(channelID string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.last[channelID]) < noticeEvery {
		return false
	}
	if n.last == nil || len(n.last) > 1000 {
		n.last = make(map[string]time.Time)
	}
	n.last[channelID] = now
	return true
}
