package discordtest

import (
	"fmt"
	"slices"
	"time"
)

// The payloads as Discord sends them, as far as a bot may look. Callers hold mu.

func (u *user) payload() object {
	return object{"id": u.id, "username": u.name, "global_name": nil, "bot": u.bot, "discriminator": "0", "avatar": nil}
}

func (c *channel) payload() object {
	p := object{"id": c.id, "type": c.kind, "name": c.name}
	if c.guild != "" {
		p["guild_id"] = c.guild
	}
	if c.parent != "" {
		p["parent_id"] = c.parent
		p["thread_metadata"] = object{"archived": c.archived, "locked": c.locked, "auto_archive_duration": 1440}
	}
	if c.topic != "" {
		p["topic"] = c.topic
	}
	if c.guild != "" && c.kind != 11 {
		p["permission_overwrites"] = c.overwritePayloads()
	}
	if len(c.messages) > 0 {
		p["last_message_id"] = c.messages[len(c.messages)-1].ID
	}
	if c.recipient != nil {
		p["recipients"] = []object{c.recipient.payload()}
	}
	return p
}

func (s *Server) readyPayload() object {
	guilds := []object{}
	for _, g := range s.joined() {
		guilds = append(guilds, object{"id": g.id, "unavailable": true})
	}
	resume := s.gatewayURL()
	if s.resumeURL != nil {
		resume = *s.resumeURL
	}
	return object{
		"v": 10, "user": s.users[botID].payload(), "guilds": guilds, "private_channels": []object{},
		"application": object{"id": appID, "flags": 0}, "resume_gateway_url": resume,
	}
}

func (s *Server) guildPayloads() []object {
	var all []object
	for _, g := range s.joined() {
		all = append(all, s.guildPayload(g))
	}
	return all
}

// joined are the servers that the bot is in.
func (s *Server) joined() []*guild {
	return slices.DeleteFunc(slices.Clone(s.guilds), func(g *guild) bool { return g.away })
}

func (s *Server) guildPayload(g *guild) object {
	roles, channels, threads := []object{g.rolePayload(g.id)}, []object{}, []object{}
	for id := range g.roles {
		roles = append(roles, g.rolePayload(id))
	}
	for _, c := range s.channels {
		switch {
		case c.guild != g.id:
		case c.kind == 11:
			threads = append(threads, c.payload())
		default:
			channels = append(channels, c.payload())
		}
	}
	return object{"id": g.id, "name": g.name, "unavailable": false, "member_count": len(s.users), "roles": roles, "channels": channels, "threads": threads}
}

func (g *guild) rolePayload(id string) object {
	role := object{"id": id, "name": g.roles[id], "permissions": fmt.Sprint(int64(g.may[id]))}
	if id == g.id {
		role["name"] = "@everyone"
	}
	if id == g.own {
		role["tags"], role["managed"] = object{"bot_id": botID}, true
	}
	return role
}

// member is the partial member that comes with a message.
func (s *Server) member(guildID, userID string) object {
	m := object{"roles": []string{}, "nick": nil, "joined_at": "2024-01-01T00:00:00+00:00"}
	g := s.guild(guildID)
	if g == nil {
		return m
	}
	if g.nicks[userID] != "" {
		m["nick"] = g.nicks[userID]
	}
	m["roles"] = append([]string{}, g.members[userID]...)
	return m
}

// payload is the message object; in an event it carries the member and the server too.
func (s *Server) payload(m *message, event bool) object {
	mentions := []object{}
	for _, u := range m.mentions {
		mention := u.payload()
		if event && m.channel.guild != "" {
			mention["member"] = s.member(m.channel.guild, u.id)
		}
		mentions = append(mentions, mention)
	}
	roles := []string{}
	for _, found := range roleMention.FindAllStringSubmatch(m.Text, -1) {
		roles = append(roles, found[1])
	}
	p := object{
		"id": m.ID, "channel_id": m.channel.id, "type": 0, "content": m.Text, "author": m.by.payload(),
		"timestamp": m.At.UTC().Format(time.RFC3339Nano), "edited_timestamp": nil, "mentions": mentions,
		"mention_roles": roles, "mention_everyone": false, "attachments": []object{}, "embeds": []object{},
		"pinned": false, "tts": false, "flags": m.Flags, "components": []any{},
	}
	if m.components != nil {
		p["components"] = m.components
	}
	if !m.EditedAt.IsZero() {
		p["edited_timestamp"] = m.EditedAt.UTC().Format(time.RFC3339Nano)
	}
	if m.Nonce != "" {
		p["nonce"] = m.Nonce
	}
	s.addFiles(p, m)
	if m.webhook != "" {
		p["webhook_id"] = m.webhook
		if m.application != "" {
			p["application_id"] = m.application
		}
	}
	if m.ReplyTo != "" {
		p["type"] = 19
		p["message_reference"] = object{"type": 0, "message_id": m.ReplyTo, "channel_id": m.channel.id}
		p["referenced_message"] = nil
		if above := s.messages[m.ReplyTo]; above != nil {
			inner := s.payload(above, false)
			delete(inner, "referenced_message")
			p["referenced_message"] = inner
		}
	}
	if event && m.channel.guild != "" {
		p["guild_id"], p["member"] = m.channel.guild, s.member(m.channel.guild, m.by.id)
	}
	return p
}
