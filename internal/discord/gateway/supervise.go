package gateway

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

const (
	maxResumes  = 3                       // RESUMEs that the gateway may refuse before the session is given up
	maxRetry    = time.Minute             // between two connections
	maxResume   = 1500 * time.Millisecond // the same while a session can be resumed, so that the bot is back soon after the network is
	shortLived  = 5 * time.Second         // a session that ends sooner is not resumed at once, to avoid a loop
	sessionLife = 10 * time.Minute        // how long Discord is assumed to keep a session without a connection
	quickDials  = 20                      // attempts to resume that wait for a connection no longer than quickDial
	quickDial   = 2 * time.Second         // short, so that the bot notices soon when the network is back
)

// Shard is a session with the gateway, across connections, that brings the events of some servers. The goroutine that
// runs and reads it owns it, except for what is said to be guarded or atomic.
type Shard struct {
	*Gateway
	set    *set
	number int
	read   func(ctx context.Context, event string, data []byte) error // what Config.Reader returned

	id, url    string           // of the session that may be resumed; without an id a new one begins. url may be empty
	gateway    string           // the address for new sessions, as Discord last named it
	slot       *slot            // for the next IDENTIFY
	began      bool             // it has asked where the gateway is, or goes on with a session
	asked      discordgo.Intent // intents of the last IDENTIFY
	seq        atomic.Int64     // number of the last event received in the session; the heartbeat reads it
	failed     int              // RESUMEs sent since the last accepted one
	unreached  int              // connections that could not be made since the last one that could
	streak     int              // connections since the last one that began or resumed a session
	welcome    time.Time        // when that was
	alive      time.Time        // when the gateway last said anything in the session
	identified time.Time        // when the last IDENTIFY was sent
	restored   bool             // the session is from an earlier start and is not resumed yet
	replays    bool             // the gateway sends again what an earlier process may have taken
	at         position         // of the event being read
	presenting chan struct{}    // holds one token after a change of the presence

	reached   position   // guarded by the queue's mu
	health    turn.Shard // guarded by mu
	resumable address    // the session that can be resumed, if any; guarded by mu
}

