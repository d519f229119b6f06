package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"familiar/internal/text"
)

const (
	// maxChecked is the largest file, in bytes, that is checked when it is opened. Such a check takes about ten seconds.
	maxChecked = 2 << 30
	checkLimit = 10 * time.Second
)

// emptied reports whether a database that an owner has used before has no bytes any more. The first start of all may be killed before it
// writes any.
func emptied(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, lockName))
	info, missing := os.Stat(filepath.Join(dir, fileName))
	return err == nil && missing == nil && info.Size() == 0
}

// check looks for damage in a file that its last owner did not close: the machine may have crashed, or the disk may fail. It does not check
// a file that is too large, and leaves a notice.
func (db *DB) check(ctx context.Context) error {
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if info.Size() > maxChecked {
		db.notify("the database was not closed, and is too large to be checked for damage at the start (%d MB); run sqlite3 familiar.db 'PRAGMA quick_check'", info.Size()>>20)
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	wrong, err := damage(limited, db.writes.pool, "quick_check")
	switch {
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		db.notify("the database was not closed, and %v were not enough to check it for damage; run sqlite3 familiar.db 'PRAGMA quick_check'", checkLimit)
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
	default: // nobody reads the notices
	}
}

// Notices returns sentences for the operator's log, about problems that make no call fail.
func (db *DB) Notices() <-chan string { return db.notices }

// watchEvery is how often the file is checked while nobody writes.
const watchEvery = 5 * time.Second

// A watch checks whether the file is still the one that was opened. SQLite would go on writing into a deleted file, and nobody could read
// that again.
type watch struct {
	path    string
	opened  os.FileInfo
	looking background
}

// look returns an [*Error] if the file is gone or replaced.
func (w *watch) look() error {
	if w.opened == nil { // the store is not open yet
		return nil
	}
	info, err := os.Stat(w.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Kind: Gone, Path: w.path}
	case err != nil:
		return nil // a write will report it
	case !os.SameFile(info, w.opened):
		return &Error{Kind: Replaced, Path: w.path}
	}
	return nil
}

// start checks the file every few seconds, and leaves a notice when it disappears.
func (w *watch) start(db *DB) error {
	info, err := os.Stat(w.path)
	if err != nil {
		return err
	}
	w.opened = info
	db.writes.ready = w.look
	w.looking.start(func(ctx context.Context) {
		ticks := time.NewTicker(watchEvery)
		defer ticks.Stop()
		for lost := false; ; {
			select {
			case <-ctx.Done():
				return
			case <-ticks.C:
				err := w.look()
				if err != nil && !lost {
					db.notify("%v", err)
				}
				lost = err != nil
			}
		}
	})
	return nil
}

// end stops the checks and returns what is wrong with the file, if anything.
func (w *watch) end() error {
	if w.looking.stop == nil {
		return nil
	}
	w.looking.end()
	w.looking.stop = nil
	return w.look()
}

// Inspection is the result of checking the whole file.
type Inspection struct {
	Bytes  int64    // size of the file and its log
	Unused int64    // unused bytes of the file
	Schema int64    // version
	Wrong  []string // damage, at most three lines; nil: none
}

// Inspect checks the file for damage while others use it. It takes some seconds for each gigabyte; ctx ends it.
func (db *DB) Inspect(ctx context.Context) (Inspection, error) {
	var found Inspection
	for _, name := range []string{db.path, db.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			found.Bytes += info.Size()
		}
	}
	size, err := db.Size(ctx)
	if err != nil {
		return found, err
	}
	if db.server == nil {
		found.Unused = size.File - size.Used
	}
	if found.Schema, _, err = db.versions(ctx, db.readers); err != nil {
		return found, db.Explain(err)
	}
	if db.server != nil { // which reports damage when it reads it
		found.Bytes = size.File
		return found, nil
	}
	found.Wrong, err = damage(ctx, db.readers, "quick_check")
	if len(found.Wrong) > 0 {
		db.damaged.Store(true)
	}
	return found, db.Explain(err)
}

// damage returns up to three lines about damage, as one of SQLite's checks finds it.
// https://www.sqlite.org/pragma.html#pragma_quick_check
func damage(ctx context.Context, pool *sql.DB, check string) (wrong []string, err error) {
	rows, err := pool.QueryContext(ctx, `PRAGMA `+check+`(3)`)
	err = each(rows, err, func(row Scanner) error {
		line, err := ScanValue[string](row)
		if line != "ok" {
			wrong = append(wrong, text.OneLine(line))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("check the database: %w", err)
	}
	return wrong, nil
}

const (
	// maxVacuum is the largest file, in bytes, that is rewritten when it is opened so that it can give space back. That takes a few
	// seconds.
	maxVacuum = 256 << 20
	// vacuumBatch is the largest number of pages given back in one transaction.
	vacuumBatch = 256

	incremental = 2 // of PRAGMA auto_vacuum
)

// Size is the size of a database in bytes.
type Size struct {
	Used int64 // by kept data; 0 on a server, where that is not known
	File int64 // on the disk, with unused space, without the log
}

// Size returns the size of the database.
func (db *DB) Size(ctx context.Context) (s Size, err error) {
	if db.server != nil {
		if s, err = db.server.size(ctx, db); err != nil {
			err = fmt.Errorf("read size of the database: %w", db.Explain(err))
		}
		return s, err
	}
	var free int64
	err = db.readers.QueryRowContext(ctx, `SELECT page_count * page_size, freelist_count * page_size FROM pragma_page_count, pragma_page_size, pragma_freelist_count`).Scan(&s.File, &free)
	if err != nil {
		return s, fmt.Errorf("read size of the database: %w", db.Explain(err))
	}
	s.Used = s.File - free
	return s, nil
}

// Shrink gives unused space back to the disk, in steps so small that nobody waits long. A file that cannot give space back keeps it for
// later use, see renew.
func (db *DB) Shrink(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("shrink database: %w", db.Explain(err))
		}
	}()
	if db.writes == nil {
		return errLooking
	}
	if db.server != nil { // which does that by itself
		return nil
	}
	var mode int
	if err := db.readers.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil {
		return err
	}
	if mode != incremental {
		return nil
	}
	return db.WriteSteps(ctx, vacuumBatch, func(tx *sql.Tx, n int) (more bool, err error) {
		rows, err := tx.Query(fmt.Sprintf(`PRAGMA incremental_vacuum(%d)`, n))
		if err := each(rows, err, func(Scanner) error { return nil }); err != nil { // one row a page
			return false, err
		}
		var free int
		err = tx.QueryRow(`PRAGMA freelist_count`).Scan(&free)
		return free > 0, err
	})
}

