package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Shards says which of the gateway's sessions a process holds. A server's events come in the session whose number is
// the server's id, shifted by 22 bits, modulo Of. What belongs to no server comes in session 0.
// https://discord.com/developers/docs/events/gateway#sharding
type Shards struct {
	Of   int
	Mine []int
}

// allShards returns all shards of a number, for the only process of a bot.
func allShards(of int) Shards {
	s := Shards{Of: max(1, of)}
	for n := range s.Of {
		s.Mine = append(s.Mine, n)
	}
	return s
}

// shardOf returns the number of the shard that brings a server's events.
func shardOf(guildID string, of int) int { return int(flake(guildID) >> 22 % snowflake(of)) }

// brings reports whether the shard brings a server's events.
func (s *shard) brings(guildID string) bool { return shardOf(guildID, s.set.Of) == s.number }

// set is the sessions of one number of shards. Its fields do not change while it runs, except the atomic ones and over.
type set struct {
	Shards
	members []*shard
	beside  *set // brings the same events until all members are there; nil: none does

	begun  atomic.Bool   // one of the sessions has begun, or is to be resumed
	absent atomic.Int64  // members that had no session yet
	there  chan struct{} // closed when each member has had one
	stop   context.CancelCauseFunc
	ended  sync.WaitGroup
	over   int // members that have ended by themselves; owned by the goroutine of Run
}

// newSet makes a set that does not run yet. Messages after the mark may have been missed; if it is 0, none are.
func (s *Session) newSet(mine Shards, mark snowflake) *set {
	x := &set{Shards: mine, there: make(chan struct{})}
	x.absent.Store(int64(len(mine.Mine)))
	for _, n := range mine.Mine {
		m := &shard{Session: s, set: x, number: n, presenting: make(chan struct{}, 1)}
		m.at = position{shard: m, mark: mark}
		s.waiting.reach(m, m.at)
		x.members = append(x.members, m)
	}
	return x
}

// run starts the members. Each runs until the set is ended, or sends its ending.
func (x *set) run(ctx context.Context, ended chan<- ending) {
	ctx, x.stop = context.WithCancelCause(ctx)
	for _, member := range x.members {
		x.ended.Go(func() {
			err := member.supervise(ctx)
			select {
			case ended <- ending{x, err}:
			case <-ctx.Done():
			}
		})
	}
}

// end ends the members, if there is a set, and waits for them.
func (x *set) end(why error) {
	if x != nil {
		x.stop(why)
		x.ended.Wait()
	}
}

// member returns the shard that brings a server's events, or nil if another process holds it.
func (x *set) member(guildID string) *shard {
	number := shardOf(guildID, x.Of)
	for i, n := range x.Mine {
		if n == number {
			return x.members[i]
		}
	}
	return nil
}

// arrived notes that a member has its first session, and reports whether it was the last one.
func (x *set) arrived() bool {
	if x.absent.Add(-1) > 0 {
		return false
	}
	close(x.there)
	return true
}

// errReplaced is why the members of a set end when another set has taken its place.
var errReplaced = errors.New("another number of shards is in use now")

// wrongNumber is the error of a shard when the bot needs another number of shards.
type wrongNumber struct{ want int }

func (w wrongNumber) Error() string { return fmt.Sprintf("the bot needs %d shards", w.want) }

// ending says that a shard has ended by itself, and why.
type ending struct {
	set *set
	err error
}

// succession is the sets of a running session: one, or two while the number of shards changes. The goroutine of Run owns
// it.
type succession struct {
	session   *Session
	now, next *set // next is nil unless the number changes
	ended     chan ending
}

// supervise keeps the sessions of the shards. If another number is needed, the new set begins beside the old one, which
// ends when all sessions of the new one are there. Until then events may come twice. It returns when ctx is done or
// trying again cannot help.
func (s *Session) supervise(ctx context.Context) error {
	c := succession{session: s, now: s.restore(ctx), ended: make(chan ending)}
	defer func() {
		c.now.end(context.Cause(ctx))
		c.next.end(context.Cause(ctx))
	}()
	s.current.Store(c.now)
	c.now.run(ctx, c.ended)
	for {
		var there, restored <-chan struct{}
		chosen := s.starts.chosenNumber()
		switch {
		case c.next != nil:
			there = c.next.there
		case chosen > 0 && chosen != c.now.Of: // the operator has changed it since the sessions began
			restored = c.now.there
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-there:
			c.succeed()
		case <-restored:
			c.change(ctx, chosen)
		case want := <-s.grow:
			if c.next == nil && want > c.now.Of {
				c.change(ctx, want)
			}
		case e := <-c.ended:
			if err := c.lose(ctx, e); err != nil {
				return err
			}
		}
	}
}

