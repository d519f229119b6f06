package bot

import (
	"cmp"
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
	under := b.lanes.revise(e.Message, func(visible bool) bool { return (recent || !visible) && b.allowed(e) })
	if again := b.anew(ctx, e, under); recent && len(again) > 0 {
		if ctx.Err() == nil && b.allowed(e) {
			b.enqueue(ctx, again...)
		}
		return
	}
	if len(under) > 0 {
		return
	}
	if all := b.arrivals(ctx, e); all[0].addressed && all[0].at.Sub(e.Message.At) <= editSpan {
		b.admit(ctx, all...)
	}
}

// anew are the arrivals with which each character that answered a question answers it again, but for those who have a turn for it already.
func (b *Bot) anew(ctx context.Context, e turn.Event, under []string) (all []arrival) {
	e = withNotes(e)
	for i, t := range newest(b.answers(ctx, e.Message.ID)) {
		if c := t.Request.Character; !slices.Contains(under, c) && !slices.Contains(under, "") {
			all = append(all, arrival{Event: e, at: time.Now(), addressed: true, anew: true, character: c, second: i > 0, newID: ulid.Make().String()})
		}
	}
	return all
}

// changed stores a message's new text and reports whether it differs from the old one. It does if there is no old one. Of somebody who has
// opted out there is none but what is being answered: a preview that Discord adds to a message is no new question.
func (b *Bot) changed(ctx context.Context, m turn.Message) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	changed, err := b.Store.EditMessage(ctx, m.ID, m.Text)
	if err == nil && !changed {
		_, err = b.Store.Message(ctx, m.ID)
		changed = errors.Is(err, store.ErrNotFound)
		if s, failed := b.Store.Standing(ctx, m.Author.ID); changed && failed == nil && !s.OptedOut.IsZero() {
			return b.lanes.differs(m)
		}
	}
	if !changed {
		b.logged("edit a message", err)
	}
	return changed
}

// answers are the records of the turns that have answered a message, or have begun to, the oldest first.
func (b *Bot) answers(ctx context.Context, id string) []*turn.Trace {
	all, err := b.Traces.Answers(context.WithoutCancel(ctx), id)
	b.logged("find the answers to a message", err)
	return all
}

// newest are the latest record of each character, in the order in which they first answered.
func newest(all []*turn.Trace) (latest []*turn.Trace) {
	for _, t := range all {
		i := slices.IndexFunc(latest, func(o *turn.Trace) bool { return o.Request.Character == t.Request.Character })
		if i < 0 {
			latest = append(latest, t)
		} else {
			latest[i] = t
		}
	}
	return latest
}

// replaces finds the answer whose place another one is to take, now that no turn is being taken in the channel. Both records say so. It
// reports false where nobody wants that: a person has deleted the answer.
func (b *Bot) replaces(ctx context.Context, l *lane, a arrival) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	answers := newest(b.answers(ctx, a.Message.ID))
	i := slices.IndexFunc(answers, func(t *turn.Trace) bool { return t.Request.Character == a.character })
	if i < 0 || slices.ContainsFunc(answers[i].Presses, func(p turn.Press) bool { return p.Kind == deleteButton }) {
		return false
	}
	t := answers[i]
	var posts []store.Post
	for _, id := range t.ReplyIDs {
		m, _ := b.Store.Message(ctx, id) // without its text it is edited all the same
		posts = append(posts, store.Post{ID: id, Text: m.Text})
	}
	question := t.Request.Message
	if len(t.Request.Burst) > 0 {
		question.Text = b.textOf(ctx, append(slices.Clip(t.Request.Burst), question.ID)...)
	}
	l.resolve(func(again *arrival) {
		again.earlier, again.posts = t, posts
		if t.Request.ChannelID != again.Message.ChannelID { // it was answered in a thread
			again.ParentID, again.Message.ChannelID = again.Message.ChannelID, t.Request.ChannelID
		}
		if len(t.Request.Burst) > 0 {
			again.Message = question
		}
		a = *again
	})
	b.logged("note that a question was edited", b.Traces.Press(ctx, t.Request.ID,
		turn.Press{Kind: turn.PressEdited, ByID: a.Message.Author.ID, At: time.Now(), TurnID: a.newID}))
	if b.Resume {
		b.logged("keep that a question was edited", b.Store.Reopen(ctx, a.claim(), a.newID, encodeArrival(a), posts...))
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

// retract takes away the answers to a message that was deleted. Where somebody has replied to it, so that what they say
// would hang in the air, the first post of an answer stays and says what happened, unless the character is to delete it in any case.
func (b *Bot) retract(ctx context.Context, m turn.Message) {
	defer func() { b.recovered("take back an answer", recover()) }()
	b.settle(m.ChannelID)
	b.settle(m.ID) // a thread for it has its id
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landLimit)
	defer cancel()
	gone := map[string]bool{} // a turn may have answered anew in the posts of another
	for _, t := range slices.Backward(b.answers(ctx, m.ID)) {
		t.ReplyIDs = slices.DeleteFunc(t.ReplyIDs, func(id string) bool { return gone[id] })
		for _, id := range t.ReplyIDs {
			gone[id] = true
		}
		if len(t.ReplyIDs) > 0 {
			b.takeBack(ctx, t)
		}
	}
}

// takeBack takes away an answer whose question is gone.
func (b *Bot) takeBack(ctx context.Context, t *turn.Trace) {
	how := cmp.Or(b.cast().Actor(t.Request.Character), b.cast().Default).Retract
	replied, err := b.Store.Replied(ctx, t.Request.ChannelID, t.ReplyIDs...)
	b.logged("find replies to an answer", err)
	keep := 0
	if how == "redact" || how != "delete" && (replied || err != nil) {
		keep = 1
	}
	for i, id := range slices.Backward(t.ReplyIDs) {
		p := turn.Post{ID: id, ChannelID: t.Request.ChannelID, Persona: t.Request.Persona, Final: true}
		if i < keep {
			p.Text = outgoing.SmallType + retracted.in(t.Request.Language)
		}
		_, err := b.send(ctx, p, true)
		b.logged("take back an answer", err)
		b.logged("forget an answer", b.Store.DeleteMessage(ctx, id))
	}
	b.Log.Info("the question was deleted, and so is its answer", "turn", t.Request.ID, "kept", keep > 0)
}
