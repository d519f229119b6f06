package bot

import (
	"familiar/internal/context/turn"
)

// watched lets whoever watches the bot know what the turn is at.
func (b *Bot) watched(t *turn.Trace) {
	if b.Progress == nil {
		return
	}
	p := progressOf(t)
	watch := t.Request.Watch
	t.Request.Watch = func(a turn.Activity, n int) {
		if watch != nil {
			watch(a, n)
		}
		now := p // an abandoned provider may still tell something
		now.Activity, now.N = a, n
		b.Progress(now)
	}
	b.Progress(p)
}

// over says how a turn ended.
func (b *Bot) over(t *turn.Trace) {
	if b.Progress != nil {
		b.Progress(progressOf(t))
	}
}

func progressOf(t *turn.Trace) turn.Progress {
	r := &t.Request
	p := turn.Progress{
		ID: r.ID, Character: r.Character, GuildID: r.GuildID, ChannelID: r.ChannelID, Began: t.Began, Phase: t.Phase, Took: t.Took, Err: t.Err,
	}
	if l := t.Lookup(); l != nil {
		p.Lookup = l.State
	}
	return p
}

// Lane is how much waits in a channel.
type Lane struct {
	ChannelID string
	TurnID    string // of the turn that is being taken; empty between two
	Waiting   int    // messages behind it
}

// Lanes returns the channels in which something is to be done.
func (b *Bot) Lanes() (all []Lane) {
	ls := &b.lanes
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for channel, l := range ls.open {
		l.mu.Lock()
		one := Lane{ChannelID: channel, Waiting: len(l.waiting)}
		if l.active != nil {
			one.TurnID = l.active.id
			one.Waiting += len(l.active.joined)
		}
		l.mu.Unlock()
		all = append(all, one)
	}
	return all
}
