// Package move copies a store to another engine. One is a file of SQLite, the other a database of a PostgreSQL server. [Store] copies tables
// after those that they refer to. It keeps how far it has come beside the rows. In the end it reads both stores and compares them.
// [store.Open] refuses a database that is half a copy.
package move

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"familiar/internal/store"
)

// batchSize is how many rows are copied in a transaction. SQLite takes 32,766 parameters.
const batchSize = 500

// staged is the directory in which a file is made. It is whole when it takes the store's name.
const staged = "familiar.moving"

// Table is one whose rows are copied.
type Table struct {
	Name string
	Rows int64 // so far
	All  bool
}

// Store copies the store of a place to another place. One is a directory and the other a database of a PostgreSQL server. The new one must be
// empty. No other process may have them open. If it is interrupted, another call goes on. In the end it reads both and compares them.
// The indexes of words are built again at the next start. The store that it copies stays as it is. told is called after each
// transaction.
func Store(ctx context.Context, from, to string, told func(Table)) error {
	if store.IsServer(from) == store.IsServer(to) {
		return errors.New("a move goes from a directory to a database of PostgreSQL, or back")
	}
	into := to
	if !store.IsServer(to) {
		if _, err := os.Stat(filepath.Join(to, store.FileName)); err == nil {
			return fmt.Errorf("%s has a store already: name another directory", to)
		}
		into = filepath.Join(to, staged)
	}
	if err := between(ctx, from, into, told); err != nil || into == to {
		return err
	}
	if err := os.Rename(filepath.Join(into, store.FileName), filepath.Join(to, store.FileName)); err != nil {
		return fmt.Errorf("name the new store: %w", err)
	}
	return os.RemoveAll(into)
}

// between copies the store of one place to another that is new, or half a copy.
func between(ctx context.Context, from, to string, told func(Table)) (err error) {
	if !store.IsServer(from) {
		if _, err := os.Stat(filepath.Join(from, store.FileName)); err != nil {
			return &store.Error{Kind: store.Missing, Path: filepath.Join(from, store.FileName), Err: err}
		}
	}
	src, err := store.Open(ctx, from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	dst, err := store.OpenCopy(ctx, to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dst.Close()) }()
	m := &mover{src: src, dst: dst, to: store.ShownPlace(to), file: src, server: dst}
	if store.IsServer(from) {
		m.file, m.server = dst, src
	}
	if m.tables, err = m.list(ctx); err != nil {
		return err
	}
	if err := m.begin(ctx, store.ShownPlace(from)); err != nil {
		return err
	}
	for _, t := range m.tables {
		if err := m.copy(ctx, t, told); err != nil {
			return fmt.Errorf("copy table %s: %w", t.name, dst.Explain(src.Explain(err)))
		}
	}
	if err := m.compare(ctx); err != nil {
		return err
	}
	return m.end(ctx)
}

// mover is a move.
type mover struct {
	src, dst     *store.DB
	to           string    // the place of dst, as it may be shown
	file, server *store.DB // the same two
	tables       []table
	at           progress
}

// progress is how far a move has come.
type progress struct {
	From   string           // as it may be shown
	Done   map[string]int64 // rows of whole tables
	Table  string           // that is being copied
	Copied int64            // rows of it
	After  []any            // the key of the last of them
}

// table is one that both engines have. A table that only one of them has is about itself.
type table struct {
	name    string
	columns []string // those of the server, which has SQLite's rowid as a column where it matters
	key     []string // in whose order it is read; empty: it is small, and read at once
	bytes   []bool   // of the columns: it holds bytes
	numbers string   // the column that the server numbers, or ""
}

