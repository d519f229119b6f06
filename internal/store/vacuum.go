package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"time"
)

const (
	// maxVacuum is up to which size an old file is written anew when it is opened, so that it can give space back from then on: a few
	// seconds.
	maxVacuum = 256 << 20
	// vacuumBatch is how many pages are given back in one transaction at most, and fewestVacuumed at least.
	vacuumBatch    = 256
	fewestVacuumed = 8
	// vacuumPatience is how long such a transaction should take: others wait for it.
	vacuumPatience = 5 * time.Millisecond

	incremental = 2 // of PRAGMA auto_vacuum
)

// Size is how large a database is, in bytes.
type Size struct {
	Used int64 // by what is kept
	File int64 // on the disk, with the space of what was deleted, and without the log
}

// Size returns how large the database is.
func (db *DB) Size(ctx context.Context) (s Size, err error) {
	var free int64
	err = db.readers.QueryRowContext(ctx, `SELECT page_count * page_size, freelist_count * page_size FROM pragma_page_count, pragma_page_size, pragma_freelist_count`).Scan(&s.File, &free)
	if err != nil {
		return s, fmt.Errorf("read size of the database: %w", db.Explain(err))
	}
	s.Used = s.File - free
	return s, nil
}

// Shrink gives the space of what was deleted back to the disk, in steps so small that nobody waits long. A file of an older version that is too
// large to be made able to do that keeps the space for later use.
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
		return nil
	}
	for n := fewestVacuumed; ; {
		var free int
		if err := db.readers.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&free); err != nil || free == 0 {
			return err
		}
		began := time.Now()
		if err := db.giveBack(ctx, n); err != nil {
			return err
		}
		if free <= n {
			return nil
		}
		if took := time.Since(began); took < vacuumPatience/2 {
			n = min(2*n, vacuumBatch)
		} else if took > vacuumPatience {
			n = max(n/2, fewestVacuumed)
		}
	}
}

// giveBack gives some pages back.
func (db *DB) giveBack(ctx context.Context, pages int) error {
	return db.WriteStep(ctx, func(tx *sql.Tx) error {
		rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, pages))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() { // a page each
		}
		return rows.Err()
	})
}

// renew has a file of an older version written anew, so that it can give space back. It is for the start, when nobody waits to write. That there is
// no room for that is no reason not to open it.
func (db *DB) renew(ctx context.Context) error {
	var mode int
	if err := db.readers.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil || mode == incremental {
		return err
	}
	if err := db.vacuum(ctx); err != nil {
		db.notify("the database could not be made able to give space back to the disk: %v", db.Explain(err))
	}
	return ctx.Err()
}

// vacuum writes a file of an older version anew.
func (db *DB) vacuum(ctx context.Context) error {
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if info.Size() > maxVacuum {
		db.notify("the database cannot give the space of what was deleted back to the disk (%d MB, made by an older version); sqlite3 familiar.db 'PRAGMA auto_vacuum=2; VACUUM', with the program stopped, changes that", info.Size()>>20)
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
