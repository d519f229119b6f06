package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"familiar/internal/cache"
	"familiar/internal/store/engine"
)

// inTransactions are the statements that most turns run in transactions of [DB.Write]. They are prepared once, when the store opens:
// SQLite takes longer to parse a small statement than to run it.
var inTransactions = []string{
	insertMessage, saveMessage, rowQuery, indexMessage, unindexMessage, deleteVector, unsummariseQuery, restingOn,
	claimEvent, beginClaim, endClaims, savePost, deletePosts, returnGuild, metQuery, addUsage, addDirectUsage, addOneUsage, standingQuery, unkeptQuery,
}

// statements are prepared statements, by their text.
type statements struct {
	writes map[string]*sql.Stmt // the statements of inTransactions; nil if the store is open for reading only

	mu    sync.Mutex
	reads map[string]*sql.Stmt // guarded by mu
}

func (db *DB) prepare(ctx context.Context) error {
	db.stmts.reads = map[string]*sql.Stmt{}
	if db.writes == nil {
		return nil
	}
	db.stmts.writes = make(map[string]*sql.Stmt, len(inTransactions))
	for _, query := range inTransactions {
		s, err := db.Prepare(ctx, query)
		if err != nil {
			return err
		}
		db.stmts.writes[query] = s
	}
	return nil
}

// Prepare prepares a statement for all transactions of [DB.Write], whose functions run it through tx.Stmt. It waits for its turn as a
// write does, so the function of a write must not call it. The statement lives as long as the store.
func (db *DB) Prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if err := db.looking(); err != nil {
		return nil, err
	}
	s, err := db.writes.pool.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare statement: %w", db.Explain(err))
	}
	return s, nil
}

// stmt returns a statement of inTransactions for a transaction.
func (db *DB) stmt(tx *sql.Tx, query string) *sql.Stmt { return tx.Stmt(db.stmts.writes[query]) }

// prepared returns a prepared read. It is for the few queries that most turns run.
func (db *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	db.stmts.mu.Lock()
	defer db.stmts.mu.Unlock()
	if s := db.stmts.reads[query]; s != nil {
		return s, nil
	}
	s, err := db.readers.PrepareContext(ctx, query)
	if err == nil {
		db.stmts.reads[query] = s
	}
	return s, err
}

// Query runs a prepared read, of the few that most turns run. A parameter of LIMIT is written as 0 + ?, because SQLite plans a query again when it binds a bare one.
func (db *DB) Query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := db.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// QueryRow runs a prepared read of one row.
func (db *DB) QueryRow(ctx context.Context, query string, args ...any) Scanner {
	s, err := db.prepared(ctx, query)
	if err != nil {
		return failedRow{err}
	}
	return s.QueryRowContext(ctx, args...)
}

// failedRow is the row of a query that failed.
type failedRow struct{ err error }

func (r failedRow) Scan(...any) error { return r.err }

// Change runs f in a transaction of [DB.Write]. The error begins with what.
func (db *DB) Change(ctx context.Context, what string, f func(*sql.Tx) error) error {
	if err := db.Write(ctx, f); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Exec runs one statement in a transaction of its own and returns how many rows it changed. The error begins with what.
func (db *DB) Exec(ctx context.Context, what, query string, args ...any) (changed int, err error) {
	err = db.Change(ctx, what, func(tx *sql.Tx) error {
		r, err := tx.Exec(query, args...)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		changed = int(n)
		return err
	})
	if err != nil {
		return 0, err
	}
	return changed, nil
}

// Scanner is a row of a result.
type Scanner interface{ Scan(dest ...any) error }

// micros scans a column with microseconds since 1970 into a time in UTC. 0 is the zero time.
type micros struct{ at *time.Time }

// Micros returns what scans a column with microseconds since 1970 into a time in UTC. 0 is the zero time.
func Micros(at *time.Time) sql.Scanner { return micros{at} }

// Scan implements [sql.Scanner].
func (m micros) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is kept as %T", value)
	}
	if *m.at = (time.Time{}); n != 0 {
		*m.at = time.UnixMicro(n).UTC()
	}
	return nil
}

