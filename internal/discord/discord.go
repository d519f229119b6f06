// Package discord is the bot's door to Discord. It reports what people write and sends what the bot says.
//
// A [Session] is made from a [Config] and lives as long as [Session.Run]. Events come out of [Session.Events] as plain
// [turn.Event]s, in Discord's order. [Session.Post], [Session.Edit], [Session.Delete], [Session.React],
// [Session.OpenThread], [Session.Typing] and [Session.Respond] go the other way. Any goroutine may call them, also after
// Run has returned, so that a turn that has begun can finish. Reading from top to bottom:
//
//   - Package gateway keeps the sessions. intake.go turns what they bring (wire.go) into events.
//   - keep.go saves them with the servers that they had. gap.go asks for messages that were written while there was none.
//   - message.go reads one message: its author, its text with names for ids, its attachments and embeds.
//   - directory.go knows servers, channels and roles, and asks for channels that the gateway did not announce.
//   - permissions.go computes who may read which channel.
//   - deliver.go posts, edits and deletes messages. webhook.go does so under the names of several characters.
//   - interact.go answers commands, buttons and forms. commands.go registers the commands.
//   - server.go reads a server when it is asked about it. Without a connection it surveys how the bot is set up.
//
// REST calls, permissions, error codes and payload types are discordgo's. Its rate limiter is not used, because it sleeps
// without regard to the context: package rest sends the requests.
//
// The formats are those of API version 10: https://discord.com/developers/docs/reference.
package discord

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// Config says who the bot is and how it reaches Discord. Token and HTTP are required.
type Config struct {
	Token     string              // the bot's token, with or without the prefix "Bot "
	HTTP      *http.Client        // for the origin of BaseURL; it is not changed
	BaseURL   string              // of the REST API, without the version; empty: https://discord.com/api
	UserAgent string              // empty: a plain DiscordBot user agent
	Log       *slog.Logger        // nil: nothing is logged
	Redact    func(string) string // removes secrets from error texts; the token is always removed
	PerSecond int                 // requests per second over all routes; 0: Discord's own limit of 50
	Shards    int                 // sessions with the gateway; 0: as many as Discord recommends
	Queue     int                 // events that may wait for the bot before the oldest are dropped; 0: 4,096
	Operator  string              // id of the user who runs the bot; empty: unknown
	Reactions bool                // whether people's reactions are reported
	Commands  []turn.Definition   // offered to people
	// Proxies are the ids of applications whose webhooks write for people. Messages of other webhooks and bots are
	// ignored.
	Proxies  map[string]bool
	OnReady  func(Ready)                           // is called once, when the first session has begun and its servers are known
	LoadHash func(context.Context) (string, error) // reads what SaveHash saved, or ""; nil: commands are registered at each start
	SaveHash func(context.Context, string) error   // saves the fingerprint of the commands that Discord has

	// Overdue is called with events that have waited for some seconds, or are dropped, because the bot takes none. It must not wait. nil: nobody is told.
	Overdue func([]turn.Event)

	// Taken reports whether a command was carried out by its id. Such a command came again, and is not acknowledged again. nil: no command
	// comes twice.
	Taken func(ctx context.Context, id string) (bool, error)

	// Alike reports whether two names look the same. A persona that is called like a member posts with a mark after its name. nil: names
	// are not compared, and Namesake must not be called.
	Alike func(a, b string) bool

	// Form returns the form that a command opens, or the reason why a person may not open it. It has a second. It is
	// called for commands whose definition has Form set.
	Form func(context.Context, turn.Event) (form turn.Form, refusal string)

	// LoadSession reads what SaveSession saved for a shard, or "". It is called when Run begins. SaveSession is called every
	// few seconds while anything happens, and at the end of Run. With both, a program that starts again within minutes
	// resumes the session of the one before. It gets the events that the one before had not taken from Events. The
	// latest events may come twice. The text is not a secret without the token, but it names servers and channels. LoadSession also says when
	// it was saved, by this machine's clock, if another machine may have saved it.
	LoadSession func(ctx context.Context, shard int) (text string, saved time.Time, err error)
	SaveSession func(ctx context.Context, shard int, text string) error
	// LoadServers reads what SaveServers saved, by server. SaveServers saves the servers that have changed, at once; "" is
	// for one that the bot has left. Both are given if LoadSession is.
	LoadServers func(context.Context) (map[string]string, error)
	SaveServers func(ctx context.Context, changed map[string]string) error

	// Holder says which shards this process runs; nil: all. With one, a session is read when its shard is taken. Inherit is then called with
	// what tells its servers. What it returns, if anything, runs beside the session. When the shard is given up, Yield waits for what is being
	// done for them. Once its context ends, Yield ends that. If it calls pass, another process may have the shard meanwhile.
	Holder  gateway.Holder
	Inherit func(ctx context.Context, shard int, mine func(guildID string) bool) (later func())
	Yield   func(ctx context.Context, mine func(guildID string) bool, pass func(work func() []string))

	// LoadWebhook reads what SaveWebhook saved for a channel, or the zero value. So a channel only ever gets one webhook. Webhook tokens are
	// secrets. Keeps reports whether the bot has recorded a message of its own. Each of the three may be nil.
	LoadWebhook func(ctx context.Context, channelID string) (Webhook, error)
	SaveWebhook func(ctx context.Context, guildID, channelID string, w Webhook) error
	Keeps       func(ctx context.Context, messageID string) (bool, error)
}

