// Package store keeps what must outlive the process: messages, claimed events, settings, quotas, people's decisions about their data, and
// the tables of packages trace, memory, embedding and history, which have the SQL for them.
//
// A [DB] is one SQLite file, familiar.db, in a directory that one process owns at a time (file.go). Each kind of data has a service, such
// as db.Messages, with a file or two of its own. All services write through [DB.Write], which puts writes of the same moment into one
// transaction (write.go). They read through a few connections that cannot write (query.go). A committed write survives the death of the
// process at any moment. Those that must not be forgotten survive a loss of power, too (write.go).
//
// [Open] brings the file to the newest schema (migrate.go). It checks a file that was not closed for damage, and stops writing when the
// file disappears (file.go). It refuses a file that it cannot be sure of, with an [Error] that says the cause and the cure (error.go).
//
// Messages are found by their words through a full-text index (index.go, search.go, recall.go). What other packages made of a message is
// deleted with it, in the same transaction (message.go).
//
// Package forget decides what is deleted of a person, a server or a message, with the functions of retention.go and query.go.
// The standing of a person is checked in the transaction that would keep something about them (privacy.go).
//
// The place of a store may be the address of a PostgreSQL database instead of a directory (server.go). The queries stay those of SQLite: a
// driver on pgconn (driver.go) gives PostgreSQL what it calls otherwise and the words of texts as FTS5 cuts them (dialect.go).
// There the file, its log and its checks do not exist, and a lock in the database makes one process its owner.
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

// ErrNotFound says that the store has no such thing.
var ErrNotFound = errors.New("not found")

// DB is an open store. Many goroutines may call its methods. They return [ErrNotFound], the error of the context, an [*Error] if the file
// or its disk is the cause, or another error.
type DB struct {
	services

	path     string   // the file, or the address of the server without a password
	server   *server  // nil: a file
	lock     *dirLock // nil if this process does not own the store
	writes   *writer  // nil if the store is open for reading only
	readers  *sql.DB
	stmts    statements
	log      *os.File // SQLite's log, for syncing; only the writer uses it until it is closed; nil: not needed yet
	names    memo     // names of people
	settings memo     // settings of places
	derived  derived
	carry    background // copies the log into the file
	indexing background
	watch    watch
	key      []byte // for Privacy.Pseudonym
	// Each of these is false while a table is empty: nobody has a standing, no turn is unkept, no server was left. The transaction that
	// writes the first row sets it, and nothing resets it.
	standings, unkept, left atomic.Bool
	version                 atomic.Int64 // of the file, when what is in memory was read
	notices                 chan string
	whole                   bool        // open succeeded
	damaged                 atomic.Bool // SQLite has reported damage
	unsynced                bool        // the last sync failed; only the writer uses it
}

// services are the parts of a [DB], one for each kind of data. They share its file and its transactions.
type services struct {
	Messages   *Messages
	Claims     *Claims
	Tallies    *Tallies
	Characters *Characters
	Settings   *Settings
	Changes    *Changes
	Threads    *Threads
	Webhooks   *Webhooks
	Quotas     *Quotas
	People     *People
	Privacy    *Privacy
	Ratings    *Ratings
	Guilds     *Guilds
	Notes      *Notes
}

func newServices(db *DB) services {
	return services{
		Messages:   &Messages{db},
		Claims:     &Claims{db},
		Tallies:    &Tallies{db},
		Characters: &Characters{db},
		Settings:   &Settings{db},
		Changes:    &Changes{db},
		Threads:    &Threads{db},
		Webhooks:   &Webhooks{db},
		Quotas:     &Quotas{db},
		People:     &People{db},
		Privacy:    &Privacy{db},
		Ratings:    &Ratings{db},
		Guilds:     &Guilds{db},
		Notes:      &Notes{db},
	}
}

// Messages keeps messages and finds them, by their words, their time or their neighbours.
type Messages struct{ db *DB }

// Claims keeps which events were taken, which of them still need an answer, and the posts of turns that are not over.
type Claims struct{ db *DB }

// Tallies counts the kept and refused statements of models, by name.
type Tallies struct{ db *DB }

