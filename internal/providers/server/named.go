package server

import (
	"context"
	"errors"
	"slices"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/lookup/recall"
	"familiar/internal/store"
)

// linked returns the messages that the question links to, as far as they may be read: from what is kept, else from Discord.
func (r *run) linked(ctx context.Context) (found []hit) {
	for _, l := range r.q.Links {
		began := time.Now()
		if l.Guild != r.req.GuildID || !r.readable[l.Channel] {
			r.asked("link", turn.CodeMissing, "not there, or not for those who would read the answer", 0, began)
			continue
		}
		m, err := r.message(ctx, l)
		if err != nil {
			r.asked("link", turn.CodeMissing, "not there, or not for those who would read the answer", 0, began)
			continue
		}
		r.asked("link", turn.CodeOK, "", 1, began)
		h := hit{Message: m, note: "linked"}
		r.surround(ctx, &h)
		found = append(found, h)
	}
	return found
}

func (r *run) message(ctx context.Context, l recall.Link) (turn.Message, error) {
	m, err := r.p.Store.Message(ctx, l.Message)
	switch {
	case err == nil && m.ChannelID == l.Channel && m.GuildID == l.Guild:
		return r.asSeen(m), nil
	case err == nil, !errors.Is(err, store.ErrNotFound): // it is elsewhere than the link says
		return turn.Message{}, store.ErrNotFound
	}
	return r.p.Servers.Platform.Linked(ctx, l.Guild, l.Channel, l.Message)
}

// pins returns what is pinned in the channel, or in those that are named.
func (r *run) pins(ctx context.Context) (found []hit) {
	for _, id := range r.here() {
		began := time.Now()
		pinned, err := r.p.Servers.Platform.Pins(ctx, r.req.GuildID, id)
		if err != nil {
			r.asked("pins", turn.CodeUpstream, err.Error(), 0, began)
			continue
		}
		r.asked("pins", status(len(pinned)), "", len(pinned), began)
		for _, m := range pinned[:min(len(pinned), mostHits)] {
			found = append(found, hit{Message: m, note: "pinned"})
		}
	}
	return found
}

// topics returns what is said of the channel, or of those that are named.
func (r *run) topics() (found []hit) {
	for _, id := range r.here() {
		if c := r.named[id]; c.Topic != "" {
			found = append(found, hit{
				Message: turn.Message{ChannelID: id, Text: c.Topic, At: r.now, Author: turn.Author{Name: "the channel's topic"}}, note: "topic",
				url: "https://discord.com/channels/" + r.req.GuildID + "/" + id,
			})
		}
	}
	r.asked("topic", status(len(found)), "", len(found), r.step)
	return found
}

// here are the channels that are named or, if none is, this one, as far as they may be read.
func (r *run) here() []string {
	if len(r.q.Channels) == 0 {
		return slices.DeleteFunc([]string{r.req.ChannelID}, func(id string) bool { return !r.readable[id] })
	}
	return r.channels()
}
