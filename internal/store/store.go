// Package store keeps what must outlive the process. That is messages, claimed events, settings, quotas and people's decisions about their
// data. It has the tables of packages trace and memory, which have the SQL for them.
//
// A [DB] is one database, and package engine says what it is. It is a file of SQLite in a directory, or a database on a PostgreSQL server.
// One process owns it at a time, or several share it (lease.go). Each kind of data has a service, such as db.Messages, with a file or two of its own. All services write
// through [DB.Write], which puts writes of the same moment into one transaction (write.go). They read through a few connections that cannot
// write (query.go). A committed write survives the death of the process at any moment. Those that must not be forgotten survive a loss of
// power, too.
//
// Messages are found by their words through a full-text index (search.go, recall.go). What other packages made of a message is
// deleted with it, in the same transaction (message.go). The queries are SQLite's, and dialect.go has what PostgreSQL calls otherwise.
//
// Package forget decides what is deleted of a person, a server or a message. It uses the functions of retention.go and query.go. The
// standing of a person is checked in the transaction that would keep something about them (privacy.go).
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"familiar/internal/store/engine"
)

// ErrNotFound says that the store has no such thing.
var ErrNotFound = errors.New("not found")

// Error is a problem that keeps a store from working. Its text says the cause and the cure. It holds no content.
type Error = engine.Error

// Inspection is the result of looking for damage, and Size how large the database is.
type (
	Inspection = engine.Inspection
	Size       = engine.Size
)

// FileName is the name of the file of a store in its directory.
const FileName = engine.FileName

// The kinds of errors after which callers do something else.
const (
	InUse   = engine.InUse
	Missing = engine.Missing
	Older   = engine.Older
	Full    = engine.Full
)

// DB is an open store. Many goroutines may call its methods. They return [ErrNotFound], the error of the context, or another error. It is
// an [*Error] if the database or its disk is the cause.
type DB struct {
	services

	// Now dates claims. It may be set before the first of them. It is time.Now, which may be wrong and right again at the next start.
	Now func() time.Time

	engine   engine.Engine
	use      engine.Use
	writes   *writer // nil if the store is open for reading only
	readers  *sql.DB
	stmts    statements
	names    memo // names of people
	settings memo // settings of places
	derived  derived
	indexing background
	key      []byte // for Privacy.Pseudonym
	// Each of these is false while a table is empty. Then nobody has a standing, no turn is unkept, or no server was left. The transaction
	// that writes the first row sets it, and nothing resets it.
	standings, unkept, left atomic.Bool
	version                 atomic.Int64 // of the database, when what is in memory was read
	notices                 chan string
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
	Reminders  *Reminders
	Summaries  *Summaries
	Leases     *Leases
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
		Reminders:  &Reminders{db, make(chan struct{}, 1)},
		Summaries:  &Summaries{db},
		Leases:     newLeases(db),
	}
}

// Messages keeps messages and finds them, by their words, their time or their neighbours.
type Messages struct{ db *DB }

// Claims keeps which events were taken, and which of them still need an answer. It also keeps the posts of turns that are not over.
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

// Open opens the store of a place: a directory, or the address of a PostgreSQL database. It creates the store if it is missing, readable only
// for its owner. The caller must Close it. Until then no other process can open it, but others can [Look] at it and work [Beside] it.
func Open(ctx context.Context, place string) (*DB, error) {
	return whole(openFor(ctx, place, engine.Own))
}

// Look opens the store of a place for reading only, even if another process has it open. It refuses a missing store and one with another
// schema. Every write fails.
func Look(ctx context.Context, place string) (*DB, error) { return openFor(ctx, place, engine.Look) }

// Beside opens the store of a place for reading and writing while another process owns it. The owner alone creates it, migrates it and
// checks it for damage. So the store must exist and have this program's schema. The two processes write in turns. The caller must not do what
// only one process may do, such as answering on Discord.
func Beside(ctx context.Context, place string) (*DB, error) {
	return openFor(ctx, place, engine.Beside)
}

// Share opens the store of a place as [Open] does, but others may share a PostgreSQL database. [Leases] says which of them does what.
func Share(ctx context.Context, place string) (*DB, error) {
	return whole(openFor(ctx, place, engine.Share))
}

// OpenCopy opens a store that a move fills, as [Open] does.
func OpenCopy(ctx context.Context, place string) (*DB, error) {
	return openFor(ctx, place, engine.Own)
}

// whole refuses a database on a server that a move has not finished.
func whole(db *DB, err error) (*DB, error) {
	if err != nil || !IsServer(db.engine.Place()) {
		return db, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaseLimit)
	defer cancel()
	if _, err = db.Notes.Get(ctx, MoveNote); errors.Is(err, ErrNotFound) {
		return db, nil
	}
	if err == nil {
		err = fmt.Errorf("%s is half a copy: familiar move finishes it", db.engine.Place())
	}
	return nil, errors.Join(err, db.Close())
}