// Characters keeps which characters speak where, and the lore and greetings that each has used in a channel.
type Characters struct{ db *DB }

// Settings keeps what people set for channels and servers. Every change is recorded in [Changes].
type Settings struct{ db *DB }

// Changes is the record of changed settings.
type Changes struct{ db *DB }

// Threads keeps the threads that the bot made.
type Threads struct{ db *DB }

// Webhooks keeps the webhook of the bot in each channel.
type Webhooks struct{ db *DB }

// Quotas counts what is used, and says how much is left.
type Quotas struct{ db *DB }

// People keeps the names of people in servers.
type People struct{ db *DB }

// Privacy keeps what people decided about their data, and finds, exports and deletes it.
type Privacy struct{ db *DB }

// Ratings keeps what people think of sources (feedback) and of replies (opinions).
type Ratings struct{ db *DB }

// Guilds keeps which servers the bot has left, and deletes their data.
type Guilds struct{ db *DB }

// Notes keeps small facts under keys.
type Notes struct{ db *DB }

// Open opens the store in dir, or in the database of an address, and creates it if it is missing, readable only for its owner. The caller must Close it. Until then no
// other process can open it, but others can [Look] at it and work [Beside] it.
func Open(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).open)
}

// Look opens the store in dir for reading only, even if another process has it open. It refuses a missing store and one with another
// schema. Every write fails.
func Look(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).look)
}

// Beside opens the store in dir for reading and writing while another process owns it. The owner alone creates the file, migrates it and
// checks it for damage. So the store must exist and have this program's schema. SQLite lets the two processes write in turns. The caller
// must not do what only one process may do, such as answering on Discord.
func Beside(ctx context.Context, dir string) (*DB, error) {
	return openBy(ctx, dir, (*DB).beside)
}

func openBy(ctx context.Context, place string, how func(*DB, context.Context) error) (*DB, error) {
	db, err := at(place)
	if err != nil {
		return nil, err
	}
	db.notices, db.names, db.settings, db.derived = make(chan string, 8), newMemo(maxNames), newMemo(maxSettings), derived{onVector: func(string, string) {}}
	db.services = newServices(db)
	db.watch.path = db.path
	if err := how(db, ctx); err != nil {
		_ = db.Close() // the first error matters more
		return nil, db.Explain(err)
	}
	return db, nil
}

// at returns a store in a place that is not open yet.
func at(place string) (db *DB, err error) {
	if IsServer(place) {
		db = &DB{path: ShownPlace(place)}
		db.server, err = newServer(place)
		return db, err
	}
	return storeIn(place)
}

