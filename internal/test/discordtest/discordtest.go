// Package discordtest is a Discord for tests. It is a small real server on loopback that speaks the REST API over HTTP and the gateway over
// WebSocket.
//
//	discord := discordtest.New(t)
//	// … start the program with DISCORD_API_URL=discord.URL and DISCORD_TOKEN=discordtest.Token …
//	discord.WaitSession(5 * time.Second)
//	discord.Say("general", "ada", "@familiar what is the tallest tree?")
//	reply, ok := discord.WaitReply("general", 5*time.Second)
//
// It begins with one server, "hall", and one channel in it, "general"; AddGuild, AddChannel, AddThread and AddRole make more. A channel is
// given by its name, its id, or "@ada" for the direct messages of ada. A person is given by name and is created by the first message. In a
// text, "@ada", "@role" and "#general" become mentions.
//
//   - What people do: Say, Reply, Post, Edit, Embed, Delete, Purge, React, Unreact, Interact, Order, Press, DeleteChannel, Kick. AddAway
//     makes a server that has not installed the bot, where people bring it along.
//   - What they attach: Post with files, forwarded messages and embeds; ServeFile is the host of the files.
//   - Who may read what: Allow gives a role permissions, and Join a person roles. Overwrite changes what a role or a person may do in a
//     channel. Everybody may read at first. Pin and Topic; and Searching says how the own search of the server answers.
//   - The application: RefuseContent switches off an intent, SendInteractionsTo sends commands elsewhere.
//   - Webhooks of the bot: DenyWebhooks, DeleteWebhooks, Webhooks. Their messages count as the bot's, under the names that they have.
//   - What the bot did: WaitReply, Messages, Requests, Commands, Offered, and the Interaction's WaitAck, WaitAnswer and WaitChoices.
//   - What the gateway does: Drop has any close code. Reconnect (op 7), Invalidate (op 9), MuteAcks and Silence have none. CloseNext,
//     InvalidateNext and IgnoreNext are for what comes next. Repeat and Dispatch send duplicate and odd events. A session that is resumed
//     gets the events it missed.
//   - Time: New serves on loopback, in real time, and NewTLS behind TLS. NewVirtual serves in memory, for the virtual time of
//     testing/synctest. There Unplug takes the network away.
//   - What the bot does that Discord does not allow: judge.go has the limits of all that the bot sends. A request that is refused makes the
//     test fail, unless the test has asked for it with Accept. Refusals and Violations count.
//   - What goes wrong in REST: Fail has any status, body, delay or a cut connection. It comes before or after the request has taken effect.
//     TooMany and Cloudflare are the two kinds of 429. Limit is a real bucket, and Pace the limit over all routes. Deny and Archive refuse.
//
// Limits, error bodies, codes and nonces are Discord's: https://discord.com/developers/docs/reference.
package discordtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is the only bot token the server accepts.
const Token = "MTAwMDAwMDAwMDAwMDAwMDAx.GdTest.not-a-secret_only-this-test-server-takes-it"

const (
	botID   = "100000000000000001"
	botName = "familiar"
	appID   = "100000000000000002"
	epoch   = 1420070400000 // of snowflakes, in Unix milliseconds
)

// Server is one Discord. Its methods may be used from any goroutine.
type Server struct {
	URL string // base of the REST API without a version: the value of DISCORD_API_URL

	http    *httptest.Server
	network *network // of NewVirtual; nil: loopback
	gateway gateway
	conns   sync.WaitGroup // gateway connections

	mu              sync.Mutex
	changed         chan struct{} // closed and replaced at each change; guarded by mu, like all fields below
	lastID          int64
	users           map[string]*user // by id
	byName          map[string]*user
	guilds          []*guild
	guildBy         map[string]*guild // by id and by name
	guildsMade      uint64
	born            uint64 // milliseconds from which the ids of servers count
	directs         map[*user]*channel
	channels        map[string]*channel // by id
	messages        map[string]*message // by id
	nonces          map[string]*message // by channel and nonce
	interactions    map[string]*Interaction
	webhooks        []*webhook
	commands        []byte
	commandPuts     int
	unknownProperty string // in requests about commands: they are refused; guarded by mu
	faults          []*Fault
	limit           int
	per             time.Duration
	windows         map[string]*window
	pace            int         // requests in a second; 0: any number
	latest          []time.Time // times of the latest requests, at most pace of them
	quiet           bool
	files           map[string]*file // by id
	staleLinks      bool             // the links of the next payload are expired
	requests        []Request
	onReply         func(Message)
	searching       SearchState
	resumeURL       *string // the address that READY gives; nil: the gateway's own
	startsLeft      int
	judge           judge
	resetAt         time.Time // when startsLeft is reset
	shards          int       // that are recommended; 0: by the number of servers
	endpoint        string
	skew            time.Duration // by which the clock is off
}

type user struct {
	id, name, locale string
	bot              bool
}

