package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
)

// One file a schema version; a file that was released is never changed again.
//
//go:embed migrations/sqlite/*.sql
var migrations embed.FS

// migrate brings the schema to the newest version.
func (db *DB) migrate(ctx context.Context) error {
	pool := db.writes.pool
	have, want, err := db.versions(ctx, pool)
	if err != nil || have == want { // what every start but the first finds: the migrations need not even be parsed
		return err
	}
	dir, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, pool, dir, goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// versions returns the file's schema version, 0 if it is empty, and this program's, which is not lower. It asks the
// file's first question, so this is where one that is damaged, cut short or no database at all is found out.
func (db *DB) versions(ctx context.Context, pool *sql.DB) (have, want int64, err error) {
	var tables int
	err = pool.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = ?`, goose.DefaultTablename).Scan(&tables)
	if err == nil && tables > 0 {
		err = pool.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM `+goose.DefaultTablename).Scan(&have)
	}
	if err != nil {
		return 0, 0, err
	}
	if want, err = newest(); err == nil && have > want {
		err = &Error{Kind: Newer, Path: db.path, Have: have, Want: want}
	}
	return have, want, err
}

// newest returns the schema version that this program knows.
func newest() (int64, error) {
	files, err := fs.ReadDir(migrations, "migrations/sqlite")
	if err != nil {
		return 0, err
	}
	return goose.NumericComponent(files[len(files)-1].Name()) // sorted by name
}
