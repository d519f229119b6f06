// Package bot is the loop between the doors and the model. It decides which messages are for the bot and gives each channel its own lane.
// It takes one turn at a time in each, and delivers the replies. A message that asks for a turn gets an answer, or its author is told why
// not.
//
// The way of a message, by file:
//
//   - bot.go takes the events, several at once, and hands each on.
//   - cast.go has the characters, and decides which of them must answer a message, if any. Package gate decides whether they may.
//   - arrive.go stores the message and claims it, so that no event is answered twice. It replaces messages that a proxy posts again.
//   - lane.go queues it in its channel's lane.
//   - take.go takes the turn: gather (prompt.Builder), ask and answer (answer.go, with package reply), remember (record.go). Commands take
//     turns outside the lanes. request.go tells the providers what the turn is about. attached.go has voice messages transcribed.
//     process.go has models carry out orders to remember, think before the answer, or reword it.
//   - delivery.go posts the reply while it grows, at the pace of typing if the bot imitates a voice. door.go calls the door, and
//     calls it again while a failure may be temporary. Nothing is visible before its record is
//     on disk.
//   - notice.go tells authors who get no answer, and shows why next to the bot's name.
//
// What happens afterwards, or besides:
//
//   - amend.go answers an edited question again, deletes the answers to a deleted one, and forgets people.
//   - press.go does what the buttons under a reply ask for, and the reactions. Discord is told a key for each button that cannot be guessed.
//   - chatter.go joins in unasked, and resume.go goes on after a restart. witness.go asks the channel what was answered and written before.
//   - speak.go says a reply aloud, and mood.go shows its mood. remind.go tells people what they wanted to be reminded of.
//   - greet.go greets where people want that.
//
// Without a model the reply is made from the lookup alone, in the words of the pages.
//
// Package command is above this one: Run hands it the commands. Below it are reply, which writes the final text of a reply, and view, which
// writes records for people. The doors, Discord and the terminal, are below it, too. The doors know nothing of this package. They bring
// [turn.Event]s and carry out [turn.Post]s and [turn.Edit]s.
package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
	"familiar/internal/forget"
	"familiar/internal/gate"
	"familiar/internal/memory"
	"familiar/internal/providers/attachment"
	"familiar/internal/providers/recall"
	"familiar/internal/reply"
	"familiar/internal/store"
	"familiar/internal/trace"
	"familiar/internal/web/clean"
)

// Bot is one or more characters behind one door. Door, Cast, Store, Memories, Traces and Log are required. The fields must not be changed while Run
// runs.
type Bot struct {
	Door     Door
	Cast     *Cast // until SetCast replaces it
	Store    *store.DB
	Memories *memory.Store
	Traces   *trace.Store
	Files    *attachment.Files       // reads attachments; nil: voice messages are not heard
	Servers  *recall.Servers         // says who may read what; nil: there are no servers
	Listener *attachment.Transcriber // transcribes voice messages; nil: they are not heard
	Redact   *clean.Redactor
	Log      *slog.Logger
	Pace     Pace
	Watch    func(a turn.Activity, n int) // is called with what a turn is doing; may be nil
	// Commands carries out a command. Run calls it with each event of kind [turn.Ordered], in a goroutine of its own.
	Commands func(context.Context, turn.Event)
	Progress func(turn.Progress) // is called with each turn's progress, and must not wait; may be nil
	WebOff   bool                // the operator switched the web off in all channels
	Limit    time.Duration       // for the model's answer, after the prompt is built; 0 is two minutes

	// Cure returns what the operator should check after a character's model failed; nil: nobody knows.
	Cure func(ctx context.Context, a *Actor, err error) string
	// OperatorOnly says that only the operator reads the replies, so that they may hold what Cure returns.
	OperatorOnly bool

	// Present shows next to the bot's name why it does not answer as usual; nil: it cannot.
	Present func(turn.Presence)

	// Replies finds the bot's own replies to a message in a channel; nil: it cannot.
	Replies func(ctx context.Context, channelID, messageID string) ([]turn.Standing, error)

	// Doubted reports whether an edit of a post may still take effect, after those that followed it; nil: none does.
	Doubted func(messageID string) bool

	// Earlier returns some messages of a channel from before one of them, oldest first; nil: it cannot.
	Earlier func(ctx context.Context, channelID, messageID string) ([]turn.Message, error)

	// Now is the time for quotas and for what is too old; nil: that of the machine.
	Now func() time.Time

	// Profile changes the bot's name and picture in a server; nil: it cannot.
	Profile func(ctx context.Context, guildID string, p turn.Profile) error

	Gate *gate.Gate // decides who may have a turn; required

	// Finished is called with each turn that is over, once its record is saved. It must not wait, change the turn or keep it. May be nil.
	Finished func(*turn.Trace)

	Learns bool // turns are noted for the writer of memory

	Forgetter *forget.Forgetter // deletes what is kept in Store and Traces

	// Resume makes Run answer what an earlier process left unanswered, once Clocked is closed. That says that Now is right. If nil, it is.
	Resume  bool
	Clocked <-chan struct{}

	// Inherited brings the servers that this process has begun to act for. What other processes left unanswered there is resumed
	// then, and not by Run at its beginning. nil: no other process acts for any.
	Inherited <-chan Inheritance
	// Others reports whether other processes go on with what this one leaves. nil: there are none.
	Others func() bool

	lanes     lanes
	rounds    gate.Rounds    // made by Run, and used only by its goroutine
	tasks     sync.WaitGroup // commands, and other work outside the lanes
	notices   notices
	chatter   chatter
	met       idSet // channels in which this process has taken a turn
	speeches  reply.Speeches
	talking   idSet               // turns whose replies are being said aloud
	faces     attachment.Shrinker // makes pictures of moods small
	postLocks postLocks
	pressing  sync.Mutex // held while a press becomes a turn, so that two make one
	reloaded  atomic.Pointer[Cast]
	condition condition
	stop      // made by Run
}