type guild struct {
	id, name      string
	born          uint64              // milliseconds in the id, which choose the shard
	roles         map[string]string   // id → name
	own           string              // id of the bot's own role; empty: none
	nicks         map[string]string   // user id → nickname
	may           map[string]Rights   // role id → permissions; that of @everyone is the server's
	members       map[string][]string // user id → role ids
	channels      []*channel          // with its threads
	avatar        string              // the bot's avatar in this server
	nameless      bool                // the bot may not change its nickname
	away          bool                // the bot is not installed here
	fullOfThreads bool
}

type channel struct {
	id, name, guild, parent  string
	kind                     int // 0 text, 1 direct, 11 thread
	recipient                *user
	messages                 []*message
	taken                    int // replies that WaitReply has returned
	denied, archived, locked bool
	noThreads                bool
	topic                    string
	overwrites               map[string]overwrite // by role or user id
	pins                     []*message           // newest first
	typing                   time.Time            // when the bot last showed that it types
	hookless                 bool                 // the bot may not manage its webhooks
	voiceless                bool                 // the bot may not send voice messages
	fileless                 bool                 // the bot may not attach files
}

// New starts a server on loopback; the test's cleanup ends it.
func New(tb testing.TB) *Server {
	s := empty()
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.begin(tb)
	return s
}

func empty() *Server {
	return &Server{
		changed: make(chan struct{}), users: map[string]*user{}, byName: map[string]*user{},
		channels: map[string]*channel{}, messages: map[string]*message{}, nonces: map[string]*message{},
		interactions: map[string]*Interaction{}, windows: map[string]*window{}, files: map[string]*file{}, startsLeft: startsADay,
		guildBy: map[string]*guild{}, directs: map[*user]*channel{},
		gateway: gateway{interval: 41250 * time.Millisecond, most: 2500, concurrency: 1, identified: map[int]time.Time{}},
	}
}

func (s *Server) begin(tb testing.TB) {
	s.URL = s.http.URL + "/api"
	tb.Cleanup(func() {
		s.close()
		s.complain(tb)
	})
	s.addUser(&user{id: botID, name: botName, bot: true})
	s.AddChannel(s.AddGuild("hall"), "general")
}

func (s *Server) close() {
	s.gateway.shut()
	s.http.CloseClientConnections()
	s.http.Close()
	s.conns.Wait()
}

// newID makes a snowflake. The caller must hold mu.
func (s *Server) newID() string {
	s.lastID = max(s.lastID+1, (time.Now().UnixMilli()-epoch)<<22)
	return fmt.Sprint(s.lastID)
}

func (s *Server) addUser(u *user) *user {
	s.users[u.id], s.byName[u.name] = u, u
	return u
}

// person finds or makes a user. The caller must hold mu.
func (s *Server) person(name string) *user {
	if u := s.byName[name]; u != nil {
		return u
	}
	return s.addUser(&user{id: s.newID(), name: name})
}

// find returns the channel with a name or id. The caller must hold mu.
func (s *Server) find(name string) *channel {
	if c := s.channels[name]; c != nil {
		return c
	}
	if person, direct := strings.CutPrefix(name, "@"); direct {
		return s.direct(s.person(person))
	}
	if name == "~" {
		return s.newestThread()
	}
	name = strings.TrimPrefix(name, "#")
	for _, c := range s.channels {
		if c.name == name && c.kind != 1 {
			return c
		}
	}
	s.mu.Unlock() // so that the test ends, and does not hang
	panic(fmt.Sprintf("discordtest: no channel %q", name))
}

// direct finds or makes the direct-message channel with a user. The caller must hold mu.
func (s *Server) direct(u *user) *channel {
	c := s.directs[u]
	if c == nil {
		c = s.addChannel(&channel{id: s.newID(), kind: 1, recipient: u})
		s.directs[u] = c
	}
	return c
}

// guild returns the server with an id or a name, or nil. The caller must hold mu.
func (s *Server) guild(id string) *guild { return s.guildBy[id] }

// addGuild makes a server. Its id is older than the server of tests, and one millisecond younger than the one before it. The
// caller must hold mu.
func (s *Server) addGuild(name string) *guild {
	if s.born == 0 {
		const before, whole = 365 * 24 * time.Hour, 5040 // a multiple of all numbers up to 10, and of 16
		s.born = uint64(time.Now().Add(-before).UnixMilli()-epoch) / whole * whole
	}
	born := s.born + s.guildsMade
	g := &guild{id: fmt.Sprint(born << 22), born: born, name: name, roles: map[string]string{}, nicks: map[string]string{}, may: map[string]Rights{}, members: map[string][]string{}}
	s.guildsMade++
	s.guilds = append(s.guilds, g)
	s.guildBy[g.id] = g
	if s.guildBy[name] == nil {
		s.guildBy[name] = g
	}
	return g
}

// addChannel adds a channel to what the server has. The caller must hold mu.
func (s *Server) addChannel(c *channel) *channel {
	s.channels[c.id] = c
	if g := s.guild(c.guild); g != nil {
		g.channels = append(g.channels, c)
	}
	return c
}

