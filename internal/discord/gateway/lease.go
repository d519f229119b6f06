package gateway

import (
	"context"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// Holder says which shards this process runs. Either it is alone and runs all, or several processes share the shards of a bot.
type Holder interface {
	// Agree returns the number of shards of all processes. It is 0 if the gateway decides. If no process runs any, ask is told how many there
	// were before, and chooses the number.
	Agree(ctx context.Context, ask func(ctx context.Context, before int) (int, error)) (of int, err error)

	// Run keeps what this process holds, until ctx is done and all is released.
	Run(ctx context.Context)

	// Hold waits until this process holds a shard. The context that it returns ends with ctx, when the shard is lost, or when it must be
	// released. The caller must call Release then.
	Hold(ctx context.Context, shard int) (context.Context, error)

	// Pass lets another process have the shard, and this one finish what it has begun there, until Release. work returns the ids of that. It is
	// called when nothing more begins.
	Pass(shard int, work func() []string)

	// Release lets another process have the shard. Nothing more is done for it.
	Release(shard int)

	// Holds reports whether this process may act for a shard now.
	Holds(shard int) bool

	// Finishes is Holds, but also for a shard that was passed on.
	Finishes(shard int) bool

	// Short reports whether this process holds less than its share.
	Short() bool

	// Live returns how many processes there are.
	Live() int

	// Identify waits until an IDENTIFY may be sent in a bucket. left is how many Discord still allows, and reset how long until there are more.
	Identify(ctx context.Context, bucket, left int, reset time.Duration) error
}

// alone is the holder of a process that runs all shards.
type alone struct{}

// Agree implements [Holder].
func (alone) Agree(context.Context, func(context.Context, int) (int, error)) (int, error) {
	return 0, nil
}

// Run implements [Holder].
func (alone) Run(context.Context) {}

// Hold implements [Holder].
func (alone) Hold(ctx context.Context, _ int) (context.Context, error) { return ctx, nil }

// Pass implements [Holder].
func (alone) Pass(int, func() []string) {}

// Release implements [Holder].
func (alone) Release(int) {}

// Holds implements [Holder].
func (alone) Holds(int) bool { return true }

// Finishes implements [Holder].
func (alone) Finishes(int) bool { return true }

// Short implements [Holder].
func (alone) Short() bool { return false }

// Live implements [Holder].
func (alone) Live() int { return 1 }

// Identify implements [Holder].
func (alone) Identify(context.Context, int, int, time.Duration) error { return nil }

// clockSkew is by how much a machine's clock may be off where processes on several machines date the same things.
const clockSkew = time.Minute

// yieldLimit is how long what has begun in a shard may go on before another process finishes it.
const yieldLimit = 20 * time.Second

// paceEvery is how often a process looks how many there are.
const paceEvery = time.Second

// shared reports whether other processes may run shards of this bot.
func (g *Gateway) shared() bool { return g.Holder != alone{} }

// Holds reports whether this process may act for a server now, or with "" for direct messages.
func (g *Gateway) Holds(guildID string) bool {
	now := g.current.Load()
	return !g.shared() || now != nil && g.Holder.Holds(ShardOf(guildID, now.of))
}

// Finishes is Holds, but also for a server whose shard was passed on.
func (g *Gateway) Finishes(guildID string) bool {
	now := g.current.Load()
	return !g.shared() || now != nil && g.Holder.Finishes(ShardOf(guildID, now.of))
}

// first returns the shards to begin with. It waits until all processes agree on their number.
func (g *Gateway) first(ctx context.Context, kept func(context.Context) []Kept) (*set, error) {
	for {
		of, err := g.Holder.Agree(ctx, g.choose)
		switch {
		case err == nil && of == 0:
			return g.restore(kept(ctx)), nil
		case err == nil:
			if chosen := g.starts.chosenNumber(); chosen > 0 && chosen != of {
				g.Log.Warn("another number of shards is in use: to change it, stop all processes", "shards", of, "chosen", chosen)
			}
			g.leased()
			return g.newSet(of, 0), nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		g.Log.Warn("the number of shards is not known", "err", g.Redact(err.Error()))
		if err := rest.Sleep(ctx, firstRetry); err != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// choose returns the number of shards for all processes while none runs any. before is how many there were.
func (g *Gateway) choose(ctx context.Context, before int) (int, error) {
	if chosen := g.starts.chosenNumber(); chosen > 0 {
		return chosen, nil
	}
	told, err := g.Ask(ctx)
	return max(1, before, told.Shards), err
}

// serve runs the shard whenever this process holds it. It returns as supervise does.
func (s *Shard) serve(ctx context.Context) error {
	for {
		held, err := s.Holder.Hold(ctx, s.number)
		if err != nil {
			return context.Cause(ctx)
		}
		if s.shared() {
			s.takeUp(held)
		}
		err = s.supervise(held)
		if s.shared() {
			s.handOver(ctx)
		}
		if ctx.Err() != nil || held.Err() == nil {
			return err
		}
	}
}

// takeUp begins where the last holder of the shard ended.
func (s *Shard) takeUp(held context.Context) {
	s.Log.Info("shard taken", "shard", s.number, "of", s.set.of)
	s.id, s.url, s.slot, s.began = "", "", nil, false
	s.seq.Store(0)
	s.failed, s.unreached, s.streak, s.welcome, s.alive, s.restored, s.replays = 0, 0, 0, time.Time{}, time.Time{}, false, false
	s.at = position{shard: s}
	s.waiting.forget(s)
	s.waiting.reach(s, s.at)
	s.offer()
	s.restore(s.Load(held, s))
	s.Taken(held, s)
}

// handOver ends what is done for the shard, at once if it is lost, and releases it. Another process may have it before what has begun is
// finished.
func (s *Shard) handOver(ctx context.Context) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), yieldLimit)
	defer cancel()
	lost := !s.Holder.Holds(s.number)
	if lost {
		cancel()
	} else {
		(&keptShard{Shard: s}).save(ctx, true)
	}
	s.Yield(limited, s, func(work func() []string) { s.Holder.Pass(s.number, work) })
	s.Holder.Release(s.number)
	if !s.welcome.IsZero() {
		s.set.absent.Add(1)
	}
	s.note(func(h *turn.Shard) { *h = turn.Shard{} })
	s.Log.Info("shard released", "shard", s.number, "of", s.set.of, "lost", lost)
}

// pace keeps this process within its part of Discord's requests a second, until ctx is done.
func (g *Gateway) pace(ctx context.Context) {
	for ctx.Err() == nil {
		g.REST.Pacer.Share(g.Holder.Live())
		_ = rest.Sleep(ctx, paceEvery) // the end of ctx ends the loop
	}
}

// heldBegun reports whether each shard that this process holds has had a session.
func (g *Gateway) heldBegun() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, member := range g.shards() {
		if g.Holder.Holds(member.number) && member.health.Since.IsZero() {
			return false
		}
	}
	return true
}
