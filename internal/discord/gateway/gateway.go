// Package gateway keeps a bot's sessions with Discord's gateway. It says nothing about what the events mean. It hands each to a reader, and
// the reader's result waits in a queue until the bot takes it. Reading from top to bottom:
//
//   - shards.go says how many sessions there are, and changes their number. lease.go says which of them this process runs. starts.go has each
//     wait until it may begin.
//   - supervise.go keeps the connection of one session alive. It decides when to resume, start over or give up.
//   - connection.go is one such connection, from HELLO to its end. It sends heartbeats and notices a dead peer within two.
//   - queue.go is between the gateway, which must not wait, and the bot. It knows how far the bot has followed.
//   - keep.go saves the sessions for the next start.
//
// discordgo's gateway client is not used. It cannot tell an invalidated session (op 9) from a quiet one. It answers op 9 with IDENTIFYs
// that nobody counts. It loses the close code of a running connection and needs five missed beats to notice a dead one. It can also crash
// the process while closing (bwmarrin/discordgo#1702).
//
// The formats are those of API version 10: https://discord.com/developers/docs/events/gateway.
package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// Config says whose sessions are kept, and who reads what they bring. A field is required unless it says what nil or 0 means.
type Config struct {
	Token  string // without a prefix
	REST   *rest.Client
	Log    *slog.Logger
	Redact func(string) string // removes secrets from error texts
	Queue  int                 // events that may wait for the bot before the oldest are dropped
	// Reader returns what handles the events of a shard. They come one after the other on the goroutine that reads the shard, so
	// a handler must not wait. READY and RESUMED are among them, and an error at READY ends the connection.
	Reader func(*Shard) func(ctx context.Context, event string, data []byte) error

	Reactions bool // whether the gateway is asked for people's reactions
	Shards    int  // 0: as many as Discord recommends

	// Holder says which shards this process runs; nil: all. With one, Load reads what Save saved for a shard that this process has begun to
	// hold. Taken is called before its session begins. Yield is called when it has ended, and returns when nothing more is done for the shard.
	// If its context ends, it ends what is being done. It may call pass once. They run on the goroutine of the shard.
	Holder Holder
	Load   func(context.Context, *Shard) Kept
	Taken  func(context.Context, *Shard)
	Yield  func(ctx context.Context, shard *Shard, pass func(work func() []string))

	// Begun is called once, when all sessions have begun. Missed is called when a new session has begun, and messages after a mark
	// may have been missed. Both run on goroutines that Run waits for.
	Begun  func(context.Context)
	Missed func(context.Context, *Shard, Flake)
	Place  func(*turn.Event) // completes an event before the bot gets it; it must not wait
	// Overdue is called with events that have waited for some seconds, or are dropped, because the bot takes none. It must not wait. nil: nobody is told.
	Overdue func([]turn.Event)

	// Save keeps a shard's session for the next start, and returns how many bytes that took. Clear deletes what was saved for a
	// shard. Both are nil if nothing is kept.
	Save  func(context.Context, *Shard, Kept) (size int, err error)
	Clear func(ctx context.Context, shard int) error

	// Dial connects to the gateway; nil: a net.Dialer does. Tests connect in memory.
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	MostFrame int64 // bytes of a frame; a larger one is skipped. 0: 64 MiB, as GUILD_CREATE of a huge server has several
}

// Gateway is the sessions of a bot. Make it with New.
type Gateway struct {
	Config
	events   chan []turn.Event // closed by Run
	waiting  *queue
	starts   *starts
	current  atomic.Pointer[set] // the shards that bring events; nil before Run
	sessions atomic.Int64        // numbers that sessions have been given in positions
	grow     chan int            // holds the number of shards that the bot should have, if that is more than it has

	tasks   sync.WaitGroup // goroutines that Run waits for
	once    sync.Once      // guards the call of Begun
	changed chan struct{}  // holds one token when the keeper should save at once

	// contentless means that the gateway has refused the content of messages. Mentions, replies with a ping, commands
	// and direct messages still come whole.
	contentless atomic.Bool
	presence    atomic.Pointer[turn.Presence] // what people see beside the bot's name; nil: never set

	leased func() // begins to hold shards; set by Run

	mu         sync.Mutex
	identifies int                              // sessions begun since the start; guarded by mu
	resumes    int                              // sessions resumed since the start; guarded by mu
	refuse401  func()                           // ends Run; set by Run; guarded by mu
	spawn      func(task func(context.Context)) // starts a goroutine that Run waits for; nil unless Run is running; guarded by mu
}

