package gateway

import (
	"fmt"
	"strings"
	"time"

	"familiar/internal/context/turn"
)

// countIdentify counts a session that is begun.
func (s *Shard) countIdentify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identifies++
	s.health.Identifies++
}

// note changes the shard's health under its lock.
func (s *Shard) note(change func(*turn.Shard)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.health)
}

// Health reports the state of the connections.
func (g *Gateway) Health() turn.Gateway {
	now := g.current.Load()
	h := turn.Gateway{Dropped: g.waiting.lost()}
	if now == nil {
		return h
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h.Connected, h.Of, h.Identifies, h.Resumes = !g.Holder.Short(), now.of, g.identifies, g.resumes
	for _, member := range now.members {
		if !g.Holder.Holds(member.number) {
			continue
		}
		one := member.health
		one.Number = member.number
		h.Shards = append(h.Shards, one)
		add(&h, one)
	}
	return h
}

// add adds a shard to what is said of all.
func add(h *turn.Gateway, one turn.Shard) {
	h.Connected = h.Connected && one.Connected
	h.Since, h.LastEvent, h.LastAck = later(h.Since, one.Since), later(h.LastEvent, one.LastEvent), later(h.LastAck, one.LastAck)
	h.Latency = max(h.Latency, one.Latency)
	if one.Trouble == "" {
		return
	}
	if h.Of > 1 {
		one.Trouble = fmt.Sprintf("shard %d: %s", one.Number, one.Trouble)
	}
	if h.Trouble == "" {
		h.Trouble = one.Trouble
	} else if !strings.HasSuffix(h.Trouble, andMore) {
		h.Trouble += andMore
	}
}

const andMore = "; and more"

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// connected reports whether the session is established now.
func (s *Shard) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health.Connected
}
