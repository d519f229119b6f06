package engine

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Each engine has its files, with the same numbers. A migration that only one of them needs has a number that the other one lacks. The first file is the baseline: the whole schema. Each later file brings it to the next
// version. A released file is never changed.

// makeVersions makes the table of the versions that a database has had. The databases that exist have that of github.com/pressly/goose.
const makeVersions = `CREATE TABLE IF NOT EXISTS goose_db_version (version_id BIGINT NOT NULL, is_applied BIGINT NOT NULL)`

const newestVersion = `SELECT coalesce(max(version_id), 0) FROM goose_db_version`

// migrate brings the schema to the newest version, in one transaction. Nearly every start finds it there, so the files are not even read.
func (b *base) migrate(ctx context.Context) error {
	have, want, err := b.versions(ctx, b.writer)
	if err != nil || have == want {
		return err
	}
	tx, err := b.writer.BeginTx(ctx, nil)
	if err == nil {
		defer tx.Rollback() // does nothing after the commit
		err = b.apply(ctx, tx)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

// apply runs the migrations that the database has not had, and notes each. Another process may have run some a moment ago. A server may not
// show the table of versions then, until it is told to make one.
func (b *base) apply(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, makeVersions); err != nil {
		return err
	}
	var have int64
	if err := tx.QueryRowContext(ctx, newestVersion).Scan(&have); err != nil {
		return err
	}
	files, err := b.listMigrations()
	if err != nil {
		return err
	}
	for _, m := range files {
		if m.version <= have {
			continue
		}
		text, err := fs.ReadFile(b.Migrations, m.path)
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
// than the baseline, is refused. This is the first question put to a file: it fails if that is damaged or not a database.
func (b *base) versions(ctx context.Context, pool *sql.DB) (have, want int64, err error) {
	var tables int
	err = pool.QueryRowContext(ctx, b.findVersions).Scan(&tables)
	if err == nil && tables > 0 {
		err = pool.QueryRowContext(ctx, newestVersion).Scan(&have)
	}
	if err != nil {
		return 0, 0, err
	}
	files, err := b.listMigrations()
	if err != nil {
		return 0, 0, err
	}
	oldest, want := files[0].version, files[len(files)-1].version
	switch {
	case have > want:
		err = &Error{Kind: Newer, Path: b.place, Have: have, Want: want}
	case have > 0 && have < oldest:
		err = &Error{Kind: TooOld, Path: b.place, Have: have, Want: oldest}
	}
	return have, want, err
}

// findSchema refuses a database without this program's schema.
func (b *base) findSchema(ctx context.Context) error {
	have, want, err := b.versions(ctx, b.readers)
	switch {
	case err != nil:
		return err
	case have == 0:
		return &Error{Kind: Missing, Path: b.place}
	case have < want:
		return &Error{Kind: Older, Path: b.place, Have: have, Want: want}
	}
	return nil
}

// migration is a file that brings the schema to a version.
type migration struct {
	version int64 // the number that begins the file's name
	path    string
}

// listMigrations returns all migrations, the baseline first.
func (b *base) listMigrations() ([]migration, error) {
	paths, err := fs.Glob(b.Migrations, "migrations/"+b.folder+"/*.sql") // sorted by name
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