func openFor(ctx context.Context, place string, use engine.Use) (*DB, error) {
	db := &DB{Now: time.Now, use: use, notices: make(chan string, 8), names: newMemo(maxNames), settings: newMemo(maxSettings), derived: derived{onVector: func(string, string) {}}}
	db.services = newServices(db)
	var err error
	if db.engine, err = engine.At(place, schema(), db.notify); err != nil {
		return nil, err
	}
	if err := db.Explain(db.open(ctx)); err != nil {
		_ = db.Close() // the first error matters more
		return nil, err
	}
	return db, nil
}

func (db *DB) open(ctx context.Context) error {
	readers, pool, err := db.engine.Open(ctx, db.use)
	if err != nil {
		return err
	}
	db.readers = readers
	if pool != nil {
		db.writes = startWriter(pool, db.engine)
	}
	if err := errors.Join(db.Privacy.read(ctx), db.prepare(ctx)); err != nil || !db.owns() {
		return err
	}
	if err := db.Messages.renewIndex(ctx); err != nil {
		return err
	}
	db.indexing.start(db.Messages.indexOld)
	return nil
}

// owns reports whether this process owns the store, alone or with others. This process sees what others write after [DB.Refresh].
func (db *DB) owns() bool { return db.use == engine.Own || db.use == engine.Share }

// Close waits for pending writes, then closes the database. Later calls do nothing. The error says so if its file is gone.
func (db *DB) Close() error {
	db.indexing.end()
	if db.writes != nil {
		db.writes.close()
	}
	return db.engine.Close()
}

// Explain turns an error of the database driver into an [*Error] if the database or its disk is the cause. It turns sql.ErrNoRows into
// [ErrNotFound]. It returns other errors, and nil, as they are.
func (db *DB) Explain(err error) error {
	err = db.engine.Explain(err)
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
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

// Read returns the connections for reading. The caller must not close it, and should pass its errors to [DB.Explain].
func (db *DB) Read() *sql.DB { return db.readers }

// Writable returns why nothing can be written, or nil. It runs an empty transaction.
func (db *DB) Writable(ctx context.Context) error {
	return db.Write(ctx, func(*sql.Tx) error { return nil })
}

// Refresh updates what this process has in memory if another process has written [Beside] it since the last call. It reports whether one
// has.
func (db *DB) Refresh(ctx context.Context) (written bool, err error) {
	version, err := db.engine.Version(ctx)
	if err != nil {
		return false, fmt.Errorf("read the version of the database: %w", db.Explain(err))
	}
	if version == db.version.Load() {
		return false, nil
	}
	db.settings.changed()
	db.names.changed()
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

// Inspect looks for damage while others use the database, see [engine.Engine].
func (db *DB) Inspect(ctx context.Context) (Inspection, error) {
	found, err := db.engine.Inspect(ctx)
	return found, db.Explain(err)
}

// Size returns the size of the database.
func (db *DB) Size(ctx context.Context) (Size, error) {
	size, err := db.engine.Size(ctx)
	if err != nil {
		return size, fmt.Errorf("read size of the database: %w", db.Explain(err))
	}
	return size, nil
}

// Shrink gives unused space back to the disk, in steps so small that nobody waits long.
func (db *DB) Shrink(ctx context.Context) error {
	return db.keepUp("shrink database", db.engine.Shrink(ctx, db.WriteSteps))
}

// Scrub overwrites what is still there of deleted content, in small transactions. It waits until current readers are done.
func (db *DB) Scrub(ctx context.Context) error {
	return db.keepUp("overwrite what was deleted", db.engine.Scrub(ctx, db.WriteSteps))
}

// keepUp explains the error of a task of the engine.
func (db *DB) keepUp(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, db.Explain(err))
	}
	return nil
}

// backupNote is the key of the time of the last backup, as RFC 3339.
const backupNote = "backup.at"

// Backup copies the store of a place into a file, whether or not a process has it open, see [engine.Backup].
func Backup(ctx context.Context, place, file string, replace bool, now time.Time) (size int64, err error) {
	return engine.Backup(ctx, schema(), place, file, replace, func(pool *sql.DB) error {
		_, err := pool.ExecContext(ctx, setNote, backupNote, now.UTC().Format(time.RFC3339))
		return err
	})
}

// LastBackup returns when the last backup was made, or [ErrNotFound].
func (db *DB) LastBackup(ctx context.Context) (time.Time, error) {
	text, err := db.Notes.Get(ctx, backupNote)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// Restore replaces the store of a place, which no process may have open, with a backup, see [engine.Restore].
func Restore(ctx context.Context, place, file string, now time.Time, prepare func(ctx context.Context, staged, before string) error) (kept string, err error) {
	return engine.Restore(ctx, schema(), place, file, now, prepare)
}

// IsServer reports whether the place of a store is an address of PostgreSQL and no directory.
func IsServer(place string) bool { return engine.IsServer(place) }

// ShownPlace returns the place of a store as it may be shown: an address without user, password and options.
func ShownPlace(place string) string { return engine.ShownPlace(place) }

// CheckServer returns why this program cannot use the server of a place, or nil. A directory needs none.
func CheckServer(ctx context.Context, place string) error { return engine.Check(ctx, place) }
