package engine

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The driver for PostgreSQL: package database/sql above pgconn. Values travel as text, except bytes.

// translating makes connections that translate.
type translating struct {
	config   *pgconn.Config
	by       *translator
	prepares bool          // statements by name
	begin    string        // statements that begin a transaction
	counted  *atomic.Int64 // counts the transactions; nil: nobody asks
}

// Connect implements [driver.Connector].
func (t translating) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, t.config)
	if err != nil {
		return nil, err
	}
	return &conn{pg: pg, translating: t, prepared: map[string]*pgconn.StatementDescription{}, used: time.Now()}, nil
}

// Driver implements [driver.Connector].
func (t translating) Driver() driver.Driver { return nil }

const (
	mostPrepared = 400 // statements of a connection
	sureFor      = time.Second
	closeLimit   = 5 * time.Second
)

// conn is a connection. Only one goroutine uses it at a time.
type conn struct {
	translating
	pg       *pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	used     time.Time
}

// run sends a statement. The next one must wait until its result is closed.
func (c *conn) run(ctx context.Context, query string, args []driver.NamedValue) (*pgconn.ResultReader, error) {
	t := c.by.translate(query)
	values, formats, err := t.bind(args)
	if err != nil {
		return nil, err
	}
	if !c.prepares {
		return c.pg.ExecParams(ctx, t.text, values, nil, formats, nil), nil
	}
	known := c.prepared[t.text]
	if known == nil {
		name := ""
		if len(c.prepared) < mostPrepared {
			name = "s" + strconv.Itoa(len(c.prepared))
		}
		if known, err = c.pg.Prepare(ctx, name, t.text, nil); err != nil {
			return nil, c.lost(err)
		}
		if name != "" {
			c.prepared[t.text] = known
		}
	}
	results := make([]int16, len(known.Fields))
	for i, f := range known.Fields {
		if f.DataTypeOID == ofBytes {
			results[i] = 1
		}
	}
	return c.pg.ExecStatement(ctx, known, values, formats, results), nil
}

// lost marks an error of a connection that was gone before anything was sent, so that another one is tried. A call that was canceled before
// that says nothing about its connection.
func (c *conn) lost(err error) error {
	canceled := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if err != nil && !canceled && pgconn.SafeToRetry(err) {
		return driver.ErrBadConn
	}
	return err
}

// QueryContext implements [driver.QueryerContext].
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	result, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	r := &rows{c: c, result: result}
	if r.more = result.NextRow(); !r.more { // a failure is told here, and not later
		if _, err := result.Close(); err != nil {
			return nil, c.lost(err)
		}
	}
	return r, nil
}

// ExecContext implements [driver.ExecerContext]. Without arguments there may be several statements, such as those of a migration.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(args) == 0 {
		tag, err := c.simple(ctx, c.by.phrases.Replace(query))
		return driver.RowsAffected(tag.RowsAffected()), err
	}
	result, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	var done executed
	if result.NextRow() && len(result.Values()) == 1 {
		done.id, _ = strconv.ParseInt(string(result.Values()[0]), 10, 64)
	}
	tag, err := result.Close()
	done.rows = tag.RowsAffected()
	return done, c.lost(err)
}

// executed is what a statement did.
type executed struct {
	rows int64
	id   int64 // what RETURNING says of the first row
}

// LastInsertId implements [driver.Result].
func (e executed) LastInsertId() (int64, error) { return e.id, nil }

// RowsAffected implements [driver.Result].
func (e executed) RowsAffected() (int64, error) { return e.rows, nil }

// simple runs statements without parameters and returns the tag of the last one.
func (c *conn) simple(ctx context.Context, statements string) (tag pgconn.CommandTag, err error) {
	all, err := c.pg.Exec(ctx, statements).ReadAll()
	if n := len(all); n > 0 {
		tag = all[n-1].CommandTag
	}
	return tag, c.lost(err)
}

// PrepareContext implements [driver.ConnPrepareContext]. The server prepares a statement when it runs first.
func (c *conn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	return stmt{c, query}, nil
}

// Prepare implements [driver.Conn].
func (c *conn) Prepare(query string) (driver.Stmt, error) { return stmt{c, query}, nil }