// supervise connects again and again. It returns when ctx is done, trying again cannot help, or another number of shards
// is needed.
func (s *Shard) supervise(ctx context.Context) error {
	for {
		err := s.connect(ctx)
		s.down(err)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, err := s.next(err)
		if err != nil {
			return err
		}
		if rest.Sleep(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// connect makes one connection, runs it to its end, and returns why it ended.
func (s *Shard) connect(ctx context.Context) error {
	s.streak++
	address, limit := s.resumeURL(), helloLimit
	if s.id != "" && s.streak <= quickDials {
		limit = quickDial
	}
	defer func() { s.slot.free() }()
	if s.slot = nil; s.id == "" || address == "" {
		var err error
		if address, err = s.permission(ctx); err != nil {
			return err
		}
	}
	c, err := s.dial(ctx, address, limit)
	if err != nil {
		s.unreached++
		return err
	}
	s.unreached = 0
	return c.run(ctx, s)
}

// resumeURL returns the address at which the session can be resumed, or "" if none is known. If that address cannot be
// reached repeatedly, the gateway's own address is tried in turn with it.
func (s *Shard) resumeURL() string {
	if s.url == "" || s.gateway != "" && s.unreached >= maxResumes && s.unreached%2 == 1 {
		return s.gateway
	}
	return s.url
}

// next decides what follows a connection that ended. It decides how long to wait, and whether to resume the session or begin a new one. It
// returns an error if trying again cannot help.
func (s *Shard) next(end error) (wait time.Duration, err error) {
	var closed *websocket.CloseError
	var invalid invalidated
	var refused *rest.Error
	isClosed := errors.As(end, &closed)
	if isClosed && closed.Code == noContent && s.asked&discordgo.IntentMessageContent != 0 {
		if s.forget(); s.contentless.Swap(true) {
			return 0, nil
		}
		s.Log.Warn("the bot may read only messages that are for it: it answers mentions, replies with a ping, commands and direct messages; it can't see other messages or react to its names and patterns. To change that: " + contentCure)
		return 0, nil
	}
	if wrong, ok := errors.AsType[wrongNumber](end); ok {
		return 0, wrong
	}
	if isClosed && (closed.Code == badShard || closed.Code == tooFewShards) {
		s.Log.Warn("Discord refuses the number of shards", "shards", s.set.of, "code", closed.Code)
		if s.shared() && s.Holder.Live() > 1 {
			return 0, &Fatal{Code: closed.Code, Cure: "Discord refuses the number of shards: stop all processes and start them again"}
		}
		if want := s.starts.refused(closed.Code, s.set.of); want > 0 {
			s.forget()
			return 0, wrongNumber{want}
		}
	}
	if isClosed {
		if fatal := fatal(closed.Code); fatal != nil {
			return 0, fatal
		}
	}
	isInvalid := errors.As(end, &invalid)
	if isClosed && newSession(closed.Code) || isInvalid && !invalid.resumable || s.failed >= maxResumes || s.id != "" && time.Since(s.alive) > sessionLife {
		s.forget()
	}
	most := maxRetry
	if s.id != "" {
		most = maxResume
	}
	switch {
	case isInvalid:
		wait = invalidWait + rand.N(4*invalidWait)
	case s.streak > 1:
		wait = rest.Backoff(firstRetry, most, s.streak-1)
	case s.streak == 0 && time.Since(s.welcome) < shortLived:
		wait = rest.Backoff(firstRetry, most, 1)
	}
	if errors.As(end, &refused) {
		wait = max(wait, min(refused.RetryAfter, rest.MaxClosed))
	}
	s.Log.Warn("gateway connection ended", "why", s.Redact(end.Error()), "wait", wait.Round(time.Millisecond), "resume", s.id != "")
	return wait, nil
}

func (s *Shard) forget() {
	s.id, s.url, s.failed, s.restored = "", "", 0, false
	s.seq.Store(0)
	s.offer()
}

// begin starts the session that READY describes.
func (s *Shard) begin(ctx context.Context, data []byte) error {
	var ready struct {
		SessionID string `json:"session_id"`
		ResumeURL string `json:"resume_gateway_url"`
		User      struct {
			Username string `json:"username"`
		} `json:"user"`
		Guilds []struct{} `json:"guilds"`
	}
	if err := rest.Decode(data, &ready); err != nil {
		return fmt.Errorf("read READY: %w", err)
	}
	s.id, s.url, s.restored = ready.SessionID, ready.ResumeURL, false
	if err := s.read(ctx, "READY", data); err != nil {
		return fmt.Errorf("read READY: %w", err)
	}
	s.at.session = int(s.sessions.Add(1))
	if mark := s.at.mark; mark == 0 {
		s.at.mark = FlakeAt(s.REST.Clock.Now()) // earlier messages are not asked for
	} else {
		release := s.waiting.hold(s.at)
		s.tasks.Go(func() { s.missed(ctx, mark, release) })
	}
	s.waiting.reach(s, s.at)
	s.welcomed()
	s.Log.Info("gateway session begun", "bot", ready.User.Username, "servers", len(ready.Guilds), "shard", s.number, "of", s.set.of)
	return nil
}

// missed has the messages reported that were written while there was no session. Nobody waits for it.
func (s *Shard) missed(ctx context.Context, mark Flake, release func()) {
	defer s.logPanic("ask for missed messages")
	defer func() {
		if ctx.Err() == nil || context.Cause(ctx) == errReplaced { // otherwise the next start asks again
			release()
			s.saveSoon()
		}
	}()
	s.Missed(ctx, s, mark)
}

// welcomed notes that the gateway has begun or resumed the session, so the connection counts as one that worked.
func (s *Shard) welcomed() {
	first := s.welcome.IsZero()
	s.failed, s.streak, s.welcome = 0, 0, time.Now()
	s.replays = false
	s.set.begun.Store(true)
	s.offer()
	s.note(func(h *turn.Shard) { h.Connected, h.Since, h.Trouble = true, time.Now(), "" })
	if first && s.set.arrived() || s.shared() && s.heldBegun() {
		s.once.Do(func() { s.Start("OnReady", s.Begun) })
	}
	s.saveSoon()
}

func (s *Shard) resumed(ctx context.Context, data []byte) {
	s.note(func(h *turn.Shard) { h.Resumes++ })
	s.mu.Lock()
	s.resumes++
	s.mu.Unlock()
	s.welcomed()
	s.dispatch(ctx, "RESUMED", data)
	s.restored = false
	s.Log.Info("gateway session resumed", "shard", s.number, "of", s.set.of)
}

// Number returns the number of the shard.
func (s *Shard) Number() int { return s.number }

// Of returns how many shards there are.
func (s *Shard) Of() int { return s.set.of }

// Restored reports whether the session is from an earlier start and is not resumed yet.
func (s *Shard) Restored() bool { return s.restored }

// Replays reports whether the gateway sends again what an earlier process may have taken.
func (s *Shard) Replays() bool { return s.replays }

// dispatch has one event read. It logs errors and panics.
func (s *Shard) dispatch(ctx context.Context, event string, data []byte) {
	defer s.logPanic("handle " + event)
	if err := s.read(ctx, event, data); err != nil {
		s.Log.Error("gateway event cannot be read", "event", event, "err", s.Redact(err.Error()))
	}
}

func (s *Shard) down(why error) {
	s.note(func(h *turn.Shard) {
		if h.Connected {
			h.Connected, h.Since = false, time.Now()
		}
		h.Trouble = s.Redact(why.Error())
	})
}

// Fatal is the error of Run if trying again cannot help.
type Fatal struct {
	Code int    // close code of the gateway, or an HTTP status
	Cure string // what the operator should do
}

func (f *Fatal) Error() string { return fmt.Sprintf("discord: %s (code %d)", f.Cure, f.Code) }

// noContent is the close code for an intent that is not granted. The only intent that needs a grant is reading messages.
const noContent = 4014

// Close codes about the number of shards. Both mean that another number is needed.
const (
	badShard     = 4010 // a shard's number, or how many there are, is not valid
	tooFewShards = 4011 // a shard would have more than 2,500 servers
)

const contentCure = "switch on \"Message Content Intent\" at " + portal + " → Privileged Gateway Intents"

const portal = "https://discord.com/developers/applications → your application → Bot"

// fatal returns the error for a gateway close code, or nil if another connection may work.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
func fatal(code int) *Fatal {
	cures := map[int]string{
		4004:                    "Discord refuses the bot token: reset it at " + portal + " → Reset Token, and set DISCORD_TOKEN",
		badShard:                "Discord refuses the number of shards that it recommends: try another one in FAMILIAR_SHARDS",
		4012:                    "Discord does not speak this version of the gateway any more: update the program",
		4013:                    "Discord does not know the intents that were asked for: update the program",
		noContent:               "the bot may not read messages: " + contentCure,
		http.StatusUnauthorized: "Discord refuses the bot token: reset it at " + portal + " → Reset Token, and set DISCORD_TOKEN",
	}
	if cure, ok := cures[code]; ok {
		return &Fatal{Code: code, Cure: cure}
	}
	return nil
}

// newSession reports whether a close code means that the session cannot be resumed.
func newSession(code int) bool {
	return code == 4003 || code == 4007 || code == 4009
}
