package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// What people say of a reply by a reaction. Skin tones and variants do not matter.
const (
	crossOut  = "❌" // whoever asked, or a moderator: stop, or delete
	thumbUp   = "👍"
	thumbDown = "👎"
)

var opinions = map[string]string{thumbUp: "good", thumbDown: "bad"}

// reacted takes a reaction under a message, or takes it back.
func (b *Bot) reacted(ctx context.Context, e turn.Event) {
	defer func() { b.recovered("take a reaction", recover()) }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	emoji, on := plainEmoji(e.Reaction.Emoji), e.Kind == turn.Reacted
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
		b.commands.Go(func() { b.crossedOut(context.WithoutCancel(ctx), e, id) })
	case on:
		b.logged("keep an opinion", b.Store.SetOpinion(ctx, store.Opinion{TurnID: id, By: e.Reaction.By.ID, GuildID: e.GuildID, Verdict: verdict, At: time.Now()}))
	default:
		b.logged("drop an opinion", b.Store.DropOpinion(ctx, id, e.Reaction.By.ID, verdict))
	}
}

// writer returns the turn that wrote a message, or [store.ErrNotFound]: also while it is being taken.
func (b *Bot) writer(ctx context.Context, messageID string) (turnID string, err error) {
	m, err := b.Store.Message(ctx, messageID)
	switch {
	case err == nil && m.Own && m.TurnID != "":
		return m.TurnID, nil
	case err == nil:
		return "", store.ErrNotFound
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	if turnID, err = b.Store.PostedBy(ctx, messageID); !errors.Is(err, store.ErrNotFound) {
		return turnID, err
	}
	t, err := b.Traces.ByMessage(ctx, messageID) // its turn has just ended
	if err != nil || !slices.Contains(t.ReplyIDs, messageID) {
		return "", cmp.Or(err, store.ErrNotFound)
	}
	return t.Request.ID, nil
}

// followsReactions reports whether the character of a turn takes notice of reactions.
func (b *Bot) followsReactions(ctx context.Context, turnID string) bool {
	t, err := b.Traces.Get(ctx, turnID)
	if err != nil {
		b.logged("read a record", err)
		return false
	}
	actor := b.cast().Actor(t.Request.Character)
	return actor == nil || actor.Reactions.Follow
}

// crossedOut stops a reply that grows and deletes one that is complete, for whoever asked and for moderators.
func (b *Bot) crossedOut(ctx context.Context, e turn.Event, turnID string) {
	defer func() { b.recovered("take back a reply", recover()) }()
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	t, err := b.settledTurn(ctx, turnID)
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
	if ended(t) {
		b.logged("delete a reply", b.removeReply(ctx, t, e.Reaction.By.ID))
	}
}

// seen shows on a message that its turn has begun, where the character has a sign for that. It does not wait.
func (b *Bot) seen(actor *Actor, channelID, messageID string) {
	sign := actor.Reactions.Seen
	if sign == "" || b.Pace.Units == 0 || channelID == messageID {
		return
	}
	b.notices.posting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), noticeLimit)
		defer cancel()
		if _, err := b.send(ctx, turn.Post{ID: messageID, ChannelID: channelID, Reaction: sign}, false); err != nil {
			b.Log.Debug("show that a message is seen", "err", b.Redact.String(err.Error()))
		}
	})
}

// mayReact reports whether a reply that is one emoji becomes a reaction.
func (b *Bot) mayReact(actor *Actor) bool { return actor.Reactions.Reply && b.Pace.Units > 0 }

// react puts a reaction in the place of a reply, if that is one emoji and nothing of it is posted. It reports whether it did.
func (b *Bot) react(ctx context.Context, l *lane, actor *Actor, t *turn.Trace, text string, posted int) bool {
	if !b.mayReact(actor) || t.Request.Message.ID == t.Request.ChannelID || posted > 0 || !isEmoji(text) || !l.show() {
		return false
	}
	pending := *t
	pending.Phase, pending.Reply, pending.Reacted = turn.Answering, text, true
	if b.save(ctx, &pending) != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), streamLimit)
	defer cancel()
	_, err := b.send(ctx, turn.Post{ID: t.Request.Message.ID, ChannelID: t.Request.ChannelID, Reaction: strings.TrimSpace(text)}, true)
	b.logged("react in place of a reply", err)
	t.Reacted = err == nil
	return t.Reacted
}

// plainEmoji takes variants and skin tones off an emoji.
func plainEmoji(emoji string) string {
	return strings.Map(func(r rune) rune {
		if r == variant || r == textVariant || isSkinTone(r) {
			return -1
		}
		return r
	}, emoji)
}

const (
	variant, textVariant = '\uFE0F', '\uFE0E'
	joiner               = '\u200D'
)

func isSkinTone(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

func isFlagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// isEmoji reports whether a text is exactly one emoji of Unicode's.
func isEmoji(text string) bool {
	signs, flags, joined := 0, 0, false
	for _, r := range strings.TrimSpace(text) {
		switch {
		case r == joiner:
			if signs == 0 {
				return false
			}
			joined = true
			continue
		case r == variant, isSkinTone(r) && signs > 0:
		case isFlagLetter(r):
			flags++
		case unicode.Is(unicode.So, r) && r >= 0x2000:
			if !joined {
				signs++
			}
		default:
			return false
		}
		joined = false
	}
	return !joined && (signs == 1 && flags == 0 || signs == 0 && flags == 2)
}
