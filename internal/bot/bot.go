// Package bot is the loop between the doors and the model: it decides which messages are meant for it, gives every
// channel a lane of its own, takes one turn at a time in each, and delivers the replies.
//
// What was promised an answer gets one, or its author is told why not. A message's way, by file:
//
//   - arrive.go stores and claims it, together with what else came at that moment (trigger.go, rate.go: if it asks for a turn,
//     and which of the characters in cast.go).
//     No event is answered twice, and a restart knows what was not (resume.go).
//   - proxy.go has a message that a proxy writes for a person take the place of the original.
//   - lane.go lets it wait for its turn, in its channel's lane.
//   - voice.go has a voice message written down, so that it is answered like any other.
//   - take.go takes the turn: gather (prompt.Builder), ask (llm.Client), answer (answer.go, reply.go), remember (trace.Store).
//   - subscribe.go has every message of a channel be for the bot, where people want that.
//   - memory.go remembers and forgets what a message orders, before the turn reads anything; remembered.go is /memory.
//   - threads.go opens threads and goes on in them.
//   - catchup.go tells what somebody has missed, and topics.go what of that belongs together.
//   - chatter.go joins in unasked, where people want that.
//   - hint.go says what is wrong with a model that does not answer, and to the operator what to check.
//   - process.go has models think before the answer, or word it anew, where the mode says so.
//   - amend.go answers an edited question anew and takes back the answer to a deleted one.
//   - delivery.go posts the reply while it grows. Nothing is visible before its record is on disk.
//   - spoken.go has a reply come as somebody types it, where the mode is to imitate a voice.
//   - notice.go tells those who get no answer.
//   - react.go is what people say by a reaction, and the bot's own reactions.
//   - presence.go shows beside its name what keeps it from answering as usual.
//   - control.go and quota.go are what people switch off, who is let in, and how much may be used on a day.
//   - button.go and press.go are the buttons under a reply. Discord is told a random key for each; what it means is in the store.
//
// With no model configured the reply is made from the lookup alone, in the pages' own words.
//
// One step below stand bot/outgoing, which decides what of a reply may be posted, bot/view, which writes records for
// people, and the doors, Discord and the terminal, which know nothing of this package. They bring [turn.Event]s and carry
// out [turn.Post]s.
package bot

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/server"
	"familiar/internal/redact"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/transcribe"
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

// Bot is one or more characters behind one door. Every field but Files, Servers, Listener, Redact and WebOff is required; they must not be
// changed while it runs.
type Bot struct {
	Door     Door
	Cast     *Cast // until SetCast
	Store    *store.DB
	Traces   *trace.Store
	Files    *attachment.Files   // reads what hangs on messages; nil: voice messages are not heard
	Servers  *server.Servers     // says who may read what; nil: there are no servers
	Listener *transcribe.Service // writes voice messages down; nil: nobody does
	Redact   *redact.Redactor
	Log      *slog.Logger
	Pace     Pace
	Watch    func(a turn.Activity, n int) // is told what turns are at; nil: nobody watches
	Progress func(turn.Progress)          // is told how far each turn has come, and must not wait; nil: nobody watches
	WebOff   bool                         // the operator switched the web off for all channels
	Limit    time.Duration                // for the model's answer, after the prompt is built; 0 is two minutes

	// Prepare makes what several characters need to post in a channel under names of their own; its error says why they cannot, and
	// how they could. nil: nothing is needed.
	Prepare func(ctx context.Context, channelID string) error

	// Cure says what the operator should check when the model of a character failed; nil: nobody knows.
	Cure func(ctx context.Context, a *Actor, err error) string
	// Candid says that whoever reads the replies is the operator, who is told that.
	Candid bool

	// Present shows beside the bot's name what keeps it from answering as usual; nil: it cannot.
	Present func(turn.Presence)

	// Profile changes how the bot looks in a server; nil: it cannot.
	Profile func(ctx context.Context, guildID string, p turn.Profile) error

	// Contentless reports whether the bot may read only what is for it; nil: it may read all.
	Contentless func() bool

	Access   Access  // who may use it
	Quotas   []Quota // how much may be used on a day
	Operator string  // id of the person who runs it; empty: not known

	// Finished is told of each turn that is over, once its record is kept. It must not wait, change the turn or keep it. nil: nobody wants to know.
	Finished func(*turn.Trace)

	Learns bool // turns are noted for the writer of memory

	// Forgetting drops what else the process has in memory of what people asked, when one is forgotten; nil: nothing.
	Forgetting func()

	// PerPerson is how many turns a person may ask for in a minute; 0: any number.
	PerPerson int
	// Resume makes Run go on with what an earlier process left unanswered.
	Resume bool

	lanes     lanes
	rounds    rounds         // made by Run
	commands  sync.WaitGroup // commands that are being carried out
	notices   notices
	chatter   chatter
	turns     rates // of each person
	reloaded  atomic.Pointer[Cast]
	condition condition
	stop      // made by Run
}

