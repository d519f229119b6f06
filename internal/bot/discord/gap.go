package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// A new session brings nothing of what was written before it. Where the bot was here already it asks the channels themselves.

const (
	gapSpan    = 30 * time.Minute // how far back messages are asked for
	gapOverlap = 5 * time.Second  // before the last message: they come nearly, but not quite, in order
	gapLimit   = 2 * time.Minute  // for all of it
	gapWait    = 10 * time.Second // for the servers that the new session announced
	gapPages   = 300              // requests that bring messages: a busy bot's few minutes
	gapRefused = 50               // requests that are refused, of which Discord does not take many
	gapDirects = 20               // of them for direct messages, whose latest message is not announced
	gapPage    = 50               // messages in one answer
)

// stretch is what is asked for of one channel.
type stretch struct {
	channelID, guildID string
	after              snowflake
	last               snowflake // the latest message, as far as it is known
}

// fillGap reports the messages that people wrote after a mark, while the bot had no session, in their order. Nobody who is here now
// waits for that.
func (s *Session) fillGap(run context.Context, mark snowflake, release func()) {
	defer s.logPanic("ask for missed messages")
	defer func() {
		if run.Err() == nil { // else the next start asks again
			release()
		}
	}()
	s.filling.Lock()
	defer s.filling.Unlock()
	ctx, cancel := context.WithTimeout(run, gapLimit)
	defer cancel()
	s.awaitGuilds(ctx, gapWait)
	after := max(flakeAt(mark.time().Add(-gapOverlap)), flakeAt(time.Now().Add(-gapSpan)))
	found := s.readAll(ctx, s.stretches(after))
	slices.SortFunc(found, byID)
	missed := 0
	for i := range found {
		if m := &found[i]; s.fromPerson(m) && flake(m.ID) > after && s.seen.add(m.ID, m.Content) {
			e := s.event(turn.Created, m.ID, m)
			e.Late = true
			s.enqueue(queued{event: e, from: position{session: noSession, mark: mark}})
			missed++
		}
	}
	s.log.Info("messages that were written while there was no session", "since", after.time().UTC(), "messages", missed)
}

// readAll returns the messages of the stretches, as far as they can be had.
func (s *Session) readAll(ctx context.Context, open []stretch) (found []message) {
	pages, refused := 0, 0
	for len(open) > 0 && pages < gapPages && refused < gapRefused && ctx.Err() == nil {
		next := open[0]
		open = open[1:]
		page, err := s.page(ctx, next)
		if err != nil { // most often a channel that the bot may not read
			refused++
			s.log.Debug("messages that may have been missed cannot be read", "channel", next.channelID, "err", err)
			if e := (*SendError)(nil); errors.As(err, &e) && (e.Kind == Unavailable || e.Kind == RateLimited) {
				open = append(open, next)
			}
			continue
		}
		pages++
		found = append(found, page...)
		if len(page) == gapPage {
			next.after = flake(slices.MaxFunc(page, byID).ID)
			open = append(open, next)
		}
	}
	if len(open) > 0 {
		s.log.Warn("not all channels were asked for missed messages", "left", len(open))
	}
	return found
}

func byID(a, b message) int { return cmp.Compare(flake(a.ID), flake(b.ID)) }

// stretches returns which channels may have something new: direct messages first, then the servers' channels whose latest message is
// new, the busiest moment last.
func (s *Session) stretches(after snowflake) []stretch {
	s.mu.Lock()
	directs := maps.Clone(s.directs)
	s.mu.Unlock()
	newest := func(a, b stretch) int { return cmp.Compare(b.last, a.last) }
	var people []stretch
	for id, last := range directs {
		people = append(people, stretch{channelID: id, after: after, last: last})
	}
	slices.SortFunc(people, newest)
	channels := s.names.since(after)
	slices.SortFunc(channels, newest)
	return append(people[:min(len(people), gapDirects)], channels...)
}

// page returns the first messages of a stretch.
func (s *Session) page(ctx context.Context, from stretch) ([]message, error) {
	body, err := s.call(ctx, request{
		method: http.MethodGet, rank: rankBack,
		url: fmt.Sprintf("%s?after=%v&limit=%d", discordgo.EndpointChannelMessages(from.channelID), from.after, gapPage),
	})
	if err != nil {
		return nil, err
	}
	var page []message
	if err := decode(body, &page); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	for i := range page {
		page[i].GuildID = from.guildID // which they have in the gateway's events alone
	}
	return page, nil
}
