package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
	"familiar/internal/store"

	"github.com/oklog/ulid/v2"
)

const (
	editSpan  = 10 * time.Minute // how long after it was written a message may still become one for the bot by an edit
	againSpan = time.Minute      // the same, for a question to be answered anew
)

// edited stores the new text, also for a turn that waits. A question whose answer grows has that start over; one that was answered is
// answered anew, in the same posts. A message that now asks for a turn, and never got one, gets it.
func (b *Bot) edited(ctx context.Context, e turn.Event) {
	if !b.changed(context.WithoutCancel(ctx), e.Message) {
		return
	}
	recent := time.Since(e.Message.At) <= againSpan
	if b.lanes.revise(e.Message, func(visible bool) bool { return (recent || !visible) && b.allowed(e) }) {
		return
	}
	if recent && b.answered(ctx, e.Message.ID) {
		if ctx.Err() == nil && b.allowed(e) {
			b.enqueue(ctx, arrival{Event: e, at: time.Now(), addressed: true, anew: true, newID: ulid.Make().String()})
		}
		return
	}
	if a := b.arrival(ctx, e); a.addressed && a.at.Sub(e.Message.At) <= editSpan {
		b.admit(ctx, a)
	}
}

// changed stores a message's new text and reports whether it differs from the old one. It does if there is no old one.
func (b *Bot) changed(ctx context.Context, m turn.Message) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
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

// answered reports whether a turn has answered a message, or has begun to.
func (b *Bot) answered(ctx context.Context, id string) bool {
	t, err := b.Traces.ByMessage(context.WithoutCancel(ctx), id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		b.logged("find the answer to a message", err)
	}
	return err == nil && isQuestion(t, id)
}

// isQuestion reports whether a message is what a turn answers, or a part of that.
func isQuestion(t *turn.Trace, id string) bool {
	return t.Request.Message.ID == id || slices.Contains(t.Request.Burst, id)
}

// replaces finds the answer whose place another one is to take, now that no turn is being taken in the channel. Both records say so. It
// reports false where nobody wants that: a person has deleted the answer.
func (b *Bot) replaces(ctx context.Context, l *lane, a arrival) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	t, err := b.Traces.ByMessage(ctx, a.Message.ID)
	if err != nil || !isQuestion(t, a.Message.ID) || slices.ContainsFunc(t.Presses, func(p turn.Press) bool { return p.Kind == deleteButton }) {
		return false
	}
	var posts []store.Post
	for _, id := range t.ReplyIDs {
		m, _ := b.Store.Message(ctx, id) // without its text it is edited all the same
		posts = append(posts, store.Post{ID: id, Text: m.Text})
	}
	question := t.Request.Message
	if len(t.Request.Burst) > 0 {
		question.Text = b.textOf(ctx, append(slices.Clip(t.Request.Burst), question.ID)...)
	}
	l.resolve(func(a *arrival) {
		a.earlier, a.posts = t, posts
		if t.Request.ChannelID != a.Message.ChannelID { // it was answered in a thread
			a.ParentID, a.Message.ChannelID = a.Message.ChannelID, t.Request.ChannelID
		}
		if len(t.Request.Burst) > 0 {
			a.Message = question
		}
	})
	b.logged("note that a question was edited", b.Traces.Press(ctx, t.Request.ID,
		turn.Press{Kind: turn.PressEdited, ByID: a.Message.Author.ID, At: time.Now(), TurnID: a.newID}))
	if b.Resume {
		b.logged("keep that a question was edited", b.Store.Reopen(ctx, a.Message.ID, a.newID, encodeEvent(a.Event), posts...))
	}
	return true
}

// textOf joins the texts of messages, as far as they are there.
func (b *Bot) textOf(ctx context.Context, ids ...string) (text string) {
	for _, id := range ids {
		if m, err := b.Store.Message(ctx, id); err == nil {
			text += "\n" + m.Text
		}
	}
	return text
}

// retract takes away the answer to a message that was deleted, if there is one. Where somebody has replied to it, so that what they say
// would hang in the air, its first post stays and says what happened, unless the character is to delete it in any case.
func (b *Bot) retract(ctx context.Context, m turn.Message) {
	defer func() { b.recovered("take back an answer", recover()) }()
	b.settle(m.ChannelID)
	b.settle(m.ID) // a thread for it has its id
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landLimit)
	defer cancel()
	t, err := b.Traces.ByMessage(ctx, m.ID)
	if err != nil || !isQuestion(t, m.ID) || len(t.ReplyIDs) == 0 {
		return
	}
	replied, err := b.Store.Replied(ctx, t.Request.ChannelID, t.ReplyIDs...)
	b.logged("find replies to an answer", err)
	keep := 0
	if b.Character.Retract == "redact" || b.Character.Retract != "delete" && (replied || err != nil) {
		keep = 1
	}
	for i, id := range slices.Backward(t.ReplyIDs) {
		p := turn.Post{ID: id, ChannelID: t.Request.ChannelID, Final: true}
		if i < keep {
			p.Text = outgoing.SmallType + b.say(retracted)
		}
		_, err := b.send(ctx, p, true)
		b.logged("take back an answer", err)
		b.logged("forget an answer", b.Store.DeleteMessage(ctx, id))
	}
	b.Log.Info("the question was deleted, and so is its answer", "turn", t.Request.ID, "kept", keep > 0)
}
