package gateway

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// ShardOf returns the number of the shard that brings a server's events. It is the server's id, shifted by 22 bits, modulo the number of
// shards. Events that belong to no server come in shard 0. https://discord.com/developers/docs/events/gateway#sharding
func ShardOf(guildID string, of int) int { return int(FlakeOf(guildID) >> 22 % Flake(of)) }

// Brings reports whether the shard brings a server's events.
func (s *Shard) Brings(guildID string) bool { return ShardOf(guildID, s.set.of) == s.number }

// set is the sessions of one number of shards. Its fields do not change while it runs, except the atomic ones and over.
type set struct {
	of      int      // how many there are
	members []*Shard // by number
	asked   int64    // how often Discord had been asked where the gateway is when the set was made
	beside  *set     // brings the same events until all members are there; nil: none does

	begun  atomic.Bool   // one of the sessions has begun, or is to be resumed
	absent atomic.Int64  // members that had no session yet
	there  chan struct{} // closed when each member has had one
	all    sync.Once     // closes there
	stop   context.CancelCauseFunc
	ended  sync.WaitGroup
	over   int // members that have ended by themselves; owned by the goroutine of Run
}

// newSet makes a set that does not run yet. Messages after the mark may have been missed; if it is 0, none are.
func (g *Gateway) newSet(of int, mark Flake) *set {
	x := &set{of: of, asked: g.starts.asked.Load(), there: make(chan struct{})}
	x.absent.Store(int64(of))
	for n := range of {
		m := &Shard{Gateway: g, set: x, number: n, presenting: make(chan struct{}, 1)}
		m.read = g.Reader(m)
		m.at = position{shard: m, mark: mark}
		g.waiting.reach(m, m.at)
		x.members = append(x.members, m)
	}
	return x
}

// run starts the members. Each runs until the set is ended, or sends its ending.
func (x *set) run(ctx context.Context, ended chan<- ending) {
	ctx, x.stop = context.WithCancelCause(ctx)
	for _, member := range x.members {
		x.ended.Go(func() {
			err := member.serve(ctx)
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

// member returns the shard that brings a server's events.
func (x *set) member(guildID string) *Shard { return x.members[ShardOf(guildID, x.of)] }

// arrived notes that a member has its first session, and reports whether it was the last one.
func (x *set) arrived() bool {
	if x.absent.Add(-1) > 0 {
		return false
	}
	x.all.Do(func() { close(x.there) })
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
	gateway   *Gateway
	now, next *set // next is nil unless the number changes
	ended     chan ending
}

// supervise keeps the sessions of the shards. If another number is needed, the new set begins beside the old one. The old one ends when all
// sessions of the new one are there. Until then events may come twice. It returns when ctx is done or trying again cannot help.
func (g *Gateway) supervise(ctx context.Context, kept func(context.Context) []Kept) error {
	first, err := g.first(ctx, kept)
	if err != nil {
		return err
	}
	c := succession{gateway: g, now: first, ended: make(chan ending)}
	defer func() {
		c.now.end(context.Cause(ctx))
		c.next.end(context.Cause(ctx))
	}()
	g.current.Store(c.now)
	c.now.run(ctx, c.ended)
	for {
		var there, restored <-chan struct{}
		chosen := g.starts.chosenNumber()
		switch {
		case g.shared(): // all processes have the same number
		case c.next != nil:
			there = c.next.there
		case chosen > 0 && chosen != c.now.of: // the operator has changed it since the sessions began
			restored = c.now.there
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-there:
			c.succeed()
		case <-restored:
			c.change(ctx, chosen)
		case want := <-g.grow:
			if c.next == nil && want > c.now.of {
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
	if c.gateway.shared() {
		return c.divide(ctx, wrong.want)
	}
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

// divide begins a set of another number in the place of the one that is there. This process is alone, so all shards are free in between, and
// the new ones begin where shard 0 ended.
func (c *succession) divide(ctx context.Context, want int) error {
	c.gateway.Log.Info("the number of shards changes", "from", c.now.of, "to", want)
	c.now.end(errReplaced)
	next, err := c.gateway.first(ctx, nil)
	if err != nil {
		return err
	}
	c.now = next
	c.gateway.current.Store(next)
	next.run(ctx, c.ended)
	return nil
}

// change begins a set of another number. It runs beside the one that is there, or in its place if nothing is left of it.
func (c *succession) change(ctx context.Context, want int) {
	s := c.gateway
	s.Log.Info("the number of shards changes", "from", c.now.of, "to", want)
	c.next = s.newSet(want, s.waiting.mark(c.now))
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
	c.gateway.current.Store(c.now)
	for _, member := range c.now.members {
		member.show()
	}
	c.gateway.Log.Info("the number of shards has changed", "shards", c.now.of)
}

// shards returns the shards that this process holds.
func (g *Gateway) shards() []*Shard {
	if now := g.current.Load(); now != nil {
		return now.members
	}
	return nil
}

// BroughtBeside reports whether another set brings a server's events at this moment, too.
func (s *Shard) BroughtBeside(guildID string) bool {
	return s.set.beside != nil && s.set.beside.member(guildID).connected()
}

// Flake is an id as a number, which grows with time: milliseconds since 2015, shifted by 22 bits.
// https://discord.com/developers/docs/reference#snowflakes
type Flake uint64

// FlakeOf returns an id as a number, or 0 if it is not a number.
func FlakeOf(id string) Flake {
	n, _ := strconv.ParseUint(id, 10, 64)
	return Flake(n)
}

const epoch = 1420070400000 // the first millisecond of 2015 in Unix time

// FlakeAt returns the smallest id of a moment.
func FlakeAt(at time.Time) Flake { return Flake(max(0, at.UnixMilli()-epoch)) << 22 }

// Time returns the moment of an id.
func (f Flake) Time() time.Time { return time.UnixMilli(int64(f>>22) + epoch) }

// MarshalJSON writes a string.
func (f Flake) MarshalJSON() ([]byte, error) { return []byte(`"` + f.String() + `"`), nil }

// String returns the id as it is written.
func (f Flake) String() string { return strconv.FormatUint(uint64(f), 10) }

// UnmarshalJSON reads a string, a number or null.
func (f *Flake) UnmarshalJSON(data []byte) error {
	*f = FlakeOf(strings.Trim(string(data), `"`))
	return nil
}
