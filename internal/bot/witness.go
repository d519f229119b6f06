package bot

import (
	"context"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

// Discord knows what the store does not. A loss of power or a restored backup may take claims and posts from the store. The channel
// still has them. So before an old message is answered, the channel is asked for the bot's own replies to it.

const witnessLimit = 20 * time.Second

// old reports whether an earlier process may have answered what arrives. A claim that waits has no answer: that a turn begins is synced before
// its first post.
func (a arrival) old() bool {
	if a.left {
		return a.turnID != ""
	}
	return a.Late || a.Replayed
}

// newTurnID returns an id for a turn that answers a claim. It ends with a keyed hash of the claim. The buttons under a reply show the id.
// So a process that knows nothing of the turn sees what it answered.
func (b *Bot) newTurnID(claim string) string {
	id := ulid.ULID(b.markOf(claim))
	_ = id.SetTime(ulid.Now()) // it fails only after the year 10889
	return id.String()
}

// markOf returns the keyed hash of a claim as the last ten bytes of an id.
func (b *Bot) markOf(claim string) (mark [16]byte) {
	copy(mark[6:], b.Store.MAC("turn\x00"+claim))
	return mark
}

// repliesTo reports whether a button with this key is under a reply to what asks for the arrival's turn.
func (b *Bot) repliesTo(key string, a arrival) bool {
	turnID, _, _ := strings.Cut(key, ".")
	id, err := ulid.ParseStrict(turnID)
	mark := b.markOf(a.claim())
	return err == nil && [10]byte(id[6:]) == [10]byte(mark[6:])
}

// answeredBefore looks for replies to old messages of a batch in the channel. A complete reply, or a notice, may answer a message without a claim.
// Then that message and those before it have their answer. They leave the batch. An incomplete reply becomes the turn's own, which goes on
// in it. answeredBefore reports whether nothing is left to answer.
func (b *Bot) answeredBefore(ctx context.Context, l *lane, batch []arrival) (answered bool) {
	for i := len(batch) - 1; i >= 0; i-- {
		a := batch[i]
		if !a.old() || !a.addressed || a.pressed() || a.again || len(batch[0].posts) > 0 {
			continue
		}
		posts, whole, marked := b.repliesBefore(ctx, a)
		switch {
		case whole:
			b.Log.Info("a message has its answer already", "channel", a.Message.ChannelID, "message", a.Message.ID)
			n := i + 1
			if marked { // the mark is that of the first message, whose burst this is
				n = len(batch)
			}
			for _, done := range batch[:n] {
				b.closeClaims(ctx, done.GuildID, done.claim())
			}
			return !l.skip(n)
		case len(posts) > 0:
			l.resolve(func(first *arrival) { first.posts = posts })
			return false
		}
	}
	return false
}

// repliesBefore returns the posts of an incomplete reply to an old message. Of a long one, only the last shows that it is incomplete. whole
// means that the message needs no answer. marked means that only its buttons say what a reply is to.
func (b *Bot) repliesBefore(ctx context.Context, a arrival) (posts []store.Post, whole, marked bool) {
	if b.Replies == nil {
		return nil, false, false
	}
	ctx, cancel := context.WithTimeout(ctx, witnessLimit)
	defer cancel()
	found, err := b.Replies(ctx, a.Message.ChannelID, a.Message.ID)
	b.logged("look for replies to an old message", err)
	half := false
	for _, s := range found {
		if s.Key != "" && !b.repliesTo(s.Key, a) || s.Key == "" && a.second { // to something else, or of another character
			continue
		}
		marked = marked || s.Key != ""
		half = half || a.left || s.Buttons == 1 || s.Buttons == 0 && strings.HasSuffix(s.Text, unfinished)
		posts = append(posts, store.Post{ID: s.ID, Text: s.Text})
	}
	if !half {
		return nil, len(posts) > 0, marked
	}
	return posts, false, marked
}

// tellMissed tells the author of a message that waited too long. If part of an answer is in the channel, that is marked instead.
func (b *Bot) tellMissed(ctx context.Context, a arrival) {
	if b.Replies == nil {
		b.tell(a.Event, reply.Missed, a.claim())
		return
	}
	b.tasks.Go(func() {
		defer func() { b.recovered("look for replies to an old message", recover()) }()
		if a.posts, _, _ = b.repliesBefore(ctx, a); len(a.posts) > 0 {
			b.markInterrupted(ctx, a)
			return
		}
		b.tell(a.Event, reply.Missed, a.claim())
	})
}

const (
	earlierLimit = 1500 * time.Millisecond // for reading what was written before the first turn in a channel
	enoughKept   = 5                       // messages after which a channel is not read
)

// keepEarlier keeps what people wrote in a channel before the first turn there, as if it came now. A channel is read if nearly nothing of it is
// kept, and once by each process. What people do not want kept is not.
func (b *Bot) keepEarlier(ctx context.Context, a arrival) {
	if b.Earlier == nil || a.Message.ID == a.Message.ChannelID || !b.met.add(a.Message.ChannelID) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, earlierLimit)
	defer cancel()
	kept, err := b.Store.Messages.Recent(ctx, a.Message.ChannelID, enoughKept+1)
	if err != nil || len(kept) > enoughKept {
		b.logged("read the messages of a channel", err)
		return
	}
	earlier, err := b.Earlier(ctx, a.Message.ChannelID, a.Message.ID)
	if err != nil {
		b.Log.Debug("the messages before cannot be read", "channel", a.Message.ChannelID, "err", b.Redact.String(err.Error()))
		return
	}
	rows := make([]store.Incoming, 0, len(earlier))
	for _, m := range earlier {
		if m.ByPerson() && m.Text != "" {
			rows = append(rows, store.Incoming{Message: b.stored(turn.Event{GuildID: a.GuildID}, m)})
		}
	}
	_, err = b.Store.Messages.SaveIncoming(ctx, rows...)
	b.logged("keep what was written before", err)
}
