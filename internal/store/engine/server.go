package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// server is a database on a PostgreSQL server. One process owns it, or several share it, as long as a transaction of its own holds a lock.
// PostgreSQL ends both with the connection.
type server struct {
	*base
	config *pgconn.Config
	by     *translator
	named  bool      // statements may be prepared by name
	owners *sql.DB   // of one connection, for holds; nil: this process does not own the store
	holds  *sql.Conn // in the owner's transaction; only Open, watch and Close use it
	lost   atomic.Bool
	shared bool         // others may own the store, too
	aside  *sql.DB      // nil unless shared
	own    atomic.Int64 // transactions of this process that the table beside counts
}

const (
	oldestServer   = 150000 // the version, as PostgreSQL numbers it
	connectLimit   = 10 * time.Second
	guardEvery     = time.Second
	guardRetry     = 200 * time.Millisecond // while the server is away
	guardLimit     = 5 * time.Second
	serverReaders  = 8
	serverAside    = 4 // leases must not wait for what turns count
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
	bare, ok := withoutUser(place)
	u, err := url.Parse(bare)
	if !ok || err != nil {
		return "postgres://…" // what cannot be read may be a part of the password
	}
	host := u.Host
	if host == "" {
		host = u.Query().Get("host")
	}
	return "postgres://" + strings.TrimPrefix(host, "/") + u.Path
}

// withoutUser returns an address without user and password, as the driver divides it. It reports false if the password may go on there,
// because it has a bare @ or a slash.
func withoutUser(place string) (string, bool) {
	scheme, rest, _ := strings.Cut(place, "://")
	if at := strings.IndexAny(rest, "@/"); at >= 0 && rest[at] == '@' {
		rest = rest[at+1:]
	}
	name, _, _ := strings.Cut(rest, "=") // up to the value of the first option
	return scheme + "://" + rest, !strings.Contains(name, "@")
}

// prepare is the option of an address that keeps statements from being prepared by name.
const prepare = "prepare"

// newServer reads an address.
func newServer(place string, b *base) (*server, error) {
	b.place, b.folder, b.findVersions = ShownPlace(place), "postgres", `SELECT count(to_regclass('goose_db_version'))`
	config, err := pgconn.ParseConfig(place)
	if _, ok := withoutUser(place); !ok || err != nil { // the error may hold a part of the address
		wrong := &Error{Kind: Unreadable, Path: b.place}
		if file, found := errors.AsType[*fs.PathError](err); found {
			wrong.Err = file
		}
		return nil, wrong
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectLimit
	}
	named := config.RuntimeParams[prepare] != "off"
	delete(config.RuntimeParams, prepare)
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "familiar"
	}
	words, err := newTokenizer(b.Indexed)
	return &server{base: b, config: config, by: &translator{phrases: b.Phrases, words: words}, named: named}, err
}

// pool returns a pool of connections without opening one. A pooler would know none of their parameters. As SQLite does, the server plans a
// statement once, without the values. Planning one of recall takes longer than running it. Compiling one takes longer, too.
func (s *server) pool(begin string, most int) *sql.DB {
	config := s.config
	if s.named {
		config = config.Copy()
		config.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		config.RuntimeParams["jit"] = "off"
		if begin == beginRead { // not a parameter: one of several hosts that can be written would count as one that cannot
			config.AfterConnect = func(ctx context.Context, pg *pgconn.PgConn) error {
				return pg.Exec(ctx, `SET default_transaction_read_only = on`).Close()
			}
		}
	}
	var counted *atomic.Int64
	if begin == beginBeside {
		counted = &s.own
	}
	pool := sql.OpenDB(translating{config, s.by, s.named, begin, counted})
	pool.SetMaxOpenConns(most)
	pool.SetMaxIdleConns(most)
	pool.SetConnMaxIdleTime(serverIdleTime)
	return pool
}

// Open implements [Engine].
func (s *server) Open(ctx context.Context, use Use) (readers, writer *sql.DB, err error) {
	if err := s.examine(ctx, use != Look); err != nil {
		return nil, nil, err
	}
	s.readers = s.pool(beginRead, serverReaders)
	switch use {
	case Own, Share:
		if s.writer, s.owners = s.pool(beginWrite, 1), s.pool(beginRead, 1); use == Share {
			s.shared, s.aside = true, s.pool(beginWrite, serverAside)
		}
		if err = s.take(ctx); err == nil {
			err = s.migrate(ctx)
		}
		if err == nil && use == Share { // the table beside is there only now
			err = s.writer.Close()
			s.writer = s.pool(beginBeside, 1)
		}
		if err == nil {
			s.start(s.watch)
		}
	case Beside:
		s.writer = s.pool(beginBeside, 1)
		fallthrough
	default:
		err = s.findSchema(ctx)
	}
	return s.readers, s.writer, err
}

// examine refuses a server that this program cannot use, and says why. A pooler is between if the number of the process that answers is
// not that of the connection. Statements are not prepared by name then, because the next one may go elsewhere.
func (s *server) examine(ctx context.Context, writes bool) error {
	pool := sql.OpenDB(translating{config: s.config, by: s.by, begin: beginRead})
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
		return &Error{Kind: OldServer, Path: s.place, Have: version / 10000, Want: oldestServer / 10000}
	case encoding != "UTF8":
		return &Error{Kind: Encoding, Path: s.place, Err: fmt.Errorf("encoding %s", encoding)}
	case writes && replica:
		return &Error{Kind: Replica, Path: s.place}
	case writes && !creates:
		return &Error{Kind: Forbidden, Path: s.place}
	}
	s.named = s.named && ours == theirs
	return nil
}

