package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

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
	return db.Explain(each(rows, err, func(row Scanner) error { return do(row.Scan) }))
}

// CountRows counts the rows of a table for which a condition holds.
func (db *DB) CountRows(ctx context.Context, table, where string, args Args) (n int, err error) {
	err = db.readers.QueryRowContext(ctx, `SELECT count(*) FROM `+table+` WHERE `+where, args.named()...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", table, db.Explain(err))
	}
	return n, nil
}

// ChangeRows changes the rows of a table for which a condition holds, or deletes them if set is empty. It returns how many those were. It
// is not for the tables of messages and of memories, which have indexes beside them.
func (db *DB) ChangeRows(ctx context.Context, table, where, set string, args Args) (int, error) {
	defer db.names.changed()
	defer db.settings.changed()
	query := `DELETE FROM ` + table + ` WHERE ` + where
	if set != "" {
		query = `UPDATE OR REPLACE ` + table + ` SET ` + set + ` WHERE ` + where
	}
	return db.Exec(ctx, "change "+table, query, args.named()...)
}

// Rows returns the rows of a query by the names of their columns.
func (db *DB) Rows(ctx context.Context, query string, args Args) (all []map[string]any, err error) {
	rows, err := db.readers.QueryContext(ctx, query, args.named()...)
	err = each(rows, err, func(Scanner) error {
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

// each calls do for each row of a query, which failed if err is not nil.
func each(rows *sql.Rows, err error, do func(Scanner) error) error {
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
