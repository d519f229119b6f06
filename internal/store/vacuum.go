package store

import (
	"context"
	"database/sql"
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

// Shrink gives the space of what was deleted back to the disk. A file of an older version that is too large to be made able to
// do that keeps the space for later use, with a notice.
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
		db.large.Do(func() {
			db.notify("the database cannot give the space of what was deleted back to the disk (%d MB, made by an older version); sqlite3 familiar.db 'PRAGMA auto_vacuum=2; VACUUM', with the program stopped, changes that", info.Size()>>20)
		})
		return nil
	}
	c, err := db.writes.pool.Conn(ctx) // waits for its turn as a write does
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, fmt.Sprintf(`PRAGMA auto_vacuum = %d`, incremental)); err != nil {
		return err
	}
	if _, err = c.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	c.Close() // so that it can be written
	return db.reindex(ctx)
}
