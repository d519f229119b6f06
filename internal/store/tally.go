package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Add adds to the counts, by name, of kept and refused statements of models.
func (s *Tallies) Add(ctx context.Context, counts map[string]int) error {
	return s.db.Change(ctx, "count statements", func(tx *sql.Tx) error { return s.AddIn(tx, counts) })
}

// AddIn is Add in a transaction of [DB.Write].
func (s *Tallies) AddIn(tx *sql.Tx, counts map[string]int) error {
	for name, n := range counts {
		if _, err := tx.Exec(`INSERT INTO tallies (name, n) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET n = n + excluded.n`, name, n); err != nil {
			return err
		}
	}
	return nil
}

// All returns the counts by name.
func (s *Tallies) All(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	err := s.db.Each(ctx, `SELECT name, n FROM tallies`, nil, func(scan func(...any) error) error {
		var name string
		var n int
		err := scan(&name, &n)
		counts[name] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read counts: %w", err)
	}
	return counts, nil
}
