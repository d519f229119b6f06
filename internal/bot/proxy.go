package bot

import (
	"context"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// mostInARow is how many turns the bot takes in a channel before a person must write there again.
const mostInARow = 2

// rounds counts the turns that were asked for in each channel since a person wrote there. A proxy may write for a person or for another bot.
// For a person the original message came before, unless the bot was away. Only the goroutine of Run uses it.
type rounds map[string]int

// grant returns how many of the n turns that a message asks for are allowed, and counts them.
func (r rounds) grant(e turn.Event, n int) int {
	channel := e.Message.ChannelID
	if !e.Proxied || e.Late {
		delete(r, channel)
	}
	if n = min(n, mostInARow-r[channel]); n > 0 {
		r[channel] += n
	}
	return n
}

// replacesProxied puts a message that a proxy wrote in the place of its original, if the original asked for a turn. It is answered once, as
// it is now. Posts of an answer that are visible stay. It reports whether the original asked for a turn.
func (b *Bot) replacesProxied(ctx context.Context, e turn.Event) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	never, err := b.Store.Claims.Claim(ctx, e.Original)
	if b.logged("claim the original of a message", err); err != nil || never {
		return false
	}
	rows := []store.Incoming{{Message: b.stored(e, e.Message), Claim: e.Message.ID}}
	var claims, before []string
	waiting := b.lanes.unseen(e.Original)
	for i, a := range waiting {
		before = append(before, a.claim())
		a = a.rewritten(e)
		claims = append(claims, a.claim())
		row := store.Incoming{Message: b.stored(e, a.Message), Claim: a.claim()}
		if b.Resume {
			row.Event = encodeArrival(a)
		}
		rows = append(rows[:i], row)
	}
	_, err = b.Store.Messages.SaveIncoming(ctx, rows...)
	b.logged("keep a message", err)
	b.logged("delete the original of a message", b.Store.Messages.Delete(ctx, e.Original)) // the proxy is about to do the same; no prompt has both
	if len(waiting) > 0 && !b.lanes.rewrite(e) {
		before = claims // part of the answer is visible: that is finished, and this message is not answered
	}
	b.closeClaims(ctx, before...)
	return true
}

// rewritten returns the arrival with the message that a proxy wrote. It stays in the thread that was opened for it.
func (a arrival) rewritten(e turn.Event) arrival {
	channel, parent := a.Message.ChannelID, a.ParentID
	a.Event = e
	a.Message.ChannelID, a.ParentID = channel, parent
	return a
}

// unseen returns the arrivals that ask for a turn with a message, while nothing of an answer is visible.
func (ls *lanes) unseen(id string) (all []arrival) {
	ls.each(func(l *lane) {
		for _, a := range l.pending(id) {
			if a.addressed {
				all = append(all, *a)
			}
		}
	})
	return all
}

// rewrite replaces an original by the message that a proxy wrote. An answer under way starts over. It reports whether it replaced anything.
func (ls *lanes) rewrite(e turn.Event) (done bool) {
	ls.each(func(l *lane) {
		all := l.pending(e.Original)
		for _, a := range all {
			*a = a.rewritten(e)
		}
		if t := l.active; t != nil && t.holds(e.Message.ID) && t.cancel != nil {
			t.edited = true
			t.cancel(errEdited)
		}
		done = done || len(all) > 0
	})
	return done
}

// pending returns the arrivals with a message, while nothing of an answer is visible. Its caller holds mu.
func (l *lane) pending(id string) (found []*arrival) {
	add := func(all []arrival) {
		for i := range all {
			if all[i].Message.ID == id {
				found = append(found, &all[i])
			}
		}
	}
	add(l.waiting)
	if t := l.active; t != nil && !t.visible && t.withdrawn == nil {
		add(t.batch)
		add(t.joined)
	}
	return found
}
