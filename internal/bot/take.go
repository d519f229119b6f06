package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"familiar/internal/bot/discord"
	"familiar/internal/bot/outgoing"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

const (
	storeLimit = 10 * time.Second // bounds every wait for the store
	saveAgain  = time.Second      // after a record could not be saved

	// begunAfter is how long a turn goes on before it is put on record as begun. Most are there with their first words by then.
	begunAfter = 200 * time.Millisecond
)

// drive takes a lane's turns until none is left.
func (b *Bot) drive(ctx context.Context, l *lane) {
	for {
		batch := l.next()
		if len(batch) > 0 {
			b.handle(ctx, l, batch)
		} else if l.close() {
			return
		}
	}
}

// handle takes a turn, if a batch asks for one. Once the bot is stopping no turn begins.
func (b *Bot) handle(ctx context.Context, l *lane, batch []arrival) {
	defer func() { b.recovered("handle an event", recover()) }()
	defer l.release()
	if !batch[0].addressed {
		return
	}
	select {
	case <-b.stopping:
		if batch[0].anew { // there is an answer
			return
		}
		b.Log.Warn("a message came too late to be answered", "channel", batch[0].Message.ChannelID, "message", batch[0].Message.ID)
		if len(batch[0].posts) > 0 { // all are of one turn
			b.markInterrupted(ctx, batch[0])
			return
		}
		for _, a := range batch {
			if a.addressed {
				b.tell(a.Event, leaving, a.claim())
			}
		}
	default:
		if batch[0].anew && !b.replaces(ctx, l, batch[0]) || b.moves(ctx, batch) {
			return
		}
		b.take(ctx, l, batch)
	}
}

// take is one turn: gather, ask, answer, remember. It starts over while the author goes on writing and nothing of the reply
// is visible, and when the question is edited, then in the posts that are there.
func (b *Bot) take(ctx context.Context, l *lane, batch []arrival) {
	id := cmp.Or(batch[0].turnID, batch[0].newID, ulid.Make().String())
	began := time.Now()
	actor, heard := b.actor(ctx, batch[0]), map[string]hearing{}
	b.seen(actor, batch[0].Message.ChannelID, batch[len(batch)-1].Message.ID)
	var so deliveryResult
	var obeyed obedience
	for {
		attempt, cancel := context.WithCancelCause(ctx)
		batch = l.begin(id, cancel)
		if so.created > 0 {
			batch[0].posts, batch[0].created = so.kept(), so.created
		}
		so = b.attempt(attempt, l, actor, id, began, batch, heard, &obeyed)
		cancel(nil)
		if l.end() {
			return
		}
	}
}

// attempt is one attempt at a turn. It returns what is posted by then.
func (b *Bot) attempt(ctx context.Context, l *lane, actor *Actor, id string, began time.Time, batch []arrival, heard map[string]hearing, obeyed *obedience) (so deliveryResult) {
	so = resumed(batch[0])
	t := &turn.Trace{}
	defer func() {
		if b.recovered("take a turn", recover()) {
			t.Phase = turn.Broken
			b.over(t)
			b.tell(batch[0].Event, turnBroken, batch[0].claim())
		}
	}()
	ctx, release := until(ctx, b.cut)
	defer release()
	typing := b.typing(ctx, batch[0].Message.ChannelID)
	defer typing.stop()
	b.listen(ctx, batch, heard)
	spoken, transcripts := withWords(batch, heard)
	*t = turn.Trace{Request: b.request(ctx, actor, id, spoken), Phase: turn.Begun, Began: began, Transcripts: transcripts, ModelHost: actor.modelHost()}
	b.watched(t)
	if said := batch[0].considered; said != nil {
		t.Processed = append(t.Processed, *said)
	}
	ctx, cancel := context.WithDeadline(ctx, t.Request.Deadline.Add(b.limit()))
	defer cancel()

	b.obey(ctx, t, obeyed) // before anything from the web is read
	settle := b.saveBegun(ctx, *t)
	defer settle()
	p := b.gather(ctx, actor, t)
	b.tellMemory(actor, t, &p)
	if actor.Model != nil {
		b.preprocess(ctx, actor, t, &p)
	}
	if startsOver(context.Cause(ctx)) {
		return so
	}
	d := b.deliver(ctx, l, actor, t, typing, p, batch[0], settle)
	text := b.answer(ctx, t, p, d)
	l.completed()
	if b.react(ctx, l, actor, t, text, d.posted()) {
		text = ""
	}
	so = d.finish(text, finalButtons(p.Lookup, t.Cut)...)
	settle()
	b.remember(ctx, actor, t, so, batch[0])
	return so
}

