package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/gate"
	"familiar/internal/store"
)

const (
	editSpan  = 10 * time.Minute // how long after a message was written an edit may still make it ask for a turn
	againSpan = time.Minute      // how long after a question was written an edit has it answered again
)

// edited stores the new text, also for a turn that waits. If the question is being answered, the turn starts over. If it was answered, it is
// answered again in the same posts. A message that asks for a turn only since the edit gets one.
func (b *Bot) edited(ctx context.Context, e turn.Event) {
	if !b.changed(context.WithoutCancel(ctx), e.Message) {
		return
	}
	recent := time.Since(e.Message.At) <= againSpan
	under := b.lanes.revise(e.Message, func(visible bool) bool { return (recent || !visible) && b.startsAgain(ctx, e) })
	if again := b.again(ctx, e, under); recent && len(again) > 0 {
		if again = b.passed(ctx, again); ctx.Err() == nil && len(again) > 0 {
			b.enqueue(ctx, again...)
		} else {
			giveBack(again...)
		}
		return
	}
	if len(under) > 0 {
		return
	}
	if all := b.arrivals(ctx, e); all[0].addressed && all[0].at.Sub(e.Message.At) <= editSpan {
		b.admit(ctx, all...)
	} else {
		giveBack(all...)
	}
}

// startsAgain reports whether an edit may have a turn start over. The turn has its pass, so this one is given back.
func (b *Bot) startsAgain(ctx context.Context, e turn.Event) bool {
	p, no := b.Gate.Pass(ctx, e, gate.Passage{Tokens: b.speaker(ctx, e).promptTokens(), Posts: true, Rated: true})
	if no != nil {
		b.refuse(ctx, e, no)
	}
	p.GiveBack()
	return no == nil
}

// passed returns those arrivals of one event that pass the gate, with their passes.
func (b *Bot) passed(ctx context.Context, all []arrival) (through []arrival) {
	for i, a := range all {
		p, no := b.Gate.Pass(ctx, a.Event, gate.Passage{Tokens: b.actor(ctx, a).promptTokens(), Posts: true, Rated: true, Further: i > 0})
		if no != nil {
			b.refuse(ctx, a.Event, no)
			break
		}
		a.pass = p
		through = append(through, a)
	}
	return through
}

// again returns one arrival for each character that must answer the edited question again. Characters that already take a turn for it are
// left out.
func (b *Bot) again(ctx context.Context, e turn.Event, under []string) (all []arrival) {
	e = withNotes(e)
	for i, t := range newest(b.answers(ctx, e.Message.ID)) {
		if c := t.Request.Character; !slices.Contains(under, c) && !slices.Contains(under, "") {
			all = append(all, arrival{Event: e, at: time.Now(), addressed: true, again: true, character: c, second: i > 0, newID: ulid.Make().String()})
		}
	}
	return all
}

// changed stores a message's new text and reports whether it differs from the old one. A message without an old text has changed. Nothing is
// kept of people who opted out, so their messages are compared with those in the lanes: a preview that Discord adds to a message is no edit.
func (b *Bot) changed(ctx context.Context, m turn.Message) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	changed, err := b.Store.Messages.Edit(ctx, m.ID, m.Text)
	if err == nil && !changed {
		_, err = b.Store.Messages.Get(ctx, m.ID)
		changed = errors.Is(err, store.ErrNotFound)
		if s, failed := b.Store.Privacy.Standing(ctx, m.Author.ID); changed && failed == nil && !s.OptedOut.IsZero() {
			return b.lanes.differs(m)
		}
	}
	if !changed {
		b.logged("edit a message", err)
	}
	return changed
}

// answers returns the records of the turns that answered a message, or began to, oldest first.
func (b *Bot) answers(ctx context.Context, id string) []*turn.Trace {
	all, err := b.Traces.Answers(context.WithoutCancel(ctx), id)
	b.logged("find the answers to a message", err)
	return all
}

// newest returns the latest record of each character, in the order in which the characters first answered.
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

// replaces finds the answer that another one must replace, when no other turn is being taken in the channel. Both records note it. It
// returns false if the answer must not be replaced, because a person deleted it.
func (b *Bot) replaces(ctx context.Context, l *lane, a arrival) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	answers := newest(b.answers(ctx, a.Message.ID))
	i := slices.IndexFunc(answers, func(t *turn.Trace) bool { return t.Request.Character == a.character })
	if i < 0 || slices.ContainsFunc(answers[i].Presses, func(p turn.Press) bool { return p.Kind == DeleteButton }) {
		return false
	}
	t := answers[i]
	var posts []store.Post
	for _, id := range t.ReplyIDs {
		m, _ := b.Store.Messages.Get(ctx, id) // a post without a known text is edited too
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
		b.logged("keep that a question was edited", b.Store.Claims.Reopen(ctx, a.claim(), a.newID, encodeArrival(a), posts...))
	}
	return true
}

// textOf joins the texts of those messages that are still kept.
func (b *Bot) textOf(ctx context.Context, ids ...string) (text string) {
	for _, id := range ids {
		if m, err := b.Store.Messages.Get(ctx, id); err == nil {
			text += "\n" + m.Text
		}
	}
	return text
}