// dropChannel removes a channel. The caller must hold mu.
func (s *Server) dropChannel(c *channel) {
	delete(s.channels, c.id)
	if g := s.guild(c.guild); g != nil {
		g.channels = slices.DeleteFunc(g.channels, func(other *channel) bool { return other == c })
	}
}

// AddAway makes a server that has not installed the bot, with one channel. People may bring the bot along.
func (s *Server) AddAway(name, channelName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.addGuild(name)
	g.away = true
	s.addChannel(&channel{id: s.newID(), guild: g.id, name: channelName})
}

// away reports whether a channel is in a server that has not installed the bot. The caller must hold mu.
func (s *Server) away(c *channel) bool {
	g := s.guild(c.guild)
	return g != nil && g.away
}

// AddGuild makes a server and returns its id.
func (s *Server) AddGuild(name string) string {
	s.mu.Lock()
	g := s.addGuild(name)
	g.may[g.id] = Reader | Member | InThreads
	payload := s.guildPayload(g)
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_CREATE", payload)
	return g.id
}

// Kinds of channels.
// https://discord.com/developers/docs/resources/channel#channel-object-channel-types
const (
	TextChannel  = 0
	VoiceChannel = 2
	Announcement = 5
	Forum        = 15
	Media        = 16
)

// AddChannel makes a text channel in a server, given by id or name, and returns its id.
func (s *Server) AddChannel(guild, name string) string {
	return s.AddChannelOf(TextChannel, guild, name)
}

// AddChannelOf makes a channel of the given kind and returns its id.
func (s *Server) AddChannelOf(kind int, guild, name string) string {
	s.mu.Lock()
	c := s.addChannel(&channel{id: s.newID(), name: name, guild: s.guild(guild).id, kind: kind})
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_CREATE", payload)
	return c.id
}

// AddThread makes a public thread under a channel and returns its id. A silent thread is not announced, like a thread that was archived when
// the session began.
func (s *Server) AddThread(channelName, name string, silent bool) string {
	s.mu.Lock()
	above := s.find(channelName)
	c := s.addChannel(&channel{id: s.newID(), name: name, guild: above.guild, parent: above.id, kind: 11})
	payload := c.payload()
	s.mu.Unlock()
	if !silent {
		s.gateway.dispatch("THREAD_CREATE", payload)
	}
	return c.id
}

// AddRole makes a role in a server and returns its id.
func (s *Server) AddRole(guild, name string) string {
	s.mu.Lock()
	g, id := s.guild(guild), s.newID()
	g.roles[id] = name
	payload := g.rolePayload(id)
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_ROLE_CREATE", object{"guild_id": g.id, "role": payload})
	return id
}

// AddOwnRole makes the role that Discord makes for a bot when it joins, with the bot's name.
func (s *Server) AddOwnRole(guild string) string {
	s.mu.Lock()
	g, id := s.guild(guild), s.newID()
	g.roles[id], g.own = botName+" role", id
	payload := g.rolePayload(id)
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_ROLE_CREATE", object{"guild_id": g.id, "role": payload})
	return id
}

// Nick gives a person a nickname in a server.
func (s *Server) Nick(guild, person, nick string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.guild(guild).nicks[s.person(person).id] = nick
}

// ID returns the id of the channel with a name.
func (s *Server) ID(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(channel).id
}

// GuildOf returns the id of a channel's server.
func (s *Server) GuildOf(channel string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(channel).guild
}

// UserID returns the id of a person, or of the bot ("familiar").
func (s *Server) UserID(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.person(name).id
}

// Deny removes the bot's permission to write in a channel, or restores it.
func (s *Server) Deny(channel string, denied bool) {
	s.mu.Lock()
	c := s.find(channel)
	c.denied = denied
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch("CHANNEL_UPDATE", payload)
}

// DeleteChannel deletes a channel or thread.
func (s *Server) DeleteChannel(name string) {
	s.mu.Lock()
	c := s.find(name)
	s.dropChannel(c)
	kind := "CHANNEL_DELETE"
	if c.kind == 11 {
		kind = "THREAD_DELETE"
	}
	payload := c.payload()
	s.mu.Unlock()
	s.gateway.dispatch(kind, payload)
}

// Kick removes the bot from a server.
func (s *Server) Kick(name string) {
	s.mu.Lock()
	g := s.guild(name)
	s.guilds = slices.DeleteFunc(s.guilds, func(other *guild) bool { return other == g })
	delete(s.guildBy, g.id)
	delete(s.guildBy, g.name)
	for _, c := range g.channels {
		delete(s.channels, c.id)
	}
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_DELETE", object{"id": g.id})
}

// Outage makes a server unavailable. That differs from a removal.
func (s *Server) Outage(guild string) {
	s.mu.Lock()
	id := s.guild(guild).id
	s.mu.Unlock()
	s.gateway.dispatch("GUILD_DELETE", object{"id": id, "unavailable": true})
}