// Close implements [driver.Conn].
func (c *conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return c.pg.Close(ctx)
}

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(ctx context.Context) error {
	if c.pg.IsClosed() || c.pg.TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	if time.Since(c.used) > sureFor {
		ctx, cancel := context.WithTimeout(ctx, closeLimit)
		defer cancel()
		if c.pg.Ping(ctx) != nil {
			return driver.ErrBadConn
		}
	}
	c.used = time.Now()
	return nil
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool { return !c.pg.IsClosed() }

// The locks of a database. They belong to transactions, because a pooler may give every transaction another connection.
const (
	ownerLock = `1718707561, hashtext(current_schema())`
	writeLock = `1718707562, hashtext(current_schema())`
)

// Statements that begin a transaction. One that writes waits until no other one does, as in SQLite. A process that is frozen loses the lock
// after some seconds. One beside the owner, or beside others, is counted.
const (
	beginRead   = `BEGIN`
	beginWrite  = beginRead + `; SET LOCAL idle_in_transaction_session_timeout = 3000; SELECT pg_advisory_xact_lock(` + writeLock + `)`
	beginBeside = beginWrite + `; UPDATE beside SET writes = writes + 1`
)

// Begin implements [driver.Conn].
func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

// BeginTx implements [driver.ConnBeginTx].
func (c *conn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if _, err := c.simple(ctx, c.begin); err != nil {
		if !c.pg.IsClosed() {
			_, _ = c.simple(context.WithoutCancel(ctx), `ROLLBACK`)
		}
		return nil, err
	}
	return transaction{c}, nil
}

type transaction struct{ c *conn }

// Commit implements [driver.Tx].
func (t transaction) Commit() error {
	count := func(n int64) {
		if t.c.counted != nil {
			t.c.counted.Add(n)
		}
	}
	count(1) // before others can see it
	tag, err := t.c.simple(context.Background(), `COMMIT`)
	if err == nil && tag.String() != `COMMIT` {
		err = errors.New("a statement of the transaction has failed")
	}
	if err != nil {
		count(-1)
	}
	return err
}

// Rollback implements [driver.Tx].
func (t transaction) Rollback() error {
	_, err := t.c.simple(context.Background(), `ROLLBACK`)
	return err
}

// stmt is a statement on a connection.
type stmt struct {
	c     *conn
	query string
}

// Close implements [driver.Stmt].
func (s stmt) Close() error { return nil }

// NumInput implements [driver.Stmt].
func (s stmt) NumInput() int { return -1 }

// QueryContext implements [driver.StmtQueryContext].
func (s stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.c.QueryContext(ctx, s.query, args)
}

// ExecContext implements [driver.StmtExecContext].
func (s stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.c.ExecContext(ctx, s.query, args)
}

// Exec implements [driver.Stmt].
func (s stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query implements [driver.Stmt].
func (s stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// rows is a result.
type rows struct {
	c      *conn
	result *pgconn.ResultReader
	more   bool // there is a row that was not read
}

// Columns implements [driver.Rows].
func (r *rows) Columns() (names []string) {
	for _, f := range r.result.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

// Close implements [driver.Rows].
func (r *rows) Close() error {
	_, err := r.result.Close()
	return err
}

// Next implements [driver.Rows].
func (r *rows) Next(dest []driver.Value) (err error) {
	if !r.more && !r.result.NextRow() {
		if _, err := r.result.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	r.more = false
	fields := r.result.FieldDescriptions()
	for i, v := range r.result.Values() {
		if dest[i], err = decode(fields[i], v); err != nil {
			return fmt.Errorf("read column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// Types of PostgreSQL, by the numbers of its table pg_type.
const (
	ofBool   = 16
	ofBytes  = 17
	ofInt8   = 20
	ofInt2   = 21
	ofInt4   = 23
	ofFloat4 = 700
	ofFloat8 = 701
)

// decode reads a value. Bytes are valid until the next row.
func decode(f pgconn.FieldDescription, v []byte) (driver.Value, error) {
	if v == nil {
		return nil, nil
	}
	switch f.DataTypeOID {
	case ofBool:
		return string(v) == "t", nil
	case ofInt2, ofInt4, ofInt8:
		return strconv.ParseInt(string(v), 10, 64)
	case ofFloat4, ofFloat8:
		return strconv.ParseFloat(string(v), 64)
	case ofBytes:
		if f.Format == 1 {
			return v, nil
		}
		return hex.DecodeString(string(v[min(2, len(v)):])) // after \x
	}
	return string(v), nil
}

// encode writes a value as text or, with format 1, as bytes. No value is NULL.
func encode(v driver.Value) (value []byte, format int16, err error) {
	switch v := v.(type) {
	case nil:
		return nil, 0, nil
	case bool:
		return strconv.AppendBool(nil, v), 0, nil
	case int64:
		return strconv.AppendInt(nil, v, 10), 0, nil
	case float64:
		return strconv.AppendFloat(nil, v, 'g', -1, 64), 0, nil
	case string:
		return []byte(v), 0, nil
	case []byte:
		return v, 1, nil
	}
	return nil, 0, fmt.Errorf("a parameter is %T", v)
}
