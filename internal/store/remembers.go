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
}

func (r *remembering) add(guildID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.guilds[guildID] = true
}

func (db *DB) readRemembering(ctx context.Context) error {
	ids, err := db.guilds(ctx, `SELECT DISTINCT guild_id FROM memories`)
	if err != nil {
		return fmt.Errorf("read where something is remembered: %w", err)
	}
	db.remembering.guilds = map[string]bool{}
	for _, id := range ids {
		db.remembering.guilds[id] = true
	}
	return nil
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