func (db *DB) open(ctx context.Context) error {
	if db.server != nil {
		return db.serve(ctx, true, true)
	}
	dir := filepath.Dir(db.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	emptied := emptied(dir)
	lock, clean, err := acquire(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	db.lock = lock
	if err := os.RemoveAll(filepath.Join(dir, stageName)); err != nil { // left by a killed restore
		return err
	}
	// The file is created here because everybody could read one that SQLite creates. Also, SQLite's errors do not tell a missing permission
	// from a missing directory. Its other files inherit this one's mode.
	f, err := os.OpenFile(db.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := lock.lockData(db.path); err != nil {
		return err
	}
	if emptied && clean {
		return &Error{Kind: Corrupt, Path: db.path, Err: errors.New("the file is empty")}
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
	if err := errors.Join(db.Privacy.read(ctx), db.prepare(ctx)); err != nil {
		return err
	}
	if err := errors.Join(db.Messages.renewIndex(ctx), db.renew(ctx)); err != nil {
		return err
	}
	if err := db.watch.start(db); err != nil {
		return err
	}
	db.carry.start(db.carryLog)
	db.indexing.start(db.Messages.indexOld)
	db.whole = true
	return nil
}

func (db *DB) beside(ctx context.Context) error {
	if db.server != nil {
		return db.serve(ctx, false, true)
	}
	if err := db.findMade(ctx); err != nil {
		return err
	}
	if err := db.connectWriter(); err != nil {
		return err
	}
	if err := errors.Join(db.Privacy.read(ctx), db.prepare(ctx)); err != nil {
		return err
	}
	if err := db.watch.start(db); err != nil {
		return err
	}
	db.carry.start(db.carryLog)
	return nil
}

// owns reports whether this process owns the store. Others may write a little beside it.
func (db *DB) owns() bool { return db.lock != nil || db.server != nil && db.server.owners != nil }

func (db *DB) connectWriter() error {
	pool, err := connect(db.path, "_txlock=immediate", "_pragma=auto_vacuum(2)", "_pragma=secure_delete(1)", "_pragma=journal_mode(WAL)", "_pragma=synchronous(NORMAL)",
		"_pragma=foreign_keys(1)", "_pragma=wal_autocheckpoint("+logPages+")", "_pragma=journal_size_limit("+logLimit+")", "_pragma=cache_size(-128)")
	if err != nil {
		return err
	}
	// There is only one connection: SQLite has one writer at a time, and prepared statements stay with their connection.
	pool.SetMaxOpenConns(1)
	db.writes = startWriter(pool, db.syncLog)
	return nil
}

func (db *DB) look(ctx context.Context) error {
	if db.server != nil {
		return db.serve(ctx, false, false)
	}
	if err := db.findMade(ctx); err != nil {
		return err
	}
	return errors.Join(db.Privacy.read(ctx), db.prepare(ctx))
}

// findMade connects to an existing store, and refuses one with another schema.
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

// connect returns a pool of connections without opening one.
func connect(path string, params ...string) (*sql.DB, error) {
	return sql.Open("sqlite", address(path, params...))
}

// address returns the data source name of a file.
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

// Close waits for pending writes, then closes the file. Later calls do nothing. The error says so if the file is gone.
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
	if db.server != nil {
		errs = append(errs, db.server.close())
	}
	if db.damaged.Swap(false) {
		errs = append(errs, &Error{Kind: Corrupt, Path: db.path, Err: errors.New("damage was seen while it was in use")})
	}
	if db.lock != nil {
		if db.whole && errors.Join(errs...) == nil { // otherwise the next owner checks the file
			errs = append(errs, db.lock.markClosed())
		}
		errs = append(errs, db.lock.release())
		db.lock = nil
	}
	return errors.Join(errs...)
}

// Read returns the connections for reading. The caller must not close it, and should pass its errors to [DB.Explain].
func (db *DB) Read() *sql.DB { return db.readers }

// Writable returns why nothing can be written, or nil. It runs an empty transaction.
func (db *DB) Writable(ctx context.Context) error {
	return db.Write(ctx, func(tx *sql.Tx) error {
		var one int
		return tx.QueryRow(`SELECT 1`).Scan(&one)
	})
}

// Refresh updates what this process has in memory if another process has written [Beside] it since the last call, and reports whether one has.
func (db *DB) Refresh(ctx context.Context) (written bool, err error) {
	if db.server != nil {
		return db.server.refresh(ctx, db)
	}
	var version int64 // changes if another connection than the writer's has written: https://www.sqlite.org/pragma.html#pragma_data_version
	if err := db.writes.pool.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		return false, fmt.Errorf("read the version of the file: %w", db.Explain(err))
	}
	if version == db.version.Load() {
		return false, nil
	}
	db.settings.changed()
	if err := db.readEmpty(ctx); err != nil {
		return false, err
	}
	db.version.Store(version)
	return true, nil
}

// readEmpty reads which tables are not empty. A process that does not own the store cannot know when another writes into one.
func (db *DB) readEmpty(ctx context.Context) error {
	var standings, unkept, left bool
	err := db.readers.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM privacy), EXISTS (SELECT 1 FROM unkept_turns), EXISTS (SELECT 1 FROM left_guilds)`).
		Scan(&standings, &unkept, &left)
	if err != nil {
		return fmt.Errorf("read which tables are empty: %w", db.Explain(err))
	}
	for flag, filled := range map[*atomic.Bool]bool{&db.standings: standings, &db.unkept: unkept, &db.left: left} {
		if filled || !db.owns() {
			flag.Store(true)
		}
	}
	return nil
}
