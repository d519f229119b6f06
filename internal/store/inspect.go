package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
)

// Inspection is what a look through the whole file found.
type Inspection struct {
	Bytes  int64    // of the file and its log
	Unused int64    // bytes of the file that hold nothing
	Schema int64    // version
	Wrong  []string // what is damaged, at most three lines; nil: nothing
}

// Inspect looks through the file for damage, beside whoever uses it. It takes some seconds for each gigabyte; ctx ends it.
func (db *DB) Inspect(ctx context.Context) (Inspection, error) {
	var found Inspection
	for _, name := range []string{db.path, db.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			found.Bytes += info.Size()
		}
	}
	var pages, size int64
	for pragma, into := range map[string]*int64{"freelist_count": &pages, "page_size": &size} {
		if err := db.readers.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(into); err != nil {
			return found, db.Explain(err)
		}
	}
	found.Unused = pages * size
	var err error
	if found.Schema, _, err = db.versions(ctx, db.readers); err != nil {
		return found, db.Explain(err)
	}
	found.Wrong, err = quickCheck(ctx, db.readers)
	return found, db.Explain(err)
}

// quickCheck returns up to three lines of what is damaged.
// https://www.sqlite.org/pragma.html#pragma_quick_check
func quickCheck(ctx context.Context, pool *sql.DB) (wrong []string, err error) {
	rows, err := pool.QueryContext(ctx, `PRAGMA quick_check(3)`)
	if err != nil {
		return nil, fmt.Errorf("look through the database: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		if line != "ok" {
			wrong = append(wrong, strings.Join(strings.Fields(line), " "))
		}
	}
	return wrong, rows.Err()
}