// Check returns why this program cannot use the server of a place, or nil. A directory needs none.
func Check(ctx context.Context, place string) error {
	if !IsServer(place) {
		return nil
	}
	s, err := newServer(place, &base{Schema: Schema{Phrases: strings.NewReplacer()}})
	if err != nil {
		return err
	}
	return s.Explain(errors.Join(s.examine(ctx, true), s.Close()))
}

// take begins the transaction that holds the lock. It never ends by itself: see [server.watch].
func (s *server) take(ctx context.Context) error {
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
		try := `SELECT pg_try_advisory_xact_lock(` + ownerLock + `)`
		if s.shared {
			try = `SELECT pg_try_advisory_xact_lock_shared(` + ownerLock + `)`
		}
		err = s.holds.QueryRowContext(ctx, try).Scan(&taken)
	}
	if err == nil && !taken {
		err = &Error{Kind: InUse, Path: s.place}
	}
	if err != nil {
		_, _ = s.holds.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
	}
	return err
}

// watch looks whether the transaction that holds the lock still lives, and takes the lock again. Nothing is written without it.
func (s *server) watch(ctx context.Context) {
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
			err = s.take(limited)
		}
		cancel()
		if s.lost.Store(err != nil); err != nil && !told && ctx.Err() == nil {
			s.tell("%v", s.Explain(err))
		}
		every := guardEvery
		if told = err != nil; told {
			every = guardRetry
		}
		ticks.Reset(every)
	}
}

// Close implements [Engine]. It gives the lock back.
func (s *server) Close() error {
	errs := []error{s.close(), s.by.words.pool.Close()}
	if s.aside != nil {
		errs = append(errs, s.aside.Close())
	}
	if s.holds != nil {
		_, _ = s.holds.ExecContext(context.Background(), `ROLLBACK`) // closing the connection does the same
		_ = s.holds.Close()
	}
	if s.owners != nil {
		errs = append(errs, s.owners.Close())
	}
	return errors.Join(errs...)
}

// Ready implements [Engine].
func (s *server) Ready() error {
	if s.lost.Load() {
		return &Error{Kind: Away, Path: s.place, Err: errLost}
	}
	return nil
}

// Version implements [Engine].
func (s *server) Version(ctx context.Context) (writes int64, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT writes FROM beside`).Scan(&writes)
	return writes - s.own.Load(), err
}

// Aside implements [Engine].
func (s *server) Aside() *sql.DB { return s.aside }

// Inspect implements [Engine]. The server reports damage when it reads it.
func (s *server) Inspect(ctx context.Context) (found Inspection, err error) {
	size, err := s.Size(ctx)
	if err == nil {
		found.Bytes = size.File
		found.Schema, _, err = s.versions(ctx, s.readers)
	}
	return found, err
}

// Size implements [Engine]. How much of it is in use is not known: deleted rows keep their place for later ones.
func (s *server) Size(ctx context.Context) (size Size, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT pg_database_size(current_database())`).Scan(&size.File)
	return size, err
}

// Committed implements [Engine]. The server syncs each transaction.
func (s *server) Committed(bool) {}

// Carry implements [Engine]. The server copies its log by itself.
func (s *server) Carry(context.Context, bool) error { return nil }

// Shrink implements [Engine]. The server's autovacuum does that.
func (s *server) Shrink(context.Context, Steps) error { return nil }

// Tidy implements [Engine]. The server's autovacuum does that.
func (s *server) Tidy(context.Context, string, Steps) error { return nil }

// Scrub implements [Engine]. The server overwrites deleted rows when it uses their place again.
func (s *server) Scrub(context.Context, Steps) error { return nil }

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
		case code == "08P01":
			return kindOfPooler(said.Message)
		case code == "42704": // an option that the server does not know
			return Unreadable
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
	switch {
	case errors.As(err, &connecting) && unsafe(connecting):
		return Unsafe
	case errors.As(err, &network):
		return Away
	case errors.Is(err, pgconn.ErrReadOnlyConnection): // all hosts answer, and none can be written
		return Replica
	case errors.As(err, &connecting):
		return Away
	}
	return ""
}

// unsafe reports whether the last attempt to connect failed because of TLS.
func unsafe(err error) bool {
	said := err.Error()
	last := said[strings.LastIndexByte(said, '\n')+1:]
	return strings.Contains(last, "x509: ") || strings.Contains(last, "refused TLS")
}

// kindOfPooler reads what PgBouncer says, which has one code for everything (https://www.pgbouncer.org). It repeats what the server said.
func kindOfPooler(said string) Kind {
	said = strings.ToLower(said)
	has := func(words string) bool { return strings.Contains(said, words) }
	switch {
	case has("authentication") || has("no such user") || has("password") || has("role "):
		return Refused
	case has("no such database") || has("database") && has("does not exist"):
		return NoDatabase
	case has("startup parameter"):
		return Unreadable
	}
	return Away
}