// list returns the tables to copy, those first that others refer to. The words of messages and records are made again.
func (m *mover) list(ctx context.Context) (all []table, err error) {
	names, err := store.List(ctx, m.file, "list tables", store.ScanValue[string], `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'goose\_%' ESCAPE '\' AND name NOT LIKE '%\_progress' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	placed := map[string]bool{}
	for len(all) < len(names) {
		before := len(all)
		for _, name := range names {
			parents, err := store.List(ctx, m.file, "read what a table refers to", store.ScanValue[string], `SELECT "table" FROM pragma_foreign_key_list(?)`, name)
			if err != nil {
				return nil, err
			}
			if placed[name] || slices.ContainsFunc(parents, func(p string) bool { return !placed[p] }) {
				continue
			}
			t, err := m.describe(ctx, name)
			if err != nil {
				return nil, err
			}
			all, placed[name] = append(all, t), true
		}
		if len(all) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return all, nil
}

func (m *mover) describe(ctx context.Context, name string) (t table, err error) {
	t.name = name
	type column struct {
		name, kind string
		numbered   bool
	}
	columns, err := store.List(ctx, m.server, "read columns", func(row store.Scanner) (c column, err error) {
		err = row.Scan(&c.name, &c.kind, &c.numbered)
		return c, err
	}, `SELECT column_name, data_type, is_identity = 'YES' FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? ORDER BY ordinal_position`, name)
	for _, c := range columns {
		t.columns, t.bytes = append(t.columns, c.name), append(t.bytes, c.kind == "bytea")
		if c.numbered {
			t.numbers = c.name
		}
	}
	if err == nil && len(columns) == 0 {
		err = fmt.Errorf("PostgreSQL has no table %s", name)
	}
	if err != nil {
		return t, err
	}
	t.key, err = store.List(ctx, m.file, "read the key of a table", store.ScanValue[string], `SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk`, name)
	if len(t.key) == 0 && slices.Contains(t.columns, "rowid") {
		t.key = []string{"rowid"}
	}
	return t, err
}

// begin goes on with a move, or begins one into an empty store.
func (m *mover) begin(ctx context.Context, from string) error {
	text, err := m.dst.Notes.Get(ctx, store.MoveNote)
	switch {
	case err == nil:
		read := json.NewDecoder(strings.NewReader(text))
		read.UseNumber()
		if err := read.Decode(&m.at); err != nil {
			return fmt.Errorf("read how far the move has come: %w", err)
		}
		if m.at.From != from {
			return fmt.Errorf("a move from %s to there is not complete: finish it, or empty the database", m.at.From)
		}
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	for _, t := range m.tables {
		if t.name == "notes" || t.name == "privacy_key" { // each new store has some
			continue
		}
		var filled bool
		if err := m.dst.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM `+t.name+`)`).Scan(&filled); err != nil {
			return m.dst.Explain(err)
		}
		if filled {
			return fmt.Errorf("%s is not empty: table %s has rows; name another one", m.to, t.name)
		}
	}
	return m.restart(ctx, from)
}

// restart empties the new store, so that the move begins there.
func (m *mover) restart(ctx context.Context, from string) error {
	m.at = progress{From: from, Done: map[string]int64{}}
	return m.dst.Change(ctx, "begin the move", func(tx *sql.Tx) error {
		for _, t := range slices.Backward(m.tables) {
			if len(t.key) == 0 { // it is emptied when it is copied: no store opens without its key of privacy
				continue
			}
			if _, err := tx.Exec(`DELETE FROM ` + t.name); err != nil {
				return err
			}
		}
		return m.save(tx)
	})
}

func (m *mover) save(tx *sql.Tx) error {
	text, err := json.Marshal(m.at)
	if err != nil {
		return err
	}
	return m.dst.Notes.SetIn(tx, store.MoveNote, string(text))
}

// copy copies the rest of a table.
func (m *mover) copy(ctx context.Context, t table, told func(Table)) error {
	if rows, done := m.at.Done[t.name]; done {
		told(Table{t.name, rows, true})
		return nil
	}
	if m.at.Table != t.name {
		m.at.Table, m.at.Copied, m.at.After = t.name, 0, nil
	}
	for more := true; more; {
		batch, err := m.read(ctx, m.src, t, m.at.After)
		if err != nil {
			return err
		}
		if more = len(batch) == batchSize && len(t.key) > 0; more {
			m.at.After = t.keyOf(batch[len(batch)-1])
		}
		m.at.Copied += int64(len(batch))
		if !more {
			m.at.Done[t.name] = m.at.Copied
		}
		err = m.dst.Write(ctx, func(tx *sql.Tx) error {
			if len(t.key) == 0 {
				if _, err := tx.Exec(`DELETE FROM ` + t.name); err != nil {
					return err
				}
			}
			for some := range slices.Chunk(batch, batchSize) {
				if _, err := tx.Exec(t.insert(len(some)), slices.Concat(some...)...); err != nil {
					return err
				}
			}
			return m.save(tx)
		})
		if err != nil {
			return err
		}
		told(Table{t.name, m.at.Copied, !more})
	}
	return nil
}

func (t table) insert(rows int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(t.columns)), ", ") + ")"
	return `INSERT INTO ` + t.name + ` (` + strings.Join(t.columns, ", ") + `) VALUES ` + strings.TrimSuffix(strings.Repeat(row+", ", rows), ", ")
}

func (t table) keyOf(row []any) (key []any) {
	for _, name := range t.key {
		key = append(key, row[slices.Index(t.columns, name)])
	}
	return key
}

