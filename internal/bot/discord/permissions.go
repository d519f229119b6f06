package discord

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"
)

// What a member may do in a channel, computed as Discord documents it. Pure.
// https://discord.com/developers/docs/topics/permissions#permission-overwrites

// permissions is a set of Discord's permission bits. Discord writes it as a decimal string.
type permissions uint64

const (
	everything     = ^permissions(0)
	toRead         = permissions(discordgo.PermissionViewChannel | discordgo.PermissionReadMessageHistory)
	toSeeThreads   = permissions(discordgo.PermissionManageThreads)
	administrating = permissions(discordgo.PermissionAdministrator)
)

// UnmarshalJSON reads a string or a number. What is neither grants nothing.
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

// overwrite changes what a role or a member may do in one channel.
// https://discord.com/developers/docs/resources/channel#overwrite-object
type overwrite struct {
	ID    string        `json:"id"` // of a role or a user; that of @everyone is the server's
	Type  overwriteKind `json:"type"`
	Allow permissions   `json:"allow"`
	Deny  permissions   `json:"deny"`
}

type overwriteKind int

const (
	ofRole   overwriteKind = 0
	ofMember overwriteKind = 1
)

// UnmarshalJSON reads an overwrite. One whose bits cannot be read denies everything.
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

// basePermissions are what a member may do in the server, before the overwrites of a channel.
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

// channelPermissions are what a member may do in a channel whose overwrites are given; a thread has those of its parent. A role that the
// server is not known to have is denied what an overwrite denies it, and allowed nothing.
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

// mayRead reports whether a member may see a channel and what was written in it before. parent is the channel of a thread; the
// members of private threads are not known, so those are for who manages threads.
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

// openTo reports whether everybody who can read the channel audience can read the channel c too, whoever they are: it is the same one
// or above it, nothing is denied to anybody there, or both have the same overwrites. Where that takes more thought the answer is no.
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

// sameReaders reports whether two channels let the same people read them, as far as their overwrites tell.
func sameReaders(a, b []overwrite) bool {
	reading := func(all []overwrite) []overwrite {
		var kept []overwrite
		for _, o := range all {
			o.Allow, o.Deny = o.Allow&toRead, o.Deny&toRead
			if o.Allow|o.Deny != 0 {
				kept = append(kept, o)
			}
		}
		slices.SortFunc(kept, func(x, y overwrite) int { return strings.Compare(x.ID, y.ID) })
		return kept
	}
	return slices.Equal(reading(a), reading(b))
}