// ScanValue scans a row of one column.
func ScanValue[T any](row Scanner) (value T, err error) {
	err = row.Scan(&value)
	return value, err
}

// ScanTime scans a row of one column with a time, see [Micros].
func ScanTime(row Scanner) (at time.Time, err error) {
	err = row.Scan(micros{&at})
	return at, err
}

// List runs a read and returns its rows. The error begins with what.
func List[T any](ctx context.Context, db *DB, what string, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.readers.QueryContext(ctx, query, args...)
	return Collect(db, what, rows, err, scan)
}

// ListOften is [List] for the few reads that most turns run: they are prepared.
func ListOften[T any](ctx context.Context, db *DB, what string, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, query, args...)
	return Collect(db, what, rows, err, scan)
}

// Collect returns the rows of a query, which failed if err is not nil. The error begins with what.
func Collect[T any](db *DB, what string, rows *sql.Rows, err error, scan func(Scanner) (T, error)) (all []T, _ error) {
	err = engine.Each(rows, err, func(row *sql.Rows) error {
		one, err := scan(row)
		all = append(all, one)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, db.Explain(err))
	}
	return all, nil
}

// Mapped returns the rows of a query of two columns, the second by the first. Otherwise it is [Collect].
func Mapped[K comparable, V any](db *DB, what string, rows *sql.Rows, err error) (map[K]V, error) {
	all := map[K]V{}
	_, err = Collect(db, what, rows, err, func(row Scanner) (_ struct{}, err error) {
		var key K
		var value V
		err = row.Scan(&key, &value)
		all[key] = value
		return struct{}{}, err
	})
	return all, err
}

// One reads the one row of a query, or returns [ErrNotFound]. The error begins with what.
func One[T any](db *DB, what string, row Scanner, scan func(Scanner) (T, error)) (T, error) {
	one, err := scan(row)
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", what, db.Explain(err))
	}
	return one, nil
}