// Ready describes the bot when a session begins.
type Ready struct {
	Name, ID string
	Guilds   []string // names of its servers, sorted; the id of a server that is unavailable
	// Contentless means that the bot may read only messages that are for it.
	Contentless bool

	Invite string // URL that adds the bot to a server with the least permissions it needs
}

const defaultBase = "https://discord.com/api"

// Session is a door to Discord. Make it with New.
type Session struct {
	cfg       Config
	log       *slog.Logger
	token     string
	rest      *rest.Client
	names     directory
	refusals  refusals
	hooks     webhooks
	namesakes namesakes
	late      lateEdits
	acks      acks
	parents   parents
	gateway   *gateway.Gateway
	handle    map[string]func(*shard, context.Context, []byte) error // gateway event → handler; not changed after New

	self atomic.Pointer[identity] // nil before the first READY
	seen edits                    // messages and interactions that were reported

	filling sync.Mutex // held while missed messages are asked for

	offered     atomic.Pointer[[]turn.Definition] // replaces Config.Commands; nil: does not
	registering sync.Mutex                        // held while the commands are registered
	registered  bool                              // Discord has the commands; guarded by registering

	mu        sync.Mutex
	guildCame chan struct{}            // closed and replaced at each GUILD_CREATE; guarded by mu
	directs   map[string]gateway.Flake // channel of direct messages → its latest message; guarded by mu
}

// New checks the configuration. It does not touch the network.
func New(c Config) (*Session, error) {
	token := strings.TrimPrefix(strings.TrimSpace(c.Token), "Bot ")
	if err := CheckToken(token, c.BaseURL); err != nil {
		return nil, err
	}
	if c.HTTP == nil {
		return nil, errors.New("open Discord: no HTTP client given")
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBase
	}
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("open Discord: base URL %q is not an http or https URL", c.BaseURL)
	}
	if c.PerSecond <= 0 {
		c.PerSecond = 50
	}
	if c.Queue <= 0 {
		c.Queue = 4096
	}
	s := &Session{
		cfg: c, log: c.Log, token: token,
		guildCame: make(chan struct{}),
	}
	if keeps := c.LoadSession != nil; keeps != (c.SaveSession != nil) || keeps != (c.LoadServers != nil) || keeps != (c.SaveServers != nil) {
		return nil, errors.New("open Discord: LoadSession, SaveSession, LoadServers and SaveServers go together")
	} else if keeps {
		s.names.changed = map[string]bool{}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.handle = handlers()
	s.rest, err = rest.New(rest.Config{
		Token: token, Base: strings.TrimSuffix(c.BaseURL, "/") + "/v10", UserAgent: c.UserAgent, HTTP: c.HTTP, PerSecond: c.PerSecond,
		Log: s.log, Redact: s.redact, Refused: func() { s.gateway.Refuse() },
	})
	if err != nil {
		return nil, err
	}
	sessions := gateway.Config{
		Token: token, REST: s.rest, Log: s.log, Redact: s.redact, Queue: c.Queue, Reader: s.readShard, Reactions: c.Reactions, Shards: c.Shards,
		Holder: c.Holder, Load: s.takeUp, Yield: s.yield, Begun: s.begun, Missed: s.fillGap, Place: s.place, Overdue: c.Overdue,
	}
	if c.Holder != nil {
		sessions.Taken = func(ctx context.Context, shard *gateway.Shard) {
			if later := c.Inherit(ctx, shard.Number(), shard.Brings); later != nil {
				s.gateway.Go("take up what another process has finished", later)
			}
		}
	}
	if c.SaveSession != nil {
		sessions.Save = s.save
		sessions.Clear = func(ctx context.Context, shard int) error { return c.SaveSession(ctx, shard, "") }
	}
	s.gateway = gateway.New(sessions)
	return s, nil
}

