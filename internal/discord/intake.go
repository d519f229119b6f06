package discord

import (
	"context"
	"slices"
	"strings"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// handlers returns the handler of each gateway event that is read. They run one after the other on the goroutine that
// reads the shard, so none may wait.
func handlers() map[string]func(*shard, context.Context, []byte) error {
	return map[string]func(*shard, context.Context, []byte) error{
		"READY":                   on((*shard).onReady),
		"RESUMED":                 (*shard).onResumed,
		"MESSAGE_CREATE":          on((*shard).onMessage),
		"MESSAGE_UPDATE":          on((*shard).onEdit),
		"MESSAGE_DELETE":          on((*shard).onDelete),
		"MESSAGE_DELETE_BULK":     on((*shard).onDelete),
		"MESSAGE_REACTION_ADD":    on(func(s *shard, _ context.Context, r *reaction) { s.onReaction(turn.Reacted, r) }),
		"MESSAGE_REACTION_REMOVE": on(func(s *shard, _ context.Context, r *reaction) { s.onReaction(turn.Unreacted, r) }),
		"INTERACTION_CREATE":      on((*shard).onInteraction),
		"GUILD_CREATE":            on(func(s *shard, _ context.Context, g *guildInfo) { s.onGuild(g) }),
		"GUILD_UPDATE":            on(func(s *shard, _ context.Context, g *guildInfo) { s.names.changeGuild(*g) }),
		"GUILD_DELETE":            on((*shard).onGuildGone),
		"GUILD_MEMBER_UPDATE":     on((*shard).onMember),
		"GUILD_ROLE_CREATE":       on((*shard).onRole),
		"GUILD_ROLE_UPDATE":       on((*shard).onRole),
		"GUILD_ROLE_DELETE":       on(func(s *shard, _ context.Context, r *roleChange) { s.names.removeRole(r.GuildID, r.RoleID) }),
		"CHANNEL_CREATE":          on((*shard).onChannel),
		"CHANNEL_UPDATE":          on((*shard).onChannelChange),
		"CHANNEL_DELETE":          on((*shard).onChannelGone),
		"THREAD_CREATE":           on((*shard).onChannel),
		"THREAD_UPDATE":           on((*shard).onChannel),
		"THREAD_DELETE":           on((*shard).onChannelGone),
		"THREAD_LIST_SYNC": on(func(s *shard, _ context.Context, l *threadList) {
			for _, c := range l.Threads {
				c.GuildID = l.GuildID
				s.names.setChannel(c)
			}
		}),
	}
}

// on returns a handler that decodes the payload and calls f with it.
func on[T any](f func(*shard, context.Context, *T)) func(*shard, context.Context, []byte) error {
	return func(s *shard, ctx context.Context, data []byte) error {
		v := new(T)
		if err := rest.Decode(data, v); err != nil {
			return err
		}
		f(s, ctx, v)
		return nil
	}
}

// shard reads the events of one shard.
type shard struct {
	*Session
	from    *gateway.Shard
	origins originals // messages of people that a proxy may replace
}

// readShard returns what handles the events of a shard.
func (s *Session) readShard(from *gateway.Shard) func(context.Context, string, []byte) error {
	return (&shard{Session: s, from: from}).dispatch
}

// dispatch handles one gateway event.
func (s *shard) dispatch(ctx context.Context, event string, data []byte) error {
	if handle := s.handle[event]; handle != nil {
		return handle(s, ctx, data)
	}
	return nil
}

// onReady takes what a new session says of the bot and its servers.
func (s *shard) onReady(_ context.Context, r *ready) {
	s.self.Store(newIdentity(r.User, r.Application.ID))
	s.names.begin(r.Guilds, s.from.Brings, s.from.BroughtBeside)
	s.registerSoon()
}

// onResumed registers the commands if an earlier start began the session.
func (s *shard) onResumed(context.Context, []byte) error {
	if s.from.Restored() {
		s.registerSoon()
	}
	return nil
}

// begun calls OnReady as soon as the servers' names are known or have not come in time.
func (s *Session) begun(ctx context.Context) {
	s.awaitGuilds(ctx, guildsLimit, every)
	if self := s.self.Load(); s.cfg.OnReady != nil && ctx.Err() == nil {
		s.cfg.OnReady(Ready{Name: self.user.name(nil), ID: self.user.ID, Guilds: s.names.guildNames(), Invite: Invite(self.app), Contentless: s.gateway.Contentless()})
	}
}

// registerSoon registers the commands, if there are any.
func (s *Session) registerSoon() {
	if len(s.commands()) == 0 {
		return
	}
	app := s.self.Load().app
	s.gateway.Start("register commands", func(ctx context.Context) { s.registerOnce(ctx, app) })
}

// guildsLimit is how long OnReady waits for the servers that READY announced.
const guildsLimit = 2 * time.Second

// awaitGuilds waits until all servers that READY announced, of those that mine names, are known, or limit has passed.
func (s *Session) awaitGuilds(ctx context.Context, limit time.Duration, mine func(guildID string) bool) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		s.mu.Lock()
		came := s.guildCame
		s.mu.Unlock()
		if s.names.complete(mine) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-came:
		}
	}
}

func (s *Session) onGuild(g *guildInfo) {
	if g.Unavailable {
		return
	}
	own := s.me().user.ID
	g.Members = slices.DeleteFunc(g.Members, func(m member) bool { return m.User.ID != own || m.Roles == nil })
	s.names.addGuild(*g)
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.guildCame)
	s.guildCame = make(chan struct{})
}

