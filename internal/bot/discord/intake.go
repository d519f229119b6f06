package discord

import (
	"context"
	"fmt"
	"runtime/debug"

	"familiar/internal/context/turn"
)

// handlers returns the handler of each gateway event that is read. They run one after the other on the goroutine that reads the
// gateway, so they only look up, convert and enqueue: none may wait.
func (s *Session) handlers() map[string]func(context.Context, []byte) error {
	return map[string]func(context.Context, []byte) error{
		"MESSAGE_CREATE":          on(s.onMessage),
		"MESSAGE_UPDATE":          on(s.onEdit),
		"MESSAGE_DELETE":          on(s.onDelete),
		"MESSAGE_DELETE_BULK":     on(s.onDelete),
		"MESSAGE_REACTION_ADD":    on(func(_ context.Context, r *reaction) { s.onReaction(turn.Reacted, r) }),
		"MESSAGE_REACTION_REMOVE": on(func(_ context.Context, r *reaction) { s.onReaction(turn.Unreacted, r) }),
		"INTERACTION_CREATE":      on(s.onInteraction),
		"GUILD_CREATE":            on(func(_ context.Context, g *guildInfo) { s.onGuild(g) }),
		"GUILD_UPDATE":            on(func(_ context.Context, g *guildInfo) { s.names.changeGuild(*g) }),
		"GUILD_DELETE":            on(s.onGuildGone),
		"GUILD_ROLE_CREATE":       on(s.onRole),
		"GUILD_ROLE_UPDATE":       on(s.onRole),
		"GUILD_ROLE_DELETE":       on(func(_ context.Context, r *roleChange) { s.names.removeRole(r.GuildID, r.RoleID) }),
		"CHANNEL_CREATE":          on(s.onChannel),
		"CHANNEL_UPDATE":          on(s.onChannelChange),
		"CHANNEL_DELETE":          on(s.onChannelGone),
		"THREAD_CREATE":           on(s.onChannel),
		"THREAD_UPDATE":           on(s.onChannel),
		"THREAD_DELETE":           on(s.onChannelGone),
		"THREAD_LIST_SYNC": on(func(_ context.Context, l *threadList) {
			for _, c := range l.Threads {
				c.GuildID = l.GuildID
				s.names.setChannel(c)
			}
		}),
	}
}

// on makes a handler from a function that takes a decoded payload.
func on[T any](f func(context.Context, *T)) func(context.Context, []byte) error {
	return func(ctx context.Context, data []byte) error {
		v := new(T)
		if err := decode(data, v); err != nil {
			return err
		}
		f(ctx, v)
		return nil
	}
}

// dispatch handles one gateway event. Errors and panics are logged and end nothing else.
func (s *Session) dispatch(ctx context.Context, kind string, data []byte) {
	handle := s.handle[kind]
	if handle == nil {
		return
	}
	defer s.logPanic("handle " + kind)
	if err := handle(ctx, data); err != nil {
		s.log.Error("gateway event cannot be read", "event", kind, "err", s.redact(err.Error()))
	}
}

// logPanic, deferred, keeps a panic from ending the process.
func (s *Session) logPanic(what string) {
	if r := recover(); r != nil {
		s.log.Error("panic", "in", what, "panic", s.redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
	}
}

// emit hands an event to the bot. It is called by the goroutine that reads the gateway alone.
func (s *Session) emit(e turn.Event) { s.enqueue(queued{event: e, from: s.at}) }

func (s *Session) enqueue(e queued) {
	if s.waiting.put(e) {
		s.log.Warn("the bot does not keep up: the oldest event was dropped", "dropped", s.waiting.lost())
	}
}

// forward moves events from the queue to the bot until ctx is done. None waits for what the door does not know: where a channel may
// be a thread, the event says so, and the channel is asked for beside.
func (s *Session) forward(ctx context.Context) {
	for {
		e, ok := s.waiting.take(ctx)
		if !ok {
			return
		}
		s.place(&e)
		select {
		case <-ctx.Done():
			return
		case s.events <- e:
			s.waiting.handOut()
		}
	}
}

func (s *Session) onGuild(g *guildInfo) {
	if g.Unavailable {
		return
	}
	s.names.addGuild(*g)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.guildCame)
	s.guildCame = make(chan struct{})
}

// onGuildGone distinguishes an outage, which passes, from the bot's removal.
func (s *Session) onGuildGone(_ context.Context, g *guildInfo) {
	if g.Unavailable {
		return
	}
	s.names.removeGuild(g.ID)
	s.emit(turn.Event{Kind: turn.Gone, ID: g.ID + ":gone", GuildID: g.ID})
}

func (s *Session) onRole(_ context.Context, r *roleChange) {
	s.names.setRole(r.GuildID, r.Role)
	s.refusals.forget()
	s.hooks.retry()
}

func (s *Session) onChannel(_ context.Context, c *channel) { s.names.setChannel(*c) }

// onChannelChange may be about who may write there.
func (s *Session) onChannelChange(_ context.Context, c *channel) {
	s.names.setChannel(*c)
	s.refusals.forget()
	s.hooks.retry()
}

// onChannelGone reports that a channel is gone, and the threads in it, of which Discord says nothing.
func (s *Session) onChannelGone(_ context.Context, c *channel) {
	for _, gone := range append(s.names.removeChannel(c.ID), *c) {
		e := turn.Event{Kind: turn.Gone, ID: gone.ID + ":gone", GuildID: gone.GuildID, Message: turn.Message{ChannelID: gone.ID}}
		if gone.thread() {
			e.ParentID = gone.ParentID
		}
		s.emit(e)
	}
}
