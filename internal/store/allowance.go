package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Allowance is how many may be taken of something in any span of time of that length: one that is taken is free again
// when the span is over, whenever it began.
type Allowance struct {
	Name   string
	Span   time.Duration
	Limit  int    // 0 or less: any number, and nothing is counted
	Person string // id of whom it is; empty: it is nobody's
}

// Taken is what came of taking.
type Taken struct {
	Used    []int     // of each allowance, with what was taken now
	Refused int       // the allowance of which none was left, by its index; -1: one of each was taken
	Free    time.Time // when the next of it is free, if it was refused
}

// Take takes one of every allowance at the time now, or of none if one of them has none left. A clock that went back
// frees nothing while it is back, and what it took in the future is held for one span at most.
func (db *DB) Take(ctx context.Context, now time.Time, all ...Allowance) (Taken, error) {
	var got Taken
	err := db.Write(ctx, func(tx *sql.Tx) (err error) {
		if _, err := tx.Exec(`DELETE FROM takings WHERE until <= ?`, now.UnixMicro()); err != nil {
			return err
		}
		got = Taken{Used: make([]int, len(all)), Refused: -1}
		all := slices.Clone(all)
		for i := range all {
			if err := db.address(tx, &all[i]); err != nil {
				return err
			}
		}
		for i, a := range all {
			free, err := a.free(tx, now)
			switch {
			case err != nil:
				return err
			case !free.IsZero():
				got.Refused, got.Free = i, free
				return nil
			}
		}
		for i, a := range all {
			if got.Used[i], err = a.take(tx, now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return Taken{}, fmt.Errorf("take of allowances: %w", err)
	}
	return got, nil
}

// address puts into the name of a person's allowance whose it is.
func (db *DB) address(tx *sql.Tx, a *Allowance) error {
	if a.Person == "" {
		return nil
	}
	alias, err := db.alias(tx, a.Person)
	a.Name += "/" + alias
	return err
}

// free returns when the next of an allowance is free, or the zero time if one is now.
func (a Allowance) free(tx *sql.Tx, now time.Time) (time.Time, error) {
	if a.Limit <= 0 {
		return time.Time{}, nil
	}
	end := now.Add(a.Span).UnixMicro()
	if _, err := tx.Exec(`UPDATE takings SET until = ? WHERE name = ? AND until > ?`, end, a.Name, end); err != nil {
		return time.Time{}, err
	}
	var until int64
	err := tx.QueryRow(`SELECT until FROM takings WHERE name = ? ORDER BY until DESC LIMIT 1 OFFSET ?`, a.Name, a.Limit-1).Scan(&until)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.UnixMicro(until), err
}

func (a Allowance) take(tx *sql.Tx, now time.Time) (used int, err error) {
	if a.Limit <= 0 {
		return 0, nil
	}
	if _, err := tx.Exec(`INSERT INTO takings (name, until) VALUES (?, ?)`, a.Name, now.Add(a.Span).UnixMicro()); err != nil {
		return 0, err
	}
	err = tx.QueryRow(`SELECT count(*) FROM takings WHERE name = ?`, a.Name).Scan(&used)
	return used, err
}
