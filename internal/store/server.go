package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// server is the PostgreSQL database of a [DB], which has no file then. One process owns the database as long as a transaction of its own
// holds a lock. PostgreSQL ends both with the connection.
type server struct {
	config *pgconn.Config
	by     *translator
	named  bool      // statements may be prepared by name
	owners *sql.DB   // of one connection, for holds; nil: this process does not own the store
	holds  *sql.Conn // in the owner's transaction; only open, guard and close use it
	lost   atomic.Bool
	guard  background
	seen   atomic.Int64 // of the table beside
}

const (
	oldestServer   = 150000 // the version, as PostgreSQL numbers it
	connectLimit   = 10 * time.Second
	guardEvery     = time.Second
	guardLimit     = 5 * time.Second
	serverReaders  = 8
	serverIdleTime = 5 * time.Minute
)

var errLost = errors.New("the connection that owns the database is lost")

// IsServer reports whether the place of a store is an address of PostgreSQL and no directory.
func IsServer(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// ShownPlace returns the place of a store as it may be shown: an address without user, password and options.
func ShownPlace(place string) string {
	if !IsServer(place) {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "postgres://…" // what cannot be read may be a part of the password
	}
	host := u.Host
	if host == "" {
		host = u.Query().Get("host")
	}
	return "postgres://" + strings.TrimPrefix(host, "/") + u.Path
}

// prepare is the option of an address that keeps statements from being prepared by name.
const prepare = "prepare"

// newServer reads an address.
func newServer(place string) (*server, error) {
	config, err := pgconn.ParseConfig(place)
	if err != nil { // the error may hold a part of the address
		return nil, &Error{Kind: Unreadable, Path: ShownPlace(place)}
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectLimit
	}
	named := config.RuntimeParams[prepare] != "off"
	delete(config.RuntimeParams, prepare)
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "familiar"
	}
	words, err := newTokenizer()
	return &server{config: config, by: &translator{words: words}, named: named}, err
}

// pool returns a pool of connections without opening one.
func (s *server) pool(writes bool, most int) *sql.DB {
	config := s.config
	if s.named && !writes { // a pooler would know no such parameter
		config = config.Copy()
		config.RuntimeParams["default_transaction_read_only"] = "on"
	}
	pool := sql.OpenDB(translating{config, s.by, s.named, writes})
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	pool.SetConnMaxIdleTime(serverIdleTime)
	return pool
}

