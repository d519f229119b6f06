package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// A saved session goes on after a restart. Discord sends again what the bot had not taken, and what happened meanwhile.

const (
	loadLimit  = 5 * time.Second // for a load
	maxDirects = 100             // remembered channels of direct messages
)

// keptSession is the text that LoadSession reads and SaveSession saves.
type keptSession struct {
	gateway.Kept
	User    user                     `json:"user"`
	App     string                   `json:"app"`
	Directs map[string]gateway.Flake `json:"directs,omitempty"` // channel of direct messages → its latest message
	Servers int                      `json:"servers,omitempty"` // how many were saved, because a RESUME does not announce them again
}

// restore returns the saved sessions of this bot by shard. It also takes up what is saved beside those that can be resumed. A
// session that was not saved whole is not resumed.
func (s *Session) restore(ctx context.Context) (sessions []gateway.Kept) {
	first, ok := s.load(ctx, 0)
	if !ok {
		return nil
	}
	s.mu.Lock()
	s.directs = first.Directs
	s.mu.Unlock()
	of := max(1, first.Shards)
	servers := s.loadServers(ctx, of)
	for n := range of {
		kept := first
		if n > 0 {
			if kept, ok = s.load(ctx, n); !ok || kept.Shards != of {
				kept = keptSession{}
			}
		}
		sessions = append(sessions, s.restoreShard(kept, servers[n], func(guildID string) bool { return gateway.ShardOf(guildID, of) == n }))
	}
	return sessions
}

// restoreShard takes up what belongs to the session of a shard, and returns that. Without an id it cannot be resumed.
func (s *Session) restoreShard(kept keptSession, servers []guildInfo, mine func(guildID string) bool) gateway.Kept {
	if s.gateway.Resumable(kept.Kept) && len(servers) >= kept.Servers {
		s.self.Store(newIdentity(kept.User, kept.App))
		s.names.restore(servers, mine)
	} else {
		kept.ID = ""
	}
	return kept.Kept
}

// takeUp returns what the last holder of a shard left. Where the number of shards has changed, that is only how far it had read.
func (s *Session) takeUp(ctx context.Context, shard *gateway.Shard) gateway.Kept {
	kept, ok := s.load(ctx, shard.Number())
	if !ok {
		return gateway.Kept{}
	}
	if shard.Number() == 0 {
		s.mu.Lock()
		s.directs = kept.Directs
		s.mu.Unlock()
	}
	if max(1, kept.Shards) != shard.Of() {
		kept.ID = ""
	}
	return s.restoreShard(kept, s.loadServers(ctx, shard.Of())[shard.Number()], shard.Brings)
}

// yield ends what is done for a shard.
func (s *Session) yield(ctx context.Context, shard *gateway.Shard, pass func(work func() []string)) {
	s.cfg.Yield(ctx, shard.Brings, pass)
	s.names.drop(shard.Brings)
}

// load reads what was saved for a shard. ok is false if that is nothing of this bot.
func (s *Session) load(ctx context.Context, shard int) (kept keptSession, ok bool) {
	if s.cfg.LoadSession == nil {
		return kept, false
	}
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	text, saved, err := s.cfg.LoadSession(ctx, shard)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &kept)
	}
	if !saved.IsZero() { // the clock of who saved it may be wrong
		kept.Alive = saved
	}
	if err != nil {
		s.log.Warn("the saved gateway session cannot be read: a new one is begun", "shard", shard, "err", s.redact(err.Error()))
		return kept, false
	}
	return kept, s.gateway.Owns(kept.Kept)
}

// loadServers returns the saved servers of each shard.
func (s *Session) loadServers(ctx context.Context, of int) map[int][]guildInfo {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	found := map[int][]guildInfo{}
	all, err := s.cfg.LoadServers(ctx)
	for id, text := range all {
		var g guildInfo
		if bad := json.Unmarshal([]byte(text), &g); bad != nil || g.ID != id {
			err = cmp.Or(bad, errors.New("it is another server"))
			continue
		}
		n := gateway.ShardOf(id, of)
		found[n] = append(found[n], g)
	}
	if err != nil {
		s.log.Warn("a saved server cannot be read", "err", s.redact(err.Error()))
	}
	return found
}

// save saves the session, and before it the servers that have changed. After a crash the servers may be newer than the
// session, which brings their changes again, but not older.
func (s *Session) save(ctx context.Context, shard *gateway.Shard, session gateway.Kept) (size int, err error) {
	changed, count := s.names.changes(shard.Brings)
	texts := make(map[string]string, len(changed))
	for id, g := range changed {
		if texts[id] = ""; g != nil {
			texts[id] = string(rest.JSON(g))
		}
		size += len(texts[id])
	}
	if len(texts) > 0 {
		err = s.cfg.SaveServers(ctx, texts)
	}
	if err != nil {
		s.names.keepChanges(changed)
		return 0, err
	}
	self := s.me()
	now := keptSession{Kept: session, User: self.user, App: self.app, Servers: count}
	if shard.Number() == 0 {
		s.mu.Lock()
		now.Directs = maps.Clone(s.directs)
		s.mu.Unlock()
	}
	text := rest.JSON(now)
	return size + len(text), s.cfg.SaveSession(ctx, shard.Number(), string(text))
}

// noteDirect remembers a channel of direct messages.
func (s *Session) noteDirect(channelID string, id gateway.Flake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.directs == nil {
		s.directs = map[string]gateway.Flake{}
	}
	s.directs[channelID] = id
	if len(s.directs) > maxDirects {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.directs)), func(a, b string) int {
			return cmp.Compare(s.directs[a], s.directs[b])
		})
		delete(s.directs, oldest)
	}
}
