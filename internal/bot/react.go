package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// These reactions under a reply mean something. Skin tones and variants do not matter.
const (
	crossOut  = "❌" // from the person who asked, or a moderator: stop or delete the reply
	thumbUp   = "👍"
	thumbDown = "👎"
)

var opinions = map[string]string{thumbUp: "good", thumbDown: "bad"}

// reacted handles a reaction under a message, or one that was taken back.
func (b *Bot) reacted(ctx context.Context, e turn.Event) {
	defer func() { b.recovered("take a reaction", recover()) }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	emoji, on := reply.PlainEmoji(e.Reaction.Emoji), e.Kind == turn.Reacted
	verdict := opinions[emoji]
	if verdict == "" && !(emoji == crossOut && on) {
		return
	}
	id, err := b.writer(ctx, e.Message.ID)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			b.logged("find the reply under a reaction", err)
		}
		return
	}
	switch {
	case !b.followsReactions(ctx, id):
	case verdict == "":
		b.tasks.Go(func() { b.crossedOut(context.WithoutCancel(ctx), e, id) })
	case on:
		b.logged("keep an opinion", b.Store.Ratings.SaveOpinion(ctx, store.Opinion{TurnID: id, By: e.Reaction.By.ID, GuildID: e.GuildID, Verdict: verdict, At: time.Now()}))
	default:
		b.logged("drop an opinion", b.Store.Ratings.DropOpinion(ctx, id, e.Reaction.By.ID, verdict))
	}
}

// writer returns the turn that wrote a message, even while it is being taken. The error is [store.ErrNotFound] if there is none.
func (b *Bot) writer(ctx context.Context, messageID string) (turnID string, err error) {
	m, err := b.Store.Messages.Get(ctx, messageID)
	switch {
	case err == nil && m.Own && m.TurnID != "":
		return m.TurnID, nil
	case err == nil:
		return "", store.ErrNotFound
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	if turnID, err = b.Store.Claims.TurnOfPost(ctx, messageID); !errors.Is(err, store.ErrNotFound) {
		return turnID, err
	}
	t, err := b.Traces.ByMessage(ctx, messageID) // its turn has just ended
	if err != nil || !slices.Contains(t.ReplyIDs, messageID) {
		return "", cmp.Or(err, store.ErrNotFound)
	}
	return t.Request.ID, nil
}

// followsReactions reports whether the turn's character heeds reactions.
func (b *Bot) followsReactions(ctx context.Context, turnID string) bool {
	t, err := b.Traces.Get(ctx, turnID)
	if err != nil {
		b.logged("read a record", err)
		return false
	}
	actor := b.CurrentCast().Actor(t.Request.Character)
	return actor == nil || actor.Reactions.Follow
}

// crossedOut stops a growing reply and deletes a complete one, for the person who asked and for moderators.
func (b *Bot) crossedOut(ctx context.Context, e turn.Event, turnID string) {
	defer func() { b.recovered("take back a reply", recover()) }()
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	t, err := b.SettledTurn(ctx, turnID)
	if err != nil {
		b.logged("read a record", err)
		return
	}
	if by := e.Reaction.By.ID; by != t.Request.Message.Author.ID && !e.Reaction.Deletes {
		return
	}
	if b.lanes.stop(t.Request.ChannelID, turnID) {
		b.Log.Info("answer stopped", "turn", turnID, "by", e.Reaction.By.ID)
		return
	}
	if Ended(t) {
		b.logged("delete a reply", b.DeleteReply(ctx, t, e.Reaction.By.ID))
	}
}

// seen shows on a message that its turn has begun, if the character has a sign for that. It does not wait.
func (b *Bot) seen(actor *Actor, channelID, messageID string) {
	sign := actor.Reactions.Seen
	if sign == "" || b.Pace.Units == 0 || channelID == messageID {
		return
	}
	b.notices.posting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), noticeLimit)
		defer cancel()
		if err := b.sendReaction(ctx, turn.Ref{ChannelID: channelID, ID: messageID}, sign, false); err != nil {
			b.Log.Debug("show that a message is seen", "err", b.Redact.String(err.Error()))
		}
	})
}

// mayReact reports whether a reply of one emoji becomes a reaction.
func (b *Bot) mayReact(actor *Actor) bool { return actor.Reactions.Reply && b.Pace.Units > 0 }

// react posts a reply of one emoji as a reaction, if nothing of it is posted yet. It reports whether it did.
func (b *Bot) react(ctx context.Context, l *lane, actor *Actor, t *turn.Trace, text string, posted int) bool {
	if !b.mayReact(actor) || t.Request.Message.ID == t.Request.ChannelID || posted > 0 || !reply.IsEmoji(text) || !l.show() {
		return false
	}
	pending := *t
	pending.Phase, pending.Reply, pending.Reacted = turn.Answering, text, true
	if b.save(ctx, &pending) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamLimit)
	defer cancel()
	question := turn.Ref{ChannelID: t.Request.ChannelID, ID: t.Request.Message.ID}
	err := b.sendReaction(ctx, question, strings.TrimSpace(text), true)
	b.logged("react in place of a reply", err)
	t.Reacted = err == nil
	return t.Reacted
}
