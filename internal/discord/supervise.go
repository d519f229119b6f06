package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

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

// Run connects to Discord and stays connected until ctx is done. Then it returns nil. If trying again cannot help, it
// returns a *Fatal. It may be called once. When it returns, everything that it started has ended and Events is closed.
func (s *Session) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	s.mu.Lock()
	s.refuse401 = func() { stop(fatal(http.StatusUnauthorized)) }
	s.spawn = func(task func(context.Context)) { s.tasks.Go(func() { task(ctx) }) }
	s.mu.Unlock()
	s.tasks.Go(func() { s.forward(ctx) })
	keep := keeper{session: s}
	if s.cfg.SaveSession != nil {
		s.tasks.Go(func() { keep.keep(ctx) })
	}
	err := s.supervise(ctx)
	stop(nil)
	s.mu.Lock()
	s.spawn = nil
	s.mu.Unlock()
	s.tasks.Wait()
	if s.cfg.SaveSession != nil {
		keep.save(ctx, true)
	}
	close(s.events)
	var f *Fatal
	if errors.As(err, &f) {
		return f
	}
	return nil
}

// start runs a task on a goroutine that ends with Run. It does nothing and reports false unless Run is running.
func (s *Session) start(task func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.spawn == nil {
		return false
	}
	s.spawn(task)
	return true
}

// refuse ends Run, because Discord no longer accepts the token. After 10,000 more refused tries in ten minutes Discord
// would ban the address.
func (s *Session) refuse() {
	s.mu.Lock()
	end := s.refuse401
	s.mu.Unlock()
	if end != nil {
		end()
	}
}

// gatewayState is the state of the session with the gateway, across connections. The goroutine of Run owns it, except
// for seq, which the heartbeat reads.
type gatewayState struct {
	session    *Session
	id, url    string       // of the session that may be resumed; without an id a new one begins. url may be empty
	gateway    string       // the address for new sessions, as Discord last named it
	seq        atomic.Int64 // number of the last event received in the session
	failed     int          // RESUMEs sent since the last accepted one
	unreached  int          // connections that could not be made since the last one that could
	streak     int          // connections since the last one that began or resumed a session
	welcome    time.Time    // when that was
	alive      time.Time    // when the gateway last said anything in the session
	identified time.Time    // when the last IDENTIFY was sent
	restored   bool         // the session is from an earlier start and is not resumed yet
}

// supervise connects again and again. It returns when ctx is done or trying again cannot help.
func (s *Session) supervise(ctx context.Context) error {
	state := &gatewayState{session: s}
	s.restore(ctx, state)
	for {
		err := state.connect(ctx)
		s.down(err)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, err := state.next(err)
		if err != nil {
			return err
		}
		if rest.Sleep(ctx, wait) != nil {
			return context.Cause(ctx)
		}
	}
}

// connect makes one connection, runs it to its end, and returns why it ended.
func (g *gatewayState) connect(ctx context.Context) error {
	g.streak++
	address, limit := g.resumeURL(), helloLimit
	if g.id != "" && g.streak <= quickDials {
		limit = quickDial
	}
	if g.id == "" || address == "" {
		var err error
		if address, err = g.permission(ctx); err != nil {
			return err
		}
	}
	c, err := g.session.dial(ctx, address, limit)
	if err != nil {
		g.unreached++
		return err
	}
	g.unreached = 0
	return c.run(ctx, g)
}

// resumeURL returns the address at which the session can be resumed, or "" if none is known. If that address cannot be
// reached repeatedly, the gateway's own address is tried in turn with it.
func (g *gatewayState) resumeURL() string {
	if g.url == "" || g.gateway != "" && g.unreached >= maxResumes && g.unreached%2 == 1 {
		return g.gateway
	}
	return g.url
}

// permission asks for the gateway's address and waits until another IDENTIFY is allowed. One is allowed in five seconds
// and 1,000 a day, after which Discord resets the token.
// https://discord.com/developers/docs/events/gateway#get-gateway-bot
func (g *gatewayState) permission(ctx context.Context) (address string, err error) {
	s := g.session
	within, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	body, err := s.rest.Call(within, rest.Request{Method: http.MethodGet, URL: discordgo.EndpointGatewayBot})
	if err != nil {
		return "", fmt.Errorf("ask for the gateway: %w", err)
	}
	var bot discordgo.GatewayBotResponse
	if err := json.Unmarshal(body, &bot); err != nil || bot.URL == "" {
		return "", errors.New("ask for the gateway: the response has no address")
	}
	if g.gateway = bot.URL; g.id != "" {
		return bot.URL, nil
	}
	wait := time.Until(g.identified.Add(identifyGap))
	if limit := bot.SessionStartLimit; limit.Total > 0 && limit.Remaining == 0 {
		wait = max(wait, time.Duration(limit.ResetAfter)*time.Millisecond)
		s.log.Error("no session may be begun until the daily limit is reset", "wait", wait)
		s.note(func(h *Health) { h.Trouble = "the daily limit of sessions is used up" })
	}
	if err := rest.Sleep(ctx, wait); err != nil {
		return "", err
	}
	return bot.URL, nil
}

