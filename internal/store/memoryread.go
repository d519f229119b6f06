package store

import (
	"context"
	"fmt"
	"slices"
)

// MemoryList says which statements are listed; the zero value is all that may be read.
type MemoryList struct {
	Kinds   []MemoryKind // none: all
	Subject string       // a person's id or a topic; empty: any
	By      string       // who asked for it; empty: anybody
	Mine    string       // the id of a person whom it is about or who asked for it; empty: anybody
	Limit   int          // 0: all
}

// MemoriesAbout returns the statements about people and topics that may be read, of some kinds or of all: what is pinned first, then what
// was said last.
func (db *DB) MemoriesAbout(ctx context.Context, w Within, subjects []string, kinds ...MemoryKind) ([]Memory, error) {
	if len(subjects) == 0 {
		return nil, nil
	}
	args := append(w.args(), listed(subjects), len(kinds) == 0, listed(kinds))
	rows, err := db.query(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.subject `+amongThese+` AND (? OR m.kind `+amongThese+`)`+latestMemories, args...)
	return collect(db, "read memories of a subject", rows, err, scanMemory)
}

// latestMemories is the order of what is no search.
const latestMemories = ` ORDER BY m.pinned DESC, m.said_at DESC, m.id DESC`

// ListMemories lists statements that may be read: what is pinned first, then what was said last.
func (db *DB) ListMemories(ctx context.Context, w Within, l MemoryList) ([]Memory, error) {
	limit := l.Limit
	if limit <= 0 {
		limit = 1 << 30
	}
	args := append(w.args(), len(l.Kinds) == 0, listed(l.Kinds), l.Subject, l.Subject, l.By, l.By, l.Mine, l.Mine, l.Mine, MemoryPerson, limit)
	rows, err := db.readers.QueryContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND (? OR m.kind `+amongThese+`) AND (? = '' OR m.subject = ?) AND (? = '' OR m.by_id = ?)
		AND (? = '' OR m.by_id = ? OR m.subject = ? AND m.kind = ?)`+latestMemories+` LIMIT 0 + ?`, args...)
	return collect(db, "list memories", rows, err, scanMemory)
}

// SearchMemories returns statements that may be read and hold words of a text, the best first: those that hold more of them, and rarer
// ones. Words are found as in [DB.Search]; what else stands in the text is left out.
func (db *DB) SearchMemories(ctx context.Context, w Within, text string, limit int) ([]Memory, error) {
	query := anyWord(text)
	if query == "" {
		return nil, nil
	}
	args := append(append([]any{query}, w.args()...), max(1, limit))
	rows, err := db.query(ctx, `SELECT `+memoryColumns+` FROM (`+memoriesWith+`) f JOIN memories m ON m.id = f.id
		WHERE NOT m.superseded AND `+scoped+` ORDER BY f.score, m.said_at DESC, m.id DESC LIMIT 0 + ?`, args...)
	return collect(db, "search memories", rows, err, scanMemory)
}

// Memory returns a statement that may be read, be it history or not, or [ErrNotFound].
func (db *DB) Memory(ctx context.Context, w Within, id int64) (Memory, error) {
	m, err := scanMemory(db.readers.QueryRowContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE m.id = ? AND `+scoped, append([]any{id}, w.args()...)...))
	if err != nil {
		return Memory{}, fmt.Errorf("read memory: %w", db.Explain(err))
	}
	return m, nil
}

// MemoryHistory returns what a statement replaced, the newest first.
func (db *DB) MemoryHistory(ctx context.Context, w Within, id int64) (all []Memory, err error) {
	m, err := db.Memory(ctx, w, id)
	for err == nil && m.Supersedes != 0 {
		if m, err = db.Memory(ctx, w, m.Supersedes); err == nil {
			all = append(all, m)
		}
	}
	return all, err
}

// MemoriesFrom returns the statements that may be read and rest on a message, those of the oldest first.
func (db *DB) MemoriesFrom(ctx context.Context, w Within, messageID string) ([]Memory, error) {
	args := append(w.args(), messageID)
	rows, err := db.readers.QueryContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE NOT m.superseded AND `+scoped+`
		AND m.id IN (SELECT memory_id FROM memory_sources WHERE message_id = ?) ORDER BY m.id`, args...)
	return collect(db, "read memories of a message", rows, err, scanMemory)
}

// PeopleWithin returns the people of servers about whom something is remembered that may be read, under their names there, those first of
// whom it was said last.
func (db *DB) PeopleWithin(ctx context.Context, w Within, most int) ([]Person, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT m.subject, p.name FROM memories m JOIN people p ON p.guild_id = m.guild_id AND p.author_id = m.subject
		WHERE NOT m.superseded AND m.kind = 'person' AND `+scoped+` GROUP BY m.subject, p.name ORDER BY max(m.said_at) DESC LIMIT 0 + ?`, append(w.args(), most)...)
	return collect(db, "read of whom something is remembered", rows, err, func(row scanner) (p Person, err error) {
		err = row.Scan(&p.ID, &p.Name)
		return p, err
	})
}

// RememberedIn returns the servers in which something is remembered of a person or at their wish, those first of which it was said last.
func (db *DB) RememberedIn(ctx context.Context, personID string, most int) ([]string, error) {
	return db.guilds(ctx, `SELECT guild_id FROM memories WHERE guild_id <> '' AND (by_id = ? OR subject = ? AND kind = ?)
		GROUP BY guild_id ORDER BY max(said_at) DESC LIMIT 0 + ?`, personID, personID, MemoryPerson, most)
}

// ExportMemories returns all that is remembered, history too, in the order in which it was learned. It is for the operator alone, at the
// machine: no prompt and no answer may be made of it.
func (db *DB) ExportMemories(ctx context.Context) ([]Memory, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT `+memoryColumns+` FROM memories m ORDER BY m.id`)
	all, err := collect(db, "export memories", rows, err, scanMemory)
	return slices.Clip(all), err
}
