package discord

import (
	"context"
	"net/http"
	"net/url"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// onReaction reports a person's reaction, under whosever message: who wrote that may be a webhook of the bot's, which need not be known here.
func (s *Session) onReaction(kind turn.Kind, r *reaction) {
	if r.UserID == s.selfID() || r.Member != nil && r.Member.User.Bot {
		return
	}
	by := turn.Author{ID: r.UserID}
	if r.Member != nil {
		by.Name = r.Member.User.name(r.Member)
	}
	s.emit(turn.Event{
		Kind: kind, ID: r.MessageID + ":" + string(kind) + ":" + r.UserID + ":" + r.Emoji.Name, GuildID: r.GuildID, Direct: r.GuildID == "",
		Message:  turn.Message{ID: r.MessageID, ChannelID: r.ChannelID},
		Reaction: &turn.Reaction{Emoji: r.Emoji.Name, By: by, Deletes: s.names.moderates(r.GuildID, r.Member)},
	})
}

// moderates reports whether a member may manage messages in all of a server, as its roles say. What single channels say of them is
// not known here.
func (d *directory) moderates(guildID string, m *member) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	g := d.guilds[guildID]
	if g == nil || m == nil || m.User.ID == "" {
		return false
	}
	if m.User.ID == g.owner {
		return true
	}
	var bits permissions
	for _, id := range append([]string{guildID}, m.Roles...) { // the role of everybody has the server's id
		bits |= g.roles[id].Permissions
	}
	return bits&(discordgo.PermissionManageMessages|discordgo.PermissionAdministrator) != 0
}

// putReaction puts the bot's own reaction under a message.
// https://discord.com/developers/docs/resources/message#create-reaction
func (s *Session) putReaction(ctx context.Context, p turn.Post) error {
	_, err := s.call(ctx, request{
		method: http.MethodPut, rank: rankEdit,
		url: discordgo.EndpointMessageReaction(p.ChannelID, p.ID, url.PathEscape(p.Reaction), "@me"),
	})
	return err
}