// next decides what follows a connection that ended: how long to wait, and whether to resume the session or begin a new
// one. It returns an error if trying again cannot help.
func (g *gatewayState) next(end error) (wait time.Duration, err error) {
	var closed *websocket.CloseError
	var invalid invalidated
	var refused *rest.Error
	isClosed := errors.As(end, &closed)
	if isClosed && closed.Code == noContent && !g.session.contentless.Swap(true) {
		g.forget()
		g.session.log.Warn("the bot may read only messages that are for it: it answers mentions, replies with a ping, commands and direct messages; it can't see other messages or react to its names and patterns. To change that: " + contentCure)
		return 0, nil
	}
	if isClosed {
		if fatal := fatal(closed.Code); fatal != nil {
			return 0, fatal
		}
	}
	isInvalid := errors.As(end, &invalid)
	if isClosed && newSession(closed.Code) || isInvalid && !invalid.resumable || g.failed >= maxResumes || g.id != "" && time.Since(g.alive) > sessionLife {
		g.forget()
	}
	most := maxRetry
	if g.id != "" {
		most = maxResume
	}
	switch {
	case isInvalid:
		wait = invalidWait + rand.N(4*invalidWait)
	case g.streak > 1:
		wait = rest.Backoff(firstRetry, most, g.streak-1)
	case g.streak == 0 && time.Since(g.welcome) < shortLived:
		wait = rest.Backoff(firstRetry, most, 1)
	}
	if errors.As(end, &refused) {
		wait = max(wait, min(refused.RetryAfter, rest.MaxClosed))
	}
	g.session.log.Warn("gateway connection ended", "why", g.session.redact(end.Error()), "wait", wait.Round(time.Millisecond), "resume", g.id != "")
	return wait, nil
}

func (g *gatewayState) forget() {
	g.id, g.url, g.failed, g.restored = "", "", 0, false
	g.seq.Store(0)
	g.offer()
}

// begin starts the session that READY describes.
func (g *gatewayState) begin(ctx context.Context, data []byte) error {
	var r ready
	if err := rest.Decode(data, &r); err != nil {
		return fmt.Errorf("read READY: %w", err)
	}
	s := g.session
	g.id, g.url, g.restored = r.SessionID, r.ResumeURL, false
	s.self.Store(newIdentity(r.User, r.Application.ID))
	s.names.begin(r.Guilds)
	s.at.session++
	if mark := s.at.mark; mark == 0 {
		s.at.mark = flakeAt(s.Now()) // earlier messages are not asked for
	} else {
		release := s.waiting.hold(mark)
		s.tasks.Go(func() { s.fillGap(ctx, mark, release) })
	}
	s.waiting.reach(s.at)
	g.welcomed()
	s.up()
	s.log.Info("gateway session begun", "bot", r.User.Username, "servers", len(r.Guilds))
	s.announce(ctx)
	return nil
}

// welcomed notes that the gateway has begun or resumed the session, so the connection counts as one that worked.
func (g *gatewayState) welcomed() {
	g.failed, g.streak, g.welcome = 0, 0, time.Now()
	g.session.replays = false
	g.offer()
	select {
	case g.session.welcome <- struct{}{}:
	default:
	}
}

func (g *gatewayState) resumed(ctx context.Context) {
	g.welcomed()
	if g.restored {
		g.restored = false
		g.session.announce(ctx)
	}
	g.session.note(func(h *Health) { h.Resumes++ })
	g.session.up()
	g.session.log.Info("gateway session resumed")
}

func (s *Session) up() {
	s.note(func(h *Health) { h.Connected, h.Since, h.Trouble = true, time.Now(), "" })
}

func (s *Session) down(why error) {
	s.note(func(h *Health) {
		if h.Connected {
			h.Connected, h.Since = false, time.Now()
		}
		h.Trouble = s.redact(why.Error())
	})
}

// announce starts what follows a new session. The commands are registered. The first time, OnReady is called as soon as
// the servers' names are known or have not come in time.
func (s *Session) announce(ctx context.Context) {
	self := s.self.Load()
	s.once.Do(func() {
		s.tasks.Go(func() {
			defer s.logPanic("OnReady")
			s.awaitGuilds(ctx, guildsLimit)
			if s.cfg.OnReady != nil && ctx.Err() == nil {
				s.cfg.OnReady(Ready{Name: self.user.name(nil), ID: self.user.ID, Guilds: s.names.guildNames(), Invite: Invite(self.app), Contentless: s.contentless.Load()})
			}
		})
	})
	if len(s.commands()) == 0 {
		return
	}
	s.tasks.Go(func() {
		defer s.logPanic("register commands")
		s.registerOnce(ctx, self.app)
	})
}

// awaitGuilds waits until all servers that READY announced are known, or limit has passed.
func (s *Session) awaitGuilds(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		s.mu.Lock()
		came := s.guildCame
		s.mu.Unlock()
		if s.names.complete() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-came:
		}
	}
}

// Fatal is the error of Run if trying again cannot help.
type Fatal struct {
	Code int    // close code of the gateway, or an HTTP status
	Cure string // what the operator should do
}

func (f *Fatal) Error() string { return fmt.Sprintf("discord: %s (code %d)", f.Cure, f.Code) }

// noContent is the close code for an intent that is not granted. The only intent that needs a grant is reading messages.
const noContent = 4014

const contentCure = "switch on \"Message Content Intent\" at " + portal + " → Privileged Gateway Intents"

const portal = "https://discord.com/developers/applications → your application → Bot"

// fatal returns the error for a gateway close code, or nil if another connection may work.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes
func fatal(code int) *Fatal {
	cures := map[int]string{
		4004:                    "Discord refuses the bot token: reset it at " + portal + " → Reset Token, and set DISCORD_TOKEN",
		4010:                    "Discord refuses the shard number",
		4011:                    "the bot is in too many servers for one connection: sharding is required from 2,500 on",
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