// renew rewrites a file that cannot give space back, so that it can. It runs at the start, when nobody waits to write. A disk without room
// for that is no reason to refuse the file.
func (db *DB) renew(ctx context.Context) error {
	var mode int
	if err := db.readers.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil || mode == incremental {
		return err
	}
	if err := db.vacuum(ctx); err != nil {
		db.notify("the database cannot give space back to the disk: %v", db.Explain(err))
	}
	return ctx.Err()
}

// vacuum rewrites the file.
func (db *DB) vacuum(ctx context.Context) error {
	info, err := os.Stat(db.path)
	if err != nil {
		return err
	}
	if info.Size() > maxVacuum {
		db.notify("the database cannot give unused space back to the disk (%d MB, made by an older version); to change that, stop the program and run sqlite3 familiar.db 'PRAGMA auto_vacuum=2; VACUUM'", info.Size()>>20)
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
	c.Close() // the writer needs it
	return db.reindex(ctx)
}

// dirLock makes this process the owner of a data directory. SQLite's own locks would let two processes take turns, and both would answer
// every message. The file stays when the lock is released: if it were removed, two processes could lock two files of the same name.
//
// The file names the owner until [dirLock.markClosed], for people and for the next owner. On Windows nobody else can read or write the first
// byte of a locked file, so the number begins at the second one.
type dirLock struct {
	lock *flock.Flock
	file *os.File     // a second handle: that of lock cannot be written
	data *flock.Flock // of the database file itself; nil: not locked
}

// lockData locks the database file, too: the lock file may be deleted meanwhile, and the database may have a second name in another directory.
// SQLite's own locks are of another kind on Linux, and would be hindered elsewhere. Closing the handle drops SQLite's locks, so release comes
// after SQLite has closed the file.
func (l *dirLock) lockData(path string) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	data := flock.New(path, flock.SetFlag(os.O_RDWR))
	locked, err := data.TryLock()
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return &Error{Kind: InUse, Path: path}
	}
	l.data = data
	return nil
}

// ownerAt is the offset of the owner's number, and ownerWidth its length in bytes, padded with spaces.
const (
	ownerAt    = 1
	ownerWidth = 20
)

// acquire locks the file at path. clean is false if the last owner did not get as far as markClosed. The error is an [*Error] that names
// the owner if there is another one.
func acquire(path string) (l *dirLock, clean bool, err error) {
	// Network file systems lock only files that are open for writing.
	l = &dirLock{lock: flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))}
	locked, err := l.lock.TryLock()
	if err != nil {
		return nil, false, fmt.Errorf("lock %s: %w", path, err)
	}
	if !locked {
		return nil, false, &Error{Kind: InUse, Path: filepath.Join(filepath.Dir(path), fileName), PID: ownerOf(path)}
	}
	clean = ownerOf(path) == 0
	l.file, err = os.OpenFile(path, os.O_RDWR, 0)
	if err == nil {
		err = l.write(strconv.Itoa(os.Getpid()))
	}
	if err != nil {
		return nil, false, errors.Join(err, l.release())
	}
	return l, clean, nil
}

// markClosed notes that the store was closed without an error.
func (l *dirLock) markClosed() error { return l.write("") }

func (l *dirLock) write(owner string) error {
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%-*s\n", ownerWidth, owner), ownerAt)
	if err == nil && owner != "" { // after a loss of power the next owner must know that this one did not close the store
		err = l.file.Sync()
	}
	return err
}

// release unlocks the file before it is closed. A child process that has not reached its exec holds the file open, too, and would keep the
// lock until then.
func (l *dirLock) release() error {
	err := l.lock.Unlock()
	if l.data != nil {
		err = errors.Join(err, l.data.Unlock())
	}
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// ownerOf returns the process that a lock file names, or 0.
func ownerOf(path string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	text := make([]byte, ownerAt+ownerWidth+1)
	if n, _ := f.ReadAt(text, 0); n == 0 { // the first byte is locked
		_, _ = f.ReadAt(text[ownerAt:], ownerAt)
	}
	if text[ownerAt+ownerWidth] == '\n' { // otherwise an earlier version wrote it, from the first byte on
		text = text[ownerAt:]
	}
	pid, err := strconv.Atoi(string(bytes.Trim(text, "\x00 \n")))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
