package store

import (
	"context"
	"sync/atomic"
	"time"

	"familiar/internal/lru"
)

const (
	// maxPeople is how many names of a server are of use: those who have spoken last.
	maxPeople = 1000
	// metAgain is how much later somebody must speak for it to be noted: most messages write nothing here.
	metAgain = 10 * time.Minute
	// maxNames is how many bytes of names are remembered.
	maxNames = 256 << 10
)

// metQuery notes that somebody has spoken.
const metQuery = `INSERT INTO people (guild_id, author_id, name, at) VALUES (?, ?, ?, ?)
	ON CONFLICT (guild_id, author_id) DO UPDATE SET name = excluded.name, at = excluded.at
	WHERE excluded.at >= at AND (excluded.name <> name OR excluded.at >= at + ?)`

// names are those of servers, as they were read last.
type names struct {
	changes atomic.Int64 // of the table, by now; counted when a change is there to be read
	cache   *lru.Cache[string, namesAt]
}

type namesAt struct {
	names   []string // nobody changes them
	changes int64
}

func newNames() names {
	return names{cache: lru.New(maxNames, func(guild string, n namesAt) int64 {
		size := int64(len(guild)) + 100
		for _, name := range n.names {
			size += int64(len(name)) + 16
		}
		return size
	})}
}

// changed has everything be read again. It is called after the commit of a change.
func (n *names) changed() { n.changes.Add(1) }

// People returns the names under which people have spoken in a server, those who spoke last first, give or take ten minutes. Nobody may
// change the slice.
func (db *DB) People(ctx context.Context, guildID string) ([]string, error) {
	changes := db.names.changes.Load()
	if n, ok := db.names.cache.Get(guildID); ok && n.changes == changes && db.owns() {
		return n.names, nil
	}
	rows, err := db.stmts.people.QueryContext(ctx, guildID, maxPeople)
	all, err := collect(db, "read names of people", rows, err, func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	})
	if err == nil {
		db.names.cache.Set(guildID, namesAt{all, changes})
	}
	return all, err
}
