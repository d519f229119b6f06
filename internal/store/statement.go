package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// statements are prepared once, for what every turn does.
type statements struct {
	arrive, save, claim, meet *sql.Stmt // on the writer's connection; nil when only looking
	begin, end, forget, back  *sql.Stmt // the same
	post, noteTurn            *sql.Stmt // the same
	row, index, unindex, due  *sql.Stmt // the same
	unsummarise               *sql.Stmt // the same
	recent, message           *sql.Stmt // on the readers'
	channel, people           *sql.Stmt // the same
	speakers, backdrop        *sql.Stmt // the same
	off, used                 *sql.Stmt // the same
	use                       *sql.Stmt // on the writer's
	search, firstRow          *sql.Stmt // the same
	recall, recalled, beside  *sql.Stmt // the same
	before, after             *sql.Stmt // the same
	resting                   *sql.Stmt // on the writer's
	unembed                   *sql.Stmt // the same
	matrix, hasVector         *sql.Stmt // on the readers'
	standing                  *sql.Stmt // on the readers'
	standingIn, unkept        *sql.Stmt // on the writer's
}

// Prepare prepares a statement once for every transaction of [DB.Write], whose function runs it through tx.Stmt:
// SQLite takes longer to parse a small statement than to run it. It waits for its turn as a write does, so that
// no function of a write may call it. The statement lives as long as the store.
func (db *DB) Prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if db.writes == nil {
		return nil, &Error{Kind: ReadOnly, Path: db.path, Err: errLooking}
	}
	s, err := db.writes.pool.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare statement: %w", db.Explain(err))
	}
	return s, nil
}

// reads are the statements of reads that most turns make, by their text. Each is prepared when it is first asked.
type reads struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt // guarded by mu
}

// prepared returns the statement of a read, whose text is one of a few: SQLite takes longer to parse it than to run it.
func (db *DB) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	db.reads.mu.Lock()
	defer db.reads.mu.Unlock()
	if s := db.reads.all[query]; s != nil {
		return s, nil
	}
	s, err := db.readers.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if db.reads.all == nil {
		db.reads.all = map[string]*sql.Stmt{}
	}
	db.reads.all[query] = s
	return s, nil
}

// query makes a read by a prepared statement.
func (db *DB) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := db.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// queryRow makes a read of one row by a prepared statement and scans it.
func queryRow[T any](ctx context.Context, db *DB, scan func(scanner) (T, error), query string, args ...any) (T, error) {
	s, err := db.prepared(ctx, query)
	if err != nil {
		var none T
		return none, err
	}
	return scan(s.QueryRowContext(ctx, args...))
}

// exec runs one statement in a transaction of its own and returns how many rows it changed. The error begins
// with what.
func (db *DB) exec(ctx context.Context, what, query string, args ...any) (changed int, err error) {
	err = db.Write(ctx, func(tx *sql.Tx) error {
		r, err := tx.Exec(query, args...)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		changed = int(n)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return changed, nil
}

// scanner is a row of a result.
type scanner interface{ Scan(dest ...any) error }

// collect reads the rows of a query, which failed if err is not nil. The error begins with what.
func collect[T any](db *DB, what string, rows *sql.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, db.Explain(err))
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, db.Explain(err))
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, db.Explain(err))
	}
	return all, nil
}

