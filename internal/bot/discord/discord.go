// Package discord is the bot's door to Discord: it reports what people write and carries out what the bot says.
//
// A [Session] is made from a [Config] and lives as long as [Session.Run]. What happens in the channels comes out of
// [Session.Events] as plain [turn.Event]s, in Discord's order; [Session.Deliver], [Session.Typing] and
// [Session.Respond] go the other way and may be used from any goroutine, also after Run has returned, so that turns
// which have begun can finish. Reading from top to bottom:
//
//   - supervise.go keeps a connection to the gateway alive: when to resume, when to start over, when to give up.
//   - keep.go keeps the session for the next start; gap.go asks for what was written while there was none.
//   - connection.go is one such connection, from HELLO to its end; it beats, and notices a dead peer within two beats.
//   - intake.go and message.go turn gateway payloads (wire.go) into events; read.go writes their text with names for
//     ids, which directory.go knows; queue.go stands between the gateway, which must never wait, and a busy bot.
//   - parents.go asks for channels that the gateway did not announce.
//   - reaction.go is people's reactions and the bot's; thread.go opens threads.
//   - permissions.go computes who may read which channel; readable.go asks it of what the directory knows.
//   - rest.go and pace.go send one request, with its limits and retries; fail.go and classify.go name what went wrong.
//   - survey.go asks, without a connection, how the bot is set up at Discord, and what it may do where.
//   - form.go opens forms; profile.go is how the bot looks in a server; webhook.go posts under the names of several characters.
//   - deliver.go, interact.go and commands.go are messages, answers to commands and the commands themselves.
//
// REST calls, permissions, error codes and payload types are discordgo's. Its gateway client is not used, because it
// cannot tell an invalidated session (op 9) from a quiet one, answers it with IDENTIFYs that nobody counts, loses the
// close code of a running connection, needs five missed beats to notice a dead one and can crash the process while
// closing (bwmarrin/discordgo#1702). Nor is its rate limiter, which sleeps without regard to the context.
//
// The formats are those of API version 10: https://discord.com/developers/docs/reference.
package discord

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
)

// Config says who the bot is and how it reaches Discord. Token and HTTP are required.
type Config struct {
	Token     string              // the bot's token, with or without "Bot " before it
	HTTP      *http.Client        // for the origin of BaseURL; not changed
	BaseURL   string              // REST base without the version; empty: https://discord.com/api
	UserAgent string              // empty: a plain DiscordBot one
	Log       *slog.Logger        // nil: silent
	Redact    func(string) string // takes secrets out of error texts; the token always is
	PerSecond int                 // requests per second over all routes; 0: Discord's own limit of 50
	Queue     int                 // events that may wait for the bot before the oldest are lost; 0: 4,096
	Operator  string              // id of the user who runs the bot; empty: nobody is known
	Reactions bool                // whether people's reactions are reported
	Commands  []turn.Definition   // what people may order
	// Proxies are the ids of applications whose webhooks write for people. What other webhooks and bots write is ignored.
	Proxies  map[string]bool
	OnReady  func(Ready)                           // called once, when the first session has begun and its servers are known
	LoadHash func(context.Context) (string, error) // reads what SaveHash saved, "" if nothing; nil: commands are registered at each start
	SaveHash func(context.Context, string) error   // keeps the fingerprint of the commands Discord has been given

	// Form returns the form that a command opens whose definition says so, or why a person may not open it. It has a second.
	Form func(context.Context, turn.Event) (form turn.Form, refusal string)

	// LoadSession reads what SaveSession saved, "" if nothing, once when Run begins; SaveSession keeps it, every few seconds while
	// anything happens and at the end of Run. With both, a program that starts again within minutes goes on in the session of the
	// one before, and gets what that one had not taken out of Events; what it took last may come twice. The text is no secret
	// without the token, but it names servers and channels.
	LoadSession func(context.Context) (string, error)
	SaveSession func(context.Context, string) error

	// LoadWebhook reads what SaveWebhook kept of a channel, none if nothing, so that a channel gets one webhook for good. Their
	// tokens are secrets. Keeps reports whether the bot has a message of its own on record. Each may be nil.
	LoadWebhook func(ctx context.Context, channelID string) (Webhook, error)
	SaveWebhook func(ctx context.Context, guildID, channelID string, w Webhook) error
	Keeps       func(ctx context.Context, messageID string) (bool, error)
}

// Ready describes the bot, as Discord does when a session begins.
type Ready struct {
	Name, ID string
	Guilds   []string // names of its servers, sorted; an id where the server is unavailable
	// Contentless: the bot may read only what is for it.
	Contentless bool

	Invite string // URL that adds the bot to a server with the least permissions it needs
}

// Health is what the door knows about its own state.
type Health struct {
	Connected  bool          // a session is established right now
	Since      time.Time     // when Connected last changed
	LastEvent  time.Time     // last dispatch from the gateway
	LastAck    time.Time     // last answered heartbeat
	Latency    time.Duration // of that heartbeat
	Guilds     int
	Identifies int    // sessions begun since the start
	Resumes    int    // sessions resumed since the start
	Dropped    int    // events lost because the bot did not keep up
	Trouble    string // why the last connection ended or could not be made; empty while all is well
}

const defaultBase = "https://discord.com/api"

