package discord

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"familiar/internal/context/turn"
	"familiar/internal/discord/gateway"
	"familiar/internal/discord/rest"
)

// directory maps the ids of servers, channels and roles to names, and holds their permissions. It holds what the gateway
// announced. It holds nothing about people, whose names and roles come with each message.
type directory struct {
	mu       sync.RWMutex
	changed  map[string]bool     // servers that changed since they were last saved; nil: nobody saves them; guarded by mu
	guilds   map[string]*guild   // guarded by mu
	channels map[string]*channel // of all servers; guarded by mu
}

type guild struct {
	name     string // empty while the server is unavailable
	owner    string // id of a user
	locale   string // BCP 47 tag of the language that its managers chose
	roles    map[string]role
	own      *member    // the bot's roles and timeout; nil: unknown
	channels []*channel // pointers into directory.channels
}

// newGuild returns a server with its roles, without its channels.
func newGuild(g guildInfo) *guild {
	all := &guild{name: cmp.Or(g.Name, g.ID), owner: g.OwnerID, locale: g.Locale, roles: make(map[string]role, len(g.Roles))}
	for _, r := range g.Roles {
		all.roles[r.ID] = r
	}
	return all
}

// begin forgets everything about the servers of a shard except the ids of those that its new session announced. It
// forgets nothing about those that are kept, whose events come from elsewhere, too.
func (d *directory) begin(announced []guildInfo, mine, kept func(guildID string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.guilds == nil {
		d.guilds, d.channels = map[string]*guild{}, map[string]*channel{}
	}
	before := d.guilds
	d.guilds = make(map[string]*guild, len(before))
	for _, g := range announced {
		d.guilds[g.ID] = &guild{}
		d.touch(g.ID)
	}
	for id, g := range before {
		_, again := d.guilds[id]
		if !mine(id) || again && kept(id) {
			d.guilds[id] = g
			continue
		}
		d.touch(id)
		for _, c := range g.channels {
			delete(d.channels, c.ID)
		}
	}
}

// drop forgets the servers of a shard that another process has now. The known state of them would become old.
func (d *directory) drop(mine func(guildID string) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id, g := range d.guilds {
		if !mine(id) {
			continue
		}
		delete(d.guilds, id)
		delete(d.changed, id)
		for _, c := range g.channels {
			delete(d.channels, c.ID)
		}
	}
}

// touch notes that a server has changed. The caller holds mu.
func (d *directory) touch(id string) {
	if d.changed != nil {
		d.changed[id] = true
	}
}

// every is the servers of a bot's only shard.
func every(string) bool { return true }

func none(string) bool { return false }

// addGuild adds or replaces a server.
func (d *directory) addGuild(g guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(g.ID)
	d.dropChannels(g.ID)
	added := newGuild(g)
	if len(g.Members) > 0 {
		own := g.Members[0]
		added.own = &own
	}
	added.channels = g.pack(added.roles)
	d.guilds[g.ID] = added
	for _, c := range added.channels {
		d.channels[c.ID] = c
	}
}

// pack returns the channels and threads of a server so that they take little memory. Slices have no spare room, and ids of roles and
// categories are in memory once. A big bot has hundreds of thousands.
func (g *guildInfo) pack(roles map[string]role) []*channel {
	packed := make([]channel, 0, len(g.Channels)+len(g.Threads))
	packed = append(append(packed, g.Channels...), g.Threads...)
	pointers := make([]*channel, len(packed))
	for i := range packed {
		c := &packed[i]
		c.GuildID, c.Overwrites = g.ID, slices.Clone(c.Overwrites)
		if i > 0 && c.ParentID == packed[i-1].ParentID {
			c.ParentID = packed[i-1].ParentID
		}
		for k, o := range c.Overwrites {
			c.Overwrites[k].ID = cmp.Or(roles[o.ID].ID, o.ID)
		}
		pointers[i] = c
	}
	return pointers
}

// changeGuild sets a server's new name and owner.
func (d *directory) changeGuild(changed guildInfo) {
	d.change(changed.ID, func(g *guild) {
		g.name = cmp.Or(changed.Name, g.name)
		g.locale, g.owner = cmp.Or(changed.Locale, g.locale), cmp.Or(changed.OwnerID, g.owner)
	})
}

// change changes a server, if the bot is in it.
func (d *directory) change(guildID string, change func(*guild)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(guildID)
	if g := d.guilds[guildID]; g != nil {
		change(g)
	}
}

// setOwn sets what the bot is in a server.
func (d *directory) setOwn(guildID string, own member) {
	d.change(guildID, func(g *guild) { g.own = &own })
}

func (d *directory) removeGuild(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(id)
	d.dropChannels(id)
	delete(d.guilds, id)
}

// dropChannels forgets a server's channels. The caller holds mu.
func (d *directory) dropChannels(guildID string) {
	if g := d.guilds[guildID]; g != nil {
		for _, c := range g.channels {
			delete(d.channels, c.ID)
		}
		g.channels = nil
	}
}

func (d *directory) setRole(guildID string, r role) {
	d.change(guildID, func(g *guild) {
		if g.roles != nil {
			g.roles[r.ID] = r
		}
	})
}

func (d *directory) removeRole(guildID, roleID string) {
	d.change(guildID, func(g *guild) { delete(g.roles, roleID) })
}

// setChannel adds or updates a channel, unless the bot is not in its server. It reports whether it did.
func (d *directory) setChannel(c channel) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.touch(c.GuildID)
	g := d.guilds[c.GuildID]
	if g == nil {
		return false
	}
	if before := d.channels[c.ID]; before != nil && before.GuildID == c.GuildID {
		*before = c
		return true
	}
	d.channels[c.ID] = &c
	g.channels = append(g.channels, &c)
	return true
}

