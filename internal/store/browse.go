package store

import (
	"context"
	"fmt"
	"time"
)

// What the operator reads of the store, at the machine: no prompt and no answer may be made of it.

// Browse says which statements of memory an operator looks at.
type Browse struct {
	ID      int64     // of one; 0: any
	Scope   ScopeKind // empty: any
	ScopeID string    // empty: any
	Kind    MemoryKind
	Text    string // that stands in the statement, or is its subject
	Before  int64  // the id of the last statement of the page before; 0: the first page
	Limit   int
}

// BrowseMemories returns statements, the newest first. One that is named by its id may be history, the others are not.
func (db *DB) BrowseMemories(ctx context.Context, b Browse) ([]Memory, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT `+memoryColumns+` FROM memories m WHERE (? = m.id OR ? = 0 AND NOT m.superseded)
		AND (? = '' OR m.scope = ?) AND (? = '' OR m.scope_id = ?) AND (? = '' OR m.kind = ?) AND (? = 0 OR m.id < ?)
		AND (? = '' OR instr(lower(m.text), lower(?)) > 0 OR lower(m.subject) = lower(?)) ORDER BY m.id DESC LIMIT 0 + ?`,
		b.ID, b.ID, b.Scope, b.Scope, b.ScopeID, b.ScopeID, b.Kind, b.Kind, b.Before, b.Before, b.Text, b.Text, b.Text, max(1, b.Limit))
	return collect(db, "browse memories", rows, err, scanMemory)
}

// MemoryPlace is how much is remembered in a scope.
type MemoryPlace struct {
	Scope Scope
	N     int
}

// MemoryPlaces returns the scopes in which something is remembered, those with the most first.
func (db *DB) MemoryPlaces(ctx context.Context, most int) ([]MemoryPlace, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT scope, scope_id, guild_id, count(*) FROM memories WHERE NOT superseded
		GROUP BY scope, scope_id, guild_id ORDER BY count(*) DESC, scope_id LIMIT 0 + ?`, most)
	return collect(db, "count memories", rows, err, func(row scanner) (p MemoryPlace, err error) {
		err = row.Scan(&p.Scope.Kind, &p.Scope.ID, &p.Scope.GuildID, &p.N)
		return p, err
	})
}

// AsOperator returns where a statement may be read, which is where it was made: whoever changes it knows it from [DB.BrowseMemories].
func AsOperator(m Memory) Within {
	switch m.Scope.Kind {
	case ScopeDM:
		return WithinDM(m.Scope.ID)
	case ScopePublic:
		return Within{somewhere: true}
	}
	return WithinGuild(m.Scope.GuildID, []string{m.Scope.ID})
}

// PersonNames returns the names under which people were last seen, by id.
func (db *DB) PersonNames(ctx context.Context, ids []string) (map[string]string, error) {
	type named struct{ id, name string }
	rows, err := db.readers.QueryContext(ctx, `SELECT author_id, name FROM people WHERE author_id `+amongThese+` ORDER BY at`, listed(ids))
	all, err := collect(db, "read names", rows, err, func(row scanner) (n named, err error) {
		err = row.Scan(&n.id, &n.name)
		return n, err
	})
	names := make(map[string]string, len(all))
	for _, n := range all {
		names[n.id] = n.name
	}
	return names, err
}

// DayUsage is what all used on a day.
type DayUsage struct {
	Day string // of UTC, as in 2026-05-01
	Used
}

// UsageByDay returns what all used on each day since that of a time, the oldest first. Days without a turn are missing.
func (db *DB) UsageByDay(ctx context.Context, since time.Time) ([]DayUsage, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT day, sum(turns), sum(lookups), sum(tokens), sum(cost) FROM usage
		WHERE day >= ? AND scope = 'all' GROUP BY day ORDER BY day`, day(since))
	return collect(db, "read usage by day", rows, err, func(row scanner) (d DayUsage, err error) {
		var cost int64
		err = row.Scan(&d.Day, &d.Turns, &d.Lookups, &d.Tokens, &cost)
		d.Cost = float64(cost) / microdollars
		return d, err
	})
}

// UsageSince returns who of a scope used most since the day of a time, by tokens, each with all days together.
func (db *DB) UsageSince(ctx context.Context, since time.Time, scope string, most int) ([]Usage, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT id, sum(turns), sum(lookups), sum(tokens), sum(cost) FROM usage
		WHERE day >= ? AND scope = ? GROUP BY id ORDER BY sum(tokens) DESC, id LIMIT 0 + ?`, day(since), scope, most)
	all, err := collect(db, "read usage of "+scope, rows, err, func(row scanner) (u Usage, err error) {
		var cost int64
		err = row.Scan(&u.ID, &u.Turns, &u.Lookups, &u.Tokens, &cost)
		u.Scope, u.Cost = scope, float64(cost)/microdollars
		return u, err
	})
	if err != nil {
		return nil, fmt.Errorf("read usage: %w", err)
	}
	return all, nil
}
