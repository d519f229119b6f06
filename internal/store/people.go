package store

import (
	"context"
	"time"
)

// Person is somebody who has spoken in a server, with their newest name.
type Person struct{ ID, Name string }

// List returns the people who have spoken in a server, latest first.
func (s *People) List(ctx context.Context, guildID string) ([]Person, error) {
	return List(ctx, s.db, "read people", func(row Scanner) (p Person, err error) {
		err = row.Scan(&p.ID, &p.Name)
		return p, err
	}, `SELECT author_id, name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT 0 + ?`, guildID, maxPeople)
}

const (
	// maxPeople is how many people of a server are read: those who spoke last.
	maxPeople = 1000
	// metAgain is how long a person's entry stays without an update: most messages write nothing here.
	metAgain = 10 * time.Minute
	// maxNames is how many bytes of names are cached.
	maxNames = 256 << 10
)

// metQuery notes that somebody has spoken.
const metQuery = `INSERT INTO people (guild_id, author_id, name, at) VALUES (?, ?, ?, ?)
	ON CONFLICT (guild_id, author_id) DO UPDATE SET name = excluded.name, at = excluded.at
	WHERE excluded.at >= people.at AND (excluded.name <> people.name OR excluded.at >= people.at + ?)`

// Names returns the names under which people spoke in a server, latest first, to within ten minutes. The caller must not change the slice.
func (s *People) Names(ctx context.Context, guildID string) ([]string, error) {
	return memoise(s.db, &s.db.names, guildID, sizeOfNames, func() ([]string, error) {
		return ListOften(ctx, s.db, "read names of people", ScanValue[string], `SELECT name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT 0 + ?`, guildID, maxPeople)
	})
}

// Servers returns the servers in which a person has spoken, latest first. The bot may have left some of them.
func (s *People) Servers(ctx context.Context, authorID string, n int) ([]string, error) {
	return ListOften(ctx, s.db, "read the servers of a person", ScanValue[string], `SELECT guild_id FROM people WHERE author_id = ? AND guild_id <> '' ORDER BY at DESC LIMIT 0 + ?`, authorID, n)
}

func sizeOfNames(all []string) (size int) {
	for _, name := range all {
		size += len(name) + 16
	}
	return size
}

// NamesByID returns the last known names of people in a server, by id. An empty server is any.
func (s *People) NamesByID(ctx context.Context, guildID string, ids []string) (map[string]string, error) {
	rows, err := s.db.readers.QueryContext(ctx, `SELECT author_id, name FROM people WHERE author_id `+AmongThese+` AND (? = '' OR guild_id = ?) ORDER BY at`,
		Listed(ids), guildID, guildID)
	return Mapped[string, string](s.db, "read names", rows, err)
}
