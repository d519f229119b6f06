package store

import (
	"context"
	"database/sql"
	"fmt"
)

// maxPeople is how many names of a server are of use: those who have spoken last.
const maxPeople = 1000

// People returns the names under which people have spoken in a server, those who spoke last first.
func (db *DB) People(ctx context.Context, guildID string) ([]string, error) {
	var names []string
	err := query(ctx, db.readers, `SELECT name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT ?`, []any{guildID, maxPeople}, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read names of people: %w", db.Explain(err))
	}
	return names, nil
}
