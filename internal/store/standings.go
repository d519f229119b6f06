package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Standings are the decisions of people in another store. They are found only by its key.
type Standings struct {
	key  []byte
	rows []standingRow
}

type standingRow struct {
	who                 string // pseudonym
	optedOut, forgotten int64  // microseconds since 1970, or 0
}

// ReadStandings reads the standings from the file of a store that nobody has open.
func ReadStandings(ctx context.Context, file string) (s Standings, err error) {
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
		s.rows, err = Collect(db, "read standings", rows, err, func(row Scanner) (one standingRow, err error) {
			err = row.Scan(&one.who, &one.optedOut, &one.forgotten)
			return one, err
		})
	}
	if err != nil {
		return s, fmt.Errorf("read standings: %w", db.Explain(err))
	}
	return s, nil
}

// Of returns the standing of a person there.
func (s Standings) Of(personID string) Standing {
	who := pseudonym(s.key, personID)
	if i := slices.IndexFunc(s.rows, func(r standingRow) bool { return r.who == who }); i >= 0 {
		return standingOf(s.rows[i].optedOut, s.rows[i].forgotten)
	}
	return Standing{}
}

// AdoptStandings saves the standings of the store that this one is a copy of. They have the same key; it ignores standings with another one.
func (s *Privacy) AdoptStandings(ctx context.Context, standings Standings) error {
	if !bytes.Equal(standings.key, s.db.key) {
		return nil
	}
	return s.db.Change(ctx, "adopt standings", func(tx *sql.Tx) error {
		s.db.standings.Store(true)
		for _, r := range standings.rows {
			_, err := tx.Exec(`INSERT INTO privacy (who, opted_out, forgotten) VALUES (?, ?, ?)
				ON CONFLICT (who) DO UPDATE SET opted_out = excluded.opted_out, forgotten = max(forgotten, excluded.forgotten)`,
				r.who, r.optedOut, r.forgotten)
			if err != nil {
				return err
			}
		}
		return nil
	})
}
