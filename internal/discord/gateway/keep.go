package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"
)

// A saved session goes on after a restart. Discord sends again what the bot had not taken, and what happened meanwhile.

const (
	keepEvery  = 5 * time.Second // between two saves while anything happens
	keepShared = time.Second     // the same where another process may resume the session
	keepAtRest = time.Minute     // between two saves while nothing happens
	keepLimit  = 5 * time.Second // for a save or a load
	keepPace   = 50_000          // bytes per second that saving may cost; a large text is saved less often
)

// Kept is what is kept of a shard's session.
type Kept struct {
	Of      string    `json:"of"`                // hash of the bot, the server and the intents
	Shards  int       `json:"shards,omitempty"`  // how many there were; 0: one
	Alive   time.Time `json:"alive"`             // when the gateway was last heard
	Begun   time.Time `json:"begun"`             // when the last IDENTIFY was sent
	ID      string    `json:"session,omitempty"` // its id; empty: there is none to resume
	URL     string    `json:"url,omitempty"`
	Gateway string    `json:"gateway,omitempty"`
	Seq     int64     `json:"seq,omitempty"`
	Mark    Flake     `json:"mark"` // the latest message that the bot has; later messages may be missing
}

// owner identifies the bot, the server and the intents without revealing the token.
func (g *Gateway) owner(intents discordgo.Intent) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "session 2\n%s\n%s\n%d", g.REST.Base, g.Token, intents))
	return hex.EncodeToString(sum[:16])
}

// Owns reports whether a session is of this bot, whatever its intents.
func (g *Gateway) Owns(k Kept) bool {
	return k.Of == g.owner(g.intents()) || k.Of == g.owner(leastIntents) || k.Of == g.owner(leastIntents|reactionIntents)
}

// Resumable reports whether a session can still be resumed. One with other intents is not resumed, because it would not
// bring the events that are asked for now.
func (g *Gateway) Resumable(k Kept) bool {
	return k.Of == g.owner(g.intents()) && k.ID != "" && time.Since(k.Alive) <= sessionLife
}

// restore returns the shards to begin with: those that were kept, as many as the operator chose, or one. A shard whose
// session is kept takes it up. Each shard knows how far the bot had read.
func (g *Gateway) restore(kept []Kept) *set {
	chosen := g.starts.chosenNumber()
	if len(kept) == 0 {
		return g.newSet(max(1, chosen), 0)
	}
	mark := FlakeAt(g.REST.Clock.Now())
	for _, k := range kept {
		if k.Of != "" {
			mark = min(mark, k.Mark)
		}
	}
	x := g.newSet(len(kept), mark)
	for n, member := range x.members {
		member.restore(kept[n])
	}
	if chosen > 0 && chosen != x.of && !x.begun.Load() {
		return g.newSet(chosen, mark)
	}
	return x
}

// restore takes up a session, if there is one to resume.
func (s *Shard) restore(kept Kept) {
	s.identified = kept.Begun
	if now := time.Now(); now.Before(kept.Begun) { // the clock was changed
		s.identified = now
	}
	s.starts.sent(s.identified)
	if kept.Mark > 0 {
		s.at.mark = min(kept.Mark, FlakeAt(s.REST.Clock.Now()))
		s.waiting.reach(s, s.at)
	}
	if kept.ID == "" {
		return
	}
	s.id, s.url, s.gateway, s.alive, s.restored = kept.ID, kept.URL, kept.Gateway, kept.Alive, true
	s.began = true
	s.seq.Store(kept.Seq)
	s.asked = s.intents()
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
func (s *Shard) offer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumable = address{s.at.session, s.id, s.url, s.gateway, s.identified}
}

// keeper saves the sessions. It is used by one goroutine at a time.
type keeper struct {
	gateway *Gateway
	of      *set
	members []*keptShard
}

// keptShard is what is known of a shard's saves.
type keptShard struct {
	*Shard
	last    Kept
	saved   time.Time // when that was
	size    int       // of its texts
	failing bool
}

// keep saves the sessions repeatedly until ctx is done.
func (k *keeper) keep(ctx context.Context) {
	every := time.NewTicker(keepEvery)
	if k.gateway.shared() {
		every.Reset(keepShared)
	}
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.gateway.changed:
			k.saveAll(ctx, true)
		case <-every.C:
			k.saveAll(ctx, false)
		}
	}
}

// saveAll saves the session of each shard.
func (k *keeper) saveAll(ctx context.Context, atOnce bool) {
	now := k.gateway.current.Load()
	if now == nil {
		return
	}
	if now != k.of {
		if k.of != nil {
			k.clear(ctx, now.of, k.of.of)
		}
		k.of, k.members = now, nil
		for _, member := range now.members {
			k.members = append(k.members, &keptShard{Shard: member})
		}
	}
	for _, one := range k.members {
		if k.gateway.Holder.Holds(one.number) {
			one.save(ctx, atOnce)
		}
	}
}

// clear clears what was saved for shards that there are no more.
func (k *keeper) clear(ctx context.Context, from, to int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	for n := from; n < to; n++ {
		if err := k.gateway.Clear(ctx, n); err != nil {
			k.gateway.Log.Warn("the session of a shard that is not used any more cannot be deleted", "shard", n, "err", k.gateway.Redact(err.Error()))
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
	size, err := k.Save(ctx, k.Shard, now)
	if err != nil {
		if !k.failing && k.Holder.Holds(k.number) { // else it was given up meanwhile
			k.Log.Warn("the gateway session cannot be saved", "shard", k.number, "err", k.Redact(err.Error()))
		}
		k.failing = true
		return
	}
	k.last, k.saved, k.size, k.failing = now, time.Now(), size, false
}

// compose returns the session as it is now, or false if there was none yet.
func (k *keptShard) compose() (Kept, bool) {
	s := k.Shard
	p, whole := s.waiting.position(s) // read before what Save adds, which may be newer but not older
	if p.session == 0 {
		return Kept{}, false
	}
	s.mu.Lock()
	now := Kept{Of: s.owner(s.intents()), Alive: s.health.LastEvent, Mark: p.mark}
	if s.set.of > 1 {
		now.Shards = s.set.of
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
