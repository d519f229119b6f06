package store

import "context"

// maxPeople is how many names of a server are of use: those who have spoken last.
const maxPeople = 1000

// People returns the names under which people have spoken in a server, those who spoke last first.
func (db *DB) People(ctx context.Context, guildID string) ([]string, error) {
	rows, err := db.stmts.people.QueryContext(ctx, guildID, maxPeople)
	return collect(db, "read names of people", rows, err, func(row scanner) (name string, err error) {
		err = row.Scan(&name)
		return name, err
	})
}