// removeChannel forgets a channel with its threads, and returns those threads.
func (d *directory) removeChannel(id string) (threads []channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.channels[id]
	if c == nil {
		return nil
	}
	d.touch(c.GuildID)
	delete(d.channels, id)
	if g := d.guilds[c.GuildID]; g != nil {
		g.channels = slices.DeleteFunc(g.channels, func(other *channel) bool {
			if other.ParentID == id && other.thread() {
				threads = append(threads, *other)
				delete(d.channels, other.ID)
				return true
			}
			return other.ID == id
		})
	}
	return threads
}

// channel returns a channel, or false if it is unknown.
func (d *directory) channel(id string) (channel, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c := d.channels[id]
	if c == nil {
		return channel{}, false
	}
	return *c, true
}

// get returns something of a server, or the zero value if the bot is not in it.
func get[T any](d *directory, guildID string, of func(*guild) T) (v T) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if g := d.guilds[guildID]; g != nil {
		v = of(g)
	}
	return v
}

// role returns a role, or the zero value if it is unknown.
func (d *directory) role(guildID, id string) role {
	return get(d, guildID, func(g *guild) role { return g.roles[id] })
}

// knows reports whether the bot is in a server.
func (d *directory) knows(guildID string) bool {
	return get(d, guildID, func(*guild) bool { return true })
}

// owner returns the id of the user who owns a server, or "".
func (d *directory) owner(guildID string) string {
	return get(d, guildID, func(g *guild) string { return g.owner })
}

// locale returns the language of a server, or "" if it is unknown.
func (d *directory) locale(guildID string) string {
	return get(d, guildID, func(g *guild) string { return g.locale })
}

// Locale returns the BCP 47 tag of a server's language, or "" if it is unknown.
func (s *Session) Locale(guildID string) string { return s.names.locale(guildID) }

// guildNames lists the servers' names, sorted. If a name is unknown its id is listed instead.
func (d *directory) guildNames() (names []string) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for id, g := range d.guilds {
		names = append(names, cmp.Or(g.name, id))
	}
	slices.Sort(names)
	return names
}

// guildIDs lists the servers' ids.
func (d *directory) guildIDs() []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Sorted(maps.Keys(d.guilds))
}

// countByShard counts the servers of each shard.
func (d *directory) countByShard(of int) map[int]int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if of == 1 {
		return map[int]int{0: len(d.guilds)}
	}
	counts := make(map[int]int, of)
	for id := range d.guilds {
		counts[gateway.ShardOf(id, of)]++
	}
	return counts
}

// complete reports whether every announced server, of those that mine names, is known by name.
func (d *directory) complete(mine func(guildID string) bool) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for id, g := range d.guilds {
		if g.name == "" && mine(id) {
			return false
		}
	}
	return true
}

// changes returns the servers of a shard that have changed since the last call, nil for those that are gone. It also returns how many the
// shard has.
func (d *directory) changes(mine func(guildID string) bool) (all map[string]*guildInfo, count int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.guilds {
		if mine(id) {
			count++
		}
	}
	all = map[string]*guildInfo{}
	for id := range d.changed {
		if !mine(id) {
			continue
		}
		delete(d.changed, id)
		if all[id] = nil; d.guilds[id] != nil {
			info := d.guilds[id].info(id)
			all[id] = &info
		}
	}
	return all, count
}

// keepChanges notes again that servers have changed, because they could not be saved.
func (d *directory) keepChanges(all map[string]*guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range all {
		d.touch(id)
	}
}

// info returns a server as the gateway announces it.
func (g *guild) info(id string) guildInfo {
	info := guildInfo{ID: id, Name: g.name, OwnerID: g.owner, Locale: g.locale, Unavailable: g.name == "", Roles: slices.Collect(maps.Values(g.roles))}
	if g.own != nil {
		info.Members = []member{*g.own}
	}
	for _, c := range g.channels {
		kept := *c
		kept.GuildID, kept.Last = "", 0
		info.Channels = append(info.Channels, kept)
	}
	return info
}

