// Package memory decides what the bot remembers and which memories a turn may use.
//
//   - store.go has the [Store], which keeps statements with their sources in tables of [store.DB]: statement.go saves them, read.go finds them,
//     drop.go deletes them with their sources, import.go takes them from an archive, watermark.go saves what the writer learned.
//   - scope.go has the [ScopeFilter], which every read needs. memory.go makes that of a turn: it admits only what everyone who sees the answer
//     may read at that moment.
//   - order.go finds the orders in a message, such as "remember that I'm vegetarian", without a model.
//   - writer.go reads channels in the background. It is the only way in which the bot learns by itself.
//   - sentence.go cuts messages into sentences. judge.go says which of them may be remembered, names.go whom they name; lexicon.go has the
//     words by which they do.
//   - proposal.go has the side model choose among these sentences by number.
//   - matter.go says which statement makes which other one history.
//   - archive.go writes memories as Markdown files and reads them again.
package memory

import (
	"context"
	"maps"
	"slices"

	"familiar/internal/context/turn"
)

// Permissions says who may read which channels. Package discord implements it.
type Permissions interface {
	// Readable reports which of the named channels, or of all if none is named, a person may read now. If audience names a channel,
	// everyone who can read that channel must be able to read them too.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
}

// maxServers is how many of a person's servers a direct message may draw memories from.
const maxServers = 3

// FilterFor returns the filter of the memories that a turn may use. In a server it admits what the asker and everyone else who sees the
// answer may read. In a direct message it admits the memories of that conversation, and memories from channels that the asker may read in
// servers that hold memories about them. permissions is nil if there are no servers. If a permission cannot be determined, it is denied.
func FilterFor(ctx context.Context, memories *Store, permissions Permissions, r turn.Request) ScopeFilter {
	if r.GuildID != "" {
		if !r.Private {
			return FilterGuild(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, r.ChannelID))
		}
		w := FilterGuild(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, ""))
		// The asker wrote in this channel, so they belong to it even if it is a private thread.
		return w.WithChannels(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, r.ChannelID, r.ChannelID))
	}
	w := FilterDM(r.ChannelID)
	if permissions == nil || r.Reader.ID == "" {
		return w
	}
	servers, err := memories.GuildsOf(ctx, r.Reader.ID, maxServers)
	if err != nil {
		return w
	}
	for _, guildID := range servers {
		// Any roles that came with a direct message do not belong to this server.
		if found := ReadableChannels(ctx, permissions, guildID, turn.Reader{ID: r.Reader.ID}, ""); len(found) > 0 {
			w = w.WithChannels(guildID, found)
		}
	}
	return w
}

// ReadableChannels returns the sorted ids of the channels that [Permissions] allows. permissions is nil if there are no servers.
func ReadableChannels(ctx context.Context, permissions Permissions, guildID string, who turn.Reader, audience string, channels ...string) []string {
	if permissions == nil {
		return nil
	}
	all := permissions.Readable(ctx, guildID, who, audience, channels...)
	maps.DeleteFunc(all, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(all))
}
