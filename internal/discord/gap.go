package discord

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// A new session does not bring earlier messages. If the bot was here before, it asks the channels for them.

const (
	gapSpan    = 30 * time.Minute // age of the oldest message that is asked for
	gapOverlap = 5 * time.Second  // before the last message: messages come nearly, but not quite, in order
	gapLimit   = 2 * time.Minute  // for the whole gap
	gapWait    = 10 * time.Second // for the servers that the new session announced
	gapPages   = 300              // requests that return messages: enough for a busy bot's few minutes
	gapRefused = 50               // requests that may be refused: Discord allows few
	gapDirects = 20               // channels of direct messages, whose latest message is not announced
	gapPage    = 50               // messages in one response
)

// stretch is the part of one channel that is asked for.
type stretch struct {
	channelID, guildID string
	after              gateway.Flake
	last               gateway.Flake // the latest message, if known
}

// fillGap reports, in order, the messages that people wrote after a mark while the bot had no session.
func (s *Session) fillGap(run context.Context, shard *gateway.Shard, mark gateway.Flake) {
	s.filling.Lock()
	defer s.filling.Unlock()
	ctx, cancel := context.WithTimeout(run, gapLimit)
	defer cancel()
	s.awaitGuilds(ctx, gapWait, shard.Brings)
	after := max(gateway.FlakeAt(mark.Time().Add(-gapOverlap)), gateway.FlakeAt(s.Now().Add(-gapSpan)))
	found := s.readAll(ctx, s.stretches(shard, after))
	slices.SortStableFunc(found, byID)
	missed := 0
	for i := range found {
		if m := &found[i]; s.fromPerson(m) && gateway.FlakeOf(m.ID) > after && s.seen.add(m.ID, m.Content) {
			e := s.event(turn.Created, m.ID, m)
			e.Late = true
			shard.EmitMissed(e, mark)
			missed++
		}
	}
	s.log.Info("asked for messages that were written while there was no session", "since", after.Time().UTC(), "messages", missed, "shard", shard.Number())
}

// readAll returns the messages of the stretches, as far as they can be read.
func (s *Session) readAll(ctx context.Context, open []stretch) (found []message) {
	pages, refused := 0, 0
	for len(open) > 0 && pages < gapPages && refused < gapRefused && ctx.Err() == nil {
		next := open[0]
		open = open[1:]
		page, err := s.page(ctx, next)
		if err != nil { // usually a channel that the bot may not read
			refused++
			s.log.Debug("messages that may have been missed cannot be read", "channel", next.channelID, "err", err)
			if kind := rest.KindOf(err); kind == rest.Unavailable || kind == rest.RateLimited {
				open = append(open, next)
			}
			continue
		}
		pages++
		found = append(found, page...)
		if len(page) == gapPage {
			next.after = gateway.FlakeOf(slices.MaxFunc(page, byID).ID)
			open = append(open, next)
		}
	}
	if len(open) > 0 {
		s.log.Warn("some channels were not asked for missed messages", "left", len(open))
	}
	return found
}

func byID(a, b message) int { return cmp.Compare(gateway.FlakeOf(a.ID), gateway.FlakeOf(b.ID)) }

// stretches returns the channels that may have new messages. Direct messages come first, then channels whose latest
// message is newest.
func (s *Session) stretches(shard *gateway.Shard, after gateway.Flake) []stretch {
	var directs map[string]gateway.Flake
	if shard.Number() == 0 {
		s.mu.Lock()
		directs = maps.Clone(s.directs)
		s.mu.Unlock()
	}
	newestFirst := func(all []stretch) { sort.Slice(all, func(i, j int) bool { return all[i].last > all[j].last }) }
	var people []stretch
	for id, last := range directs {
		people = append(people, stretch{channelID: id, after: after, last: last})
	}
	newestFirst(people)
	channels := s.names.since(after, shard.Brings)
	newestFirst(channels)
	return append(people[:min(len(people), gapDirects)], channels...)
}

// page returns the first messages of a stretch.
func (s *Session) page(ctx context.Context, from stretch) ([]message, error) {
	var page list[message]
	address := fmt.Sprintf("%s?after=%v&limit=%d", discordgo.EndpointChannelMessages(from.channelID), from.after, gapPage)
	if err := s.rest.Get(ctx, rest.Request{URL: address, Rank: rest.Back}, &page); err != nil {
		return nil, err
	}
	for i := range page {
		page[i].GuildID = from.guildID // only the gateway's events include it
	}
	return page, nil
}
