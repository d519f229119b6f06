package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/rest"
)

// The permissions of a member in a channel, computed as Discord documents it, without any I/O.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

// permissions is a set of Discord's permission bits. Discord writes it as a decimal string.
type permissions uint64

const (
	everything     = ^permissions(0)
	toRead         = permissions(discordgo.PermissionViewChannel | discordgo.PermissionReadMessageHistory)
	toSeeThreads   = permissions(discordgo.PermissionManageThreads)
	administrating = permissions(discordgo.PermissionAdministrator)
)

// UnmarshalJSON reads a string or a number. Anything else grants nothing.
func (p *permissions) UnmarshalJSON(data []byte) error {
	*p, _ = readPermissions(data)
	return nil
}

// MarshalJSON writes a string.
func (p permissions) MarshalJSON() ([]byte, error) {
	return []byte(`"` + strconv.FormatUint(uint64(p), 10) + `"`), nil
}

func readPermissions(data []byte) (permissions, bool) {
	n, err := strconv.ParseUint(strings.Trim(string(data), `"`), 10, 64)
	return permissions(n), err == nil
}

// overwrite changes the permissions of a role or a member in one channel.
// https://discord.com/developers/docs/resources/channel#overwrite-object
type overwrite struct {
	ID    string        `json:"id"` // of a role or a user; @everyone has the server's id
	Type  overwriteKind `json:"type"`
	Allow permissions   `json:"allow"`
	Deny  permissions   `json:"deny"`
}

type overwriteKind int

const (
	ofRole   overwriteKind = 0
	ofMember overwriteKind = 1
)

