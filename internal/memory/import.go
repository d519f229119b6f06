package memory

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sort"

	"familiar/internal/store"
)

// Imported counts what happened to imported statements.
type Imported struct {
	Added    int // new
	Replaced int // they were there under their ids
	Merged   int // they say what is known already
	LeftOut  int // the person has not agreed, opted out or was forgotten since; or history without a successor
}

// Import saves statements from an operator, all or none, with their history and their sources. It does so even if the sources are gone. A
// statement with the same id and the same time of learning is replaced. If an id has another meaning here, the statement gets a new one.
func (s *Store) Import(ctx context.Context, all []Statement) (n Imported, err error) {
	all = slices.Clone(all)
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID }) // history before its replacements
	err = s.DB.Write(ctx, func(tx *sql.Tx) error {
		n = Imported{}
		ids := map[int64]int64{} // the new ids
		for _, m := range all {
			if err := s.importOne(tx, m, ids, &n); err != nil {
				return fmt.Errorf("statement %d: %w", m.ID, err)
			}
		}
		return s.dropOrphans(tx, all, ids, &n)
	})
	if err != nil {
		return Imported{}, fmt.Errorf("import memory: %w", err)
	}
	return n, nil
}

func (s *Store) importOne(tx *sql.Tx, m Statement, ids map[int64]int64, n *Imported) error {
	if err := m.Check(); err != nil {
		return err
	}
	for _, person := range m.people() {
		err := s.DB.Privacy.Consenting(tx, person, m.SaidAt)
		if errors.Is(err, store.ErrOptedOut) {
			n.LeftOut++
			return nil
		}
		if err != nil {
			return err
		}
	}
	if m.Kind == Person && m.By == "" {
		agreed, err := agrees(tx, m.Subject)
		if err != nil || !agreed {
			n.LeftOut++
			return err
		}
	}
	given := m.ID
	old, err := statementIn(tx, m.ID)
	switch {
	case err == nil && old.LearnedAt.Equal(m.LearnedAt):
		if !old.Superseded {
			_, err = tx.Exec(unindexMemory, old.ID, old.indexed())
		}
		if err = errors.Join(err, deleteStatement(tx, old)); err != nil {
			return err
		}
		n.Replaced++
		n.Added--
	case err == nil:
		m.ID = 0
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	if here, moved := ids[m.Supersedes]; moved && m.Supersedes != 0 { // new statements have no id yet
		m.Supersedes = here
	} else if m.Supersedes != 0 {
		if _, err := statementIn(tx, m.Supersedes); errors.Is(err, store.ErrNotFound) {
			m.Supersedes = 0 // the statement that it replaced was left out, or is gone
		} else if err != nil {
			return err
		}
	}
	if !m.Superseded {
		same, err := sameAs(tx, m)
		if err != nil {
			return err
		}
		if same.ID != 0 {
			n.Merged++
			ids[given] = same.ID
			return s.confirm(tx, same, m)
		}
	}
	n.Added++
	ids[given], err = s.insert(tx, m)
	return err
}

// dropOrphans deletes imported history without a successor.
func (s *Store) dropOrphans(tx *sql.Tx, all []Statement, ids map[int64]int64, n *Imported) error {
	for _, m := range slices.Backward(all) {
		id := ids[m.ID]
		if !m.Superseded || id == 0 {
			continue
		}
		var used bool
		if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM memories WHERE supersedes = ?)`, id).Scan(&used); err != nil {
			return err
		}
		if used {
			continue
		}
		if err := s.drop(tx, id); err != nil {
			return err
		}
		n.LeftOut++
		n.Added--
	}
	return nil
}

// Erase deletes a statement of any scope, and its history, or returns [store.ErrNotFound]. It is for the operator alone.
func (s *Store) Erase(ctx context.Context, id int64) error {
	return s.DB.Change(ctx, "erase memory", func(tx *sql.Tx) error {
		if _, err := statementIn(tx, id); err != nil {
			return err
		}
		return s.drop(tx, id)
	})
}