// saveBegun puts a turn on record as begun, if it goes on for begunAfter. Who writes a later record calls settle first: from then on
// nothing of this one is written.
func (b *Bot) saveBegun(ctx context.Context, t turn.Trace) (settle func()) {
	saved := make(chan struct{})
	later := time.AfterFunc(begunAfter, func() {
		defer close(saved)
		defer func() { b.recovered("record a turn", recover()) }()
		b.save(ctx, &t)
	})
	return sync.OnceFunc(func() {
		if !later.Stop() {
			<-saved
		}
	})
}

// gather builds the prompt.
func (b *Bot) gather(ctx context.Context, actor *Actor, t *turn.Trace) prompt.Prompt {
	within, cancel := context.WithDeadline(ctx, t.Request.Deadline)
	defer cancel()
	p := actor.Builder.Build(within, t.Request)
	if t.Request.GoOn {
		p.Messages = append(p.Messages, b.rest(ctx, actor, t.Request.EarlierID)...)
	}
	t.Outcomes, t.Layers, t.Dropped, t.Prompt = p.Outcomes, p.Layers, p.Dropped, p.Messages
	t.Blind = actor.Model != nil && blind(p.Outcomes)
	t.Timings.Prompt = time.Since(t.Began)
	return p
}

// goOnBytes is how much of a reply that was cut the model is shown, from its end.
const goOnBytes = 4000

// rest is how a model is asked for the rest of a reply that was cut.
func (b *Bot) rest(ctx context.Context, actor *Actor, earlierID string) []turn.Rendered {
	earlier, err := b.Traces.Get(ctx, earlierID)
	if err != nil {
		b.logged("read the record of a reply that was cut", err)
		return nil
	}
	words := outgoing.OwnWords(earlier.Reply)
	if from := len(words) - goOnBytes; from > 0 {
		words = strings.ToValidUTF8(words[from:], "")
	}
	return []turn.Rendered{
		{Role: "assistant", Text: words, Tokens: actor.Builder.Count(words)},
		{Role: "user", Text: goOnPlease, Tokens: actor.Builder.Count(goOnPlease)},
	}
}

const goOnPlease = "Your answer above was cut off. Go on exactly where it ends. Repeat nothing of it, and write no introduction."

