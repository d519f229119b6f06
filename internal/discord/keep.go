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
	maxDirects = 100             // remembered channels of direct messages
)

// keptSession is the text that LoadSession reads and SaveSession saves.
type keptSession struct {
	Of      string               `json:"of"`                // hash of the bot, the server and the intents
	Shards  int                  `json:"shards,omitempty"`  // how many there were; 0: one
	Alive   time.Time            `json:"alive"`             // when the gateway was last heard
	Begun   time.Time            `json:"begun"`             // when the last IDENTIFY was sent
	ID      string               `json:"session,omitempty"` // its id; empty: there is none to resume
	URL     string               `json:"url,omitempty"`
	Gateway string               `json:"gateway,omitempty"`
	Seq     int64                `json:"seq,omitempty"`
	Mark    snowflake            `json:"mark"` // the latest message that the bot has; later messages may be missing
	User    user                 `json:"user"`
	App     string               `json:"app"`
	Directs map[string]snowflake `json:"directs,omitempty"` // channel of direct messages → its latest message
	Servers int                  `json:"servers,omitempty"` // how many were saved, because a RESUME does not announce them again
}

// owner identifies the bot, the server and the intents without revealing the token.
func (s *Session) owner() string { return s.ownerOf(s.intents()) }

func (s *Session) ownerOf(intents discordgo.Intent) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "session 2\n%s\n%s\n%d", s.rest.Base, s.token, intents))
	return hex.EncodeToString(sum[:16])
}

// restore returns the shards to begin with: those of the saved sessions, as many as the operator chose, or one. Where a
// saved session can still be resumed, its shard takes it up. Each shard knows how far the bot had read.
func (s *Session) restore(ctx context.Context) *set {
	chosen := s.starts.chosenNumber()
	first, ok := s.load(ctx, 0)
	if !ok {
		return s.newSet(allShards(chosen), 0)
	}
	of := max(1, first.Shards)
	all := []keptSession{first}
	mark := first.Mark
	for n := 1; n < of; n++ {
		kept, ok := s.load(ctx, n)
		if !ok || kept.Shards != of {
			kept = keptSession{}
		} else {
			mark = min(mark, kept.Mark)
		}
		all = append(all, kept)
	}
	mark = min(mark, flakeAt(s.Now()))
	s.mu.Lock()
	s.directs = first.Directs
	s.mu.Unlock()
	x := s.newSet(allShards(of), mark)
	servers := s.loadServers(ctx, of)
	for n, member := range x.members {
		member.restore(all[n], servers[n])
	}
	if chosen > 0 && chosen != of && !x.begun.Load() {
		return s.newSet(allShards(chosen), mark)
	}
	return x
}

// load reads what was saved for a shard. ok is false if that is nothing of this bot.
func (s *Session) load(ctx context.Context, shard int) (kept keptSession, ok bool) {
	if s.cfg.LoadSession == nil {
		return kept, false
	}
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	text, err := s.cfg.LoadSession(ctx, shard)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &kept)
	}
	if err != nil {
		s.log.Warn("the saved gateway session cannot be read: a new one is begun", "shard", shard, "err", s.redact(err.Error()))
		return kept, false
	}
	return kept, kept.Of == s.owner() || kept.Of == s.ownerOf(leastIntents) || kept.Of == s.ownerOf(leastIntents|reactionIntents)
}

// loadServers returns the saved servers of each shard.
func (s *Session) loadServers(ctx context.Context, of int) map[int][]guildInfo {
	ctx, cancel := context.WithTimeout(ctx, keepLimit)
	defer cancel()
	found := map[int][]guildInfo{}
	all, err := s.cfg.LoadServers(ctx)
	for id, text := range all {
		var g guildInfo
		if bad := json.Unmarshal([]byte(text), &g); bad != nil || g.ID != id {
			err = cmp.Or(bad, errors.New("it is another server"))
			continue
		}
		n := shardOf(id, of)
		found[n] = append(found[n], g)
	}
	if err != nil {
		s.log.Warn("a saved server cannot be read", "err", s.redact(err.Error()))
	}
	return found
}

// restore takes up a saved session if it can still be resumed, with the servers that it had. A session with other
// intents is not resumed, because it would not bring the events that are asked for now.
func (s *shard) restore(kept keptSession, guilds []guildInfo) {
	s.identified = kept.Begun
	if now := time.Now(); now.Before(kept.Begun) { // the clock was changed
		s.identified = now
	}
	s.starts.sent(s.identified)
	if kept.Mark > 0 {
		s.at.mark = min(kept.Mark, flakeAt(s.Now()))
		s.waiting.reach(s, s.at)
	}
	if kept.Of != s.owner() || kept.ID == "" || time.Since(kept.Alive) > sessionLife || len(guilds) < kept.Servers {
		return
	}
	s.id, s.url, s.gateway, s.alive, s.restored = kept.ID, kept.URL, kept.Gateway, kept.Alive, true
	s.seq.Store(kept.Seq)
	s.asked = s.intents()
	s.self.Store(newIdentity(kept.User, kept.App))
	s.names.restore(guilds, s.brings)
	s.replays = true
	s.at.session, s.at.seq = int(s.sessions.Add(1)), kept.Seq
	s.waiting.reach(s, s.at)
	s.set.begun.Store(true)
	s.offer()
}

// address holds what a session is resumed with, except for the sequence number.
type address struct {
	session          int // session number in positions
	id, url, gateway string
	identified       time.Time
}

