// Package memory says what of the bot's memory a turn may be told: what those who see the answer may read anyway, at that moment.
//
// Package store keeps the statements and reads none without a [store.Within]; this is where those of turns are made. Below it, remember
// reads what people order to be remembered, and archive writes memory as files.
package memory

import (
	"context"
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// Rooms says who may read what: Discord. Package discord says more.
type Rooms interface {
	// Readable returns which channels a person may read now and, where an audience is named, all who read that channel.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
}

// mostServers is how many of a person's servers are asked who may read what there, for a direct message.
const mostServers = 3

// Within returns what a turn may be told. In a server that is what its asker, and whoever sees the answer, may read; in a direct message
// its own statements, and those of channels that its asker may read in servers where something is remembered of them. rooms is nil where
// there are no servers. What cannot be found out is not read.
func Within(ctx context.Context, db *store.DB, rooms Rooms, r turn.Request) store.Within {
	if r.GuildID != "" {
		if !r.Private {
			return store.WithinGuild(r.GuildID, Readable(ctx, rooms, r.GuildID, r.Reader, r.ChannelID))
		}
		w := store.WithinGuild(r.GuildID, Readable(ctx, rooms, r.GuildID, r.Reader, ""))
		// Of a private thread they are a member, for they wrote there.
		return w.AlsoChannels(r.GuildID, Readable(ctx, rooms, r.GuildID, r.Reader, r.ChannelID, r.ChannelID))
	}
	w := store.WithinDM(r.ChannelID)
	if rooms == nil || r.Reader.ID == "" {
		return w
	}
	servers, err := db.RememberedIn(ctx, r.Reader.ID, mostServers)
	if err != nil {
		return w
	}
	for _, guildID := range servers {
		// The roles that came with a direct message, if any, are no roles of that server.
		if found := Readable(ctx, rooms, guildID, turn.Reader{ID: r.Reader.ID}, ""); len(found) > 0 {
			w = w.AlsoChannels(guildID, found)
		}
	}
	return w
}

// Readable are the channels that a person may read now and, where an audience is named, all who read that channel. rooms is nil where there are
// no servers.
func Readable(ctx context.Context, rooms Rooms, guildID string, who turn.Reader, audience string, channels ...string) []string {
	if rooms == nil {
		return nil
	}
	all := rooms.Readable(ctx, guildID, who, audience, channels...)
	maps.DeleteFunc(all, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(all))
}