// remember completes the record and stores the reply as history.
func (b *Bot) remember(ctx context.Context, actor *Actor, t *turn.Trace, result deliveryResult, of arrival) {
	if startsOver(result.err) || errors.Is(result.err, errLeft) { // an attempt, or the next start, follows
		return
	}
	e := of.Event
	var withdrawn withdrawal
	switch {
	case errors.As(result.err, &withdrawn):
		t.Phase, t.Err = turn.Interrupted, withdrawn.Error()
	case result.err != nil:
		t.Phase = turn.Broken
		t.Err = joinText(t.Err, b.Redact.String(result.err.Error()))
	case errors.Is(context.Cause(ctx), errStopped):
		t.Phase = turn.Interrupted
	case t.Err != "" && t.Finish == "":
		t.Phase = turn.Broken
	default:
		t.Phase = turn.Answered
	}
	if t.Err != "" && withdrawn == "" {
		about := []any{"turn", t.Request.ID, "channel", t.Request.ChannelID, "phase", t.Phase, "err", t.Err}
		if t.Cure != "" {
			about = append(about, "check", t.Cure)
		}
		b.Log.Warn("a turn went wrong", about...)
	}
	switch unseen := result.err != nil && len(result.posts) == 0; {
	case unseen && errors.Is(result.err, errUnrecorded):
		b.tell(e, outOfOrder)
	case unseen && temporary(result.err) && withdrawn == "":
		b.tell(e, turnBroken)
	case failureKind(result.err) == discord.ClosedThread:
		b.tellAbove(e, threadLocked)
	}
	if result.unsaid {
		t.Reply, t.Cut, t.Phase = "", true, turn.Interrupted
		for _, p := range result.posts {
			t.Reply = strings.TrimLeft(t.Reply+"\n"+p.text, "\n")
		}
	}
	t.Timings.FirstSeen = result.firstSeen
	t.Took = time.Since(t.Began)
	var own []store.Message // dated by the clock that dated the question, which may not be ours
	at := t.Request.Message.At.Add(max(0, t.Began.Sub(of.at)) + t.Took)
	for _, p := range result.posts {
		t.ReplyIDs = append(t.ReplyIDs, p.id)
		own = append(own, b.stored(e, turn.Message{
			ID: p.id, ChannelID: t.Request.ChannelID, Author: turn.Author{ID: actor.ID, Name: actor.Name}, Text: outgoing.OwnWords(p.text),
			At: at, ReplyTo: t.Request.Message.ID, Own: true,
		}))
		own[len(own)-1].TurnID = t.Request.ID
	}
	b.count(ctx, t)               // before the record says that all is over: whoever writes next may have used up a quota
	kept := b.keepReply(ctx, own) // before the record says that all is over: whoever writes next may mean it
	b.saveFinally(ctx, t)
	b.over(t)
	if !kept {
		b.keepReply(ctx, own)
	}
	b.noteTurn(ctx, t)
	if b.Finished != nil {
		b.Finished(t)
	}
	if actor.Model != nil && withdrawn == "" {
		b.conditionChanged(func(c *condition) { c.failing = t.Finish == "" && t.Err != "" })
	}
}

// noteTurn has the writer of memory read on in a channel, some time, if the turn was seen there.
func (b *Bot) noteTurn(ctx context.Context, t *turn.Trace) {
	if !b.Learns || t.Phase != turn.Answered || t.Request.Private {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("note a turn for memory", b.Store.NoteTurn(ctx, t.Request.ChannelID, t.Request.GuildID, t.Request.Message.At))
}

// keepReply stores a reply as history, and reports whether it could.
func (b *Bot) keepReply(ctx context.Context, own []store.Message) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	err := b.Store.SaveMessages(ctx, own...)
	b.logged("keep the reply", err)
	return err == nil
}

// saveFinally saves the record of a turn that is over, again and again until that works, for the reply is there already. A
// bot that is stopping tries once more and then gives up.
func (b *Bot) saveFinally(ctx context.Context, t *turn.Trace) {
	for b.save(ctx, t) != nil {
		select {
		case <-time.After(saveAgain):
		case <-b.stopping:
			b.save(ctx, t)
			return
		}
	}
}

func (b *Bot) save(ctx context.Context, t *turn.Trace) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	err := b.Traces.Save(ctx, t)
	b.logged("record a turn", err)
	return err
}

func (b *Bot) stored(e turn.Event, m turn.Message) store.Message {
	return store.Message{
		ID: m.ID, ChannelID: m.ChannelID, GuildID: e.GuildID, AuthorID: m.Author.ID, AuthorName: m.Author.Name,
		Text: m.Text, Note: m.Note, ReplyTo: m.ReplyTo, At: m.At, Own: m.Own,
	}
}

func (b *Bot) limit() time.Duration {
	if b.Limit > 0 {
		return b.Limit
	}
	return answerLimit
}

func (b *Bot) logged(what string, err error) {
	if err != nil {
		b.Log.Error(what, "err", b.Redact.String(err.Error()))
	}
}

// recovered logs a panic, which must end one turn and not the process, and reports whether there was one.
func (b *Bot) recovered(what string, panicked any) bool {
	if panicked != nil {
		b.Log.Error(what, "panic", b.Redact.String(fmt.Sprint(panicked)), "stack", b.Redact.String(string(debug.Stack())))
	}
	return panicked != nil
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