// Pace is how a door wants replies: how often, and in which pieces.
type Pace struct {
	First   time.Duration            // from the first words to the first post, to gather a few more
	Every   time.Duration            // between two edits of one message
	Units   int                      // UTF-16 units in a post; 0: no limit
	Label   func(name string) string // what may be before the text of a character with a name; nil: nothing
	Buttons bool                     // a reply may have buttons
	Names   bool                     // the characters of a channel may post under their own names
	Close   bool                     // tell the door that a reply has ended even if its text stays the same
}

const (
	answerLimit  = 2 * time.Minute
	commandLimit = time.Minute
	overdueAfter = 6 * time.Second // for the store to keep a batch, until authors are told
	overdueNext  = time.Second     // the same soon after such a batch: what comes then has waited behind it
	lastEvents   = time.Second     // for a door to close its events, once ctx is done
)

// Run takes batches of events until the channel is closed, which the door must do soon after ctx is done. Then it waits for the turns that have begun:
// they end at their own deadlines, not with ctx. Authors whose messages are not answered any more are told.
func (b *Bot) Run(ctx context.Context, events <-chan []turn.Event) {
	b.rounds = gate.Rounds{}
	defer context.AfterFunc(ctx, b.onStop())()
	defer b.notices.posting.Wait()
	defer b.lanes.running.Wait()
	defer b.tasks.Wait()    // before the lanes: a button may begin a turn
	defer b.chatter.close() // before all these: it begins turns
	defer close(b.ended)
	b.HearPauses(ctx)
	if b.Resume && b.Inherited == nil {
		b.resume(ctx, func(_, _ string) bool { return true })
	}
	b.tasks.Go(func() { b.remindPeople(ctx) })
	done := ctx.Done()
	var last <-chan time.Time
	var hung time.Time // when a batch was last given up for which people were told
	for {
		var batch []turn.Event
		open := true
		select {
		case h := <-b.Inherited: // also while events come without a pause
			b.inherit(ctx, h)
			continue
		case batch, open = <-events:
		default: // the door has handed over nothing
			select {
			case batch, open = <-events:
			case h := <-b.Inherited:
				b.inherit(ctx, h)
			case <-done:
				done, last = nil, time.After(lastEvents)
			case <-last: // the door does not close
				return
			}
		}
		if !open {
			return
		}
		patience := overdueAfter
		if time.Since(hung) < overdueAfter {
			patience = overdueNext
		}
		late := time.AfterFunc(patience, func() { b.Overdue(batch) })
		b.receive(ctx, batch)
		if !late.Stop() {
			hung = time.Now()
		}
	}
}

// Stopping returns a channel that is closed when the bot is asked to stop. From then on no turn begins.
func (b *Bot) Stopping() <-chan struct{} { return b.stopping }

