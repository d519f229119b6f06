package store

import (
	"context"
	"fmt"
)

// maxPeople is how many names of a server are of use: those who have spoken last.
const maxPeople = 1000

// People returns the names under which people have spoken in a server, those who spoke last first.
func (db *DB) People(ctx context.Context, guildID string) ([]string, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT ?`, guildID, maxPeople)
	if err != nil {
		return nil, fmt.Errorf("read names of people: %w", db.Explain(err))
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("read names of people: %w", db.Explain(err))
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read names of people: %w", db.Explain(err))
	}
	return names, nil
}