// unlessMissing returns an error of reading one row, or nil if there is no such row.
func unlessMissing(err error) error {
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// Statements that only SQLite has: full-text indexes (FTS5), whose queries search.go makes, and lists as parameters.
const (
	indexMessage   = `INSERT INTO message_words (rowid, words, tags) SELECT ?1, ?2, ?3` + unlessDue
	unindexMessage = `INSERT INTO message_words (message_words, rowid, words, tags) SELECT 'delete', ?1, ?2, ?3` + unlessDue
	unlessDue      = ` WHERE NOT EXISTS (SELECT 1 FROM message_words_progress WHERE due >= ?1)`
	emptyMessages  = `INSERT INTO message_words (message_words) VALUES ('delete-all')`

	// messagesWith returns the rows of the newest messages for a query of [match] and [anyOf], between two rows.
	messagesWith = `SELECT rowid AS at_row FROM message_words WHERE message_words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT 0 + ?`

	// AmongThese is true for values in a list. Its parameter comes from [Listed].
	AmongThese = `IN (SELECT value FROM json_each(?))`
)

// Listed returns a list as the parameter of [AmongThese].
func Listed[T ~string](all []T) string {
	text, _ := json.Marshal(append([]T{}, all...)) // a list of strings cannot fail
	return string(text)
}

// memo caches reads of tables that every turn reads and that rarely change.
type memo struct {
	changes atomic.Int64 // number of changes of the tables, counted after their commit
	cache   *cache.LRU[string, memoised]
}

type memoised struct {
	value   any // must not be changed
	size    int64
	changes int64 // the number of changes when it was read
}

// perMemoised is roughly how many bytes an entry takes in addition to its key and value.
const perMemoised = 200

func newMemo(bytes int64) memo {
	return memo{cache: cache.NewLRU(bytes, func(key string, m memoised) int64 { return int64(len(key)) + m.size + perMemoised })}
}

// changed makes every entry stale. It is called after the commit of a change.
func (m *memo) changed() { m.changes.Add(1) }

// memoise returns the cached value of a key, or calls read. size returns the bytes of a value. The caller must not change the value.
func memoise[T any](db *DB, m *memo, key string, size func(T) int, read func() (T, error)) (T, error) {
	changes := m.changes.Load()
	if found, ok := m.cache.Get(key); ok && found.changes == changes && db.owns() {
		return found.value.(T), nil
	}
	value, err := read()
	if err == nil {
		m.cache.Set(key, memoised{value, int64(size(value)), changes})
	}
	return value, err
}

// Args are the parameters of a statement, by name: @person is Args["person"].
type Args map[string]any

func (a Args) named() (all []any) {
	for name, value := range a {
		all = append(all, sql.Named(name, value))
	}
	return all
}

// Each calls do for each row of a query. An error of do ends it.
func (db *DB) Each(ctx context.Context, query string, args Args, do func(scan func(...any) error) error) error {
	rows, err := db.readers.QueryContext(ctx, query, args.named()...)
	return db.Explain(engine.Each(rows, err, func(row *sql.Rows) error { return do(row.Scan) }))
}

// CountRows counts the rows of a table for which a condition holds.
func (db *DB) CountRows(ctx context.Context, table, where string, args Args) (int, error) {
	return One(db, "count "+table, db.readers.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE `+where, args.named()...), ScanValue[int])
}

// ChangeRows changes the rows of a table for which a condition holds, or deletes them if set is empty. It returns how many those were. keys
// are the columns that name a row. Looking for the rows holds no writer. Changing them goes in steps, see [DB.WriteSteps]. After an error
// some rows are changed, and the next call finds the others. It is not for the tables of messages and of memories, which have indexes
// beside them.
func (db *DB) ChangeRows(ctx context.Context, table, keys, where, set string, args Args) (n int, err error) {
	defer db.names.changed()
	defer db.settings.changed()
	width := strings.Count(keys, ",") + 1
	found, err := List(ctx, db, "change "+table, func(row Scanner) ([]any, error) {
		key, into := make([]any, width), make([]any, width)
		for i := range key {
			into[i] = &key[i]
		}
		return key, row.Scan(into...)
	}, `SELECT `+keys+` FROM `+table+` WHERE `+where, args.named()...)
	if err != nil {
		return 0, err
	}
	one := `DELETE FROM ` + table
	if set != "" {
		one = `UPDATE ` + table + ` SET ` + set
	}
	names := make([]string, width)
	for i := range names {
		names[i] = "key" + string(rune('a'+i))
	}
	one += ` WHERE (` + where + `) AND (` + keys + `) = (@` + strings.Join(names, ", @") + `)`
	err = WriteEach(ctx, db, found, func(tx *sql.Tx, key []any) error {
		given := args.named()
		for i, value := range key {
			given = append(given, sql.Named(names[i], value))
		}
		r, err := tx.Exec(one, given...)
		if err != nil {
			return err
		}
		rows, err := r.RowsAffected()
		n += int(rows)
		return err
	})
	if err != nil {
		return n, fmt.Errorf("change %s: %w", table, err)
	}
	return n, nil
}

// Rows returns the rows of a query by the names of their columns.
func (db *DB) Rows(ctx context.Context, query string, args Args) (all []map[string]any, err error) {
	rows, err := db.readers.QueryContext(ctx, query, args.named()...)
	err = engine.Each(rows, err, func(*sql.Rows) error {
		row, err := named(rows)
		all = append(all, row)
		return err
	})
	return all, db.Explain(err)
}

// named reads a row by the names of its columns.
func named(rows *sql.Rows) (map[string]any, error) {
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	row := make(map[string]any, len(columns))
	err = rows.Scan(into...)
	for i, c := range columns {
		row[c] = values[i]
	}
	return row, err
}