// restore fills the directory with what changes returned. That is saved already.
func (d *directory) restore(guilds []guildInfo, mine func(guildID string) bool) {
	d.begin(guilds, mine, none)
	for _, g := range guilds {
		if !g.Unavailable {
			d.addGuild(g)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, g := range guilds {
		delete(d.changed, g.ID)
	}
}

// since returns the channels whose latest message, when they were announced, was later than a moment. Forums and media
// channels are left out, because they hold only threads.
func (d *directory) since(after gateway.Flake, mine func(guildID string) bool) []stretch {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var found []stretch
	for _, c := range d.channels {
		if c.Last > after && !c.forum() && mine(c.GuildID) {
			found = append(found, stretch{channelID: c.ID, guildID: c.GuildID, after: after, last: c.Last})
		}
	}
	return found
}

// parents asks Discord for channels that the gateway did not announce. An example is a thread that was archived when the session began. The
// zero value is ready.
type parents struct {
	mu        sync.Mutex
	inquiries map[string]*inquiry // by channel; guarded by mu
	busy      int                 // requests under way; guarded by mu
}

// inquiry is a request for one channel, or the memory of failed ones.
type inquiry struct {
	done     chan struct{} // closed when the request has ended; nil: no request is under way
	failures int           // in a row
	again    time.Time     // when the channel may be asked for again
}

const (
	maxInquiries  = 64               // channels asked for at once
	inquiryMemory = 10_000           // channels with failed requests
	firstInquiry  = 2 * time.Second  // after the first failure, before the channel is asked for again; doubles
	lastInquiry   = 10 * time.Minute // the longest such wait
)

// place sets the parent channel of an event in a thread. If the channel is unknown, place sets ParentUnknown and asks
// for the channel in the background.
func (s *Session) place(e *turn.Event) {
	if e.ParentID != "" || e.GuildID == "" || !s.gateway.Holds(e.GuildID) || e.Message.ChannelID == "" || e.Kind == turn.Gone || e.Kind == turn.Deleted {
		return
	}
	c, ok := s.names.channel(e.Message.ChannelID)
	switch {
	case !ok:
		e.ParentUnknown = true
		s.ask(e.Message.ChannelID)
	case c.thread():
		e.ParentID = c.ParentID
		if parent, _ := s.names.channel(c.ParentID); e.Message.ID == c.ID && parent.forum() {
			e.Title = c.Name
		}
	}
}

// Parent returns the parent channel of a thread, or "" for a channel that is not a thread. If the channel is unknown,
// Parent asks Discord and waits for the answer until ctx is done. It does not ask again soon after a failure. known is
// false if there is no answer.
func (s *Session) Parent(ctx context.Context, channelID string) (parentID string, known bool) {
	if c, ok := s.names.channel(channelID); ok {
		return c.above(), true
	}
	done := s.ask(channelID)
	if done == nil {
		return "", false
	}
	select {
	case <-done:
	case <-ctx.Done():
		return "", false
	}
	c, ok := s.names.channel(channelID)
	return c.above(), ok
}

// above returns the parent channel of a thread, or "" for a channel that is not a thread.
func (c channel) above() string {
	if c.thread() {
		return c.ParentID
	}
	return ""
}

// ask asks for a channel in the background, unless a request is under way. It returns a channel that is closed when the answer is there. It
// returns nil if too many channels are asked for. It also does so if the last request failed a moment ago, or Run has ended.
func (s *Session) ask(channelID string) <-chan struct{} {
	p := &s.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inquiries == nil || len(p.inquiries) > inquiryMemory {
		p.inquiries = map[string]*inquiry{}
	}
	q := p.inquiries[channelID]
	if q == nil {
		q = &inquiry{}
	}
	if q.done != nil {
		return q.done
	}
	if p.busy >= maxInquiries || time.Now().Before(q.again) {
		return nil
	}
	done := make(chan struct{})
	if !s.gateway.Start("ask for a channel", func(ctx context.Context) { s.inquire(ctx, channelID, q, done) }) {
		return nil
	}
	q.done, p.inquiries[channelID] = done, q
	p.busy++
	return done
}

// inquire asks for a channel and adds it to the directory.
func (s *Session) inquire(ctx context.Context, channelID string, q *inquiry, done chan struct{}) {
	err := s.fetchChannel(ctx, channelID)
	p := &s.parents
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(done)
	p.busy--
	q.done = nil
	if err == nil {
		delete(p.inquiries, channelID)
		return
	}
	q.failures++
	q.again = time.Now().Add(rest.Backoff(firstInquiry, lastInquiry, q.failures))
	if ctx.Err() == nil {
		s.log.Warn("channel is unknown", "channel", channelID, "err", err)
	}
}

// fetchChannel asks for a channel once and adds it to the directory.
func (s *Session) fetchChannel(ctx context.Context, channelID string) error {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	var c channel
	if err := s.rest.Get(ctx, rest.Request{URL: discordgo.EndpointChannel(channelID), Rank: rest.Back}, &c); err != nil {
		return err
	}
	if c.ID != channelID || !s.names.setChannel(c) {
		return errors.New("the response is not a channel of a server that the bot is in")
	}
	return nil
}
