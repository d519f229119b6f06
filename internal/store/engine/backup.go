package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// copyPages is how many pages of 4 KiB are copied between two checks of the context.
const copyPages = 256

// Backup copies the file of a directory into another, which only its owner can read. It does not matter whether a process has it open. The
// copy holds what was committed when Backup began, and nothing later. It is written beside the file, checked for damage and renamed last.
// So the file is always missing, the earlier one, or whole. An existing file is kept, with [fs.ErrExist], unless replace is set. Backup
// returns the size of the file in bytes. note puts on record, in the copy and in the original, that it was made.
func Backup(ctx context.Context, schema Schema, dir, to string, replace bool, note func(*sql.DB) error) (size int64, err error) {
	if IsServer(dir) {
		return 0, fmt.Errorf("the database is on a server, %s: pg_dump --format=custom --file=FILE copies it while the bot runs", ShownPlace(dir))
	}
	f, err := fileIn(dir, &base{Schema: schema})
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(f.place); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return 0, &Error{Kind: Missing, Path: f.place, Err: err}
		}
		return 0, f.Explain(err)
	}
	if strings.HasPrefix(filepath.Base(to), FileName) && sameDir(filepath.Dir(to), filepath.Dir(f.place)) {
		return 0, fmt.Errorf("%s: a backup cannot take the place of the database or its log", to)
	}
	if err := mayMake(to, replace); err != nil {
		return 0, err
	}
	partial, err := copyWhole(ctx, f.place, to)
	if err != nil {
		return 0, f.Explain(err)
	}
	defer os.Remove(partial) // does nothing once it is renamed
	if err := checkCopy(ctx, schema, partial, note); err != nil {
		return 0, err
	}
	info, err := os.Stat(partial)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(ctx.Err(), mayMake(to, replace)); err != nil {
		return 0, err
	}
	if err := moveTo(partial, to); err != nil {
		return 0, err
	}
	if err := noteBackup(f.place, note); err != nil {
		return info.Size(), fmt.Errorf("the backup is whole, but the database could not note its time: %w", f.Explain(err))
	}
	return info.Size(), nil
}

// Restore replaces the store in dir, which no process may have open, with a backup. The backup is copied and checked first. Then prepare,
// unless it is nil, may change the copy in its directory staged. It can read the file of the present store, before, which is "" if there is
// none. The present store is kept beside, under the name that Restore returns, or "" if there was none. In any case the store is the
// earlier one or the prepared backup, and whole.
func Restore(ctx context.Context, schema Schema, dir, from string, now time.Time, prepare func(ctx context.Context, staged, before string) error) (kept string, err error) {
	if IsServer(dir) {
		return "", fmt.Errorf("the database is on a server, %s: stop the bot, and pg_restore --clean puts a copy of pg_dump back; then familiar erase forgets again who was forgotten since", ShownPlace(dir))
	}
	f, err := fileIn(dir, &base{Schema: schema})
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(from); err != nil {
		return "", fmt.Errorf("read backup: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(f.place), 0o700); err != nil {
		return "", f.Explain(fmt.Errorf("make data directory: %w", err))
	}
	lock, _, err := acquire(filepath.Join(filepath.Dir(f.place), lockName))
	if err != nil {
		return "", f.Explain(err)
	}
	defer func() {
		if err == nil {
			err = lock.markClosed()
		}
		err = errors.Join(err, lock.release())
	}()
	stage := filepath.Join(filepath.Dir(f.place), stageName)
	if err := errors.Join(os.RemoveAll(stage), os.Mkdir(stage, 0o700)); err != nil {
		return "", f.Explain(fmt.Errorf("make a directory to restore in: %w", err))
	}
	defer os.RemoveAll(stage)
	staged := filepath.Join(stage, FileName)
	partial, err := copyWhole(ctx, from, staged)
	if err != nil {
		return "", Explain(err, from)
	}
	if err := checkCopy(ctx, schema, partial, nil); err != nil {
		return "", fmt.Errorf("%s cannot be restored: %w", from, err)
	}
	if err := os.Rename(partial, staged); err != nil {
		return "", err
	}
	if err := prepared(ctx, stage, f.place, prepare); err != nil {
		return "", err
	}
	if kept, err = keepOld(ctx, f.place, now); err != nil {
		return "", f.Explain(err)
	}
	return kept, moveTo(staged, f.place)
}

// stageName is the directory, beside the store, in which a backup is prepared. The next start deletes one that a restore left behind.
const stageName = "familiar.restoring"

// prepared runs prepare on a backup and writes all of it to its one file.
func prepared(ctx context.Context, stage, path string, prepare func(ctx context.Context, staged, before string) error) error {
	if prepare == nil {
		return nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		path = ""
	}
	if err := prepare(ctx, stage, path); err != nil {
		return err
	}
	staged := filepath.Join(stage, FileName)
	if err := takeInLog(ctx, staged, "_pragma=journal_mode(DELETE)"); err != nil {
		return fmt.Errorf("write the prepared backup: %w", err)
	}
	return syncFile(staged)
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	other, bad := os.Stat(b)
	return err == nil && bad == nil && os.SameFile(one, other)
}

func mayMake(file string, replace bool) error {
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", file)
	case !replace:
		return &fs.PathError{Op: "write", Path: file, Err: fs.ErrExist}
	}
	return nil
}