// receive handles events in order. Messages that follow each other are stored together.
func (b *Bot) receive(ctx context.Context, events []turn.Event) {
	var created []arrival
	for _, e := range events {
		e = heard(e)
		if e.Kind != turn.Created || e.Original != "" { // which may be one of them
			b.admit(ctx, created...)
			created = nil
		}
		switch e.Kind {
		case turn.Created:
			created = append(created, b.arrivals(ctx, e)...)
		case turn.Edited:
			b.edited(ctx, e)
		case turn.Deleted:
			b.deleted(ctx, e)
		case turn.Gone:
			b.gone(ctx, e)
		case turn.Reacted, turn.Unreacted:
			b.reacted(ctx, e)
		case turn.Ordered:
			b.tasks.Go(func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commandLimit)
				defer cancel()
				ctx, release := until(ctx, b.left)
				defer release()
				b.Commands(ctx, e)
			})
		}
	}
	b.admit(ctx, created...)
}

// heard returns an event as the bot reads it. The title of a forum's post comes before its first message: together they are the question. A
// note of a message names its attachments.
func heard(e turn.Event) turn.Event {
	if e.Title != "" {
		e.Message.Text = e.Title + "\n" + e.Message.Text
	}
	all := []*turn.Message{&e.Message}
	if e.Reply != nil {
		above := *e.Reply
		e.Reply = &above
		all = append(all, e.Reply)
	}
	for _, m := range all {
		m.Note = attachment.Note(*m, "")
	}
	return e
}

const (
	stopPatience = 15 * time.Second // from the request to stop until an unfinished answer is cut
	stopLimit    = 22 * time.Second // from the request to stop until nothing more is posted; the next start posts the rest
)

var (
	errStopping = errors.New("the bot was asked to stop, and the model had not ended in time")
	errLeft     = errors.New("the bot has stopped")
)

// stop holds the steps in which a bot stops.
type stop struct {
	stopping chan struct{}   // closed when the bot is asked to stop: no turn begins any more
	ended    chan struct{}   // closed when no event comes any more
	cut      context.Context // done after stopPatience, with errStopping
	left     context.Context // done after stopLimit, with errLeft
}

// onStop makes the steps, and returns a function that begins them.
func (b *Bot) onStop() (begin func()) {
	cut, endAnswers := context.WithCancelCause(context.Background())
	left, endPosts := context.WithCancelCause(context.Background())
	b.stop = stop{stopping: make(chan struct{}), ended: make(chan struct{}), cut: cut, left: left}
	return func() {
		close(b.stopping)
		time.AfterFunc(stopPatience, func() {
			if !b.leaves() { // else another process finishes them
				endAnswers(errStopping)
			}
		})
		time.AfterFunc(stopLimit, func() { endPosts(errLeft) })
	}
}

// until returns a context that ends when ctx ends, or when end does. end may be nil.
func until(ctx, end context.Context) (context.Context, context.CancelFunc) {
	if end == nil {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(end, func() { cancel(context.Cause(end)) })
	return ctx, func() {
		release()
		cancel(nil)
	}
}

// idSet is a set of ids for several goroutines. Its zero value is empty.
type idSet struct {
	mu  sync.Mutex
	ids map[string]bool // guarded by mu
}

const mostIDs = 10_000 // a set that is full forgets all

// add adds an id, and reports whether it is new.
func (s *idSet) add(id string) (isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids[id] {
		return false
	}
	if s.ids == nil || len(s.ids) >= mostIDs {
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	return true
}

func (s *idSet) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ids, id)
}

// now returns the time for quotas, for what is too old, and for what is kept. A clock that was wrong may be right at the next start.
func (b *Bot) now() time.Time {
	if b.Now == nil {
		return time.Now()
	}
	return b.Now()
}

// elsewhere reports whether something failed because another process acts for the server now. That one goes on with it.
func elsewhere(err error) bool {
	return errors.Is(err, errElsewhere) || errors.Is(err, store.ErrLost) || rest.KindOf(err) == rest.Elsewhere
}

func (b *Bot) logged(what string, err error) {
	if err != nil && !elsewhere(err) {
		b.Log.Error(what, "err", b.Redact.String(err.Error()))
	}
}

// closeClaims notes that nothing more follows for these messages of a server.
func (b *Bot) closeClaims(ctx context.Context, guildID string, ids ...string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("settle claims", b.Store.Claims.Close(ctx, guildID, ids...))
}

// recovered logs a panic, which must end one turn and not the process. It reports whether there was one.
func (b *Bot) recovered(what string, panicked any) bool {
	if panicked != nil {
		b.Log.Error(what, "panic", b.Redact.String(fmt.Sprint(panicked)), "stack", b.Redact.String(string(debug.Stack())))
	}
	return panicked != nil
}
