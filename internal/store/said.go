package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Said is what people have said, in another store, of what is kept of them. They are known by its key alone.
type Said struct {
	key  []byte
	rows []saidRow
}

type saidRow struct {
	who                 string // pseudonym
	optedOut, forgotten int64  // microseconds since 1970, or 0
}

// ReadSaid reads it from the file of a store that nobody has open.
func ReadSaid(ctx context.Context, file string) (s Said, err error) {
	pool, err := connect(file)
	if err != nil {
		return s, err
	}
	defer pool.Close()
	db := &DB{path: file}
	err = pool.QueryRowContext(ctx, `SELECT key FROM privacy_key`).Scan(&s.key)
	if err == nil {
		var rows *sql.Rows
		rows, err = pool.QueryContext(ctx, `SELECT who, opted_out, forgotten FROM privacy`)
		s.rows, err = collect(db, "read", rows, err, func(row scanner) (one saidRow, err error) {
			err = row.Scan(&one.who, &one.optedOut, &one.forgotten)
			return one, err
		})
	}
	if err != nil {
		return s, fmt.Errorf("read what people said of their data: %w", db.Explain(err))
	}
	return s, nil
}

// Of returns what a person has said there.
func (s Said) Of(personID string) Standing {
	who := pseudonym(s.key, personID)
	if i := slices.IndexFunc(s.rows, func(r saidRow) bool { return r.who == who }); i >= 0 {
		return standingOf(s.rows[i].optedOut, s.rows[i].forgotten)
	}
	return Standing{}
}

// Adopt takes over what people have said in a store of the same key: that of which this one is a copy. In others nobody is known again.
func (db *DB) Adopt(ctx context.Context, s Said) error {
	if !bytes.Equal(s.key, db.key) {
		return nil
	}
	err := db.Write(ctx, func(tx *sql.Tx) error {
		db.standings.Store(true)
		for _, r := range s.rows {
			_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, ?, ?)
				ON CONFLICT (who) DO UPDATE SET opted_out = excluded.opted_out, forgotten = max(forgotten, excluded.forgotten)`,
				r.who, r.optedOut, r.forgotten)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("take over what people said of their data: %w", err)
	}
	return nil
}

// Persons returns the ids of all people of whom there is something, but in records.
func (db *DB) Persons(ctx context.Context) ([]string, error) {
	rows, err := db.readers.QueryContext(ctx, `SELECT author_id FROM messages WHERE NOT own UNION SELECT author_id FROM people UNION SELECT author_id FROM memory_sources
		UNION SELECT subject FROM memories WHERE kind = 'person' UNION SELECT by_id FROM memories UNION SELECT user_id FROM consents
		UNION SELECT by_id FROM feedback UNION SELECT by_id FROM opinions UNION SELECT by_id FROM changes UNION SELECT by_id FROM castings
		UNION SELECT by_id FROM switches UNION SELECT by_id FROM backdrops UNION SELECT id FROM usage WHERE scope = 'person'`)
	return collect(db, "list people", rows, err, func(row scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	})
}
