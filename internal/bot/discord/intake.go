package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// handlers returns the handler of each gateway event that is read. They run one after the other on the goroutine that reads the
// gateway, so they only look up, convert and enqueue: none may wait.
func (s *Session) handlers() map[string]func(context.Context, []byte) error {
	return map[string]func(context.Context, []byte) error{
		"MESSAGE_CREATE":      on(s.onMessage),
		"MESSAGE_UPDATE":      on(s.onEdit),
		"MESSAGE_DELETE":      on(s.onDelete),
		"MESSAGE_DELETE_BULK": on(s.onDelete),
		"INTERACTION_CREATE":  on(s.onInteraction),
		"GUILD_CREATE":        on(func(_ context.Context, g *guildInfo) { s.onGuild(g) }),
		"GUILD_UPDATE":        on(func(_ context.Context, g *guildInfo) { s.names.renameGuild(g.ID, g.Name) }),
		"GUILD_DELETE":        on(s.onGuildGone),
		"GUILD_ROLE_CREATE":   on(s.onRole),
		"GUILD_ROLE_UPDATE":   on(s.onRole),
		"GUILD_ROLE_DELETE":   on(func(_ context.Context, r *roleChange) { s.names.removeRole(r.GuildID, r.RoleID) }),
		"CHANNEL_CREATE":      on(s.onChannel),
		"CHANNEL_UPDATE":      on(s.onChannelChange),
		"CHANNEL_DELETE":      on(s.onChannelGone),
		"THREAD_CREATE":       on(s.onChannel),
		"THREAD_UPDATE":       on(s.onChannel),
		"THREAD_DELETE":       on(s.onChannelGone),
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
		if err := json.Unmarshal(data, v); err != nil {
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

// emit hands an event to the bot.
func (s *Session) emit(e turn.Event) {
	if s.waiting.put(e) {
		s.log.Warn("the bot does not keep up: the oldest event was dropped", "dropped", s.waiting.lost())
	}
}

// forward moves events from the queue to the bot until ctx is done, and names the channel above a thread on the way,
// where that may take a request.
func (s *Session) forward(ctx context.Context) {
	for {
		events := s.waiting.take(ctx)
		if events == nil {
			return
		}
		for _, e := range events {
			e.ParentID = s.parent(ctx, e)
			select {
			case <-ctx.Done():
				return
			case s.events <- e:
			}
		}
	}
}

// parent returns the channel that a thread belongs to, or "". The gateway announces almost every channel beforehand; one
// it has not is asked for once.
func (s *Session) parent(ctx context.Context, e turn.Event) string {
	if e.ParentID != "" || e.GuildID == "" || e.Message.ChannelID == "" || e.Kind == turn.Gone || e.Kind == turn.Deleted {
		return e.ParentID
	}
	c, ok := s.names.channel(e.Message.ChannelID)
	if !ok {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		body, err := s.call(ctx, request{method: http.MethodGet, url: discordgo.EndpointChannel(e.Message.ChannelID), once: true})
		if err == nil {
			err = json.Unmarshal(body, &c)
		}
		if err != nil {
			s.log.Warn("channel is unknown", "channel", e.Message.ChannelID, "err", err)
		}
		c.ID, c.GuildID = e.Message.ChannelID, e.GuildID // also an unknown one, so that it is not asked for again
		s.names.setChannel(c)
	}
	if c.thread() {
		return c.ParentID
	}
	return ""
}

func (s *Session) onGuild(g *guildInfo) {
	if g.Unavailable {
		return
	}
	s.names.addGuild(*g)
	select {
	case s.guildCame <- struct{}{}:
	default:
	}
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
}

func (s *Session) onChannel(_ context.Context, c *channel) { s.names.setChannel(*c) }

// onChannelChange may be about who may write there.
func (s *Session) onChannelChange(_ context.Context, c *channel) {
	s.names.setChannel(*c)
	s.refusals.forget()
}

func (s *Session) onChannelGone(_ context.Context, c *channel) {
	s.names.removeChannel(c.ID)
	e := turn.Event{Kind: turn.Gone, ID: c.ID + ":gone", GuildID: c.GuildID, Message: turn.Message{ChannelID: c.ID}}
	if c.thread() {
		e.ParentID = c.ParentID
	}
	s.emit(e)
}
