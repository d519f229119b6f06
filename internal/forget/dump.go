package forget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"familiar/internal/store"
)

// DumpKinds returns the kinds that [Dump] can write, in order. They are named after tables.
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
func Dump(ctx context.Context, db *store.DB, kind string, since time.Time, do func(row map[string]any) error) error {
	var err error
	from := int64(math.MinInt64)
	if !since.IsZero() {
		from = since.UnixMicro()
	}
	switch i := slices.Index(DumpKinds(), kind); i {
	case -1:
		return fmt.Errorf("there is no kind %q", kind)
	case 0:
		err = dumpMessages(ctx, db, from, do)
	default:
		err = dumpTable(ctx, db, dumped[i-1].table, dumped[i-1].at, from, do)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", kind, err)
	}
	return nil
}

func dumpMessages(ctx context.Context, db *store.DB, from int64, do func(map[string]any) error) error {
	for last, n := int64(math.MinInt64), dumpPage; n == dumpPage; {
		n = 0
		err := dumpRows(ctx, db, `SELECT rowid AS row, id, guild_id, channel_id, author_id, author_name, own, at, text, note, reply_to, turn_id
			FROM messages WHERE rowid > @last AND at >= @from ORDER BY rowid LIMIT @page`, "at", store.Args{"last": last, "from": from, "page": dumpPage},
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
func dumpTable(ctx context.Context, db *store.DB, table, at string, from int64, do func(map[string]any) error) error {
	where := `TRUE`
	if at != "" {
		where = at + ` >= @from`
	}
	return dumpRows(ctx, db, `SELECT * FROM `+table+` WHERE `+where, at, store.Args{"from": from}, do)
}

// dumpRows calls do with rows by column. The column named at holds a time.
func dumpRows(ctx context.Context, db *store.DB, query, at string, args store.Args, do func(map[string]any) error) error {
	all, err := db.Rows(ctx, query, args)
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
