package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// A saved session goes on after a restart: Discord sends again what the bot had not taken, and what happened meanwhile.

const (
	keepEvery  = 5 * time.Second // between two saves while anything happens
	keepAtRest = time.Minute     // between two saves while nothing happens
	keepLimit  = 5 * time.Second // for a save or a load
	keepPace   = 50_000          // bytes per second that saving may cost; a large text is saved less often
	maxKept    = 10_000          // channels, overwrites and roles in the text; with more a restart begins a new session
	maxDirects = 100             // remembered channels of direct messages
)

// keptSession is the text that LoadSession reads and SaveSession saves.
type keptSession struct {
	Of      string               `json:"of"`           // hash of the bot, the server and the intents
	Alive   time.Time            `json:"alive"`        // when the gateway was last heard
	Begun   time.Time            `json:"begun"`        // when the last IDENTIFY was sent
	ID      string               `json:"id,omitempty"` // of the session; empty: there is none to resume
	URL     string               `json:"url,omitempty"`
	Gateway string               `json:"gateway,omitempty"`
	Seq     int64                `json:"seq,omitempty"`
	Mark    snowflake            `json:"mark"` // the latest message that the bot has; later messages may be missing
	User    user                 `json:"user"`
	App     string               `json:"app"`
	Directs map[string]snowflake `json:"directs,omitempty"` // channel of direct messages → its latest message
	Guilds  json.RawMessage      `json:"guilds,omitempty"`  // the directory, which a RESUME does not send again
}

// owner identifies the bot, the server and the intents without revealing the token.
func (s *Session) owner() string { return s.ownerOf(s.intents()) }

func (s *Session) ownerOf(intents discordgo.Intent) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "session 2\n%s\n%s\n%d", s.rest.Base, s.token, intents))
	return hex.EncodeToString(sum[:16])
}

// restore takes up the saved session if it can still be resumed. In any case it restores how far the bot had read. A
// session with other intents is not resumed, because it would not bring the events that are asked for now.
func (s *Session) restore(ctx context.Context, g *gatewayState) {
	if s.cfg.LoadSession == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	text, err := s.cfg.LoadSession(ctx)
	var kept keptSession
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &kept)
	}
	if err != nil {
		s.log.Warn("the saved gateway session cannot be read: a new one is begun", "err", s.redact(err.Error()))
		return
	}
	same := kept.Of == s.owner()
	if !same && kept.Of != s.ownerOf(leastIntents) && kept.Of != s.ownerOf(leastIntents|reactionIntents) {
		return
	}
	g.identified = kept.Begun
	if now := time.Now(); now.Before(kept.Begun) { // the clock was changed
		g.identified = now
	}
	s.at.mark = min(kept.Mark, flakeAt(s.Now()))
	s.waiting.reach(s.at)
	s.mu.Lock()
	s.directs = kept.Directs
	s.mu.Unlock()
	var guilds []guildInfo
	if !same || kept.ID == "" || time.Since(kept.Alive) > sessionLife || json.Unmarshal(kept.Guilds, &guilds) != nil {
		return
	}
	g.id, g.url, g.gateway, g.alive, g.restored = kept.ID, kept.URL, kept.Gateway, kept.Alive, true
	g.seq.Store(kept.Seq)
	s.self.Store(newIdentity(kept.User, kept.App))
	s.names.restore(guilds)
	s.replays = true
	s.at.session, s.at.seq = 1, kept.Seq
	s.waiting.reach(s.at)
	g.offer()
}

// address holds what a session is resumed with, except for the sequence number.
type address struct {
	session          int // session number in positions
	id, url, gateway string
	identified       time.Time
}

// offer tells the keeper which session can be resumed.
func (g *gatewayState) offer() {
	g.session.mu.Lock()
	defer g.session.mu.Unlock()
	g.session.resumable = address{g.session.at.session, g.id, g.url, g.gateway, g.identified}
}

// keeper saves the session. It is used by one goroutine at a time.
type keeper struct {
	session *Session
	last    keptSession
	at      time.Time // of the last save
	size    int       // of its text
	version int       // of the directory in guilds
	guilds  json.RawMessage
	failing bool
}

// keep saves the session repeatedly until ctx is done.
func (k *keeper) keep(ctx context.Context) {
	every := time.NewTicker(keepEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.session.welcome:
			k.save(ctx, true)
		case <-every.C:
			k.save(ctx, false)
		}
	}
}