// copyWhole copies a database, as it is at one moment, into a new file next to beside. It returns the name of the copy.
func copyWhole(ctx context.Context, from, beside string) (partial string, err error) {
	f, err := os.CreateTemp(filepath.Dir(beside), filepath.Base(beside)+".*.partial") // only its owner can read it
	if err != nil {
		return "", err
	}
	partial = f.Name()
	if err = f.Close(); err == nil {
		err = copyPagesOf(ctx, from, partial)
	}
	if err != nil {
		os.Remove(partial)
		return "", err
	}
	return partial, nil
}

// copyPagesOf copies a database page by page. VACUUM INTO would change the row numbers of some tables, to which the full-text index refers.
func copyPagesOf(ctx context.Context, from, to string) error {
	pool, err := Connect(from)
	if err != nil {
		return err
	}
	defer pool.Close()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	// The read transaction keeps the copy from starting again when others write.
	if _, err := c.ExecContext(ctx, `BEGIN`); err != nil {
		return err
	}
	defer c.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
	var tables int
	if err := c.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return err
	}
	return c.Raw(func(raw any) error {
		backup, err := raw.(interface {
			NewBackup(string) (*sqlite.Backup, error)
		}).NewBackup(address(to, "_pragma=journal_mode(OFF)", "_pragma=synchronous(OFF)")) // nobody needs half a copy
		if err != nil {
			return err
		}
		for more := true; more && err == nil; {
			if err = ctx.Err(); err == nil {
				more, err = backup.Step(copyPages)
			}
		}
		return errors.Join(err, backup.Finish())
	})
}

// checkCopy checks that a copy is a whole database of this program, no newer than it. It flushes it to the disk. note, unless it is nil,
// changes it before.
func checkCopy(ctx context.Context, schema Schema, path string, note func(*sql.DB) error) error {
	pool, err := Connect(path, "_pragma=journal_mode(DELETE)") // a single file, without a log
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	err = func() error {
		have, _, err := fileAt(path, &base{Schema: schema}).versions(ctx, pool)
		if err == nil && have == 0 {
			return errors.New("it is not a database of this program")
		}
		if err == nil && note != nil {
			err = note(pool)
		}
		if err != nil {
			return err
		}
		wrong, err := damage(ctx, pool, "integrity_check")
		if len(wrong) > 0 {
			err = &Error{Kind: Corrupt, Path: path, Err: errors.New(strings.Join(wrong, "; "))}
		}
		return err
	}()
	if err = errors.Join(Explain(err, path), pool.Close()); err != nil {
		return err
	}
	return syncFile(path)
}

// keepOld gives the store's file a second name, which it keeps when another file replaces it.
func keepOld(ctx context.Context, path string, now time.Time) (kept string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	kept = path + ".before-restore-" + now.UTC().Format("20060102T150405.000Z")
	// The new file must not get the log of the old one. Opening and closing the old file empties its log.
	if err := takeInLog(ctx, path); err != nil && ctx.Err() != nil {
		return "", err
	}
	if _, err := os.Stat(path + "-wal"); err == nil { // it is damaged, so its log is kept with it
		if err := os.Rename(path+"-wal", kept+"-wal"); err != nil {
			return "", err
		}
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if err := os.Link(path, kept); err != nil { // not every file system has hard links
		return kept, duplicate(path, kept)
	}
	return kept, nil
}

func takeInLog(ctx context.Context, path string, params ...string) error {
	pool, err := Connect(path, params...)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return errors.Join(err, pool.Close())
}

func duplicate(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// moveTo renames a file and replaces the one with that name.
func moveTo(partial, file string) error {
	if err := os.Rename(partial, file); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir makes renamed files survive a crash of the machine, if the system can flush a directory.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = f.Sync()
	return f.Close()
}

// noteBackup writes beside the process that owns the store. SQLite's own lock is enough for one row.
func noteBackup(path string, note func(*sql.DB) error) error {
	pool, err := Connect(path, "_txlock=immediate")
	if err != nil {
		return err
	}
	return errors.Join(note(pool), pool.Close())
}