// Session is a door to Discord. Make it with New.
type Session struct {
	cfg        Config
	log        *slog.Logger
	token      string
	base       string // REST base with its version, without a slash at the end
	rest       *discordgo.Session
	pace       *pacer
	names      directory
	refusals   refusals
	hooks      webhooks
	parents    parents
	events     chan turn.Event // closed by Run
	waiting    *queue
	netDial    func(ctx context.Context, network, address string) (net.Conn, error) // to the gateway; nil: a net.Dialer's. Tests connect in memory
	frameLimit int64                                                                // bytes of a gateway frame; larger ones are skipped
	handle     map[string]func(context.Context, []byte) error                       // gateway event → handler; fixed by New

	self    atomic.Pointer[identity] // nil before the first READY
	tasks   sync.WaitGroup           // goroutines started by Run; it waits for them
	seen    edits                    // messages that were reported
	origins originals                // by people, where a proxy may write it anew; owned by the goroutine that reads the gateway
	at      position                 // of the event being read; owned by the goroutine that reads the gateway
	once    sync.Once                // OnReady

	welcome chan struct{} // holds one token after READY and RESUMED, for the keeper
	filling sync.Mutex    // held while missed messages are asked for

	offered     atomic.Pointer[[]turn.Definition] // in the place of Config.Commands; nil: these are
	registering sync.Mutex                        // held while the commands are registered
	registered  bool                              // Discord has them; guarded by registering

	mu     sync.Mutex
	health Health // guarded by mu
	// contentless: the gateway has refused the content of messages, without which mentions, replies with a ping, commands and direct
	// messages still come whole.
	contentless atomic.Bool
	presence    atomic.Pointer[turn.Presence]    // what is shown; nil: nothing was set
	presenting  chan struct{}                    // holds one token after a change
	refuse401   func()                           // ends Run, set by it; guarded by mu
	spawn       func(task func(context.Context)) // starts a goroutine that Run waits for; nil unless it runs; guarded by mu
	guildCame   chan struct{}                    // closed and replaced at each GUILD_CREATE; guarded by mu
	resumable   address                          // of the session, if there is one to resume; guarded by mu
	directs     map[string]snowflake             // channels of direct messages, with their latest message; guarded by mu
}

// Contentless reports whether Discord lets the bot read only what is for it.
func (s *Session) Contentless() bool { return s.contentless.Load() }

// The waits of the supervisor.
const (
	helloLimit   = 15 * time.Second       // for HELLO
	welcomeLimit = 30 * time.Second       // for READY or RESUMED, after that
	identifyGap  = 5 * time.Second        // between two IDENTIFYs
	invalidWait  = time.Second            // after op 9: this plus up to four times as much
	firstRetry   = 500 * time.Millisecond // after a failure; doubles
	guildsLimit  = 2 * time.Second        // for the servers announced in READY
	firstResend  = 250 * time.Millisecond // before a request is sent again; doubles
)

// New checks the configuration; it does not touch the network.
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
		base:       strings.TrimSuffix(c.BaseURL, "/") + "/v10",
		pace:       newPacer(c.PerSecond),
		events:     make(chan turn.Event), // unbuffered: what was sent has been received
		guildCame:  make(chan struct{}),
		welcome:    make(chan struct{}, 1),
		presenting: make(chan struct{}, 1),
		frameLimit: maxFrame,
	}
	if (c.LoadSession == nil) != (c.SaveSession == nil) {
		return nil, errors.New("open Discord: LoadSession and SaveSession go together")
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.waiting = newQueue(c.Queue)
	s.handle = s.handlers()
	if s.rest, err = s.newREST(); err != nil {
		return nil, err
	}
	return s, nil
}

// CheckToken returns what is wrong with a bot token's shape. At Discord itself it is three base64url parts, the first of them the
// bot's id; any other server, which baseURL names, may have tokens of its own shape. A token of the right shape may still be refused.
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

// isDiscord reports whether a base URL is Discord's own, as an empty one is.
func isDiscord(baseURL string) bool {
	u, err := url.Parse(orElse(baseURL, defaultBase))
	if err != nil {
		return true
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	return host == "discord.com" || strings.HasSuffix(host, ".discord.com")
}

// checkShape returns what is wrong with the shape of a token of Discord's own.
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

// Events returns what happens, in Discord's order. It is closed when Run returns. Nobody else may close it.
//
// A Gone event without a channel means that the bot has left the whole server.
func (s *Session) Events() <-chan turn.Event { return s.events }

// Guilds returns the ids of the servers that the bot is in. Known is false before Discord has said so.
func (s *Session) Guilds() (ids []string, known bool) { return s.names.guildIDs() }

// Health reports the state of the connection.
func (s *Session) Health() Health {
	guilds, dropped := s.names.guildCount(), s.waiting.lost()
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.health
	h.Guilds, h.Dropped = guilds, dropped
	return h
}

// note changes the health under its lock.
func (s *Session) note(change func(*Health)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.health)
}

// redact takes the token, and whatever the operator's redactor knows, out of a text.
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

// Invite returns the URL that adds an application, given by its id, to a server with the least permissions the bot needs.
func Invite(application string) string {
	var least permissions
	for _, r := range needs() {
		least |= r.bit
	}
	return fmt.Sprintf("https://discord.com/oauth2/authorize?client_id=%s&permissions=%d&scope=bot+applications.commands",
		url.QueryEscape(application), uint64(least))
}