// onGuildGone reports the bot's removal from a server. An outage is not reported.
func (s *shard) onGuildGone(_ context.Context, g *guildInfo) {
	if g.Unavailable {
		return
	}
	s.names.removeGuild(g.ID)
	s.from.Emit(turn.Event{Kind: turn.Gone, ID: g.ID + ":gone", GuildID: g.ID})
}

// onMember notes what the bot is in a server. Discord reports changes of the bot itself, and of others only with an intent that it does not
// ask for.
func (s *Session) onMember(_ context.Context, m *memberChange) {
	if m.User.ID == s.me().user.ID && m.Roles != nil {
		s.names.setOwn(m.GuildID, m.member)
		s.permissionsChanged()
	}
}

func (s *Session) onRole(_ context.Context, r *roleChange) {
	s.names.setRole(r.GuildID, r.Role)
	s.permissionsChanged()
}

func (s *Session) onChannel(_ context.Context, c *channel) { s.names.setChannel(*c) }

func (s *Session) onChannelChange(_ context.Context, c *channel) {
	s.names.setChannel(*c)
	s.permissionsChanged()
}

// permissionsChanged forgets refusals, because the bot may do more now.
func (s *Session) permissionsChanged() {
	s.refusals.forget()
	s.hooks.retry()
}

// onChannelGone reports that a channel is gone, and also its threads, which Discord does not mention.
func (s *shard) onChannelGone(_ context.Context, c *channel) {
	for _, gone := range append(s.names.removeChannel(c.ID), *c) {
		e := turn.Event{Kind: turn.Gone, ID: gone.ID + ":gone", GuildID: gone.GuildID, Message: turn.Message{ChannelID: gone.ID}}
		if gone.thread() {
			e.ParentID = gone.ParentID
		}
		s.from.Emit(e)
	}
}

// onReaction reports a person's reaction under any message. The message's author may be one of the bot's webhooks, which
// is not known here.
func (s *shard) onReaction(kind turn.Kind, r *reaction) {
	if r.UserID == s.me().user.ID || r.Member != nil && r.Member.User.Bot {
		return
	}
	by := turn.Author{ID: r.UserID}
	if r.Member != nil {
		by.Name = r.Member.User.name(r.Member)
	}
	s.from.Emit(turn.Event{
		Kind: kind, ID: r.MessageID + ":" + string(kind) + ":" + r.UserID + ":" + r.Emoji.Name, GuildID: r.GuildID, Direct: r.GuildID == "",
		Message:  turn.Message{ID: r.MessageID, ChannelID: r.ChannelID},
		Reaction: &turn.Reaction{Emoji: r.Emoji.Name, By: by, Deletes: s.names.moderates(r.GuildID, r.Member)},
	})
}

// A proxy such as PluralKit lets several persons share one account. It reposts a message through a webhook under another
// name, without the marks that chose the name. A moment later it deletes the original.
// https://pluralkit.me/guide/#proxying

const (
	proxySpan    = 10 * time.Second // after the original, within which a proxy reposts it
	originalsMax = 256
)

// proxied reports whether a proxy posted a message for a person.
func (s *Session) proxied(m *message) bool {
	return m.WebhookID != "" && m.AppID != "" && m.AppID != s.me().app && s.cfg.Proxies[m.AppID]
}

// originals are people's latest messages, which a proxy may repost. The zero value is ready.
type originals struct{ latest []original }

type original struct {
	event     turn.Event
	content   string
	files     int
	rewritten string // id of the proxy's message
	deleted   bool
}

// pair records a person's message. For a proxy's message it finds the original and copies what the repost lacks. That is the author's id
// and roles, and the message it replies to. It does not copy the author's name.
func (o *originals) pair(e *turn.Event, m *message) {
	if !e.Proxied {
		if len(o.latest) == originalsMax {
			o.latest = slices.Delete(o.latest, 0, originalsMax/4)
		}
		o.latest = append(o.latest, original{event: *e, content: m.Content, files: len(m.Attachments)})
		return
	}
	for i := len(o.latest) - 1; i >= 0; i-- {
		from := &o.latest[i]
		if !from.becomes(*e, m) {
			continue
		}
		from.rewritten = e.Message.ID
		e.Message.Author.ID, e.Reader, e.Mentioned = from.event.Message.Author.ID, from.event.Reader, e.Mentioned || from.event.Mentioned
		if e.Message.ReplyTo == "" {
			e.Message.ReplyTo, e.Reply = from.event.Message.ReplyTo, from.event.Reply
		}
		if !from.deleted {
			e.Original = from.event.Message.ID
		}
		return
	}
}

// becomes reports whether a proxy's message is a repost of this one.
func (from *original) becomes(e turn.Event, m *message) bool {
	was := from.event.Message
	return was.ChannelID == e.Message.ChannelID && (from.rewritten == "" || from.rewritten == e.Message.ID) &&
		e.Message.At.Sub(was.At).Abs() < proxySpan && len(m.Attachments) == from.files && strings.Contains(from.content, strings.TrimSpace(m.Content))
}

// deleted records that a message was deleted. It reports whether a proxy has reposted it.
func (o *originals) deleted(id string) (rewritten bool) {
	for i := range o.latest {
		if from := &o.latest[i]; from.event.Message.ID == id {
			from.deleted = true
			return from.rewritten != ""
		}
	}
	return false
}
