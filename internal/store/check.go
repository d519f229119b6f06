package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	// maxChecked is up to which size a file is looked through when it is opened, which takes about ten seconds then.
	maxChecked = 2 << 30
	checkLimit = 10 * time.Second
)

// check looks through a file whose last owner did not close it: that may have been a crash of the machine, or a disk that fails.
// A file that is too large is left unchecked, with a notice.
func (db *DB) check(ctx context.Context) error {
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if info.Size() > maxChecked {
		db.notify("the database was not closed and is too large to be looked through for damage at the start (%d MB); sqlite3 familiar.db 'PRAGMA quick_check' does it", info.Size()>>20)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	wrong, err := quickCheck(limited, db.writes.pool)
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		db.notify("the database was not closed, and %v were not enough to look through it for damage; sqlite3 familiar.db 'PRAGMA quick_check' does it", checkLimit)
		return nil
	case err != nil:
		return err
	case len(wrong) > 0:
		return &Error{Kind: Corrupt, Path: db.path, Err: errors.New(strings.Join(wrong, "; "))}
	}
	return nil
}

// notify leaves a notice for the operator.
func (db *DB) notify(format string, args ...any) {
	select {
	case db.notices <- fmt.Sprintf(format, args...):
	default: // nobody reads them
	}
}

// Notices are sentences for the operator's log, about what nobody's call fails from.
func (db *DB) Notices() <-chan string { return db.notices }
