package bot

import (
	"context"
	"errors"
	"slices"
	"time"
	"unicode/utf8"

	"familiar/internal/bot/outgoing"
	"familiar/internal/context/turn"
)

// A reply in the mode imitate_voice comes as somebody types it: in a few short posts, with pauses between them in which the bot shows as
// typing.
const (
	spokenUnits = 280                    // UTF-16 units of a post, about
	spokenMost  = 5                      // posts; a longer reply comes as others do
	spokenPace  = 40                     // characters in a second
	pauseLeast  = 800 * time.Millisecond // before each post but the first
	pauseMost   = 3 * time.Second
	pausesMost  = 8 * time.Second // all of them together
)

// spoken cuts a reply into the posts of somebody who types, or returns nil where it is not for that.
func spoken(text string) []string {
	pieces := outgoing.Split(text, spokenUnits)
	if len(pieces) < 2 || len(pieces) > spokenMost {
		return nil
	}
	return pieces
}

// pause waits as long as it takes to type a post, or as is left, and reports whether the post is still wanted: the person may have
// written something else meanwhile, or the turn have ended.
func (d *delivery) pause(ctx context.Context, piece string) bool {
	wait := time.Duration(utf8.RuneCountInString(piece)) * time.Second / spokenPace
	wait = min(max(wait, pauseLeast), pauseMost, pausesMost-d.paused)
	d.paused += wait
	if wait > 0 {
		if err := d.bot.Door.Typing(ctx, d.channel); err != nil {
			d.bot.Log.Debug("show typing", "err", d.bot.Redact.String(err.Error()))
		}
		select {
		case <-time.After(wait):
		case <-d.attempt.Done():
		}
	}
	return d.attempt.Err() == nil && !d.lane.hasFrom(d.author)
}

// hasFrom reports whether a person has written something that waits.
func (l *lane) hasFrom(author string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.waiting, func(a arrival) bool { return a.Kind == turn.Created && a.Message.Author.ID == author })
}

// errUnsaid ends a reply of which the rest is not wanted any more.
var errUnsaid = errors.New("the person went on before all was said")
