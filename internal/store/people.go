package store

import (
	"context"
	"time"
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

// People returns the names under which people have spoken in a server, those who spoke last first, give or take ten minutes. Nobody may
// change the slice.
func (db *DB) People(ctx context.Context, guildID string) ([]string, error) {
	return memoise(db, &db.names, guildID, sizeOfNames, func() ([]string, error) {
		rows, err := db.stmts.people.QueryContext(ctx, guildID, maxPeople)
		return collect(db, "read names of people", rows, err, func(row scanner) (name string, err error) {
			err = row.Scan(&name)
			return name, err
		})
	})
}

func sizeOfNames(all []string) (size int) {
	for _, name := range all {
		size += len(name) + 16
	}
	return size
}