// Pace is how often and in which pieces a door wants a reply.
type Pace struct {
	First   time.Duration // from the first words to the first post, to gather a few more
	Every   time.Duration // between two edits of one message
	Units   int           // UTF-16 units in a post; 0: no limit
	Buttons bool          // a reply may have buttons
	Names   bool          // the characters of a channel may post under names of their own
	Close   bool          // tell the door that a reply has ended even when its text stays the same
}

const (
	answerLimit  = 2 * time.Minute
	commandLimit = time.Minute
	lastEvents   = time.Second // for a door to close its events, once ctx is done
	mostAtOnce   = 64          // events that are stored in one transaction
)

// Run takes events until events is closed, which the door must do soon after ctx is done. Then it waits for the turns that
// have begun: a turn's own deadline ends it, not ctx. Whoever is not answered any more is told so.
func (b *Bot) Run(ctx context.Context, events <-chan turn.Event) {
	b.rounds = rounds{}
	defer context.AfterFunc(ctx, b.onStop())()
	defer b.notices.posting.Wait()
	defer b.lanes.wait()
	defer b.commands.Wait() // first: a button may begin a turn
	defer b.chatter.close() // the first of all: it begins turns
	b.pausedEverywhere(ctx)
	if b.Resume {
		b.resume(ctx)
	}
	for batch := range batches(ctx, events) {
		b.receive(ctx, batch)
	}
}

// batches yields what has come, up to mostAtOnce events together.
func batches(ctx context.Context, events <-chan turn.Event) iter.Seq[[]turn.Event] {
	return func(yield func([]turn.Event) bool) {
		done := ctx.Done()
		var last <-chan time.Time
		for {
			select {
			case <-done:
				done, last = nil, time.After(lastEvents)
			case <-last: // the door does not close: what it has handed over so far is all
				for more := waiting(events); len(more) > 0; more = waiting(events) {
					if !yield(more) {
						return
					}
				}
				return
			case e, open := <-events:
				if !open || !yield(append([]turn.Event{e}, waiting(events)...)) {
					return
				}
			}
		}
	}
}

// waiting takes the events that are there already.
func waiting(events <-chan turn.Event) []turn.Event {
	var more []turn.Event
	for len(more) < mostAtOnce-1 {
		select {
		case e, open := <-events:
			if !open {
				return more
			}
			more = append(more, e)
		default:
			return more
		}
	}
	return more
}

// Stop ends the answer that is being given in a channel; what is posted stays. It reports whether there was one.
func (b *Bot) Stop(channelID string) bool { return b.lanes.stop(channelID, "") }

// receive handles events in their order. Messages that follow each other are stored together.
func (b *Bot) receive(ctx context.Context, events []turn.Event) {
	var created []arrival
	for _, e := range events {
		e = titled(e)
		if e.Kind == turn.Created {
			if e.Original != "" { // which may be among them
				b.admit(ctx, created...)
				created = nil
			}
			created = append(created, b.arrivals(ctx, e)...)
			continue
		}
		b.admit(ctx, created...)
		created = nil
		switch e.Kind {
		case turn.Edited:
			b.edited(ctx, e)
		case turn.Deleted:
			b.deleted(ctx, e)
		case turn.Gone:
			b.gone(ctx, e)
		case turn.Reacted, turn.Unreacted:
			b.reacted(ctx, e)
		case turn.Ordered:
			b.commands.Go(func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandLimit)
				defer cancel()
				ctx, release := until(ctx, b.left)
				defer release()
				b.command(ctx, e)
			})
		}
	}
	b.admit(ctx, created...)
}
