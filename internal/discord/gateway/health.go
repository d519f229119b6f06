package gateway

import (
	"fmt"
	"strings"
	"time"
)

// ShardHealth is what the door knows about one of its sessions.
type ShardHealth struct {
	Number     int
	Connected  bool          // the session is established now
	Since      time.Time     // when Connected last changed
	LastEvent  time.Time     // last event from the gateway
	LastAck    time.Time     // last answered heartbeat
	Latency    time.Duration // of that heartbeat
	Guilds     int           // servers; counted by the door
	Identifies int           // sessions begun since the start
	Resumes    int           // sessions resumed since the start
	Trouble    string        // why the last connection ended or could not be made; empty: all is well
}

// countIdentify counts a session that is begun.
func (s *Shard) countIdentify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identifies++
	s.health.Identifies++
}

// note changes the shard's health under its lock.
func (s *Shard) note(change func(*ShardHealth)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.health)
}

// Health is what the door knows about its own state. With several shards the fields before Shards speak of all of them.
type Health struct {
	Connected  bool          // all sessions are established now
	Since      time.Time     // when a session was last established or lost
	LastEvent  time.Time     // last event from the gateway
	LastAck    time.Time     // last answered heartbeat
	Latency    time.Duration // the longest of the last heartbeats
	Guilds     int           // servers; counted by the door
	Identifies int           // sessions begun since the start
	Resumes    int           // sessions resumed since the start
	Dropped    int           // events dropped because the bot did not keep up
	Trouble    string        // why the last connection ended or could not be made; empty: all is well

	Of     int // how many shards the bot has; 0 before Run
	Shards []ShardHealth
}

// Health reports the state of the connections.
func (g *Gateway) Health() Health {
	now := g.current.Load()
	h := Health{Dropped: g.waiting.lost()}
	if now == nil {
		return h
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	h.Connected, h.Of, h.Identifies, h.Resumes = true, now.of, g.identifies, g.resumes
	for _, member := range now.members {
		one := member.health
		one.Number = member.number
		h.Shards = append(h.Shards, one)
		h.add(one)
	}
	return h
}

// add adds a shard to what is said of all.
func (h *Health) add(one ShardHealth) {
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