// Refuses reports whether an error says that Discord does not accept the token.
func Refuses(err error) bool { return rest.KindOf(err) == rest.Unauthorized }

// CheckToken returns what is wrong with the shape of a bot token. A token of Discord has three base64url parts, and the
// first is the bot's id. Another server, which baseURL names, may have tokens of another shape. A token of the right
// shape may still be refused.
func CheckToken(token, baseURL string) error {
	where := "copy it from https://discord.com/developers/applications → your application → Bot → Reset Token"
	if !isDiscord(baseURL) {
		where = "copy it from the server that DISCORD_API_URL names"
	}
	token = strings.TrimPrefix(strings.TrimSpace(token), "Bot ")
	switch {
	case token == "":
		return errors.New("the bot token is empty; " + where)
	case isDiscord(baseURL):
		return checkShape(token, where)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the bot token has characters that no token has (spaces in it?); " + where)
	}
	return nil
}

// isDiscord reports whether a base URL is Discord's own. An empty one is.
func isDiscord(baseURL string) bool {
	u, err := url.Parse(cmp.Or(baseURL, defaultBase))
	if err != nil {
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host == "discord.com" || strings.HasSuffix(host, ".discord.com")
}

// checkShape returns what is wrong with the shape of one of Discord's own tokens.
func checkShape(token, where string) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("the bot token does not have three parts joined by dots; " + where)
	}
	for _, part := range parts {
		if part == "" || strings.Trim(part, tokenAlphabet) != "" {
			return errors.New("the bot token has characters that no token has (quotes or spaces around it?); " + where)
		}
	}
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[0], "="))
	if err != nil || strings.Trim(string(id), "0123456789") != "" {
		return errors.New("the bot token does not begin with a bot's id; " + where)
	}
	return nil
}

const tokenAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_="

// Fatal is the error of Run if trying again cannot help.
type Fatal = gateway.Fatal

// ShardOf returns the number of the shard that brings a server's events, of so many shards.
func ShardOf(guildID string, of int) int { return gateway.ShardOf(guildID, of) }

// Run connects to Discord and stays connected until ctx is done. Then it returns nil. If trying again cannot help, it
// returns a *Fatal. It may be called once. When it returns, everything that it started has ended and Events is closed.
func (s *Session) Run(ctx context.Context) error { return s.gateway.Run(ctx, s.restore) }

// Events returns the events in Discord's order, those together that came while the bot was busy. Run closes the channel
// when it returns. Nobody else may close it. The bot takes events when it has stored those that came before.
//
// A Gone event without a channel means that the bot has left the whole server.
func (s *Session) Events() <-chan []turn.Event { return s.gateway.Events() }

// Contentless reports whether Discord lets the bot read only messages that are for it.
func (s *Session) Contentless() bool { return s.gateway.Contentless() }

// Present shows a presence beside the bot's name, in this session and in later ones. It does not wait.
func (s *Session) Present(p turn.Presence) { s.gateway.Present(p) }

// Health reports the state of the connections.
func (s *Session) Health() turn.Gateway {
	h := s.gateway.Health()
	if h.Of > 0 {
		guilds := s.names.countByShard(h.Of)
		for i := range h.Shards {
			h.Shards[i].Guilds = guilds[i]
			h.Guilds += guilds[i]
		}
	}
	return h
}

// Limited returns how often Discord has answered 429 to this process.
func (s *Session) Limited() int64 { return s.rest.Limited.Load() }

// Guilds returns the ids of the bot's servers. known is false until Discord has announced them.
func (s *Session) Guilds() (ids []string, known bool) {
	return s.names.guildIDs(), s.gateway.Complete()
}

// redact removes the token, webhook tokens and everything that the operator's redactor knows from a text.
func (s *Session) redact(text string) string {
	text = strings.ReplaceAll(text, s.token, "***")
	for _, hook := range s.hooks.known() {
		text = strings.ReplaceAll(text, hook.Token, "***")
	}
	if s.cfg.Redact != nil {
		text = s.cfg.Redact(text)
	}
	return text
}

// Invite returns the URL that adds an application to a server with the least permissions the bot needs. It takes the
// application's id.
func Invite(application string) string {
	var least permissions
	for _, r := range needs() {
		least |= r.bit
	}
	return fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&permissions=%d&scope=bot+applications.commands",
		url.QueryEscape(application), uint64(least))
}

// Now returns the time. It is Discord's if the machine's clock is more than an hour off.
func (s *Session) Now() time.Time { return s.rest.Clock.Now() }

// Clocked returns a channel that is closed when Discord has told the time.
func (s *Session) Clocked() <-chan struct{} { return s.rest.Clock.Known() }
