package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"

	"familiar/internal/context/turn"
	"familiar/internal/store"
)

// ScopeKind is the kind of place in which a statement was made. It is not told elsewhere.
type ScopeKind string

// The kinds of scopes, narrowest first.
const (
	ScopeDM      ScopeKind = "dm"      // one direct message channel
	ScopeChannel ScopeKind = "channel" // a channel of a server, for the people who may read it
	ScopeGuild   ScopeKind = "guild"   // a server
	ScopePublic  ScopeKind = "public"  // everywhere
)

// Scope says where a statement may be read.
type Scope struct {
	Kind    ScopeKind
	ID      string // of the channel or the server; empty for ScopePublic
	GuildID string // of the channel's server or the server; otherwise empty
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

// ScopeFilter says which statements may be read at the place where a prompt or an answer is seen. Every read needs one. The zero value
// reads nothing.
type ScopeFilter struct {
	somewhere bool
	dm        string
	channels  []string
	guilds    []string
	own       string
}

// FilterDM returns the filter for a direct message: its own statements and the public ones.
func FilterDM(channelID string) ScopeFilter {
	return ScopeFilter{somewhere: channelID != "", dm: channelID}
}

// FilterGuild returns the filter for a server: the statements of the readable channels, of the server, and the public ones. readable are
// the channels that everybody who sees the answer may read now.
func FilterGuild(guildID string, readable []string) ScopeFilter {
	return ScopeFilter{somewhere: guildID != ""}.WithChannels(guildID, readable)
}

// WithChannels adds the readable channels of a server, and the server itself. A direct message gets those of the person's servers.
func (w ScopeFilter) WithChannels(guildID string, readable []string) ScopeFilter {
	if !w.somewhere || guildID == "" {
		return w
	}
	w.guilds = append(slices.Clip(w.guilds), guildID)
	w.channels = slices.Concat(w.channels, readable)
	return w
}

// WithOwn adds the person's own memories from every server. So they can see and delete them in a direct message. It is for answers to
// commands and never for a prompt.
func (w ScopeFilter) WithOwn(personID string) ScopeFilter {
	if w.dm != "" {
		w.own = personID
	}
	return w
}

// Permissions says who may read which channels. Package discord implements it.
type Permissions interface {
	// Readable reports which of the named channels, or of all if none is named, a person may read now. If audience names a channel,
	// everyone who can read that channel must be able to read them too.
	Readable(ctx context.Context, guildID string, who turn.Reader, audience string, channels ...string) map[string]bool
}

// maxServers is how many of a person's servers a direct message may draw memories from.
const maxServers = 3

// FilterFor returns the filter of the memories that a turn may use. In a server it admits what the asker and everyone else who sees the
// answer may read. In a direct message it admits the memories of that conversation. It also admits memories from channels that the asker
// may read in servers that hold memories about them. permissions is nil if there are no servers. If a permission cannot be determined, it
// is denied.
func FilterFor(ctx context.Context, memories *Store, permissions Permissions, r turn.Request) ScopeFilter {
	if r.GuildID != "" {
		if !r.Private {
			return FilterGuild(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, r.ChannelID))
		}
		w := FilterGuild(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, ""))
		// The asker wrote in this channel, so they belong to it even if it is a private thread.
		return w.WithChannels(r.GuildID, ReadableChannels(ctx, permissions, r.GuildID, r.Reader, r.ChannelID, r.ChannelID))
	}
	w := FilterDM(r.ChannelID)
	if permissions == nil || r.Reader.ID == "" {
		return w
	}
	servers, err := memories.GuildsOf(ctx, r.Reader.ID, maxServers)
	if err != nil {
		return w
	}
	for _, guildID := range servers {
		// Any roles that came with a direct message do not belong to this server.
		if found := ReadableChannels(ctx, permissions, guildID, turn.Reader{ID: r.Reader.ID}, ""); len(found) > 0 {
			w = w.WithChannels(guildID, found)
		}
	}
	return w
}

