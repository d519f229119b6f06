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
	for last, n := int64(math.MinInt64), dumpPage; n == dumpPage; {
		n = 0
		err := db.dumpRows(ctx, `SELECT rowid AS row, id, guild_id, channel_id, author_id, author_name, own, at, text, note, reply_to, turn_id
			FROM messages WHERE rowid > @last AND at >= @from ORDER BY rowid LIMIT @page`, "at", Args{"last": last, "from": from, "page": dumpPage},
			func(row map[string]any) error {
				n, last = n+1, row["row"].(int64)
				delete(row, "row")
				return do(row)
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpTable reads a whole table at once: these tables are small.
func (db *DB) dumpTable(ctx context.Context, table, at string, from int64, do func(map[string]any) error) error {
	where := `TRUE`
	if at != "" {
		where = at + ` >= @from`
	}
	return db.dumpRows(ctx, `SELECT * FROM `+table+` WHERE `+where, at, Args{"from": from}, do)
}

// dumpRows calls do with rows by column. The column named at holds a time.
func (db *DB) dumpRows(ctx context.Context, query, at string, args Args, do func(map[string]any) error) error {
	all, err := db.rowsOf(ctx, query, args)
	for _, row := range all {
		if micro, ok := row[at].(int64); ok {
			row[at] = time.UnixMicro(micro).UTC()
		}
		if err == nil {
			err = do(row)
		}
	}
	return err
}
