package store

import (
	"context"
	"fmt"
	"sync"
)

// remembering is where something is remembered. A place is added in the transaction that remembers something there and never taken out: it
// may hold nothing any more, but what is not here holds nothing.
type remembering struct {
	mu     sync.RWMutex
	guilds map[string]bool // guarded by mu; the empty id stands for direct messages and what is public
	last   int64           // guarded by mu: id of the last memory that was there when places were read
}

func (r *remembering) add(guildID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.guilds == nil {
		r.guilds = map[string]bool{}
	}
	r.guilds[guildID] = true
}

// Refresh takes notice of what another process has written [Beside] this one, as far as this one has it in memory.
func (db *DB) Refresh(ctx context.Context) error {
	db.settings.changed()
	var standings bool
	if err := db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM privacy)`).Scan(&standings); err != nil {
		return fmt.Errorf("read whether anybody has a standing: %w", db.Explain(err))
	}
	if standings {
		db.standings.Store(true)
	}
	return db.readRemembering(ctx)
}

// readRemembering reads where something is remembered that was not there when this was read last.
func (db *DB) readRemembering(ctx context.Context) error {
	r := &db.remembering
	r.mu.RLock()
	last := r.last
	r.mu.RUnlock()
	rows, err := db.readers.QueryContext(ctx, `SELECT guild_id, max(id) FROM memories WHERE id > ? GROUP BY guild_id`, last)
	_, err = collect(db, "read where something is remembered", rows, err, func(row scanner) (none struct{}, err error) {
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

// Remembers reports whether anything may be remembered that can be read for a turn in a server; for a direct message, without an id,
// whether anything is at all. It costs nothing, and spares most turns of most bots the reads.
func (db *DB) Remembers(guildID string) bool {
	if !db.owns() { // the process that does may write
		return true
	}
	r := &db.remembering
	r.mu.RLock()
	defer r.mu.RUnlock()
	if guildID == "" {
		return len(r.guilds) > 0
	}
	return r.guilds[guildID] || r.guilds[""]
}
