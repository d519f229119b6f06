package discord

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/discord/rest"
)

const (
	namesakeMemory = time.Hour
	namesakeLimit  = 2 * time.Second // a post does not wait longer
	mostNamesakes  = 100             // members that Discord returns at most
	namesakeMark   = " (bot)"        // behind the name of a persona that a member has, too
)

// namesakes remembers which personas have the name of a member. The zero value is ready.
type namesakes struct {
	mu    sync.Mutex
	asked map[string]namesake // by server and name; guarded by mu
}

type namesake struct {
	taken bool
	at    time.Time
}

// Namesake reports whether a member of a server has a name that looks like a persona's. It asks Discord for the members whose names begin
// like it, at most once an hour for a name. The error is a *rest.Error.
// https://discord.com/developers/docs/resources/guild#search-guild-members
func (s *Session) Namesake(ctx context.Context, guildID, name string) (taken bool, err error) {
	n, key := &s.namesakes, guildID+" "+name
	n.mu.Lock()
	known, ok := n.asked[key]
	n.mu.Unlock()
	if ok && time.Since(known.at) < namesakeMemory {
		return known.taken, nil
	}
	var members []member
	query := url.Values{"query": {PersonaName(name)}, "limit": {strconv.Itoa(mostNamesakes)}}
	if err = s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointGuildMembers(guildID) + "/search?" + query.Encode()}, &members); err == nil {
		alike := func(other string) bool { return s.cfg.Alike(name, other) }
		for _, m := range members {
			own := s.self.Load() != nil && m.User.ID == s.me().user.ID
			taken = taken || !own && slices.ContainsFunc([]string{m.Nick, m.User.GlobalName, m.User.Username}, alike)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asked == nil {
		n.asked = map[string]namesake{}
	}
	n.asked[key] = namesake{taken, time.Now()} // a failure, too: a post does not ask again soon
	return taken, err
}

// postingName returns the name under which a persona posts in a channel. It differs from the names of members.
func (s *Session) postingName(ctx context.Context, channelID, name string) string {
	posts := PersonaName(name)
	if s.cfg.Alike == nil {
		return posts
	}
	c, _ := s.names.channel(channelID)
	if c.GuildID == "" {
		return posts
	}
	ctx, cancel := context.WithTimeout(ctx, namesakeLimit)
	defer cancel()
	if taken, err := s.Namesake(ctx, c.GuildID, name); err != nil || !taken {
		return posts
	}
	return MarkedName(name)
}

// MarkedName returns the name under which a persona posts where a member has its name.
func MarkedName(name string) string {
	runes := []rune(PersonaName(name))
	return string(runes[:min(len(runes), maxPersonaName-len(namesakeMark))]) + namesakeMark
}