// offer tells the keeper which session can be resumed.
func (s *shard) offer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumable = address{s.at.session, s.id, s.url, s.gateway, s.identified}
}

// keeper saves the sessions. It is used by one goroutine at a time.
type keeper struct {
	session *Session
	of      *set
	members []*keptShard
}

// keptShard is what is known of a shard's saves.
type keptShard struct {
	*shard
	last    keptSession
	saved   time.Time // when that was
	size    int       // of its texts
	failing bool
}

// keep saves the sessions repeatedly until ctx is done.
func (k *keeper) keep(ctx context.Context) {
	every := time.NewTicker(keepEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.session.changed:
			k.saveAll(ctx, true)
		case <-every.C:
			k.saveAll(ctx, false)
		}
	}
}

// saveAll saves the session of each shard.
func (k *keeper) saveAll(ctx context.Context, atOnce bool) {
	if now := k.session.current.Load(); now != k.of {
		if k.of != nil {
			k.clear(ctx, now.Of, k.of.Of)
		}
		k.of, k.members = now, nil
		for _, member := range now.members {
			k.members = append(k.members, &keptShard{shard: member})
		}
	}
	for _, one := range k.members {
		one.save(ctx, atOnce)
	}
}

// clear clears what was saved for shards that there are no more.
func (k *keeper) clear(ctx context.Context, from, to int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	for n := from; n < to; n++ {
		if err := k.session.cfg.SaveSession(ctx, n, ""); err != nil {
			k.session.log.Warn("the session of a shard that is not used any more cannot be deleted", "shard", n, "err", k.session.redact(err.Error()))
		}
	}
}

// save saves the session if it has changed or a while has passed. With atOnce it does not delay the save of a large
// text.
func (k *keptShard) save(ctx context.Context, atOnce bool) {
	if wait := time.Duration(k.size) * time.Second / keepPace; !atOnce && time.Since(k.saved) < wait {
		return
	}
	now, ok := k.compose()
	same := now.ID == k.last.ID && now.Seq == k.last.Seq && now.Mark == k.last.Mark && now.URL == k.last.URL && now.Begun.Equal(k.last.Begun)
	if !ok || same && (atOnce || time.Since(k.saved) < keepAtRest) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	size, err := k.write(ctx, now)
	if err != nil {
		if !k.failing {
			k.log.Warn("the gateway session cannot be saved", "shard", k.number, "err", k.redact(err.Error()))
		}
		k.failing = true
		return
	}
	k.last, k.saved, k.size, k.failing = now, time.Now(), size, false
}

// write saves the session, and before it the servers that have changed. After a crash the servers may be newer than the
// session, which brings their changes again, but not older.
func (k *keptShard) write(ctx context.Context, now keptSession) (size int, err error) {
	changed, count := k.names.changes(k.brings)
	texts := make(map[string]string, len(changed))
	for id, g := range changed {
		if texts[id] = ""; g != nil {
			texts[id] = string(rest.JSON(g))
		}
		size += len(texts[id])
	}
	if len(texts) > 0 {
		err = k.cfg.SaveServers(ctx, texts)
	}
	if err != nil {
		k.names.keepChanges(changed)
		return 0, err
	}
	now.Servers = count
	text := rest.JSON(now)
	return size + len(text), k.cfg.SaveSession(ctx, k.number, string(text))
}

// compose returns the session as it is now, or false if there was none yet.
func (k *keptShard) compose() (keptSession, bool) {
	s := k.shard
	p, whole := s.waiting.position(s) // read before the directory, which may be newer but not older
	self := s.self.Load()
	if self == nil || p.session == 0 {
		return keptSession{}, false
	}
	s.mu.Lock()
	now := keptSession{
		Of: s.owner(), Alive: s.health.LastEvent, Mark: p.mark, User: self.user, App: self.app,
	}
	if s.set.Of > 1 {
		now.Shards = s.set.Of
	}
	if s.number == 0 {
		now.Directs = maps.Clone(s.directs)
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
	now.ID, now.URL, now.Gateway, now.Seq = from.id, from.url, from.gateway, p.seq
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
func (s *shard) fillGap(run context.Context, mark snowflake, release func()) {
	defer s.logPanic("ask for missed messages")
	defer func() {
		if run.Err() == nil || context.Cause(run) == errReplaced { // otherwise the next start asks again
			release()
		}
	}()
	s.filling.Lock()
	defer s.filling.Unlock()
	ctx, cancel := context.WithTimeout(run, gapLimit)
	defer cancel()
	s.awaitGuilds(ctx, gapWait, s.brings)
	after := max(flakeAt(mark.time().Add(-gapOverlap)), flakeAt(s.Now().Add(-gapSpan)))
	found := s.readAll(ctx, s.stretches(after))
	slices.SortFunc(found, byID)
	missed := 0
	for i := range found {
		if m := &found[i]; s.fromPerson(m) && flake(m.ID) > after && s.seen.add(m.ID, m.Content) {
			e := s.event(turn.Created, m.ID, m)
			e.Late = true
			s.enqueue(queued{event: e, from: position{shard: s, session: noSession, mark: mark}})
			missed++
		}
	}
	s.log.Info("asked for messages that were written while there was no session", "since", after.time().UTC(), "messages", missed, "shard", s.number)
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
func (s *shard) stretches(after snowflake) []stretch {
	var directs map[string]snowflake
	if s.number == 0 {
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
	channels := s.names.since(after, s.brings)
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