// read returns at most batchSize rows of a table, those after a key. It returns all of a table without a key.
func (m *mover) read(ctx context.Context, db *store.DB, t table, after []any) ([][]any, error) {
	query, args := `SELECT `+strings.Join(t.columns, ", ")+` FROM `+t.name, []any(nil)
	var where []string
	if t.name == "notes" {
		where, args = append(where, `key <> ?`), append(args, store.MoveNote)
	}
	if len(after) > 0 {
		where = append(where, `(`+strings.Join(t.key, ", ")+`) > (`+strings.TrimSuffix(strings.Repeat("?, ", len(after)), ", ")+`)`)
		for _, one := range after {
			if n, ok := one.(json.Number); ok {
				one, _ = n.Int64()
			}
			args = append(args, one)
		}
	}
	if len(where) > 0 {
		query += ` WHERE ` + strings.Join(where, ` AND `)
	}
	if len(t.key) > 0 {
		query += ` ORDER BY ` + strings.Join(t.key, ", ") + fmt.Sprintf(` LIMIT %d`, batchSize)
	}
	rows, err := db.Read().QueryContext(ctx, query, args...)
	return store.Collect(db, "read table "+t.name, rows, err, func(row store.Scanner) ([]any, error) {
		values, into := make([]any, len(t.columns)), make([]any, len(t.columns))
		for i := range values {
			into[i] = &values[i]
		}
		err := row.Scan(into...)
		for i, v := range values {
			values[i] = plain(v, t.bytes[i])
		}
		return values, err
	})
}

// plain returns a value as both engines can keep it. A text of PostgreSQL holds neither a zero nor what is not UTF-8.
func plain(value any, isBytes bool) any {
	switch v := value.(type) {
	case []byte:
		if !isBytes {
			return plain(string(v), false)
		}
	case string:
		if isBytes {
			return []byte(v)
		}
		return strings.ReplaceAll(strings.ToValidUTF8(v, "\ufffd"), "\x00", "\ufffd")
	}
	return value
}

// compare reads both stores. If they differ, the next move starts over.
func (m *mover) compare(ctx context.Context) error {
	for _, t := range m.tables {
		before, err := m.sum(ctx, m.src, t)
		if err != nil {
			return err
		}
		after, err := m.sum(ctx, m.dst, t)
		if err != nil {
			return err
		}
		if before != after {
			err := fmt.Errorf("table %s has %d rows, and its copy %d, and they are not the same: the next move begins again", t.name, before.rows, after.rows)
			return errors.Join(err, m.restart(ctx, m.at.From))
		}
	}
	return nil
}

// sum is of all rows of a table, in any order.
type sum struct {
	rows int64
	hash uint64
}

func (m *mover) sum(ctx context.Context, db *store.DB, t table) (s sum, err error) {
	var after []any
	for more := true; more; {
		batch, err := m.read(ctx, db, t, after)
		if err != nil {
			return s, err
		}
		for _, row := range batch {
			h := fnv.New64a()
			for _, v := range row {
				switch of := v.(type) {
				case bool: // a number in a file
					v = map[bool]int64{true: 1}[of]
				case []byte:
					v = hex.EncodeToString(of)
				}
				fmt.Fprintf(h, "%v\x00", v)
			}
			s.rows, s.hash = s.rows+1, s.hash+h.Sum64()
		}
		if more = len(batch) == batchSize && len(t.key) > 0; more {
			after = t.keyOf(batch[len(batch)-1])
		}
	}
	return s, nil
}

// end goes on with the numbers where the old store was, and has the words made again.
func (m *mover) end(ctx context.Context) error {
	var last int64 // no number of a memory is given twice
	query := `SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'memories'`
	if m.src == m.server {
		query = `SELECT last_value FROM memories_id_seq`
	}
	if err := m.src.Read().QueryRowContext(ctx, query).Scan(&last); err != nil {
		return m.src.Explain(err)
	}
	return m.dst.Change(ctx, "end the move", func(tx *sql.Tx) error {
		statements := []string{`UPDATE message_words_progress SET made = ''`, `UPDATE trace_words_progress SET done = 0`, `DELETE FROM notes WHERE key IN ('` + store.MoveNote + `', '` + store.MemoryWordsNote + `')`}
		if m.dst == m.file {
			statements = append(statements, `DELETE FROM sqlite_sequence WHERE name = 'memories'`, fmt.Sprintf(`INSERT INTO sqlite_sequence (name, seq) VALUES ('memories', %d)`, last))
		}
		for _, t := range m.tables {
			if m.dst == m.server && t.numbers != "" {
				least := map[string]int64{"memories": last}[t.name]
				statements = append(statements, fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%s', '%s'), greatest(%d, (SELECT coalesce(max(%s), 0) FROM %s) + 1), FALSE)`, t.name, t.numbers, least+1, t.numbers, t.name))
			}
		}
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	})
}