// save saves the session if it has changed or a while has passed. With atOnce it does not delay the save of a large
// text.
func (k *keeper) save(ctx context.Context, atOnce bool) {
	if wait := time.Duration(k.size) * time.Second / keepPace; !atOnce && time.Since(k.at) < wait {
		return
	}
	now, ok := k.compose()
	same := now.ID == k.last.ID && now.Seq == k.last.Seq && now.Mark == k.last.Mark && now.URL == k.last.URL && now.Begun.Equal(k.last.Begun)
	if !ok || same && (atOnce || time.Since(k.at) < keepAtRest) {
		return
	}
	text := rest.JSON(now)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	if err := k.session.cfg.SaveSession(ctx, string(text)); err != nil {
		if !k.failing {
			k.session.log.Warn("the gateway session cannot be saved", "err", k.session.redact(err.Error()))
		}
		k.failing = true
		return
	}
	k.last, k.at, k.size, k.failing = now, time.Now(), len(text), false
}

// compose returns the session as it is now, or false if there was none yet.
func (k *keeper) compose() (keptSession, bool) {
	s := k.session
	p, whole := s.waiting.position() // read before the directory, which may be newer but not older
	self := s.self.Load()
	if self == nil || p.session == 0 {
		return keptSession{}, false
	}
	s.mu.Lock()
	now := keptSession{
		Of: s.owner(), Alive: s.health.LastEvent, Mark: p.mark, User: self.user, App: self.app, Directs: maps.Clone(s.directs),
	}
	if s.health.LastAck.After(now.Alive) {
		now.Alive = s.health.LastAck
	}
	from := s.resumable
	s.mu.Unlock()
	now.Begun = from.identified.Round(0)
	if !whole || from.id == "" || from.session != p.session {
		return now, true
	}
	if version := s.names.state(); version != k.version || k.guilds == nil {
		guilds, ok := s.names.all(maxKept)
		if k.version = version; !ok {
			k.guilds = nil
			return now, true
		}
		k.guilds = rest.JSON(guilds)
	}
	now.ID, now.URL, now.Gateway, now.Seq, now.Guilds = from.id, from.url, from.gateway, p.seq, k.guilds
	return now, true
}

// noteDirect remembers a channel of direct messages.
func (s *Session) noteDirect(channelID string, id snowflake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.directs == nil {
		s.directs = map[string]snowflake{}
	}
	s.directs[channelID] = id
	if len(s.directs) > maxDirects {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.directs)), func(a, b string) int {
			return cmp.Compare(s.directs[a], s.directs[b])
		})
		delete(s.directs, oldest)
	}
}

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
	after              snowflake
	last               snowflake // the latest message, if known
}

// fillGap reports, in order, the messages that people wrote after a mark while the bot had no session. Nobody waits for
// it.
func (s *Session) fillGap(run context.Context, mark snowflake, release func()) {
	defer s.logPanic("ask for missed messages")
	defer func() {
		if run.Err() == nil { // otherwise the next start asks again
			release()
		}
	}()
	s.filling.Lock()
	defer s.filling.Unlock()
	ctx, cancel := context.WithTimeout(run, gapLimit)
	defer cancel()
	s.awaitGuilds(ctx, gapWait)
	after := max(flakeAt(mark.time().Add(-gapOverlap)), flakeAt(s.Now().Add(-gapSpan)))
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
	s.log.Info("asked for messages that were written while there was no session", "since", after.time().UTC(), "messages", missed)
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
			if e := (*rest.Error)(nil); errors.As(err, &e) && (e.Kind == rest.Unavailable || e.Kind == rest.RateLimited) {
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
		s.log.Warn("some channels were not asked for missed messages", "left", len(open))
	}
	return found
}

func byID(a, b message) int { return cmp.Compare(flake(a.ID), flake(b.ID)) }

// stretches returns the channels that may have new messages. Direct messages come first, then channels whose latest
// message is newest.
func (s *Session) stretches(after snowflake) []stretch {
	s.mu.Lock()
	directs := maps.Clone(s.directs)
	s.mu.Unlock()
	newestFirst := func(all []stretch) { sort.Slice(all, func(i, j int) bool { return all[i].last > all[j].last }) }
	var people []stretch
	for id, last := range directs {
		people = append(people, stretch{channelID: id, after: after, last: last})
	}
	newestFirst(people)
	channels := s.names.since(after)
	newestFirst(channels)
	return append(people[:min(len(people), gapDirects)], channels...)
}

// page returns the first messages of a stretch.
func (s *Session) page(ctx context.Context, from stretch) ([]message, error) {
	body, err := s.rest.Call(ctx, rest.Request{
		Method: http.MethodGet, Rank: rest.Back,
		URL: fmt.Sprintf("%s?after=%v&limit=%d", discordgo.EndpointChannelMessages(from.channelID), from.after, gapPage),
	})
	if err != nil {
		return nil, err
	}
	read, err := decodeMost[[]message](body)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	page := *read
	for i := range page {
		page[i].GuildID = from.guildID // only the gateway's events include it
	}
	return page, nil
}
