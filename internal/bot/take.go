package bot

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/prompt"
	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

// storeLimit bounds every wait for the store.
const storeLimit = 10 * time.Second

// editSpan is how long after it was written a message may still become one for the bot by an edit.
const editSpan = 10 * time.Minute

// drive handles a lane's arrivals until none is left.
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

// handle carries out a batch. Once ctx is done messages are still stored, but no turn begins.
func (b *Bot) handle(ctx context.Context, l *lane, batch []arrival) {
	defer func() { b.recovered("handle an event", recover()) }()
	defer l.release()
	first := batch[0]
	switch first.Kind {
	case turn.Created:
		batch = b.admit(ctx, batch, first.addressed && !first.skipped && ctx.Err() == nil)
	case turn.Edited:
		batch = b.edited(ctx, batch)
	case turn.Deleted:
		b.logged("delete a message", b.Store.DeleteMessage(context.WithoutCancel(ctx), first.Message.ID))
		return
	default:
		return
	}
	switch {
	case first.skipped:
		b.notify(ctx, first.Message.ChannelID, first.Message.ID, first.Message.ID, tooBusy)
	case first.addressed && ctx.Err() != nil:
		b.Log.Warn("a message came too late to be answered", "channel", first.Message.ChannelID, "message", first.Message.ID)
		b.notify(ctx, first.Message.ChannelID, first.Message.ID, first.Message.ID, leaving)
	case len(batch) > 0:
		b.take(ctx, l, batch)
	}
}

// admit stores the messages and, if they ask for a turn, claims them. It returns those that it claimed.
func (b *Bot) admit(ctx context.Context, batch []arrival, claim bool) []arrival {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	var ours []arrival
	for _, a := range batch {
		event := ""
		if claim {
			event = a.Message.ID
		}
		first, err := b.Store.Arrive(ctx, b.stored(a.Event, a.Message), event)
		b.logged("keep a message", err)
		switch {
		case claim && err != nil: // without a claim there might be a second answer
			b.apologise(ctx, a.Message.ChannelID, a.Message.ID, a.Message.ID)
		case claim && first:
			ours = append(ours, a)
		}
	}
	return ours
}

// edited stores the new text. A message that now asks for a turn, and never got one, gets it.
func (b *Bot) edited(ctx context.Context, batch []arrival) []arrival {
	m := batch[0].Message
	if !b.changed(context.WithoutCancel(ctx), m) || !batch[0].addressed || ctx.Err() != nil || batch[0].at.Sub(m.At) > editSpan {
		return nil
	}
	return b.admit(ctx, batch, true)
}

// changed stores a message's new text and reports whether it differs from the old one. It does if there is no old one.
func (b *Bot) changed(ctx context.Context, m turn.Message) bool {
	changed, err := b.Store.EditMessage(ctx, m.ID, m.Text)
	if err == nil && !changed {
		_, err = b.Store.Message(ctx, m.ID)
		changed = errors.Is(err, store.ErrNotFound)
	}
	if !changed {
		b.logged("edit a message", err)
	}
	return changed
}

// apologise posts, once in a while, that the store does not work.
func (b *Bot) apologise(ctx context.Context, channelID, replyTo, id string) {
	b.notify(ctx, channelID, replyTo, id, outOfOrder)
}

// notify posts a sentence outside of any turn.
func (b *Bot) notify(ctx context.Context, channelID, replyTo, id string, what sentence) {
	// A person at a terminal waits for every answer; a channel gets a notice once in a while.
	if !b.Pace.Close && !b.notices.due(channelID, time.Now()) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	_, err := b.Door.Deliver(ctx, turn.Post{
		ChannelID: channelID, ReplyTo: replyTo, Text: b.say(what), Nonce: nonce(id, 9), Final: true,
	})
	b.logged("post a notice", err)
}

// take is one turn: gather, ask, answer, remember. It starts over while the author goes on writing and nothing of the reply
// is visible.
func (b *Bot) take(ctx context.Context, l *lane, batch []arrival) {
	id := ulid.Make().String()
	began := time.Now()
	for {
		attempt, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		batch = append(batch, b.admit(ctx, l.begin(cancel), true)...)
		b.attempt(attempt, l, id, began, batch)
		cancel(nil)
		if l.end() {
			return
		}
	}
}

func (b *Bot) attempt(ctx context.Context, l *lane, id string, began time.Time, batch []arrival) {
	defer func() {
		if b.recovered("take a turn", recover()) {
			b.notify(ctx, batch[0].Message.ChannelID, "", id, turnBroken)
		}
	}()
	t := &turn.Trace{Request: b.request(ctx, id, batch), Phase: turn.Begun, Began: began}
	ctx, cancel := context.WithDeadline(ctx, t.Request.Deadline.Add(b.limit()))
	defer cancel()
	typing := b.typing(ctx, t.Request.ChannelID)
	defer typing.stop()

	p := b.gather(ctx, t)
	if errors.Is(context.Cause(ctx), errJoined) {
		return
	}
	d := b.deliver(ctx, l, t, typing, p)
	text := b.answer(ctx, t, p, d)
	b.remember(ctx, t, d.finish(text), batch[0].Event)
}

// gather builds the prompt while the turn's first record goes to disk.
func (b *Bot) gather(ctx context.Context, t *turn.Trace) prompt.Prompt {
	var saving sync.WaitGroup
	begun := *t
	saving.Go(func() { b.save(ctx, &begun) })
	defer saving.Wait()

	within, cancel := context.WithDeadline(ctx, t.Request.Deadline)
	defer cancel()
	p := b.Builder.Build(within, t.Request)
	t.Outcomes, t.Layers, t.Dropped, t.Prompt = p.Outcomes, p.Layers, p.Dropped, p.Messages
	t.Timings.Prompt = time.Since(t.Began)
	return p
}

// remember completes the record and stores the reply as history.
func (b *Bot) remember(ctx context.Context, t *turn.Trace, result deliveryResult, e turn.Event) {
	if errors.Is(result.err, errJoined) {
		return
	}
	switch {
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
	if t.Err != "" {
		b.Log.Warn("a turn went wrong", "turn", t.Request.ID, "channel", t.Request.ChannelID, "phase", t.Phase, "err", t.Err)
	}
	t.Timings.FirstSeen = result.firstSeen
	t.Took = time.Since(t.Began)
	var own []store.Message // dated by the clock that dated the question, which may not be ours
	for _, p := range result.posts {
		t.ReplyIDs = append(t.ReplyIDs, p.id)
		own = append(own, b.stored(e, turn.Message{
			ID: p.id, ChannelID: t.Request.ChannelID, Author: turn.Author{Name: b.Character.Name}, Text: outgoing.OwnWords(p.text),
			At: t.Request.Message.At.Add(t.Took), ReplyTo: t.Request.Message.ID, Own: true,
		}))
		own[len(own)-1].TurnID = t.Request.ID
	}
	b.save(ctx, t)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("keep the reply", b.Store.SaveMessages(ctx, own...))
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
		Text: m.Text, ReplyTo: m.ReplyTo, At: m.At, Own: m.Own,
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