// ReadableChannels returns the sorted ids of the channels that [Permissions] allows. permissions is nil if there are no servers.
func ReadableChannels(ctx context.Context, permissions Permissions, guildID string, who turn.Reader, audience string, channels ...string) []string {
	if permissions == nil {
		return nil
	}
	all := permissions.Readable(ctx, guildID, who, audience, channels...)
	maps.DeleteFunc(all, func(_ string, may bool) bool { return !may })
	return slices.Sorted(maps.Keys(all))
}

// GuildsOf returns the servers that hold memories about a person or requested by them, newest first.
func (s *Store) GuildsOf(ctx context.Context, personID string, most int) ([]string, error) {
	return store.List(ctx, s.DB, "list servers", store.ScanValue[string], `SELECT guild_id FROM memories WHERE guild_id <> '' AND (by_id = ? OR subject = ? AND kind = ?)
		GROUP BY guild_id ORDER BY max(said_at) DESC LIMIT 0 + ?`, personID, personID, Person, most)
}

// Allows reports whether the filter allows a statement.
func (w ScopeFilter) Allows(m Statement) bool {
	s := m.Scope
	if w.own != "" && s.GuildID != "" && (m.By == w.own || m.Kind == Person && m.Subject == w.own) {
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

// scoped is the condition for reading a row of memories, named m. Its parameters come from args. TestEveryReadIsScoped looks for it in all
// statements.
const scoped = ` (? AND (m.scope = 'public' OR m.scope = 'dm' AND m.scope_id = ?
	OR m.scope = 'channel' AND m.scope_id ` + store.AmongThese + ` AND m.guild_id ` + store.AmongThese + ` OR m.scope = 'guild' AND m.scope_id ` + store.AmongThese + `
	OR ? <> '' AND m.guild_id <> '' AND (m.by_id = ? OR m.kind = 'person' AND m.subject = ?))) `

func (w ScopeFilter) args() []any {
	channels, guilds := store.Listed(w.channels), store.Listed(w.guilds)
	return []any{w.somewhere, w.dm, channels, guilds, guilds, w.own, w.own, w.own}
}

// FilterOperator returns a filter for the scope of a statement. The operator, who changes it, knows it from [Store.Browse].
func FilterOperator(m Statement) ScopeFilter {
	switch m.Scope.Kind {
	case ScopeDM:
		return FilterDM(m.Scope.ID)
	case ScopePublic:
		return ScopeFilter{somewhere: true}
	}
	return FilterGuild(m.Scope.GuildID, []string{m.Scope.ID})
}

// Consent reports whether a person has agreed that the bot learns about them by itself.
func (s *Store) Consent(ctx context.Context, userID string) (bool, error) {
	return store.One(s.DB, "read consent", s.DB.Read().QueryRowContext(ctx, consentQuery, userID), store.ScanValue[bool])
}

const consentQuery = `SELECT EXISTS (SELECT 1 FROM consents WHERE user_id = ?)`

// SetConsent saves whether the bot may learn about a person. If they no longer agree, it deletes everything that the bot learned about them by itself. It
// returns how many statements it deleted.
func (s *Store) SetConsent(ctx context.Context, who store.By, learn bool) (deleted int, err error) {
	err = s.DB.Write(ctx, func(tx *sql.Tx) (err error) {
		deleted = 0
		agreed, err := agrees(tx, who.ID)
		if err == nil {
			err = s.DB.Changes.RecordIn(tx, store.Change{By: who, Kind: store.ChangeLearning, From: store.OnOff(agreed), To: store.OnOff(learn)})
		}
		if err != nil {
			return err
		}
		if learn {
			if err := s.DB.Privacy.Consenting(tx, who.ID, who.At); err != nil {
				return err
			}
			_, err = tx.Exec(`INSERT INTO consents (user_id, at) VALUES (?, ?) ON CONFLICT DO NOTHING`, who.ID, who.At.UnixMicro())
			return err
		}
		if _, err = tx.Exec(`DELETE FROM consents WHERE user_id = ?`, who.ID); err == nil {
			deleted, err = s.dropWhere(tx, `kind = ? AND subject = ? AND by_id = ''`, Person, who.ID)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keep consent: %w", err)
	}
	return deleted, nil
}

// agrees is [Store.Consent] in a transaction.
func agrees(tx *sql.Tx, personID string) (agreed bool, err error) {
	return store.ScanValue[bool](tx.QueryRow(consentQuery, personID))
}