const insert = `INSERT INTO messages (` + columns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO `

const replace = `UPDATE SET channel_id = excluded.channel_id, guild_id = excluded.guild_id,
	author_id = excluded.author_id, author_name = excluded.author_name, text = excluded.text,
	reply_to = excluded.reply_to, turn_id = excluded.turn_id, at = excluded.at, own = excluded.own, note = excluded.note`

func (db *DB) prepare(ctx context.Context) error {
	type statement struct {
		into  **sql.Stmt
		pool  *sql.DB
		query string
	}
	all := []statement{
		// For a bare parameter behind LIMIT, SQLite plans the query anew each time that one is bound.
		{&db.stmts.recent, db.readers, `SELECT ` + columns + ` FROM messages WHERE channel_id = ? ORDER BY at DESC, id DESC LIMIT 0 + ?`},
		{&db.stmts.message, db.readers, `SELECT ` + columns + ` FROM messages WHERE id = ?`},
		{&db.stmts.channel, db.readers, `SELECT guild_id, mode, web_off, buttons_off FROM channels WHERE id = ?`},
		{&db.stmts.off, db.readers, `SELECT kind FROM switches WHERE place IN (?, ?, ?, ?)`},
		{&db.stmts.used, db.readers, `SELECT scope, id, turns, lookups, tokens, cost, told FROM usage WHERE day = ? AND (scope, id) IN
			(VALUES ('all', ''), ('person', ?), ('channel', ?), ('server', ?))`},
		{&db.stmts.speakers, db.readers, `SELECT place, characters FROM castings WHERE place IN (?, ?, ?)`},
		{&db.stmts.backdrop, db.readers, `SELECT channel_id, guild_id, text, by_id, by_name, at FROM backdrops WHERE channel_id IN (?, ?) ORDER BY channel_id <> ? LIMIT 1`},
		{&db.stmts.people, db.readers, `SELECT name FROM people WHERE guild_id = ? ORDER BY at DESC LIMIT 0 + ?`},
	}
	all = append(all, statement{&db.stmts.search, db.readers, searchQuery},
		statement{&db.stmts.matrix, db.readers, matrixQuery},
		statement{&db.stmts.hasVector, db.readers, `SELECT EXISTS (SELECT 1 FROM message_vectors WHERE message_id = ? AND model = ?)`},
		statement{&db.stmts.recall, db.readers, recallQuery}, statement{&db.stmts.recalled, db.readers, recalledQuery}, statement{&db.stmts.beside, db.readers, besideQuery},
		statement{&db.stmts.before, db.readers, aroundQuery + `< (?, ?) ORDER BY at DESC, id DESC LIMIT 0 + ?`},
		statement{&db.stmts.after, db.readers, aroundQuery + `> (?, ?) ORDER BY at, id LIMIT 0 + ?`},
		statement{&db.stmts.firstRow, db.readers, firstRowQuery})
	all = append(all, statement{&db.stmts.standing, db.readers, standingQuery})
	if db.writes != nil {
		all = append(all,
			statement{&db.stmts.standingIn, db.writes.pool, standingQuery},
			statement{&db.stmts.unkept, db.writes.pool, unkeptQuery},
			statement{&db.stmts.row, db.writes.pool, `SELECT ` + rowColumns + ` FROM messages WHERE id = ?`},
			statement{&db.stmts.index, db.writes.pool, indexMessage},
			statement{&db.stmts.due, db.writes.pool, `SELECT EXISTS (SELECT 1 FROM message_words_progress WHERE due >= ?)`},
			statement{&db.stmts.unindex, db.writes.pool, unindexMessage},
			statement{&db.stmts.unsummarise, db.writes.pool, unsummariseQuery},
			statement{&db.stmts.resting, db.writes.pool, restingOn},
			statement{&db.stmts.unembed, db.writes.pool, `DELETE FROM message_vectors WHERE message_id = (SELECT id FROM messages WHERE rowid = ?) RETURNING message_id`},
			statement{&db.stmts.arrive, db.writes.pool, insert + `NOTHING`},
			statement{&db.stmts.save, db.writes.pool, insert + replace},
			statement{&db.stmts.use, db.writes.pool, `INSERT INTO usage (day, scope, id, guild_id, turns, lookups, tokens, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (day, scope, id, guild_id) DO UPDATE SET turns = turns + excluded.turns, lookups = lookups + excluded.lookups,
				tokens = tokens + excluded.tokens, cost = cost + excluded.cost`},
			statement{&db.stmts.claim, db.writes.pool, `INSERT INTO claims (event_id, at, state, event) VALUES (?, ?, ?, ?) ON CONFLICT (event_id) DO NOTHING`},
			statement{&db.stmts.begin, db.writes.pool, `INSERT INTO claims (event_id, at, state, turn_id) VALUES (?, ?, 'begun', ?)
				ON CONFLICT (event_id) DO UPDATE SET state = 'begun', turn_id = excluded.turn_id WHERE state = 'waiting'`},
			statement{&db.stmts.end, db.writes.pool, `UPDATE claims SET state = 'done', event = '' WHERE turn_id = ? AND state = 'begun'`},
			statement{&db.stmts.back, db.writes.pool, `DELETE FROM left_guilds WHERE guild_id = ?`},
			statement{&db.stmts.forget, db.writes.pool, `DELETE FROM posts WHERE turn_id = ?`},
			statement{&db.stmts.post, db.writes.pool, `INSERT INTO posts (turn_id, n, message_id, text) VALUES (?, ?, ?, ?)
				ON CONFLICT (turn_id, n) DO UPDATE SET message_id = excluded.message_id, text = excluded.text`},
			statement{&db.stmts.noteTurn, db.writes.pool, noteTurnQuery},
			statement{&db.stmts.meet, db.writes.pool, metQuery})
	}
	for _, s := range all {
		var err error
		if *s.into, err = s.pool.PrepareContext(ctx, s.query); err != nil {
			return fmt.Errorf("prepare statement: %w", err)
		}
	}
	return nil
}
