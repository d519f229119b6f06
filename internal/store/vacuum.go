package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

const (
	// maxVacuum is up to which size an old file is written anew, so that it can give space back from then on: a few seconds
	// during which nobody else writes.
	maxVacuum = 256 << 20
	// vacuumBatch is how many pages are given back in one transaction.
	vacuumBatch = 256

	incremental = 2 // of PRAGMA auto_vacuum
)

// ErrTooLarge says that a file keeps the space of what was deleted, for later use: it was made by an older version, and is too
// large to be written anew while the program runs.
var ErrTooLarge = errors.New("the file is too large to be made able to shrink while the program runs; sqlite3 familiar.db 'PRAGMA auto_vacuum=2; VACUUM', with the program stopped, does it once and for all")

// Shrink gives the space of what was deleted back to the disk.
func (db *DB) Shrink(ctx context.Context) error {
	if err := db.shrink(ctx); err != nil {
		return fmt.Errorf("shrink database: %w", db.Explain(err))
	}
	return nil
}

func (db *DB) shrink(ctx context.Context) error {
	if db.writes == nil {
		return errLooking
	}
	var mode int
	if err := db.readers.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil {
		return err
	}
	if mode != incremental {
		return db.vacuum(ctx)
	}
	for {
		var free int
		if err := db.readers.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&free); err != nil || free == 0 {
			return err
		}
		err := db.Write(ctx, func(tx *sql.Tx) error {
			rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, vacuumBatch))
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() { // a page each
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
		if free <= vacuumBatch {
			return nil
		}
	}
}

// vacuum writes a file of an older version anew.
func (db *DB) vacuum(ctx context.Context) error {
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if info.Size() > maxVacuum {
		return ErrTooLarge
	}
	c, err := db.writes.pool.Conn(ctx) // waits for its turn as a write does
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA auto_vacuum = %d`, incremental)); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, `VACUUM`)
	return err
}
