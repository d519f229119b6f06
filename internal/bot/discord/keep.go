package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bwmarrin/discordgo"
)

// A session that its owner keeps goes on after a restart: Discord sends again what the bot had not taken over, and what
// happened meanwhile.

const (
	keepEvery  = 5 * time.Second // between two saves, while anything happens
	keepAtRest = time.Minute     // the same, while nothing does
	keepLimit  = 5 * time.Second // for a save or a load
	keepPace   = 50_000          // bytes a second that saving may cost; a large text is saved more rarely
	maxKept    = 10_000          // channels, overwrites and roles in the text; with more of them a restart begins a new session
	maxDirects = 100             // channels of direct messages that are remembered
)

// keptSession is the text that LoadSession and SaveSession carry.
type keptSession struct {
	Of      string               `json:"of"`           // which bot, at which server
	Alive   time.Time            `json:"alive"`        // when the gateway was last heard
	Begun   time.Time            `json:"begun"`        // when the last IDENTIFY was sent
	ID      string               `json:"id,omitempty"` // of the session; empty: there is none to resume
	URL     string               `json:"url,omitempty"`
	Gateway string               `json:"gateway,omitempty"`
	Seq     int64                `json:"seq,omitempty"`
	Mark    snowflake            `json:"mark"` // the latest message that the bot has; later ones may be missing
	User    user                 `json:"user"`
	App     string               `json:"app"`
	Directs map[string]snowflake `json:"directs,omitempty"` // channels of direct messages, with their latest message
	Guilds  json.RawMessage      `json:"guilds,omitempty"`  // the directory, which a RESUME does not bring again
}

// owner names the bot, the server and what is asked of it, without telling the token.
func (s *Session) owner() string { return s.ownerOf(s.intents()) }

func (s *Session) ownerOf(intents discordgo.Intent) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "session 2\n%s\n%s\n%d", s.base, s.token, intents))
	return hex.EncodeToString(sum[:16])
}

// restore takes up the session that was saved, if it may still be resumed, and in any case how far the bot had read. A session that other
// events were asked for is not resumed: it would not bring those that are asked for now.
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
	s.at.mark = min(kept.Mark, flakeAt(time.Now()))
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
	s.at.session, s.at.seq = 1, kept.Seq
	s.waiting.reach(s.at)
	g.offer()
}

// address is what a session is resumed with, beside the sequence.
type address struct {
	session          int // of the positions in it
	id, url, gateway string
	identified       time.Time
}

// offer lets the keeper know which session may be resumed.
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

// keep saves the session again and again until ctx is done.
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

// save saves the session, if it has changed or a while has passed. At once, it is saved however large it is.
func (k *keeper) save(ctx context.Context, atOnce bool) {
	if wait := time.Duration(k.size) * time.Second / keepPace; !atOnce && time.Since(k.at) < wait {
		return
	}
	now, ok := k.compose()
	same := now.ID == k.last.ID && now.Seq == k.last.Seq && now.Mark == k.last.Mark && now.URL == k.last.URL && now.Begun.Equal(k.last.Begun)
	if !ok || same && (atOnce || time.Since(k.at) < keepAtRest) {
		return
	}
	text := mustJSON(now)
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

// compose returns the session as it is, or false if there was none yet.
func (k *keeper) compose() (keptSession, bool) {
	s := k.session
	p, whole := s.waiting.position() // before the directory, which may be ahead of it but not behind
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
		k.guilds = mustJSON(guilds)
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
