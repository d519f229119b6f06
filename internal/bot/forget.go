package bot

import (
	"cmp"
	"context"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/forget"
	"familiar/internal/reply"
	"familiar/internal/store"
)

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
	over := b.lanes.turnsOf(personID)
	b.withdraw(ctx, errForgotten, theirs)
	b.chatter.forget(personID)
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
		b.forget(ctx)
	})
}

// retract deletes the answers to a deleted message. If somebody replied to the answer, its first post is replaced by a notice, unless the
// character is set to delete it.
func (b *Bot) retract(ctx context.Context, m turn.Message) {
	defer func() { b.recovered("take back an answer", recover()) }()
	b.Settle(m.ChannelID)
	b.Settle(m.ID) // a thread for the message has the message's id
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), landLimit)
	defer cancel()
	gone := map[string]bool{} // a turn may have answered again in the posts of another
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

// takeBack deletes an answer whose question is gone.
func (b *Bot) takeBack(ctx context.Context, t *turn.Trace) {
	how := cmp.Or(b.CurrentCast().Actor(t.Request.Character), b.CurrentCast().Default).Retract
	replied, err := b.Store.Messages.HasReply(ctx, t.Request.ChannelID, t.ReplyIDs...)
	b.logged("find replies to an answer", err)
	keep := 0
	if how == "redact" || how != "delete" && (replied || err != nil) {
		keep = 1
	}
	for i, id := range slices.Backward(t.ReplyIDs) {
		r := turn.Ref{ChannelID: t.Request.ChannelID, ID: id, Persona: t.Request.Persona}
		if i < keep {
			notice := reply.SmallType + retracted.In(t.Request.Language)
			err = b.sendEdit(ctx, turn.Edit{Ref: r, Text: notice, Final: true}, true)
		} else {
			err = b.sendDelete(ctx, r)
		}
		b.logged("take back an answer", err)
		b.logged("forget an answer", b.Store.Messages.Delete(ctx, id))
	}
	b.Log.Info("the question was deleted, and so is its answer", "turn", t.Request.ID, "kept", keep > 0)
}

// forget takes deleted messages out of the records. If the bot stops meanwhile, the next start goes on with it.
func (b *Bot) forget(ctx context.Context) {
	if err := b.Forgetter.Messages(ctx); ctx.Err() == nil {
		b.logged("take deleted messages out of the records", err)
	}
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
	var ids []string
	for _, a := range b.lanes.withdraw(cause, match) {
		giveBack(a)
		if len(a.posts) > 0 {
			b.markInterrupted(ctx, a)
			continue
		}
		ids = append(ids, a.claim())
	}
	b.closeClaims(ctx, ids...)
}

// closeClaims notes that nothing more follows for these messages.
func (b *Bot) closeClaims(ctx context.Context, ids ...string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	b.logged("settle claims", b.Store.Claims.Close(ctx, ids...))
}

// Paused ends the turns where the bot was paused, and shows people that it is paused everywhere. ends says that the pause ended instead.
func (b *Bot) Paused(ctx context.Context, s store.Switch, ends bool) {
	if s.Place == store.Everywhere {
		b.conditionChanged(func(c *condition) { c.paused = !ends })
	}
	if ends {
		return
	}
	b.withdraw(ctx, errPaused, func(a turn.Event) bool {
		switch s.Place {
		case store.Everywhere:
			return true
		case "":
			return a.GuildID == s.GuildID
		}
		return a.Message.ChannelID == s.Place || a.ParentID == s.Place
	})
}
