package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Kind is a problem of the file or its disk that the operator can do something about.
type Kind string

const (
	InUse    Kind = "in_use"    // another process owns it
	Newer    Kind = "newer"     // a later version of this program wrote it
	Older    Kind = "older"     // from Look only: its schema is older than this version's
	TooOld   Kind = "too_old"   // its schema is older than the baseline
	Missing  Kind = "missing"   // from Look only: it is not there
	Corrupt  Kind = "corrupt"   // damaged, or no database
	ReadOnly Kind = "read_only" // the file, its directory or its disk cannot be written
	Full     Kind = "full"      // no space left
	IO       Kind = "io"        // the disk or the system failed
	Gone     Kind = "gone"      // deleted or moved away while it was open
	Replaced Kind = "replaced"  // another file was put in its place while it was open

	// Of a server alone.
	Unreadable Kind = "unreadable"  // its address has no such form
	Away       Kind = "away"        // it cannot be reached, or has no connection left
	Unsafe     Kind = "unsafe"      // it has no TLS, or none that can be trusted, and the address wants that
	Refused    Kind = "refused"     // it refuses the user or the password
	NoDatabase Kind = "no_database" // it has no such database
	OldServer  Kind = "old_server"  // its version is too old
	Encoding   Kind = "encoding"    // the database is not in UTF-8
	Forbidden  Kind = "forbidden"   // the user may not make tables or use them
	Replica    Kind = "replica"     // it is a copy for reading only
	Pooled     Kind = "pooled"      // a pooler loses prepared statements
)

// Error is a problem that keeps a store from working. Its text says the cause and the cure. It holds no content.
type Error struct {
	Kind Kind
	Path string // the database file
	PID  int    // InUse: the owner, or 0 if it is unknown
	Have int64  // Newer, Older, TooOld: the file's schema version
	Want int64  // Newer, Older: this program's version; TooOld: the oldest that it knows
	Err  error  // from the system or SQLite; may be nil
}

// explanations are the cause and the cure of each kind. The causes about versions have two numbers.
var explanations = map[Kind]struct{ cause, cure string }{
	InUse: {"in use by another process", "stop that process, or choose another data directory"},
	Newer: {"written by a newer version of this program, schema %d where %d is the newest known",
		"use the newer version, or put back a copy of the data directory from before the upgrade"},
	Older: {"written by an older version of this program, schema %d where %d is needed", "start the bot once, which brings it up to date"},
	TooOld: {"written by a version of this program that is too old, schema %d where %d is the oldest known",
		"start the last version that knows its schema once, or move it and the files beside it away to begin with an empty one"},
	Missing:  {"there is none yet", "begin with familiar chat or familiar run, or set FAMILIAR_DATA to the directory that they use"},
	Corrupt:  {"damaged, or not a database", "put back a copy, or move it and the files beside it away to begin with an empty one"},
	ReadOnly: {"cannot be written", "give the user that runs this program the right to write the data directory and all files in it"},
	Full:     {"no space left on its disk", "free some space; what was saved before is safe"},
	Gone: {"deleted or moved away while it was in use, so that nothing can be saved",
		"put it back, or restart the program, which begins with an empty one"},
	Replaced: {"replaced by another file while it was in use, so that nothing can be saved",
		"restart the program, which uses the file that is there now"},
	Unreadable: {"its address cannot be used", "write FAMILIAR_DATABASE as postgres://user:password@host:5432/database, with %xx for other characters in the password than letters and digits, no option or sslmode that the server does not know, and certificates that can be read"},
	Away:       {"the server cannot be reached", "check that PostgreSQL runs, that host and port of its address (FAMILIAR_DATABASE, or --to of a move) are right, and that it lets this machine in and has connections left"},
	Unsafe:     {"there is no safe connection to the server", "switch TLS on there (ssl = on), with a certificate that is not over, names the host as FAMILIAR_DATABASE does, and is from an authority in sslrootcert; or change sslmode"},
	Refused:    {"the server refuses the user or the password", "correct them in FAMILIAR_DATABASE, let the user in with pg_hba.conf, or renew a password whose VALID UNTIL is over"},
	NoDatabase: {"the server has no such database", "make it with createdb, owned by the user in FAMILIAR_DATABASE"},
	OldServer:  {"PostgreSQL %d, where %d is the oldest that works", "upgrade PostgreSQL"},
	Encoding:   {"not in UTF-8", "make another one with createdb --encoding=UTF8 --template=template0"},
	Forbidden:  {"the user may not make or use tables there", "make the user its owner: ALTER DATABASE … OWNER TO …, and GRANT CREATE ON SCHEMA public TO …"},
	Replica:    {"it is a copy that can only be read", "name the primary server in FAMILIAR_DATABASE; several hosts with target_session_attrs=read-write find it"},
	Pooled:     {"a pooler between gives every transaction another connection, and loses prepared statements", "add prepare=off to FAMILIAR_DATABASE, or set max_prepared_statements in PgBouncer"},
	IO:         {"cannot be read or written", "check the disk and the system's log, or choose another data directory"},
}

func (e *Error) Error() string {
	x := explanations[e.Kind]
	switch {
	case e.Kind == OldServer || e.Kind == Newer || e.Kind == Older || e.Kind == TooOld:
		x.cause = fmt.Sprintf(x.cause, e.Have, e.Want)
	case e.PID != 0:
		x.cause = fmt.Sprintf("in use by process %d", e.PID)
	}
	if e.Kind == InUse && IsServer(e.Path) {
		x.cure = "stop that process, or name another database in FAMILIAR_DATABASE"
	}
	if e.Err != nil && e.Kind != Missing {
		x.cause += " (" + e.Err.Error() + ")"
	}
	return fmt.Sprintf("database %s: %s: %s", e.Path, x.cause, x.cure)
}

func (e *Error) Unwrap() error { return e.Err }

// Explain turns an error about the database of a place into an [*Error], as [Engine] does.
func Explain(err error, place string) error {
	var known *Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if kind := kindOf(err); kind != "" {
		return &Error{Kind: kind, Path: place, Err: err}
	}
	return err
}

func kindOf(err error) Kind {
	var lite *sqlite.Error
	if kind := kindOfServer(err); kind != "" {
		return kind
	}
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
	switch code {
	case sqlite3.SQLITE_IOERR_SHMSIZE:
		return Full // a full disk gives this I/O error instead of SQLITE_FULL
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return Corrupt // the log was cut
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
