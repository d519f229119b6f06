package discord

import (
	"maps"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"
)

// directory knows the names behind the ids of servers, channels and roles, and who may read which channel. It holds what the
// gateway announced and nothing about people, whose names and roles come with each message.
type directory struct {
	mu       sync.RWMutex
	version  int                 // counts the changes; guarded by mu
	guilds   map[string]*guild   // guarded by mu
	channels map[string]*channel // of all servers; guarded by mu
}

type guild struct {
	name     string // empty while the server is unavailable
	owner    string // id of a user
	roles    map[string]role
	channels []*channel // those in directory.channels
}

// begin forgets everything but the servers that a new session announced.
func (d *directory) begin(announced []guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	d.guilds, d.channels = map[string]*guild{}, map[string]*channel{}
	for _, g := range announced {
		d.guilds[g.ID] = &guild{}
	}
}

// addGuild adds or replaces a server. It keeps the channels it is given.
func (d *directory) addGuild(g guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	d.dropChannels(g.ID)
	added := &guild{name: g.Name, owner: g.OwnerID, roles: make(map[string]role, len(g.Roles)), channels: make([]*channel, 0, len(g.Channels)+len(g.Threads))}
	for _, r := range g.Roles {
		added.roles[r.ID] = r
	}
	d.guilds[g.ID] = added
	for _, all := range [][]channel{g.Channels, g.Threads} {
		for i := range all {
			c := &all[i]
			c.GuildID = g.ID
			d.channels[c.ID] = c
			added.channels = append(added.channels, c)
		}
	}
}

// changeGuild takes over a server's new name and owner.
func (d *directory) changeGuild(changed guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	if g := d.guilds[changed.ID]; g != nil {
		g.name = changed.Name
		if changed.OwnerID != "" {
			g.owner = changed.OwnerID
		}
	}
}

func (d *directory) removeGuild(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	d.dropChannels(id)
	delete(d.guilds, id)
}

// dropChannels forgets a server's channels. Its caller holds mu.
func (d *directory) dropChannels(guildID string) {
	if g := d.guilds[guildID]; g != nil {
		for _, c := range g.channels {
			delete(d.channels, c.ID)
		}
		g.channels = nil
	}
}

func (d *directory) setRole(guildID string, r role) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	if g := d.guilds[guildID]; g != nil && g.roles != nil {
		g.roles[r.ID] = r
	}
}

func (d *directory) removeRole(guildID, roleID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	if g := d.guilds[guildID]; g != nil {
		delete(g.roles, roleID)
	}
}

// setChannel adds or updates a channel, unless the bot is not (or no longer) in its server. It reports whether it did.
func (d *directory) setChannel(c channel) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
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

// removeChannel forgets a channel and returns the threads in it that are known, which are gone with it.
func (d *directory) removeChannel(id string) (threads []channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.version++
	c := d.channels[id]
	if c == nil {
		return nil
	}
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

// channel returns what is known of a channel.
func (d *directory) channel(id string) (channel, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c := d.channels[id]
	if c == nil {
		return channel{}, false
	}
	return *c, true
}

// holdsPosts reports whether a channel is a forum, or one for media: every thread there is a post, whose first message has its id.
func (d *directory) holdsPosts(id string) bool {
	c, _ := d.channel(id)
	return c.Type == discordgo.ChannelTypeGuildForum || c.Type == discordgo.ChannelTypeGuildMedia
}

// role returns what is known of a role: nothing if it is not.
func (d *directory) role(guildID, id string) role {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if g := d.guilds[guildID]; g != nil {
		return g.roles[id]
	}
	return role{}
}

// owner returns the id of the user whom a server belongs to, or "".
func (d *directory) owner(guildID string) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if g := d.guilds[guildID]; g != nil {
		return g.owner
	}
	return ""
}

// guildNames lists the servers, sorted, and reports whether the name of each is known.
func (d *directory) guildNames() (names []string, complete bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	complete = true
	for id, g := range d.guilds {
		if g.name == "" {
			names, complete = append(names, id), false
			continue
		}
		names = append(names, g.name)
	}
	slices.Sort(names)
	return names, complete
}

// guildIDs lists the servers. Known is false before the first session.
func (d *directory) guildIDs() (ids []string, known bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Sorted(maps.Keys(d.guilds)), d.guilds != nil
}

func (d *directory) guildCount() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return len(d.guilds)
}

// complete reports whether every server that was announced is there.
func (d *directory) complete() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, g := range d.guilds {
		if g.name == "" {
			return false
		}
	}
	return true
}

// state returns a number that changes with the directory.
func (d *directory) state() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.version
}

// all returns every server with its roles and channels, or false if these are more than most.
func (d *directory) all(most int) (guilds []guildInfo, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	size := len(d.guilds) + len(d.channels)
	for _, g := range d.guilds {
		size += len(g.roles)
		for _, c := range g.channels {
			size += len(c.Overwrites)
		}
	}
	if size > most {
		return nil, false
	}
	for id, g := range d.guilds {
		info := guildInfo{ID: id, Name: g.name, OwnerID: g.owner, Unavailable: g.name == "", Roles: slices.Collect(maps.Values(g.roles))}
		for _, c := range g.channels {
			kept := *c
			kept.GuildID, kept.Last = "", 0
			info.Channels = append(info.Channels, kept)
		}
		guilds = append(guilds, info)
	}
	return guilds, true
}

// restore fills the directory with what all returned.
func (d *directory) restore(guilds []guildInfo) {
	d.begin(guilds)
	for _, g := range guilds {
		if !g.Unavailable {
			d.addGuild(g)
		}
	}
}

// since returns the channels whose latest message, when they were announced, was later than a moment. Those that hold nothing but
// threads are left out.
func (d *directory) since(after snowflake) []stretch {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var found []stretch
	for _, c := range d.channels {
		if c.Last > after && c.Type != discordgo.ChannelTypeGuildForum && c.Type != discordgo.ChannelTypeGuildMedia {
			found = append(found, stretch{channelID: c.ID, guildID: c.GuildID, after: after, last: c.Last})
		}
	}
	return found
}
