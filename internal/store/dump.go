package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// DumpKinds returns the kinds that [DB.Dump] can write, in order. They are named after tables.
func DumpKinds() []string {
	kinds := []string{"messages"}
	for _, d := range dumped {
		kinds = append(kinds, d.table)
	}
	return kinds
}

// dumped are the tables that are dumped as they are. Tables with secrets, such as webhooks, are left out, and so are tables that can be
// derived from others.
var dumped = []struct {
	table string
	at    string // the column with the time in microseconds; empty: none
}{
	{"summaries", "made"}, {"people", "at"}, {"consents", "at"}, {"feedback", "at"}, {"opinions", "at"}, {"usage", ""}, {"changes", "at"},
	{"channels", ""}, {"conduct", ""}, {"castings", "at"}, {"backdrops", "at"}, {"switches", "at"},
}

// dumpPage is how many rows are read at a time. A longer read would keep the log from being copied into the file.
const dumpPage = 500

// Dump calls do with each row of a kind, by column, that is not older than since. Rows without a time are always included. Times are of
// type time.Time.
func (db *DB) Dump(ctx context.Context, kind string, since time.Time, do func(row map[string]any) error) error {
	var err error
	from := int64(math.MinInt64)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	switch i := slices.Index(DumpKinds(), kind); i {
	case -1:
		return fmt.Errorf("there is no kind %q", kind)
	case 0:
		err = db.dumpMessages(ctx, from, do)
	default:
		err = db.dumpTable(ctx, dumped[i-1].table, dumped[i-1].at, from, do)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", kind, db.Explain(err))
	}
	return nil
}

func (db *DB) dumpMessages(ctx context.Context, from int64, do func(map[string]any) error) error {
	for last, more := int64(math.MinInt64), true; more; {
		page, err := db.rowsOf(ctx, `SELECT rowid AS row, id, guild_id, channel_id, author_id, author_name, own, at, text, note, reply_to, turn_id
			FROM messages WHERE rowid > ? AND at >= ? ORDER BY rowid LIMIT ?`, "at", last, from, dumpPage)
		if err != nil {
			return err
		}
		for _, row := range page {
			last = row["row"].(int64)
			delete(row, "row")
			if err := do(row); err != nil {
				return err
			}
		}
		more = len(page) == dumpPage
	}
	return nil
}

// dumpTable reads a whole table at once: these tables are small.
func (db *DB) dumpTable(ctx context.Context, table, at string, from int64, do func(map[string]any) error) error {
	query, args := `SELECT * FROM `+table, []any{}
	if at != "" {
		query, args = query+` WHERE `+at+` >= ?`, []any{from}
	}
	all, err := db.rowsOf(ctx, query, at, args...)
	if err != nil {
		return err
	}
	for _, row := range all {
		if err := do(row); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf reads rows by column. The column named at holds a time.
func (db *DB) rowsOf(ctx context.Context, query, at string, args ...any) (all []map[string]any, err error) {
	rows, err := db.readers.QueryContext(ctx, query, args...)
	return all, each(rows, err, func(Scanner) error {
		row, err := named(rows)
		if micro, ok := row[at].(int64); ok {
			row[at] = time.UnixMicro(micro).UTC()
		}
		all = append(all, row)
		return err
	})
}
