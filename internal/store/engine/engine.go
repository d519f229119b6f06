// Package engine is the database below package store. It is a file of SQLite (file.go) or a database on a PostgreSQL server (server.go).
// The rooms above see no difference between them. The statements are SQLite's, and a driver on pgconn (driver.go) translates them for
// PostgreSQL (dialect.go).
//
// An [Engine] makes one process the owner of its database and brings the schema to the newest version (migrate.go). It refuses what it
// cannot be sure of, with an [Error] that says the cause and the cure (error.go). It checks a file for damage, syncs and empties its log,
// and overwrites what was deleted (scrub.go). A file is copied and put back as a whole (backup.go). A server does all this by itself.
package engine

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
)

// Engine is a database. The goroutine of the writer calls Ready and Committed; many goroutines may call the other methods once it is open.
type Engine interface {
	// Place names the database as it may be shown: its file, or its address without a password.
	Place() string

	// Open connects. The writer is one connection, or nil for [Look]. The caller must Close the engine, also after an error.
	Open(ctx context.Context, use Use) (readers, writer *sql.DB, err error)

	// Close ends the connections and gives the database up. Later calls do nothing. The error says so if the file is gone or damaged.
	Close() error

	// Explain turns an error of the driver into an [*Error] if the database or its disk is the cause. It returns other errors, and nil, as
	// they are.
	Explain(err error) error

	// Ready returns why nothing can be written, or nil. It is asked before each transaction.
	Ready() error

	// Committed is called after each transaction. With keep it returns when that one, and all before it, survive a loss of power.
	Committed(keep bool)

	// Carry copies the log into the file as far as possible. With all it waits until readers let the log go, and empties it.
	Carry(ctx context.Context, all bool) error

	// Version returns a number that changes when another process writes.
	Version(ctx context.Context) (int64, error)

	// Aside returns connections whose statements wait for no writer. It is nil unless the use is [Share] and the database can be shared.
	Aside() *sql.DB

	// Inspect looks for damage while others use the database. It takes some seconds for each gigabyte of a file; ctx ends it.
	Inspect(ctx context.Context) (Inspection, error)

	// Size returns the size of the database.
	Size(ctx context.Context) (Size, error)

	// Shrink gives unused space back to the disk.
	Shrink(ctx context.Context, steps Steps) error

	// Tidy merges the parts of a full-text table, whose number grows with its rows. A search looks into all of them.
	Tidy(ctx context.Context, table string, steps Steps) error

	// Scrub overwrites what is still there of deleted content. It waits until current readers are done.
	Scrub(ctx context.Context, steps Steps) error
}

// Use is what a process does with a database.
type Use int

const (
	Own    Use = iota // alone: creates it, migrates it and checks it for damage
	Share             // as one of several, if the database can be shared; otherwise as Own
	Beside            // reads and writes while another process owns it, which must have made it
	Look              // only reads
)

// Steps does a task in small transactions while no other write waits. It calls f until there is no more to do. n says how many things to
// do, at most the given number.
type Steps func(ctx context.Context, most int, f func(tx *sql.Tx, n int) (more bool, err error)) error

// InSteps does a task in steps: f for each of some things.
func InSteps[T any](ctx context.Context, steps Steps, things []T, f func(*sql.Tx, T) error) error {
	if len(things) == 0 {
		return nil
	}
	return steps(ctx, len(things), func(tx *sql.Tx, n int) (more bool, err error) {
		n = min(n, len(things))
		for _, thing := range things[:n] {
			if err := f(tx, thing); err != nil {
				return false, err
			}
		}
		things = things[n:]
		return len(things) > 0, nil
	})
}

// Schema is what an engine must know of the tables.
type Schema struct {
	Migrations fs.FS               // files in the folders sqlite and postgres, see migrate.go
	Phrases    *strings.Replacer   // what SQLite and PostgreSQL call by different names, see dialect.go
	Indexed    map[string][]string // columns of the full-text tables
}

// Inspection is the result of looking for damage.
type Inspection struct {
	Bytes  int64    // size of the database, with the log of a file
	Unused int64    // unused bytes of a file
	Schema int64    // version
	Wrong  []string // damage, at most three lines; nil: none
}

// Size is the size of a database in bytes.
type Size struct {
	Used int64 // by kept data; 0 on a server, where that is not known
	File int64 // on the disk, with unused space, without the log
}

// At returns the database of a place: a directory, or an address of PostgreSQL. It is not open yet. tell leaves a notice for the operator,
// about a problem that makes no call fail.
func At(place string, schema Schema, tell func(format string, args ...any)) (Engine, error) {
	if IsServer(place) {
		return newServer(place, &base{Schema: schema, tell: tell})
	}
	return fileIn(place, &base{Schema: schema, tell: tell})
}

// base is what both engines have.
type base struct {
	Schema
	place        string
	folder       string // of the migrations
	findVersions string // counts the tables of versions
	tell         func(format string, args ...any)
	damaged      atomic.Bool // the database has reported damage

	readers, writer *sql.DB            // nil: not connected
	stop            context.CancelFunc // ends what runs in the background; nil: nothing does
	running         sync.WaitGroup
}

// Place implements [Engine].
func (b *base) Place() string { return b.place }

// Explain implements [Engine].
func (b *base) Explain(err error) error {
	err = Explain(err, b.place)
	if known, ok := errors.AsType[*Error](err); ok && known.Kind == Corrupt {
		b.damaged.Store(true)
	}
	return err
}

// start runs functions in the background until close, which ends their context.
func (b *base) start(all ...func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	for _, run := range all {
		b.running.Go(func() { run(ctx) })
	}
}

// close ends what runs in the background, and the connections.
func (b *base) close() error {
	if b.stop != nil {
		b.stop()
	}
	b.running.Wait()
	var errs []error
	for _, pool := range []*sql.DB{b.readers, b.writer} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if b.damaged.Swap(false) {
		errs = append(errs, &Error{Kind: Corrupt, Path: b.place, Err: errors.New("damage was seen while it was in use")})
	}
	return errors.Join(errs...)
}
