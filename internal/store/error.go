package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Kind is what is wrong with the file or its disk, as far as the operator can do something about it.
type Kind string

const (
	InUse    Kind = "in_use"    // another process owns it
	Newer    Kind = "newer"     // a later version of this program wrote it
	Older    Kind = "older"     // Look only: not yet brought to this version's schema
	Missing  Kind = "missing"   // Look only: there is none
	Corrupt  Kind = "corrupt"   // damaged, or no database at all
	ReadOnly Kind = "read_only" // it, its directory or its disk cannot be written
	Full     Kind = "full"      // no space left
	IO       Kind = "io"        // the disk or the system failed
)

// Error is what keeps a store from working. Its text says the cause and the cure; it holds no content.
type Error struct {
	Kind Kind
	Path string // the database file
	PID  int    // InUse: who has it, or 0 if that is not known
	Have int64  // Newer, Older: the file's schema version
	Want int64  // Newer, Older: this program's
	Err  error  // what the system or SQLite said, if anything
}

func (e *Error) Error() string {
	s := fmt.Sprintf("database %s: %s", e.Path, e.cause())
	if e.Err != nil {
		s += " (" + e.Err.Error() + ")"
	}
	return s + ": " + e.cure()
}

func (e *Error) Unwrap() error { return e.Err }

func (e *Error) cause() string {
	switch e.Kind {
	case InUse:
		if e.PID == 0 {
			return "in use by another process"
		}
		return fmt.Sprintf("in use by process %d", e.PID)
	case Newer:
		return fmt.Sprintf("written by a newer version of this program, schema %d where %d is the newest known", e.Have, e.Want)
	case Older:
		return fmt.Sprintf("written by an older version of this program, schema %d where %d is needed", e.Have, e.Want)
	case Missing:
		return "there is none"
	case Corrupt:
		return "damaged, or not a database"
	case ReadOnly:
		return "cannot be written"
	case Full:
		return "no space left on its disk"
	default:
		return "cannot be read or written"
	}
}

func (e *Error) cure() string {
	switch e.Kind {
	case InUse:
		return "stop that process, or choose another data directory"
	case Newer:
		return "use the newer version, or put back a copy of the data directory from before the upgrade"
	case Older:
		return "start the bot once, which brings it up to date"
	case Missing:
		return "start the bot once, or choose the data directory that it uses"
	case Corrupt:
		return "put back a copy, or move it and the files beside it away to begin with an empty one"
	case ReadOnly:
		return "give the user that this program runs as the right to write the data directory and all files in it"
	case Full:
		return "free some space; what was saved before is safe"
	default:
		return "check the disk and the system's log, or choose another data directory"
	}
}

// Explain turns what the database driver says into an [*Error] where the file or its disk is to blame, and
// sql.ErrNoRows into [ErrNotFound]. Other errors, and nil, are returned as they are.
func (db *DB) Explain(err error) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if kind := kindOf(err); kind != "" {
		return &Error{Kind: kind, Path: db.path, Err: err}
	}
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func kindOf(err error) Kind {
	var lite *sqlite.Error
	switch {
	case errors.As(err, &lite):
		return kindOfCode(lite.Code())
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return Full
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.As(err, new(*fs.PathError)):
		return IO
	}
	return ""
}

// kindOfCode reads a result code of SQLite (https://www.sqlite.org/rescode.html).
func kindOfCode(code int) Kind {
	if code == sqlite3.SQLITE_IOERR_SHMSIZE {
		return Full // the one I/O error that a full disk gives in place of SQLITE_FULL
	}
	switch code & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return InUse
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return Corrupt
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return ReadOnly
	case sqlite3.SQLITE_FULL:
		return Full
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		return IO
	}
	return ""
}
