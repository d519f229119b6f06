package bot

import (
	"context"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// mostInARow is how many turns the bot takes in a channel without a person having written there in between.
const mostInARow = 2

// rounds counts the turns that were asked for in each channel since a person wrote there. What a proxy writes may be a person's, or come
// from another bot; if it is a person's, its original came before, unless the bot was away then. It is owned by the goroutine of Run.
type rounds map[string]int

// grant returns how many of n turns that a message asks for there may be, and counts them.
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

// standsIn has a message that a proxy wrote take the place of its original, where that asked for a turn: it is answered as what it is now,
// once. What is visible of an answer stays. It reports whether the original did ask.
func (b *Bot) standsIn(ctx context.Context, e turn.Event) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeLimit)
	defer cancel()
	never, err := b.Store.Claim(ctx, e.Original)
	if b.logged("claim the original of a message", err); err != nil || never {
		return false
	}
	rows := []store.Arrival{{Message: b.stored(e, e.Message), Claim: e.Message.ID}}
	var claims, before []string
	waiting := b.lanes.unseen(e.Original)
	for i, a := range waiting {
		before = append(before, a.claim())
		a = a.rewritten(e)
		claims = append(claims, a.claim())
		row := store.Arrival{Message: b.stored(e, a.Message), Claim: a.claim()}
		if b.Resume {
			row.Event = encodeArrival(a)
		}
		rows = append(rows[:i], row)
	}
	_, err = b.Store.Arrive(ctx, rows...)
	b.logged("keep a message", err)
	b.logged("delete the original of a message", b.Store.DeleteMessage(ctx, e.Original)) // which the proxy is about to do; no prompt has both
	if len(waiting) > 0 && !b.lanes.rewrite(e) {
		before = claims // something is visible by now: that is answered, and this is not
	}
	b.closeClaims(ctx, before...)
	return true
}

// rewritten is an arrival with the message that a proxy made of its own. What was opened for it stays where it is.
func (a arrival) rewritten(e turn.Event) arrival {
	channel, parent := a.Message.ChannelID, a.ParentID
	a.Event = e
	a.Message.ChannelID, a.ParentID = channel, parent
	return a
}

// unseen returns the arrivals that ask for a turn with a message, as long as nothing of an answer is visible.
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

// rewrite puts what a proxy wrote in the place of its original, and has an answer under way start over. It reports whether it could.
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

// pending returns the arrivals with a message, as long as nothing of an answer is visible. Its caller holds mu.
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
