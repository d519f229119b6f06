// Package store keeps what must outlive the process: messages and who wrote them, claimed events, channel
// settings, small notes, what was used of limits, what people said of sources, and the tables in which package trace keeps its
// records. What is too old, and what is of servers that the bot has left, goes (retention.go), and its space with it (vacuum.go).
//
// Messages of servers are found by their words (search.go), by a full-text index (index.go, words.go).
//
// What the bot learned is kept with what it rests on (memory.go), is read only [Within] the places where it may be told (memoryscope.go,
// memoryread.go), and goes with the messages that it rests on (memorydrop.go).
//
// What is kept of one person is found, exported and deleted as a whole (plan.go, trail.go, erase.go). Who has opted out, or was forgotten,
// is looked at in the transaction that would keep something of theirs (privacy.go).
//
// It is SQLite in one file, familiar.db, of a directory that one process owns at a time (lock.go). [Open]
// brings the file to the newest schema (migrate.go) and refuses what it cannot be sure of, with an [Error]
// that says the cause and the cure (error.go): a file that was not closed is looked through for damage (check.go), and one that
// disappears takes no more writes (watch.go). Everybody writes through [DB.Write], which lets those who
// write at the same moment share one transaction (write.go), and reads through a few connections that
// cannot write. What was acknowledged survives the death of the process at any moment.
//
// The SQL outside this package is plain, so that another engine can stand behind the same methods.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

const (
	fileName = "familiar.db"
	lockName = "familiar.lock"
)

// ErrNotFound says that there is no such thing in the store.
var ErrNotFound = errors.New("not found")

// DB is an open store. Its methods may be called from many goroutines. Their errors are [ErrNotFound], the
// context's own, an [*Error] where the file or its disk is to blame, or else a plain description.
type DB struct {
	path        string
	lock        *os.File // nil in a process that does not own the store
	writes      *writer  // nil when only looking
	readers     *sql.DB
	stmts       statements
	reads       reads
	names       memo // of people
	settings    memo // of places
	remembering remembering
	vectors     matrices   // in memory
	carry       background // of the log into the file
	indexing    background
	watch       watch
	key         []byte // of [DB.Pseudonym]
	// standings is false while nobody has a standing: it is set by whoever gives one, in the transaction that does, and never unset.
	standings atomic.Bool
	notices   chan string
	whole     bool // open has got to its end
}

// Open opens the store in dir and makes both if they are missing, readable for their owner only. The caller
// must Close it. Another process cannot open it until then, but can [Look] and work [Beside] it.
func Open(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).open)
}

// Look opens the store in dir for reading only, whether another process has it open or not. A store that is
// missing, or whose schema is not exactly this program's, is refused. Every write fails.
func Look(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).look)
}

// Beside opens the store in dir for reading and writing while another process owns it. What only the owner does is left to it: to make the
// file, to bring it to a new schema and to look through it for damage. So the store must be there, of exactly this program's schema. SQLite
// lets the two take turns at writing. The caller must not do what only one process may do, such as to answer what people write on Discord.
func Beside(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).beside)
}