// serve opens a store on a server. It owns the store if own is set, and can write if writes is.
func (db *DB) serve(ctx context.Context, own, writes bool) (err error) {
	s := db.server
	if err := s.examine(ctx, db, writes); err != nil {
		return err
	}
	db.readers = s.pool(false, serverReaders)
	if own {
		if err := s.own(ctx, db); err != nil {
			return err
		}
	}
	if writes {
		pool := s.pool(true, 1)
		db.writes = startWriter(pool, func() {})
		if own {
			err = db.migrate(ctx)
		}
	}
	if err == nil && !own {
		err = db.findSchema(ctx)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(db.Privacy.read(ctx), db.prepare(ctx)); err != nil {
		return err
	}
	if !own {
		if writes {
			db.writes.first = func(tx *sql.Tx) error {
				_, err := tx.Exec(`UPDATE beside SET writes = writes + 1`)
				return err
			}
		}
		return nil
	}
	if err := db.Messages.renewIndex(ctx); err != nil {
		return err
	}
	db.writes.ready = func() error {
		if s.lost.Load() {
			return &Error{Kind: Away, Path: db.path, Err: errLost}
		}
		return nil
	}
	s.guard.start(func(ctx context.Context) { s.watch(ctx, db) })
	db.indexing.start(db.Messages.indexOld)
	db.whole = true
	return nil
}

// examine refuses a server that this program cannot use, and says why. A pooler stands between if the number of the process that answers is
// not that of the connection. Statements are not prepared by name then, because the next one may go elsewhere.
func (s *server) examine(ctx context.Context, db *DB, writes bool) error {
	pool := sql.OpenDB(translating{config: s.config, by: s.by})
	defer pool.Close()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	var ours uint32
	err = c.Raw(func(raw any) error {
		ours = raw.(*conn).pg.PID()
		return nil
	})
	if err != nil {
		return err
	}
	var version int64
	var theirs uint32
	var replica, creates bool
	var encoding string
	err = c.QueryRowContext(ctx, `SELECT CAST(current_setting('server_version_num') AS BIGINT), pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), FALSE), pg_backend_pid(), current_setting('server_encoding')`).
		Scan(&version, &replica, &creates, &theirs, &encoding)
	switch {
	case err != nil:
		return err
	case version < oldestServer:
		return &Error{Kind: OldServer, Path: db.path, Have: version / 10000, Want: oldestServer / 10000}
	case encoding != "UTF8":
		return &Error{Kind: Encoding, Path: db.path, Err: fmt.Errorf("encoding %s", encoding)}
	case writes && replica:
		return &Error{Kind: Replica, Path: db.path}
	case writes && !creates:
		return &Error{Kind: Forbidden, Path: db.path}
	}
	s.named = s.named && ours == theirs
	return nil
}

// CheckServer returns why this program cannot use the server of a place, or nil. A directory needs none.
func CheckServer(ctx context.Context, place string) error {
	if !IsServer(place) {
		return nil
	}
	db, err := at(place)
	if err != nil {
		return err
	}
	return db.Explain(errors.Join(db.server.examine(ctx, db, true), db.server.close()))
}

// findSchema refuses a database that has another schema.
func (db *DB) findSchema(ctx context.Context) error {
	have, want, err := db.versions(ctx, db.readers)
	switch {
	case err != nil:
		return err
	case have == 0:
		return &Error{Kind: Missing, Path: db.path}
	case have < want:
		return &Error{Kind: Older, Path: db.path, Have: have, Want: want}
	}
	return nil
}

// own takes the lock of the owner.
func (s *server) own(ctx context.Context, db *DB) error {
	s.owners = s.pool(true, 1)
	return s.take(ctx, db)
}

// take begins the transaction that holds the lock. It never ends by itself: see [server.watch].
func (s *server) take(ctx context.Context, db *DB) error {
	if s.holds != nil {
		_ = s.holds.Close() // it is in no transaction any more, or broken
	}
	var err error
	if s.holds, err = s.owners.Conn(ctx); err != nil {
		return err
	}
	var taken bool
	_, err = s.holds.ExecContext(ctx, `BEGIN`)
	if err == nil {
		_, err = s.holds.ExecContext(ctx, `SET LOCAL idle_in_transaction_session_timeout = 0`)
	}
	if err == nil {
		err = s.holds.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock(`+ownerLock+`)`).Scan(&taken)
	}
	if err == nil && !taken {
		err = &Error{Kind: InUse, Path: db.path}
	}
	if err != nil {
		_, _ = s.holds.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
	}
	return err
}

// watch looks whether the transaction that holds the lock still lives, and takes the lock again. Nothing is written without it.
func (s *server) watch(ctx context.Context, db *DB) {
	ticks := time.NewTicker(guardEvery)
	defer ticks.Stop()
	for told := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		limited, cancel := context.WithTimeout(ctx, guardLimit)
		var held bool
		err := errLost
		if s.holds != nil {
			err = s.holds.QueryRowContext(limited, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND granted)`).Scan(&held)
		}
		if err != nil || !held {
			s.lost.Store(true)
			err = s.take(limited, db)
		}
		cancel()
		if s.lost.Store(err != nil); err != nil && !told && ctx.Err() == nil {
			db.notify("%v", db.Explain(err))
		}
		told = err != nil
	}
}

// close gives the lock back.
func (s *server) close() error {
	s.guard.end()
	errs := []error{s.by.words.pool.Close()}
	if s.holds != nil {
		_, _ = s.holds.ExecContext(context.Background(), `ROLLBACK`) // closing the connection does the same
		_ = s.holds.Close()
	}
	if s.owners != nil {
		errs = append(errs, s.owners.Close())
	}
	return errors.Join(errs...)
}

// size returns the size of the database. How much of it is in use is not known: deleted rows keep their place for later ones.
func (s *server) size(ctx context.Context, db *DB) (size Size, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size.File)
	return size, err
}

// refresh is [DB.Refresh].
func (s *server) refresh(ctx context.Context, db *DB) (written bool, err error) {
	var writes int64
	if err := db.readers.QueryRowContext(ctx, `SELECT writes FROM beside`).Scan(&writes); err != nil {
		return false, fmt.Errorf("read the version of the database: %w", db.Explain(err))
	}
	if writes == s.seen.Load() {
		return false, nil
	}
	db.settings.changed()
	db.names.changed()
	if err := db.readEmpty(ctx); err != nil {
		return false, err
	}
	s.seen.Store(writes)
	return true, nil
}

// makeServerVersions is makeVersions for PostgreSQL.
const makeServerVersions = `CREATE TABLE IF NOT EXISTS goose_db_version (version_id BIGINT NOT NULL, is_applied BIGINT NOT NULL)`

// kindOfServer reads an error of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html) or of the way there.
func kindOfServer(err error) Kind {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		switch code := said.Code; {
		case code == "3D000":
			return NoDatabase
		case strings.HasPrefix(code, "28"):
			return Refused
		case code == "42501":
			return Forbidden
		case code == "25006":
			return Replica
		case code == "26000" || code == "42P05":
			return Pooled
		case strings.HasPrefix(code, "53") && code != "53300":
			return Full
		case strings.HasPrefix(code, "XX00"):
			return Corrupt
		case code == "53300" || strings.HasPrefix(code, "08") || strings.HasPrefix(code, "57P"):
			return Away
		}
		return ""
	}
	var connecting *pgconn.ConnectError
	var network *net.OpError
	if errors.As(err, &connecting) || errors.As(err, &network) {
		return Away
	}
	return ""
}