// lose handles the ending of a shard. It returns an error if trying again cannot help.
func (c *succession) lose(ctx context.Context, e ending) error {
	wrong, again := errors.AsType[wrongNumber](e.err)
	if !again {
		return e.err
	}
	e.set.over++
	switch {
	case e.set == c.next:
		c.next.end(errReplaced)
		c.next = nil
		c.change(ctx, wrong.want)
	case e.set == c.now && c.next == nil:
		c.change(ctx, wrong.want)
	case e.set == c.now && c.now.over == len(c.now.members):
		c.succeed()
	}
	return nil
}

// change begins a set of another number, beside the one that is there, or in its place if nothing is left of it.
func (c *succession) change(ctx context.Context, want int) {
	s := c.session
	s.log.Info("the number of shards changes", "from", c.now.Of, "to", want)
	c.next = s.newSet(allShards(want), s.waiting.mark(c.now))
	c.next.beside = c.now
	c.next.run(ctx, c.ended)
	if c.now.over == len(c.now.members) {
		c.succeed()
	}
}

// succeed puts the next set in the place of the one that was there.
func (c *succession) succeed() {
	c.now.end(errReplaced)
	c.now, c.next = c.next, nil
	c.session.current.Store(c.now)
	for _, member := range c.now.members {
		member.show()
	}
	c.session.log.Info("the number of shards has changed", "shards", c.now.Of)
}

// shards returns the shards that this process holds.
func (s *Session) shards() []*shard {
	if now := s.current.Load(); now != nil {
		return now.members
	}
	return nil
}

// connected reports whether a server's events come at this moment.
func (s *Session) connected(guildID string) bool {
	now := s.current.Load()
	if now == nil {
		return false
	}
	m := now.member(guildID)
	return m != nil && m.connected()
}

// broughtBeside reports whether another set brings a server's events at this moment, too.
func (s *shard) broughtBeside(guildID string) bool {
	if s.set.beside == nil {
		return false
	}
	m := s.set.beside.member(guildID)
	return m != nil && m.connected()
}

func (s *shard) connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health.Connected
}

// ShardHealth is what the door knows about one of its sessions.
type ShardHealth struct {
	Number     int
	Connected  bool          // the session is established now
	Since      time.Time     // when Connected last changed
	LastEvent  time.Time     // last event from the gateway
	LastAck    time.Time     // last answered heartbeat
	Latency    time.Duration // of that heartbeat
	Guilds     int
	Identifies int    // sessions begun since the start
	Resumes    int    // sessions resumed since the start
	Trouble    string // why the last connection ended or could not be made; empty: all is well
}

// countIdentify counts a session that is begun.
func (s *shard) countIdentify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identifies++
	s.health.Identifies++
}

// note changes the shard's health under its lock.
func (s *shard) note(change func(*ShardHealth)) {
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
	Guilds     int
	Identifies int    // sessions begun since the start
	Resumes    int    // sessions resumed since the start
	Dropped    int    // events dropped because the bot did not keep up
	Trouble    string // why the last connection ended or could not be made; empty: all is well

	Of     int           // how many shards the bot has, in all its processes; 0 before Run
	Shards []ShardHealth // those of this process
}

// Health reports the state of the connections.
func (s *Session) Health() Health {
	now := s.current.Load()
	h := Health{Dropped: s.waiting.lost()}
	if now == nil {
		return h
	}
	guilds := s.names.countByShard(now.Of)
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Connected, h.Of, h.Identifies, h.Resumes = true, now.Of, s.identifies, s.resumes
	for _, member := range now.members {
		one := member.health
		one.Number, one.Guilds = member.number, guilds[member.number]
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
	h.Guilds += one.Guilds
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
