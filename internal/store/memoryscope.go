package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ScopeKind is the kind of place that a statement was made in, and that it does not leave.
type ScopeKind string

// The kinds of scopes, the narrowest first.
const (
	ScopeDM      ScopeKind = "dm"      // one direct message channel
	ScopeChannel ScopeKind = "channel" // a channel of a server, for those who may read it
	ScopeGuild   ScopeKind = "guild"   // a server
	ScopePublic  ScopeKind = "public"  // everywhere
)

// Scope says where a statement may be read.
type Scope struct {
	Kind    ScopeKind
	ID      string // of the channel, or the server; empty where it is public
	GuildID string // of a channel's or a server's; empty else
}

// check returns an error for a scope that names no place.
func (s Scope) check() error {
	ok := false
	switch s.Kind {
	case ScopeDM:
		ok = s.ID != "" && s.GuildID == ""
	case ScopeChannel:
		ok = s.ID != "" && s.GuildID != ""
	case ScopeGuild:
		ok = s.ID != "" && s.GuildID == s.ID
	case ScopePublic:
		ok = s.ID == "" && s.GuildID == ""
	}
	if !ok {
		return fmt.Errorf("scope %q of %q in server %q: %w", s.Kind, s.ID, s.GuildID, errNoScope)
	}
	return nil
}

var errNoScope = errors.New("there is no such scope")

// Within is what may be read of memory: where a prompt, or the answer to a command, is seen. Every read needs one. The zero Within
// reads nothing.
type Within struct {
	somewhere bool
	dm        string
	channels  []string
	guilds    []string
	own       string

	channelList, guildList string // channels and guilds as parameters
}

// WithinDM reads for a direct message: its own statements, and what is public.
func WithinDM(channelID string) Within { return Within{somewhere: channelID != "", dm: channelID} }

// WithinGuild reads for a server: the statements of those of its channels that who asks and whoever sees the answer may read at this
// moment, those of the server, and what is public.
func WithinGuild(guildID string, readable []string) Within {
	return Within{somewhere: guildID != ""}.AlsoChannels(guildID, readable)
}

// AlsoChannels adds the channels of a server that may be read, and the server itself: to a direct message, those of the person's servers.
func (w Within) AlsoChannels(guildID string, readable []string) Within {
	if !w.somewhere || guildID == "" {
		return w
	}
	w.guilds = append(slices.Clip(w.guilds), guildID)
	w.channels = slices.Concat(w.channels, readable)
	w.channelList, w.guildList = listed(w.channels), listed(w.guilds)
	return w
}

// AlsoOwn adds to a direct message's what is of a person or was asked for by them, in any server, so that they can see and delete it
// wherever they have gone since. It is for answers to commands and never for a prompt.
func (w Within) AlsoOwn(personID string) Within {
	if w.dm != "" {
		w.own = personID
	}
	return w
}

// Reads reports whether a statement is read.
func (w Within) Reads(m Memory) bool {
	s := m.Scope
	if w.own != "" && s.GuildID != "" && (m.By == w.own || m.Kind == MemoryPerson && m.Subject == w.own) {
		return true
	}
	switch s.Kind {
	case ScopeDM:
		return w.somewhere && s.ID != "" && s.ID == w.dm
	case ScopeChannel:
		return w.somewhere && slices.Contains(w.channels, s.ID) && slices.Contains(w.guilds, s.GuildID)
	case ScopeGuild:
		return w.somewhere && slices.Contains(w.guilds, s.ID)
	case ScopePublic:
		return w.somewhere
	}
	return false
}

// scoped is the condition under which a row of memories, named m, is read. Its parameters are those of args. TestEveryReadIsScoped looks
// for it in all statements.
const scoped = ` (? AND (m.scope = 'public' OR m.scope = 'dm' AND m.scope_id = ?
	OR m.scope = 'channel' AND m.scope_id ` + amongThese + ` AND m.guild_id ` + amongThese + ` OR m.scope = 'guild' AND m.scope_id ` + amongThese + `
	OR ? <> '' AND m.guild_id <> '' AND (m.by_id = ? OR m.kind = 'person' AND m.subject = ?))) `

func (w Within) args() []any {
	channels, guilds := cmp.Or(w.channelList, "[]"), cmp.Or(w.guildList, "[]")
	return []any{w.somewhere, w.dm, channels, guilds, guilds, w.own, w.own, w.own}
}
