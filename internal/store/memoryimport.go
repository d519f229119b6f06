package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
)

// Imported counts what became of statements that an operator brought.
type Imported struct {
	Added    int // new
	Replaced int // those that were there under their ids
	Merged   int // that say what is known already
	LeftOut  int // of people who have not agreed to be learned about, who opted out or were forgotten since, and history of nothing
}

// ImportMemories keeps statements that an operator brings, all or none of them, with their history and their sources, whether those are
// there or not. A statement that was learned at the same moment under the same id is replaced; one whose id has another meaning here gets
// a new one.
func (db *DB) ImportMemories(ctx context.Context, all []Memory) (n Imported, err error) {
	all = slices.SortedFunc(slices.Values(all), func(a, b Memory) int { return cmp.Compare(a.ID, b.ID) }) // history before what replaced it
	err = db.Write(ctx, func(tx *sql.Tx) error {
		n = Imported{}
		ids := map[int64]int64{} // that they have here
		for _, m := range all {
			if err := db.importMemory(tx, m, ids, &n); err != nil {
				return fmt.Errorf("statement %d: %w", m.ID, err)
			}
		}
		return db.dropOrphans(tx, all, ids, &n)
	})
	if err != nil {
		return Imported{}, fmt.Errorf("import memory: %w", err)
	}
	return n, nil
}

func (db *DB) importMemory(tx *sql.Tx, m Memory, ids map[int64]int64, n *Imported) error {
	if err := m.Check(); err != nil {
		return err
	}
	for _, person := range m.people() {
		err := db.consenting(tx, person, m.SaidAt)
		if errors.Is(err, ErrOptedOut) {
			n.LeftOut++
			return nil
		}
		if err != nil {
			return err
		}
	}
	if m.Kind == MemoryPerson && m.By == "" {
		agreed, err := agrees(tx, m.Subject)
		if err != nil || !agreed {
			n.LeftOut++
			return err
		}
	}
	given := m.ID
	old, err := memoryIn(tx, m.ID)
	switch {
	case err == nil && old.LearnedAt.Equal(m.LearnedAt):
		if !old.Superseded {
			_, err = tx.Exec(unindexMemory, old.ID, old.indexed())
		}
		if err = errors.Join(err, deleteMemory(tx, old)); err != nil {
			return err
		}
		n.Replaced++
		n.Added--
	case err == nil:
		m.ID = 0
	case !errors.Is(err, ErrNotFound):
		return err
	}
	if here, moved := ids[m.Supersedes]; moved {
		m.Supersedes = here
	} else if m.Supersedes != 0 {
		if _, err := memoryIn(tx, m.Supersedes); errors.Is(err, ErrNotFound) {
			m.Supersedes = 0 // what it replaced was left out, or is not there any more
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
			return db.confirm(tx, same, m)
		}
	}
	n.Added++
	ids[given], err = db.insertMemory(tx, m)
	return err
}

// dropOrphans deletes history that nothing has, of what was imported.
func (db *DB) dropOrphans(tx *sql.Tx, all []Memory, ids map[int64]int64, n *Imported) error {
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
		if err := db.dropMemory(tx, id); err != nil {
			return err
		}
		n.LeftOut++
		n.Added--
	}
	return nil
}

// EraseMemory deletes a statement, wherever it may be read, and what it replaced, or returns [ErrNotFound]. It is for the operator alone.
func (db *DB) EraseMemory(ctx context.Context, id int64) error {
	err := db.Write(ctx, func(tx *sql.Tx) error {
		if _, err := memoryIn(tx, id); err != nil {
			return err
		}
		return db.dropMemory(tx, id)
	})
	if err != nil {
		return fmt.Errorf("erase memory: %w", err)
	}
	return nil
}