// New returns sessions that do not run yet.
func New(c Config) *Gateway {
	if c.Holder == nil {
		c.Holder = alone{}
	} else {
		c.REST.Clock.Most = clockSkew
	}
	if c.MostFrame <= 0 {
		c.MostFrame = 64 << 20
	}
	return &Gateway{
		Config:  c,
		events:  make(chan []turn.Event), // unbuffered: what is sent has been received
		waiting: newQueue(c.Queue),
		starts:  newStarts(c.Shards),
		grow:    make(chan int, 1),
		changed: make(chan struct{}, 1),
	}
}

// Run keeps the sessions, beginning with those that were kept, until ctx is done. Then it returns nil. If trying again cannot
// help, it returns a *Fatal. It may be called once. When it returns, everything that it started has ended and Events is
// closed.
func (g *Gateway) Run(ctx context.Context, kept func(context.Context) []Kept) error {
	ctx, stop := context.WithCancelCause(ctx)
	g.mu.Lock()
	g.refuse401 = func() { stop(fatal(http.StatusUnauthorized)) }
	g.spawn = func(task func(context.Context)) { g.tasks.Go(func() { task(ctx) }) }
	g.mu.Unlock()
	g.tasks.Go(func() { g.forward(ctx) })
	if g.shared() {
		g.tasks.Go(func() { g.pace(ctx) })
	}
	keep := keeper{gateway: g}
	if g.Save != nil {
		g.tasks.Go(func() { keep.keep(ctx) })
	}
	leasing := make(chan struct{})
	g.leased = sync.OnceFunc(func() {
		go func() {
			defer close(leasing)
			g.Holder.Run(ctx)
		}()
	})
	err := g.supervise(ctx, kept)
	stop(nil)
	g.mu.Lock()
	g.spawn = nil
	g.mu.Unlock()
	g.tasks.Wait()
	g.leased()
	<-leasing
	if g.Save != nil {
		keep.saveAll(ctx, true)
	}
	close(g.events)
	if f, ok := errors.AsType[*Fatal](err); ok {
		return f
	}
	return nil
}

// Start runs a task on a goroutine that ends with Run. It does nothing and reports false unless Run is running. A panic of
// the task is logged.
func (g *Gateway) Start(what string, task func(context.Context)) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.spawn == nil {
		return false
	}
	g.spawn(func(ctx context.Context) {
		defer g.logPanic(what)
		task(ctx)
	})
	return true
}

// Go runs a task that Run waits for, also while Run is ending. Only what Run waits for may call it. A panic of the task is
// logged.
func (g *Gateway) Go(what string, task func()) {
	g.tasks.Go(func() {
		defer g.logPanic(what)
		task()
	})
}

// logPanic is deferred. It logs a panic and keeps it from ending the process.
func (g *Gateway) logPanic(what string) {
	if r := recover(); r != nil {
		g.Log.Error("panic", "in", what, "panic", g.Redact(fmt.Sprint(r)), "stack", string(debug.Stack()))
	}
}

// Refuse ends Run, because Discord no longer accepts the token. After 10,000 more refused tries in ten minutes Discord
// would ban the address.
func (g *Gateway) Refuse() {
	g.mu.Lock()
	end := g.refuse401
	g.mu.Unlock()
	if end != nil {
		end()
	}
}

// Events returns the events in Discord's order, those together that came while the bot was busy. Run closes the channel
// when it returns. The bot takes events when it has stored those that came before. To learn that, an empty batch follows missed messages.
func (g *Gateway) Events() <-chan []turn.Event { return g.events }

// Contentless reports whether Discord lets the bot read only messages that are for it.
func (g *Gateway) Contentless() bool { return g.contentless.Load() }

// Complete reports whether every shard has had a session, and this process runs them all.
func (g *Gateway) Complete() bool {
	now := g.current.Load()
	return now != nil && now.absent.Load() <= 0
}

// Connected reports whether a server's events come at this moment.
func (g *Gateway) Connected(guildID string) bool {
	now := g.current.Load()
	return now != nil && now.member(guildID).connected()
}

// The waits of the supervisor.
const (
	helloLimit   = 15 * time.Second       // for HELLO
	welcomeLimit = 30 * time.Second       // for READY or RESUMED, after that
	identifyGap  = 5 * time.Second        // between two IDENTIFYs
	invalidWait  = time.Second            // after op 9; up to four times as much is added
	firstRetry   = 500 * time.Millisecond // after a failure; doubles
	askLimit     = time.Minute            // for the gateway's address
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
