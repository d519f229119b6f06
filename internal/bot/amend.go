package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/gate"
	"familiar/internal/reply"
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
	through := b.passed(ctx, []arrival{{Event: e}})
	giveBack(through...)
	return len(through) > 0
}

// passed returns those arrivals of one event that pass the gate, with their passes.
func (b *Bot) passed(ctx context.Context, all []arrival) (through []arrival) {
	for i, a := range all {
		p, no := b.Gate.Pass(ctx, a.Event, gate.Passage{Tokens: b.actor(ctx, a).PromptTokens(), Posts: true, Rated: true, Further: i > 0})
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
	for i, t := range newest(b.answers(ctx, e.Message.ID)) {
		if c := t.Request.Character; !slices.Contains(under, c) && !slices.Contains(under, "") {
			all = append(all, arrival{Event: e, at: b.now(), addressed: true, again: true, character: c, second: i > 0, newID: b.newTurnID(e.Message.ID)})
		}
	}
	return all
}

// changed stores a message's new text and reports whether it differs from the old one. A message without an old text has changed. Nothing
// is kept of people who opted out, so their messages are compared with those in the lanes. A preview that Discord adds to a message is no
// edit.
func (b *Bot) changed(ctx context.Context, m turn.Message) bool {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	differs := b.lanes.differs(m)
	changed, err := b.Store.Messages.Edit(ctx, m.ID, m.Text)
	if err == nil && !changed {
		_, err = b.Store.Messages.Get(ctx, m.ID)
		changed = errors.Is(err, store.ErrNotFound)
		if s, failed := b.Store.Privacy.Standing(ctx, m.Author.ID); changed && failed == nil && !s.OptedOut.IsZero() {
			return differs
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

// settled is answers, once a process that leaves has finished those turns.
func (b *Bot) settled(ctx context.Context, id string) []*turn.Trace {
	for last := time.Now().Add(stopLimit); ; {
		all := b.answers(ctx, id)
		begun := slices.ContainsFunc(all, func(t *turn.Trace) bool { return !t.Phase.Over() })
		if b.Others == nil || !begun || time.Now().After(last) || !b.outlast(time.Second) {
			return all
		}
	}
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
	all := b.settled(ctx, a.Message.ID)
	answers := newest(all)
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	i := slices.IndexFunc(answers, func(t *turn.Trace) bool { return t.Request.Character == a.character })
	if i < 0 || slices.ContainsFunc(answers[i].Presses, func(p turn.Press) bool { return p.Kind == reply.DeleteButton }) {
		return false
	}
	t := answers[i]
	if m, err := b.Store.Messages.Get(ctx, cmp.Or(t.ReplyIDs...)); err == nil { // another answer may be shown
		if j := slices.IndexFunc(all, func(one *turn.Trace) bool { return one.Request.ID == m.TurnID }); j >= 0 {
			t = all[j]
		}
	}
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
		b.logged("keep that a question was edited", b.Store.Claims.Reopen(ctx, a.GuildID, a.claim(), a.newID, encodeArrival(a), posts...))
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

// stoppedLimit is how long forgetting a person waits for their turns to end.
const stoppedLimit = 15 * time.Second

// errForgotten ends the turns of a person who wants to be forgotten.
const errForgotten withdrawal = "the author wants to be forgotten"

// Forget forgets a person for whom [store.Privacy.BeginErasure] has been called. Their turns end, and their data is deleted from memory and from
// the store.
func (b *Bot) Forget(ctx context.Context, one store.Erasure) (forget.Erased, error) {
	b.stopTurnsOf(ctx, one.PersonID)
	erased, err := b.Forgetter.Person(ctx, one.PersonID, one.ByOperator, one.At)
	for _, actor := range b.CurrentCast().All() {
		if actor.Tokens != nil {
			actor.Tokens.Forget()
		}
	}
	if err == nil {
		b.Log.Info("privacy", "act", store.ActForget, "of", b.Store.Privacy.Pseudonym(one.PersonID), "by_operator", one.ByOperator, "left", erased.Left())
	}
	return erased, err
}

// stopTurnsOf ends a person's turns, waits until they are over, and drops what the process holds in memory for them.
func (b *Bot) stopTurnsOf(ctx context.Context, personID string) {
	theirs := func(e turn.Event) bool { return e.Message.Author.ID == personID }
	over, _ := b.lanes.turns(theirs)
	b.withdraw(ctx, errForgotten, theirs)
	b.chatter.drop("", personID)
	for _, actor := range b.CurrentCast().All() {
		actor.Lookup.Forget()
	}
	ctx, cancel := context.WithTimeout(ctx, stoppedLimit)
	defer cancel()
	for _, ended := range over {
		select {
		case <-ended:
		case <-ctx.Done():
			return // a record that the turn saves later is not kept
		}
	}
}

// deleted forgets a message, first in the store and then in the records. A turn for the message ends, and its answers are deleted, unless a
// proxy posted the message again.
func (b *Bot) deleted(ctx context.Context, e turn.Event) {
	if !e.Rewritten {
		b.withdraw(ctx, errDeleted, func(a turn.Event) bool { return a.Message.ID == e.Message.ID })
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("delete a message", b.Store.Messages.Delete(limited, e.Message.ID))
	b.tasks.Go(func() {
		if !e.Rewritten {
			b.retract(ctx, e.Message)
		}
		if err := b.Forgetter.Messages(ctx); ctx.Err() == nil { // else the next start goes on with it
			b.logged("take deleted messages out of the records", err)
		}
	})
}

// retract deletes the answers to a deleted message. If somebody replied to the answer, its first post is replaced by a notice. The
// character may be set to delete it anyway.
func (b *Bot) retract(ctx context.Context, m turn.Message) {
	defer func() { b.recovered("take back an answer", recover()) }()
	b.Settle(m.ChannelID)
	b.Settle(m.ID) // a thread for the message has the message's id
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landLimit)
	defer cancel()
	gone := map[string]bool{} // a turn may have answered again in the posts of another
	for _, t := range slices.Backward(b.settled(ctx, m.ID)) {
		t.ReplyIDs = slices.DeleteFunc(t.ReplyIDs, func(id string) bool { return gone[id] })
		for _, id := range t.ReplyIDs {
			gone[id] = true
		}
		if len(t.ReplyIDs) > 0 {
			b.takeBack(ctx, t)
		}
	}
}

// takeBack deletes an answer whose question is gone.
func (b *Bot) takeBack(ctx context.Context, t *turn.Trace) {
	how := cmp.Or(b.CurrentCast().Actor(t.Request.Character), b.CurrentCast().Default).Retract
	replied, err := b.Store.Messages.HasReply(ctx, t.Request.ChannelID, t.ReplyIDs...)
	b.logged("find replies to an answer", err)
	keep := 0
	if how == "redact" || how != "delete" && (replied || err != nil) {
		keep = 1
	}
	b.logged("take back a voice message", b.deleteSpeech(ctx, t.Request.ID))
	for i, id := range slices.Backward(t.ReplyIDs) {
		b.logged("forget an answer", b.Store.Messages.Delete(ctx, id)) // first: what still happens to the reply looks for it
		r := t.Request.Ref(id)
		if i < keep {
			notice := reply.SmallType + reply.Retracted.In(t.Request.Language)
			err = b.sendEdit(ctx, turn.Edit{Ref: r, Text: notice, Final: true}, true)
		} else {
			err = b.sendDelete(ctx, r)
		}
		b.logged("take back an answer", err)
	}
	b.Log.Info("the question was deleted, and so is its answer", "turn", t.Request.ID, "kept", keep > 0)
}

// gone ends the turns in a channel or, if the event names none, in a server.
func (b *Bot) gone(ctx context.Context, e turn.Event) {
	b.withdraw(ctx, errGone, func(a turn.Event) bool {
		channel := e.Message.ChannelID
		return channel == "" && a.GuildID == e.GuildID || channel != "" && (a.Message.ChannelID == channel || a.ParentID == channel)
	})
	if e.Message.ChannelID == "" && e.GuildID != "" { // the server's data is deleted after a while
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
		defer cancel()
		b.logged("leave a server", b.Store.Guilds.Leave(ctx, e.GuildID, time.Now()))
	}
}

func (b *Bot) withdraw(ctx context.Context, cause error, match func(turn.Event) bool) {
	ids := map[string][]string{} // by server
	for _, a := range b.lanes.withdraw(cause, match) {
		giveBack(a)
		if len(a.posts) > 0 {
			b.markInterrupted(ctx, a)
			continue
		}
		ids[a.GuildID] = append(ids[a.GuildID], a.claim())
	}
	for guild, claims := range ids {
		b.closeClaims(ctx, guild, claims...)
	}
}

// Pause pauses the bot in a place: what is being answered there ends at once. If ends is set, it ends the pause instead. People see a pause
// everywhere next to the bot's name.
func (b *Bot) Pause(ctx context.Context, s store.Switch, ends bool) error {
	change := b.Store.Settings.SwitchOff
	if ends {
		change = b.Store.Settings.SwitchOn
	}
	if err := change(ctx, s); err != nil {
		return err
	}
	b.Log.Info("paused", "ends", ends, "place", s.Place, "server", s.GuildID, "by", s.By)
	if s.Place == store.Everywhere {
		b.conditionChanged(func(c *condition) { c.paused = !ends })
	}
	if ends {
		return nil
	}
	b.endPaused(ctx, s)
	return nil
}

// endPaused ends what is being answered where the bot is paused.
func (b *Bot) endPaused(ctx context.Context, pauses ...store.Switch) {
	b.withdraw(ctx, errPaused, func(a turn.Event) bool {
		return slices.ContainsFunc(pauses, func(s store.Switch) bool {
			switch s.Place {
			case store.Everywhere:
				return true
			case "":
				return a.GuildID == s.GuildID
			}
			return a.Message.ChannelID == s.Place || a.ParentID == s.Place
		})
	})
}

// HearPauses learns where the bot is paused: at the start, and when another process may have changed that. What is being answered there ends.
func (b *Bot) HearPauses(ctx context.Context) {
	all, err := b.Store.Settings.Off(ctx)
	if err != nil {
		b.logged("read what is switched off", err)
		return
	}
	pauses := slices.DeleteFunc(all, func(s store.Switch) bool { return s.Kind != store.Answers })
	everywhere := slices.ContainsFunc(pauses, func(s store.Switch) bool { return s.Place == store.Everywhere })
	b.conditionChanged(func(c *condition) { c.paused = everywhere })
	if len(pauses) > 0 {
		b.endPaused(ctx, pauses...)
	}
}
