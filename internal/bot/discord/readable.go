package discord

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// memberLimit is how long Discord may take to say which roles a member has.
const memberLimit = 3 * time.Second

// Readable returns which of a server's channels a person may read at this moment, from what the gateway has announced; all that are known
// are looked at if none are named. Where an audience is named, that channel's readers, whoever they are, must be able to read a
// channel too: what is said in the one does not tell what stands in the other. Whatever is unknown is not readable: nothing is while
// there is no connection, or where Discord does not say which roles the person has.
func (s *Session) Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool {
	s.mu.Lock()
	connected := s.health.Connected
	s.mu.Unlock()
	if !connected || guildID == "" || who.ID == "" {
		return nil
	}
	if !who.RolesKnown {
		var err error
		if who, err = s.reader(ctx, guildID, who.ID); err != nil {
			s.log.Debug("a member's roles are not known: nothing is read for them", "err", err)
			return nil
		}
	}
	return s.names.readable(guildID, subject{id: who.ID, roles: who.Roles, timeout: who.Timeout.After(time.Now())}, audience, channels)
}

// reader asks Discord for a member of a server.
// https://discord.com/developers/docs/resources/guild#get-guild-member
func (s *Session) reader(ctx context.Context, guildID, userID string) (turn.Reader, error) {
	ctx, cancel := context.WithTimeout(ctx, memberLimit)
	defer cancel()
	body, err := s.call(ctx, request{method: http.MethodGet, url: discordgo.EndpointGuildMember(guildID, userID)})
	if err != nil {
		return turn.Reader{}, err
	}
	var m member
	if err := decode(body, &m); err != nil {
		return turn.Reader{}, fmt.Errorf("read member: %w", err)
	}
	return m.reader(userID), nil
}

// reader returns the member as one who reads. A member without a list of roles is one whose roles are not known.
func (m *member) reader(userID string) turn.Reader {
	if m == nil || m.Roles == nil {
		return turn.Reader{ID: userID}
	}
	return turn.Reader{ID: userID, Roles: m.Roles, RolesKnown: true, Timeout: m.Timeout.Time}
}

// readable returns which channels a member may read, and may be told of in the channel audience, if there is one.
func (d *directory) readable(guildID string, who subject, audience string, channels []string) map[string]bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	g := d.guilds[guildID]
	if g == nil || g.roles == nil {
		return nil
	}
	if _, announced := g.roles[guildID]; !announced { // @everyone is a role of every server
		return nil
	}
	above := func(c channel) channel {
		if !c.thread() {
			return c
		}
		if parent := d.channels[c.ParentID]; parent != nil {
			return *parent
		}
		return channel{}
	}
	hearing := d.channels[audience]
	found := map[string]bool{}
	for _, c := range g.channels {
		switch {
		case len(channels) > 0 && !slices.Contains(channels, c.ID):
		case !g.mayRead(guildID, who, *c, above(*c)) && !(c.ID == audience && c.Type == discordgo.ChannelTypeGuildPrivateThread): // who writes there is a member
		case audience != "" && (hearing == nil || !g.openTo(guildID, *hearing, *c, above)):
		default:
			found[c.ID] = true
		}
	}
	return found
}
