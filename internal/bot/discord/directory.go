package discord

import (
	"maps"
	"slices"
	"sync"
)

// directory knows the names behind the ids of servers, channels and roles. It holds what the gateway announced and
// nothing about people, whose names come with each message.
type directory struct {
	mu       sync.RWMutex
	guilds   map[string]*guild  // guarded by mu
	channels map[string]channel // of all servers; guarded by mu
}

type guild struct {
	name  string // empty while the server is unavailable
	roles map[string]role
}

// begin forgets everything but the servers that a new session announced.
func (d *directory) begin(announced []guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.guilds, d.channels = map[string]*guild{}, map[string]channel{}
	for _, g := range announced {
		d.guilds[g.ID] = &guild{}
	}
}

func (d *directory) addGuild(g guildInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dropChannels(g.ID)
	added := &guild{name: g.Name, roles: map[string]role{}}
	for _, r := range g.Roles {
		added.roles[r.ID] = r
	}
	d.guilds[g.ID] = added
	for _, c := range slices.Concat(g.Channels, g.Threads) {
		c.GuildID = g.ID
		d.channels[c.ID] = c
	}
}

func (d *directory) renameGuild(id, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.guilds[id]; g != nil {
		g.name = name
	}
}

func (d *directory) removeGuild(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.guilds, id)
	d.dropChannels(id)
}

// dropChannels forgets a server's channels. Its caller holds mu.
func (d *directory) dropChannels(guildID string) {
	maps.DeleteFunc(d.channels, func(_ string, c channel) bool { return c.GuildID == guildID })
}

func (d *directory) setRole(guildID string, r role) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.guilds[guildID]; g != nil && g.roles != nil {
		g.roles[r.ID] = r
	}
}

func (d *directory) removeRole(guildID, roleID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.guilds[guildID]; g != nil {
		delete(g.roles, roleID)
	}
}

// setChannel adds or updates a channel, unless the bot is not (or no longer) in its server.
func (d *directory) setChannel(c channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.guilds[c.GuildID] != nil {
		d.channels[c.ID] = c
	}
}

func (d *directory) removeChannel(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.channels, id)
}

// channel returns what is known of a channel.
func (d *directory) channel(id string) (channel, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	c, ok := d.channels[id]
	return c, ok
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
