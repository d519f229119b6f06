package bot

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/reply"
	"familiar/internal/store"
)

const (
	remindAgain  = time.Minute        // after a reminder could not be told
	longestWait  = time.Hour          // until the reminders are looked at again: a clock may be put right
	atOnce       = 500                // reminders that are read at a time
	givenUpAfter = 7 * 24 * time.Hour // a reminder that cannot be told for so long is dropped
	clockDiffers = 5 * time.Second    // between a claim and the post that followed it

	lastID = "9223372036854775807" // behind the id of every message of Discord
)

// remindPeople tells people what they wanted to be reminded of, and greets, when it is time. It does so until the bot stops.
func (b *Bot) remindPeople(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if b.Clocked != nil {
		select {
		case <-b.Clocked:
		case <-b.stopping:
			return
		case <-b.ended:
			return
		}
	}
	var next time.Time // when to look where to greet
	for {
		wait := b.remindDue(ctx)
		if now := b.now(); !now.Before(next) {
			next = now.Add(b.greetDue(ctx))
		}
		wait = min(wait, next.Sub(b.now()))
		select {
		case <-b.stopping:
			return
		case <-b.ended:
			return
		case <-b.Store.Reminders.Changed():
		case <-time.After(wait):
		}
	}
}

// remindDue tells the reminders that are due, and returns how long to wait for the next.
func (b *Bot) remindDue(ctx context.Context) (wait time.Duration) {
	defer func() { b.recovered("remind people", recover()) }()
	wait = remindAgain // after a panic
	all, err := b.Store.Reminders.First(ctx, atOnce)
	if err != nil {
		b.logged("read reminders", err)
		return wait
	}
	wait = longestWait
	others := map[string]bool{} // servers for which another process acts
	for _, r := range all {
		if until := r.At.Sub(b.now()); until > 0 {
			return min(wait, until)
		}
		if others[r.GuildID] {
			continue
		}
		done, err := b.remind(ctx, r)
		if others[r.GuildID] = elsewhere(err); !done && !others[r.GuildID] {
			wait = remindAgain
		}
	}
	return wait
}

// remind tells one person, once. A reminder that was claimed before may have been posted: then the channel knows. It reports whether nothing
// remains to be done. The error is why it could not be told; it is logged.
func (b *Bot) remind(ctx context.Context, r store.Reminder) (done bool, err error) {
	if b.OperatorOnly != strings.HasPrefix(r.PersonID, turn.TerminalPrefix) { // it is of another door
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, noticeLimit)
	defer cancel()
	late := b.now().Sub(r.At)
	if !b.Gate.Speaks(ctx, turn.Event{GuildID: r.GuildID, Direct: r.GuildID == "", Message: turn.Message{ChannelID: r.ChannelID, Author: turn.Author{ID: r.PersonID}}}) {
		return late > givenUpAfter && b.endReminder(ctx, r, "a reminder could not be told for a week"), nil
	}
	said, _ := reply.RulesFor(turn.Request{Message: turn.Message{Text: r.Text}}, nil, b.Redact).Guard(r.Text)
	before, err := b.Store.Reminders.Begin(ctx, r, b.now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return true, nil
	case err != nil:
		b.logged("begin to remind", err)
		return false, err
	case !before.IsZero():
		told, err := b.reminded(ctx, r, said, before)
		if told {
			return b.endReminder(ctx, r, ""), nil
		}
		if b.logged("look for a reminder", err); err != nil && Temporary(err) && late < givenUpAfter {
			return false, err
		}
	}
	_, err = b.sendPost(ctx, turn.Post{
		ChannelID: r.ChannelID, ReplyTo: r.MessageID, Text: reply.Reminder(r.Language, said, late), Mention: r.PersonID, Final: true,
		Nonce: nonce("reminder "+strconv.FormatInt(r.ID, 10)+" "+strconv.FormatInt(r.Made.UnixMicro(), 10), 0),
	}, true)
	b.logged("remind a person", err)
	switch {
	case unsent(err) && late < givenUpAfter:
		return false, err
	case err != nil:
		return b.endReminder(ctx, r, "a reminder could not be told"), err
	}
	return b.endReminder(ctx, r, ""), nil
}

// reminded reports whether the channel has the post of a reminder that was claimed at a time. It answers the order or, if that is gone, ends
// as any post of the reminder does.
func (b *Bot) reminded(ctx context.Context, r store.Reminder, said string, claimed time.Time) (told bool, err error) {
	if b.Earlier == nil {
		return false, nil
	}
	whole := reply.Reminder(r.Language, said, 0)
	end := whole[max(0, strings.LastIndexAny(whole[:strings.Index(whole, said)], "“„«「")):]
	all, err := b.Earlier(ctx, r.ChannelID, lastID)
	for _, m := range all {
		own := m.Own && m.At.After(claimed.Add(-clockDiffers))
		told = told || own && (m.ReplyTo != "" && m.ReplyTo == r.MessageID || strings.HasSuffix(m.Text, end))
	}
	return told, err
}

// endReminder deletes a reminder, with a warning if it was not told. It reports whether it did.
func (b *Bot) endReminder(ctx context.Context, r store.Reminder, untold string) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	if untold != "" {
		b.Log.Warn(untold, "reminder", r.ID, "channel", r.ChannelID, "person", r.PersonID)
	}
	_, err := b.Store.Reminders.Cancel(ctx, r.PersonID, r.ID)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	b.logged("end a reminder", err)
	return err == nil
}