func openBy(ctx context.Context, dir string, how func(*DB, context.Context) error) (*DB, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	db := &DB{path: filepath.Join(dir, fileName), notices: make(chan string, 8), names: newMemo(maxNames), settings: newMemo(maxSettings)}
	db.watch.path = db.path
	if err := how(db, ctx); err != nil {
		_ = db.Close() // why it did not open matters more
		return nil, db.Explain(err)
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	dir := filepath.Dir(db.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	lock, clean, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	db.lock = lock
	if err := os.RemoveAll(filepath.Join(dir, stageName)); err != nil { // of a restore that was killed
		return err
	}
	// Made here and not by SQLite, whose files anybody may read, and whose errors don't tell a missing
	// permission from a missing directory. Its other files inherit this one's mode.
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := db.connectWriter(); err != nil {
		return err
	}
	if !clean {
		if err := db.check(ctx); err != nil {
			return err
		}
	}
	if err := db.migrate(ctx); err != nil {
		return err
	}
	if err := db.connectReaders(); err != nil {
		return err
	}
	if err := errors.Join(db.readPrivacy(ctx), db.readRemembering(ctx), db.prepare(ctx)); err != nil {
		return err
	}
	if err := errors.Join(db.renewIndex(ctx), db.renew(ctx)); err != nil {
		return err
	}
	if err := db.watch.start(db); err != nil {
		return err
	}
	db.carry.start(db.carryLog)
	db.indexing.start(db.indexOld)
	db.whole = true
	return nil
}

func (db *DB) beside(ctx context.Context) error {
	if err := db.findMade(ctx); err != nil {
		return err
	}
	if err := db.connectWriter(); err != nil {
		return err
	}
	if err := errors.Join(db.readPrivacy(ctx), db.prepare(ctx)); err != nil {
		return err
	}
	if err := db.watch.start(db); err != nil {
		return err
	}
	db.carry.start(db.carryLog)
	return nil
}

// owns reports whether this process is the one that no other can take the place of. Others may write a little beside it.
func (db *DB) owns() bool { return db.lock != nil }

func (db *DB) connectWriter() error {
	pool, err := connect(db.path, "_txlock=immediate", "_pragma=auto_vacuum(2)", "_pragma=secure_delete(1)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(NORMAL)",
		"_pragma=foreign_keys(1)", "_pragma=wal_autocheckpoint("+logPages+")", "_pragma=journal_size_limit("+logLimit+")", "_pragma=cache_size(-128)")
	if err != nil {
		return err
	}
	// One connection, kept: SQLite has one writer at a time anyway, and prepared statements stay with it.
	pool.SetMaxOpenConns(1)
	db.writes = startWriter(pool)
	return nil
}

func (db *DB) look(ctx context.Context) error {
	if err := db.findMade(ctx); err != nil {
		return err
	}
	return errors.Join(db.readPrivacy(ctx), db.prepare(ctx))
}

// findMade connects to a store that somebody else has made, and refuses one of another schema.
func (db *DB) findMade(ctx context.Context) error {
	if _, err := os.Stat(db.path); errors.Is(err, fs.ErrNotExist) {
		return &Error{Kind: Missing, Path: db.path, Err: err}
	}
	if err := db.connectReaders(); err != nil {
		return err
	}
	have, want, err := db.versions(ctx, db.readers)
	if err != nil {
		return err
	}
	if have < want {
		return &Error{Kind: Older, Path: db.path, Have: have, Want: want}
	}
	return nil
}

// connect makes a pool of connections; none is opened yet.
func connect(path string, params ...string) (*sql.DB, error) {
	return sql.Open("sqlite", address(path, params...))
}

// address is how the driver is told of a file.
func address(path string, params ...string) string {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: p}
	u.RawQuery = strings.Join(append(params, "_pragma=busy_timeout(5000)", "_error_rc=1"), "&")
	return u.String()
}

func (db *DB) connectReaders() (err error) {
	db.readers, err = connect(db.path, "_query_only=1", "_pragma=cache_size(-64)")
	if err != nil {
		return err
	}
	db.readers.SetMaxOpenConns(4)
	db.readers.SetMaxIdleConns(4)
	return nil
}

// Close waits for the writes that have been asked for, then closes the file. Later calls do nothing. The error says so if the
// file is not there any more.
func (db *DB) Close() error {
	db.indexing.end()
	db.carry.end()
	errs := []error{db.watch.end()}
	if db.readers != nil {
		errs = append(errs, db.readers.Close())
	}
	if db.writes != nil {
		errs = append(errs, db.writes.close())
	}
	if db.lock != nil {
		if db.whole && errors.Join(errs...) == nil { // otherwise the next owner looks through the file
			errs = append(errs, markClosed(db.lock))
		}
		errs = append(errs, release(db.lock))
		db.lock = nil
	}
	return errors.Join(errs...)
}

// Read returns the connections for reading. The caller must not close it; errors that it gives should go
// through [DB.Explain].
func (db *DB) Read() *sql.DB { return db.readers }

// Writable returns why nothing can be kept, or nil. It begins a transaction in its turn, and writes nothing.
func (db *DB) Writable(ctx context.Context) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		var one int
		return tx.QueryRow(`SELECT 1`).Scan(&one)
	})
}