// UnmarshalJSON reads an overwrite. If its bits cannot be read, it denies everything.
func (o *overwrite) UnmarshalJSON(data []byte) error {
	var raw struct {
		ID    string          `json:"id"`
		Type  overwriteKind   `json:"type"`
		Allow json.RawMessage `json:"allow"`
		Deny  json.RawMessage `json:"deny"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*o = overwrite{ID: raw.ID, Type: raw.Type}
	var allow, deny bool
	o.Allow, allow = readPermissions(raw.Allow)
	o.Deny, deny = readPermissions(raw.Deny)
	if !allow || !deny {
		o.Allow, o.Deny = 0, everything
	}
	return nil
}

// subject is the member whose permissions are computed.
type subject struct {
	id      string
	roles   []string // without @everyone
	timeout bool     // a moderator has silenced the member for a while
}

// basePermissions returns a member's permissions in the server, before the overwrites of a channel.
func (g *guild) basePermissions(guildID string, who subject) permissions {
	if g.owner != "" && g.owner == who.id {
		return everything
	}
	all := g.roles[guildID].Permissions // @everyone
	for _, id := range who.roles {
		all |= g.roles[id].Permissions
	}
	if all&administrating != 0 {
		return everything
	}
	return all
}

// channelPermissions returns a member's permissions in a channel with the given overwrites. A thread has those of its
// parent. An overwrite for a role that the server is not known to have may deny, but not allow.
func (g *guild) channelPermissions(guildID string, who subject, overwrites []overwrite) permissions {
	all := g.basePermissions(guildID, who)
	if all == everything {
		return all
	}
	var own, roles overwrite
	for _, o := range overwrites {
		switch {
		case o.Type == ofRole && o.ID == guildID:
			all = all&^o.Deny | o.Allow
		case o.Type == ofRole && slices.Contains(who.roles, o.ID):
			roles.Deny |= o.Deny
			if _, exists := g.roles[o.ID]; exists {
				roles.Allow |= o.Allow
			}
		case o.Type == ofMember && o.ID == who.id:
			own = o
		}
	}
	all = all&^roles.Deny | roles.Allow
	all = all&^own.Deny | own.Allow
	if all&permissions(discordgo.PermissionViewChannel) == 0 {
		return 0
	}
	if who.timeout {
		all &= toRead
	}
	return all
}

// mayRead reports whether a member may see a channel and its history. parent is the channel of a thread. The members of
// private threads are unknown, so only members who manage threads may read those.
func (g *guild) mayRead(guildID string, who subject, c, parent channel) bool {
	overwrites := c.Overwrites
	if c.thread() {
		if parent.ID == "" || parent.ID != c.ParentID || parent.thread() {
			return false
		}
		overwrites = parent.Overwrites
	}
	all := g.channelPermissions(guildID, who, overwrites)
	if c.Type == discordgo.ChannelTypeGuildPrivateThread && all&toSeeThreads == 0 {
		return false
	}
	return all&toRead == toRead
}

// toPost and toPostInThreads are what it takes to post in a channel, and in a thread.
const (
	toPost          = permissions(discordgo.PermissionViewChannel | discordgo.PermissionSendMessages)
	toPostInThreads = permissions(discordgo.PermissionViewChannel | discordgo.PermissionSendMessagesInThreads)
)

// MayPost reports whether the bot may post in a channel. It goes by what the gateway has announced and by what Discord refused a short
// while ago. It reports true where neither says anything.
func (s *Session) MayPost(channelID string) bool {
	return s.refusals.check(channelID) == nil && s.names.mayPost(channelID, s.me().user.ID)
}

func (d *directory) mayPost(channelID, botID string) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c := d.channels[channelID]
	if c == nil {
		return true
	}
	needs, overwrites := toPost, c.Overwrites
	if c.thread() {
		parent := d.channels[c.ParentID]
		if parent == nil {
			return true
		}
		needs, overwrites = toPostInThreads, parent.Overwrites
	}
	g := d.guilds[c.GuildID]
	if g == nil || g.own == nil {
		return true
	}
	if _, announced := g.roles[c.GuildID]; !announced { // every server has the role @everyone
		return true
	}
	who := subject{id: botID, roles: g.own.Roles, timeout: g.own.Timeout.After(time.Now())}
	return g.channelPermissions(c.GuildID, who, overwrites)&needs == needs
}

// openTo reports whether everybody who can read the channel audience can also read the channel c. This holds if c is the audience or its
// parent, or if nobody is denied reading c. It also holds if both have the same overwrites. In unclear cases openTo reports false.
func (g *guild) openTo(guildID string, audience, c channel, above func(channel) channel) bool {
	if c.Type == discordgo.ChannelTypeGuildPrivateThread {
		return c.ID == audience.ID
	}
	from, to := above(audience), above(c)
	if from.ID == "" || to.ID == "" {
		return false
	}
	if from.ID == to.ID || sameReaders(from.Overwrites, to.Overwrites) {
		return true
	}
	everyone := g.channelPermissions(guildID, subject{}, to.Overwrites)
	return everyone&toRead == toRead && !slices.ContainsFunc(to.Overwrites, func(o overwrite) bool {
		return o.Deny&toRead&^o.Allow != 0
	})
}

// sameReaders reports whether two channels have the same overwrites as far as reading is concerned.
func sameReaders(a, b []overwrite) bool {
	reading := func(all []overwrite) []overwrite {
		var kept []overwrite
		for _, o := range all {
			o.Allow, o.Deny = o.Allow&toRead, o.Deny&toRead
			if o.Allow|o.Deny != 0 {
				kept = append(kept, o)
			}
		}
		slices.SortStableFunc(kept, func(a, b overwrite) int { return strings.Compare(a.ID, b.ID) })
		return kept
	}
	return slices.Equal(reading(a), reading(b))
}

// memberLimit is how long Discord may take to return a member's roles.
const memberLimit = 3 * time.Second

// Readable returns which channels of a server a person may read at this moment, from what the gateway has announced. It
// looks at the named channels, or at all known ones if none are named. If an audience is named, a channel must also be
// readable for everybody who can read that one. So talk there reveals nothing. Unknown channels are not readable.
// Nothing is readable without a connection, or if Discord does not return the person's roles.
func (s *Session) Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool {
	if !s.gateway.Connected(guildID) || who.ID == "" || !s.names.knows(guildID) { // a typed link may name any server
		return nil
	}
	if !who.RolesKnown {
		var err error
		if who, err = s.reader(ctx, guildID, who.ID); err != nil {
			s.log.Debug("a member's roles are unknown, so nothing is read for them", "err", err)
			return nil
		}
	}
	return s.names.readable(guildID, subject{id: who.ID, roles: who.Roles, timeout: who.Timeout.After(time.Now())}, audience, channels)
}

// reader asks Discord for a member of a server.
// https://discord.com/developers/docs/resources/guild#get-guild-member
func (s *Session) reader(ctx context.Context, guildID, userID string) (turn.Reader, error) {
	ctx, cancel := context.WithTimeout(ctx, memberLimit)
	defer cancel()
	var m member
	if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointGuildMember(guildID, userID)}, &m); err != nil {
		return turn.Reader{}, err
	}
	return m.reader(userID), nil
}

// reader returns the member as a reader. If the member has no list of roles, the roles are unknown.
func (m *member) reader(userID string) turn.Reader {
	if m == nil || m.Roles == nil {
		return turn.Reader{ID: userID}
	}
	return turn.Reader{ID: userID, Roles: m.Roles, RolesKnown: true, Timeout: m.Timeout.Time}
}

// readable returns which channels a member may read and, if there is an audience, everybody in the audience may read.
func (d *directory) readable(guildID string, who subject, audience string, channels []string) map[string]bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	g := d.guilds[guildID]
	if g == nil || g.roles == nil {
		return nil
	}
	if _, announced := g.roles[guildID]; !announced { // every server has the role @everyone
		return nil
	}
	above := func(c channel) channel {
		if !c.thread() {
			return c
		}
		if parent := d.channels[c.ParentID]; parent != nil {
			return *parent
		}
		return channel{}
	}
	hearing := d.channels[audience]
	found := map[string]bool{}
	for _, c := range g.channels {
		switch {
		case len(channels) > 0 && !slices.Contains(channels, c.ID):
		case !g.mayRead(guildID, who, *c, above(*c)) && !(c.ID == audience && c.Type == discordgo.ChannelTypeGuildPrivateThread): // a person who writes in a private thread is its member
		case audience != "" && (hearing == nil || !g.openTo(guildID, *hearing, *c, above)):
		default:
			found[c.ID] = true
		}
	}
	return found
}

// moderates reports whether a member's roles allow managing messages in the whole server. Overwrites of single channels
// are ignored.
func (d *directory) moderates(guildID string, m *member) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	g := d.guilds[guildID]
	if g == nil || m == nil || m.User.ID == "" {
		return false
	}
	return g.basePermissions(guildID, subject{id: m.User.ID, roles: m.Roles})&discordgo.PermissionManageMessages != 0
}

// refusals remembers channels where the bot may not write. Asking again counts towards the 10,000 invalid requests in
// ten minutes after which Discord bans the address.
type refusals struct {
	mu    sync.Mutex
	until map[string]time.Time // guarded by mu
}

func (c *refusals) check(channelID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	until, ok := c.until[channelID]
	if !ok {
		return nil
	}
	if !until.After(time.Now()) {
		delete(c.until, channelID)
		return nil
	}
	return &rest.Error{Kind: rest.Forbidden, Status: http.StatusForbidden, Code: discordgo.ErrCodeMissingPermissions,
		Message: "the bot may not write in this channel (remembered)"}
}

// learn records an error that means that the bot may not write in a channel. It reports whether that is news. A page may come from a server in
// front of Discord, and says nothing about the channel.
func (c *refusals) learn(channelID string, err error) (news bool) {
	e, ok := errors.AsType[*rest.Error](err)
	if !ok || e.Status != http.StatusForbidden || e.Page {
		return false
	}
	switch e.Code {
	case discordgo.ErrCodeMissingAccess, discordgo.ErrCodeMissingPermissions, 0: // other servers give no code
	default:
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil || len(c.until) > 10_000 {
		c.until = map[string]time.Time{}
	}
	_, again := c.until[channelID]
	c.until[channelID] = time.Now().Add(refusalMemory)
	return !again
}

// learnRefusal records that the bot may not write in a channel, and logs what would help.
func (s *Session) learnRefusal(channelID string, err error) {
	if e, ok := errors.AsType[*rest.Error](err); ok && e.Page && e.Kind == rest.Forbidden {
		s.log.Warn("a page refused a post: if that goes on, look at what is between this machine and Discord, and at the bot's permissions in the channel", "channel", channelID, "err", err)
	}
	if !s.refusals.learn(channelID, err) {
		return
	}
	c, _ := s.names.channel(channelID)
	needs, where := "Send Messages", cmp.Or(c.Name, channelID)
	if c.thread() {
		above, _ := s.names.channel(c.ParentID)
		needs, where = "Send Messages in Threads", cmp.Or(above.Name, c.ParentID)
	}
	s.log.Warn("the bot may not write there; in the settings of #"+where+" → Permissions, allow its role View Channel and "+needs, "channel", channelID, "err", err)
}

// forget forgets every refusal, because permissions have changed somewhere.
func (c *refusals) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = nil
}
