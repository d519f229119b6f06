package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

	channelList, guildList string // channels and guilds as parameters
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
	w.channelList, w.guildList = listed(w.channels), listed(w.guilds)
	return w
}

// WithOwn adds the person's own memories from every server, so that they can see and delete them in a direct message. It is for answers to
// commands and never for a prompt.
func (w ScopeFilter) WithOwn(personID string) ScopeFilter {
	if w.dm != "" {
		w.own = personID
	}
	return w
}

// Allows reports whether the filter allows a statement.
func (w ScopeFilter) Allows(m Memory) bool {
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

// scoped is the condition for reading a row of memories, named m. Its parameters come from args. TestEveryReadIsScoped looks for it in all
// statements.
const scoped = ` (? AND (m.scope = 'public' OR m.scope = 'dm' AND m.scope_id = ?
	OR m.scope = 'channel' AND m.scope_id ` + amongThese + ` AND m.guild_id ` + amongThese + ` OR m.scope = 'guild' AND m.scope_id ` + amongThese + `
	OR ? <> '' AND m.guild_id <> '' AND (m.by_id = ? OR m.kind = 'person' AND m.subject = ?))) `

func (w ScopeFilter) args() []any {
	channels, guilds := cmp.Or(w.channelList, "[]"), cmp.Or(w.guildList, "[]")
	return []any{w.somewhere, w.dm, channels, guilds, guilds, w.own, w.own, w.own}
}

// MemoryList says which of the readable statements are listed. The zero value lists all.
type MemoryList struct {
	Kinds   []MemoryKind // none: all
	Subject string       // a person's id or a topic; empty: any
	By      string       // the person who asked for it; empty: anybody
	Mine    string       // id of the person who is the subject or asked for it; empty: anybody
	Limit   int          // 0: all
}

// About returns the readable statements about people and topics, of some kinds or of all. Pinned ones are first, then the newest.
func (s *Memories) About(ctx context.Context, w ScopeFilter, subjects []string, kinds ...MemoryKind) ([]Memory, error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	args := append(w.args(), listed(subjects), len(kinds) == 0, listed(kinds))
	rows, err := s.db.query(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.subject `+amongThese+` AND (? OR m.kind `+amongThese+`)`+latestMemories, args...)
	return collect(s.db, "read memories of a subject", rows, err, scanMemory)
}

// latestMemories is the order of all reads but searches.
const latestMemories = ` ORDER BY m.pinned DESC, m.said_at DESC, m.id DESC`

// List returns readable statements. Pinned ones are first, then the newest.
func (s *Memories) List(ctx context.Context, w ScopeFilter, l MemoryList) ([]Memory, error) {
	limit := l.Limit
	if limit <= 0 {
		limit = 1 << 30
	}
	args := append(w.args(), len(l.Kinds) == 0, listed(l.Kinds), l.Subject, l.Subject, l.By, l.By, l.Mine, l.Mine, l.Mine, MemoryPerson, limit)
	return list(ctx, s.db, "list memories", scanMemory, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND (? OR m.kind `+amongThese+`) AND (? = '' OR m.subject = ?) AND (? = '' OR m.by_id = ?)
		AND (? = '' OR m.by_id = ? OR m.subject = ? AND m.kind = ?)`+latestMemories+` LIMIT 0 + ?`, args...)
}

// Search returns readable statements with words of a text, best first: more words, and rarer ones, are better. It finds words as
// [Messages.Search] does.
func (s *Memories) Search(ctx context.Context, w ScopeFilter, text string, limit int) ([]Memory, error) {
	query := anyWord(text)
	if query == "" {
		return nil, nil
	}
	args := append(append([]any{query}, w.args()...), max(1, limit))
	rows, err := s.db.query(ctx, `SELECT `+memoryColumns+` FROM (`+memoriesWith+`) f JOIN memories m ON m.id = f.id
		WHERE NOT m.superseded AND `+scoped+` ORDER BY f.score, m.said_at DESC, m.id DESC LIMIT 0 + ?`, args...)
	return collect(s.db, "search memories", rows, err, scanMemory)
}

// Get returns a readable statement, which may be history, or [ErrNotFound].
func (s *Memories) Get(ctx context.Context, w ScopeFilter, id int64) (Memory, error) {
	m, err := scanMemory(s.db.readers.QueryRowContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE m.id = ? AND `+scoped, append([]any{id}, w.args()...)...))
	if err != nil {
		return Memory{}, fmt.Errorf("read memory: %w", s.db.Explain(err))
	}
	return m, nil
}

// History returns the statements that a statement replaced, newest first.
func (s *Memories) History(ctx context.Context, w ScopeFilter, id int64) (all []Memory, err error) {
	m, err := s.Get(ctx, w, id)
	for err == nil && m.Supersedes != 0 {
		if m, err = s.Get(ctx, w, m.Supersedes); err == nil {
			all = append(all, m)
		}
	}
	return all, err
}

// FromMessage returns the readable statements with a message as a source, oldest first.
func (s *Memories) FromMessage(ctx context.Context, w ScopeFilter, messageID string) ([]Memory, error) {
	args := append(w.args(), messageID)
	return list(ctx, s.db, "read memories of a message", scanMemory, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.id IN (SELECT memory_id FROM memory_sources WHERE message_id = ?) ORDER BY m.id`, args...)
}

// People returns the people with readable memories, newest memory first, with their server nicknames.
func (s *Memories) People(ctx context.Context, w ScopeFilter, most int) ([]Person, error) {
	return list(ctx, s.db, "read people with memories", func(row scanner) (p Person, err error) {
		err = row.Scan(&p.ID, &p.Name)
		return p, err
	}, `SELECT m.subject, p.name FROM memories m JOIN people p ON p.guild_id = m.guild_id AND p.author_id = m.subject
		WHERE NOT m.superseded AND m.kind = 'person' AND `+scoped+` GROUP BY m.subject, p.name ORDER BY max(m.said_at) DESC LIMIT 0 + ?`, append(w.args(), most)...)
}

// GuildsOf returns the servers that hold memories about a person or requested by them, newest first.
func (s *Memories) GuildsOf(ctx context.Context, personID string, most int) ([]string, error) {
	return s.db.Guilds.query(ctx, `SELECT guild_id FROM memories WHERE guild_id <> '' AND (by_id = ? OR subject = ? AND kind = ?)
		GROUP BY guild_id ORDER BY max(said_at) DESC LIMIT 0 + ?`, personID, personID, MemoryPerson, most)
}

// Export returns all statements with their history, in the order in which they were learned. It is for the operator alone, never for a
// prompt or an answer.
func (s *Memories) Export(ctx context.Context) ([]Memory, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT `+memoryColumns+` FROM memories m ORDER BY m.id`)
	all, err := collect(s.db, "export memories", rows, err, scanMemory)
	return slices.Clip(all), err
}

// Browse says which statements an operator looks at.
type Browse struct {
	ID      int64     // of one statement; 0: any
	Scope   ScopeKind // empty: any
	ScopeID string    // empty: any
	Kind    MemoryKind
	Text    string // part of the statement, or its subject
	Before  int64  // the last id of the previous page; 0: the first page
	Limit   int
}

// Browse returns statements, newest first. It returns history only by its id. It is for the operator alone, never for a prompt or an
// answer.
func (s *Memories) Browse(ctx context.Context, b Browse) ([]Memory, error) {
	return list(ctx, s.db, "browse memories", scanMemory, `SELECT `+memoryColumns+` FROM memories m WHERE (? = m.id OR ? = 0 AND NOT m.superseded)
		AND (? = '' OR m.scope = ?) AND (? = '' OR m.scope_id = ?) AND (? = '' OR m.kind = ?) AND (? = 0 OR m.id < ?)
		AND (? = '' OR instr(lower(m.text), lower(?)) > 0 OR lower(m.subject) = lower(?)) ORDER BY m.id DESC LIMIT 0 + ?`,
		b.ID, b.ID, b.Scope, b.Scope, b.ScopeID, b.ScopeID, b.Kind, b.Kind, b.Before, b.Before, b.Text, b.Text, b.Text, max(1, b.Limit))
}

// ScopeCount is the number of statements in a scope.
type ScopeCount struct {
	Scope Scope
	N     int
}

// CountByScope returns the scopes with statements, the largest first. It is for the operator alone.
func (s *Memories) CountByScope(ctx context.Context, most int) ([]ScopeCount, error) {
	return list(ctx, s.db, "count memories", func(row scanner) (p ScopeCount, err error) {
		err = row.Scan(&p.Scope.Kind, &p.Scope.ID, &p.Scope.GuildID, &p.N)
		return p, err
	}, `SELECT scope, scope_id, guild_id, count(*) FROM memories WHERE NOT superseded
		GROUP BY scope, scope_id, guild_id ORDER BY count(*) DESC, scope_id LIMIT 0 + ?`, most)
}

// FilterOperator returns a filter for the scope of a statement. The operator, who changes it, knows it from [Memories.Browse].
func FilterOperator(m Memory) ScopeFilter {
	switch m.Scope.Kind {
	case ScopeDM:
		return FilterDM(m.Scope.ID)
	case ScopePublic:
		return ScopeFilter{somewhere: true}
	}
	return FilterGuild(m.Scope.GuildID, []string{m.Scope.ID})
}

// remembering is the set of servers with statements. A server is added in the transaction that saves a statement there, and never removed.
// So a server in the set may have no statements, but a server outside it has none.
type remembering struct {
	mu     sync.RWMutex
	guilds map[string]bool // guarded by mu; the empty id is for direct messages and public statements
	last   int64           // guarded by mu: id of the newest statement when guilds was read
}

func (r *remembering) add(guildID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guilds == nil {
		r.guilds = map[string]bool{}
	}
	r.guilds[guildID] = true
}

// readPlaces adds the servers of statements that are newer than the last read.
func (s *Memories) readPlaces(ctx context.Context) error {
	r := &s.db.remembering
	r.mu.RLock()
	last := r.last
	r.mu.RUnlock()
	rows, err := s.db.readers.QueryContext(ctx, `SELECT guild_id, max(id) FROM memories WHERE id > ? GROUP BY guild_id`, last)
	_, err = collect(s.db, "read servers with memories", rows, err, func(row scanner) (none struct{}, err error) {
		var guild string
		var id int64
		if err = row.Scan(&guild, &id); err == nil {
			r.add(guild)
			last = max(last, id)
		}
		return none, err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = max(r.last, last)
	return err
}

// MayHold reports whether there may be statements for a turn in a server. For a direct message, without an id, it reports whether there are
// any at all. It reads nothing, so most turns of most bots need no query.
func (s *Memories) MayHold(guildID string) bool {
	if !s.db.owns() { // the owner may write some at any time
		return true
	}
	r := &s.db.remembering
	r.mu.RLock()
	defer r.mu.RUnlock()
	if guildID == "" {
		return len(r.guilds) > 0
	}
	return r.guilds[guildID] || r.guilds[""]
}
