package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Each engine has its files, with the same numbers. The first file is the baseline: the whole schema. Each later file brings it to the next version. A released file is never changed.
//
//go:embed migrations/*/*.sql
var migrations embed.FS

// makeVersions makes the table of the versions that a file has had. It is that of github.com/pressly/goose, which made the databases that
// exist, and which begins with version 0.
const makeVersions = `
CREATE TABLE IF NOT EXISTS goose_db_version (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	version_id INTEGER NOT NULL,
	is_applied INTEGER NOT NULL,
	tstamp     TIMESTAMP DEFAULT (datetime('now'))
);
INSERT INTO goose_db_version (version_id, is_applied) SELECT 0, 1 WHERE NOT EXISTS (SELECT 1 FROM goose_db_version)`

// migrate brings the schema to the newest version, in one transaction. Nearly every start finds it there, so the files are not even read.
func (db *DB) migrate(ctx context.Context) error {
	pool := db.writes.pool
	have, want, err := db.versions(ctx, pool)
	if err != nil || have == want {
		return err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback() // does nothing after the commit
		err = db.applyAfter(ctx, tx, have)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// applyAfter runs the migrations after a version, and notes each.
func (db *DB) applyAfter(ctx context.Context, tx *sql.Tx, have int64) error {
	making := makeVersions
	if db.server != nil {
		making = makeServerVersions
	}
	if _, err := tx.ExecContext(ctx, making); err != nil {
		return err
	}
	files, err := listMigrations(db.engine())
	if err != nil {
		return err
	}
	for _, m := range files {
		if m.version <= have {
			continue
		}
		text, err := migrations.ReadFile(m.path)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)`, m.version); err != nil {
			return err
		}
	}
	return nil
}

// versions returns the schema versions of the file, 0 if it is empty, and of this program. A file that is newer than the program, or older
// than the baseline, is refused. This is the first question put to a file: a damaged one, or one that is no database, fails here.
func (db *DB) versions(ctx context.Context, pool *sql.DB) (have, want int64, err error) {
	var tables int
	find := `SELECT count(*) FROM sqlite_schema WHERE name = 'goose_db_version'`
	if db.server != nil {
		find = `SELECT count(to_regclass('goose_db_version'))`
	}
	err = pool.QueryRowContext(ctx, find).Scan(&tables)
	if err == nil && tables > 0 {
		err = pool.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&have)
	}
	if err != nil {
		return 0, 0, err
	}
	oldest, want, err := schemaVersions(db.engine())
	switch {
	case err != nil:
	case have > want:
		err = &Error{Kind: Newer, Path: db.path, Have: have, Want: want}
	case have > 0 && have < oldest:
		err = &Error{Kind: TooOld, Path: db.path, Have: have, Want: oldest}
	}
	return have, want, err
}

// schemaVersions returns the oldest schema version that this program can go on with, and the newest, which it uses.
func schemaVersions(engine string) (oldest, newest int64, err error) {
	files, err := listMigrations(engine)
	if err != nil {
		return 0, 0, err
	}
	return files[0].version, files[len(files)-1].version, nil
}

// engine names the directory of the migrations.
func (db *DB) engine() string {
	if db.server != nil {
		return "postgres"
	}
	return "sqlite"
}

// migration is a file that brings the schema to a version.
type migration struct {
	version int64 // the number that begins the file's name
	path    string
}

// listMigrations returns all migrations, the baseline first.
func listMigrations(engine string) ([]migration, error) {
	paths, err := fs.Glob(migrations, "migrations/"+engine+"/*.sql") // sorted by name
	if err != nil {
		return nil, err
	}
	var all []migration
	for _, p := range paths {
		number, _, _ := strings.Cut(path.Base(p), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read version of migration: %w", err)
		}
		all = append(all, migration{version, p})
	}
	return all, nil
}
