package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"familiar/internal/store/engine"
)

// refused opens dir, which must fail with an error of the kind whose text contains all of the words.
func refused(t *testing.T, dir string, want engine.Kind, words ...string) *Error {
	t.Helper()
	db, err := Open(t.Context(), dir)
	if err == nil {
		db.Close()
	}
	var e *Error
	if !errors.As(err, &e) || e.Kind != want {
		t.Fatalf("Open: %v; want %s", err, want)
	}
	for _, w := range append(words, filepath.Join(dir, fileName)) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q is not in: %v", w, err)
		}
	}
	return e
}

func setVersion(t *testing.T, db *DB, v int) {
	t.Helper()
	if _, err := db.writes.pool.Exec(`UPDATE goose_db_version SET version_id = ? WHERE version_id > 0`, v); err != nil {
		t.Fatal(err)
	}
}

// makeVersions is the table of versions as github.com/pressly/goose made it.
const makeVersions = `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL,
	tstamp TIMESTAMP DEFAULT (datetime('now'))); INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`

func TestInUseBySameProcess(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	if e := refused(t, dir, InUse, fmt.Sprint("process ", os.Getpid())); e.PID != os.Getpid() {
		t.Errorf("pid %d", e.PID)
	}
	if err := db.Notes.Set(t.Context(), "k", "v"); err != nil {
		t.Errorf("the owner after that: %v", err)
	}
	db.Close()
	openFile(t, dir)
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	newest, err := db.Inspect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	setVersion(t, db, 99)
	db.Close()
	e := refused(t, dir, engine.Newer, "newer version", "schema 99")
	if e.Have != 99 || e.Want != newest.Schema {
		t.Errorf("have %d, want %d", e.Have, e.Want)
	}
}

// TestTooOld checks that a file with a schema before the baseline is refused in every way of opening it. The file does not change.
func TestTooOld(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	setVersion(t, db, 27)
	db.Close()
	e := refused(t, dir, engine.TooOld, "schema 27", "28 is the oldest", "start the last version", "move it")
	if e.Have != 27 || e.Want != 28 {
		t.Errorf("have %d, want %d", e.Have, e.Want)
	}
	if _, err := Look(t.Context(), dir); kind(err) != engine.TooOld {
		t.Errorf("Look: %v", err)
	}
	if _, err := Beside(t.Context(), dir); kind(err) != engine.TooOld {
		t.Errorf("Beside: %v", err)
	}
	pool, err := engine.Connect(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var version int
	if err := pool.QueryRow(`SELECT max(version_id) FROM goose_db_version`).Scan(&version); err != nil || version != 27 {
		t.Errorf("schema %d, %v after it was refused", version, err)
	}
}

// TestBaseline checks that a file that earlier versions migrated to the baseline is used unchanged.
func TestBaseline(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	db := openFile(t, dir)
	if err := db.Notes.Set(ctx, "k", "v"); err != nil {
		t.Fatal(err)
	}
	// Earlier versions recorded each step.
	for v := range 28 {
		if _, err := db.writes.pool.Exec(`INSERT INTO goose_db_version (version_id, is_applied) SELECT ?1, 1 WHERE ?1 > 0`, v); err != nil {
			t.Fatal(err)
		}
	}
	schema := func(db *DB) (all string) {
		t.Helper()
		err := db.Read().QueryRow(`SELECT group_concat(sql, ';' ORDER BY name) || (SELECT count(*) FROM goose_db_version) FROM sqlite_schema`).Scan(&all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := schema(db)
	db.Close()
	db = openFile(t, dir)
	if v, err := db.Notes.Get(ctx, "k"); v != "v" || err != nil {
		t.Errorf("the note is %q, %v", v, err)
	}
	if schema(db) != before {
		t.Error("the schema changed")
	}
}

// TestMigrateAgain: a first start that was interrupted before the baseline is made up for.
func TestMigrateAgain(t *testing.T) {
	dir := t.TempDir()
	pool, err := engine.Connect(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(makeVersions); err != nil {
		t.Fatal(err)
	}
	pool.Close()
	db := openFile(t, dir)
	var versions string
	if err := db.Read().QueryRow(`SELECT group_concat(version_id) FROM goose_db_version`).Scan(&versions); err != nil || versions != "0,28,30,31,32,33,34,36,37" {
		t.Errorf("versions %s, %v", versions, err)
	}
}

func TestCorrupt(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func([]byte) []byte
	}{
		{"no database", func([]byte) []byte { return bytes.Repeat([]byte("not a database "), 1000) }},
		{"cut short", func(b []byte) []byte { return b[:len(b)/2] }},
		{"schema", func(b []byte) []byte { return append(b[:100:100], bytes.Repeat([]byte{0xff}, len(b)-100)...) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			openFile(t, dir).Close()
			path := filepath.Join(dir, fileName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b = c.damage(b)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, engine.Corrupt, "put back a copy")
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

// This damage shows only when the page is read.
func TestCorruptLater(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	fill(t, db, 2000, 2)
	db.Close()
	path := filepath.Join(dir, fileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(b) / 2; i < len(b)-4096; i++ {
		b[i] = 0xff
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	db = openFile(t, dir)
	_, err = db.Messages.Recent(t.Context(), fmt.Sprintf("2%018d", 1), 1000)
	if kind(err) != engine.Corrupt || !strings.Contains(err.Error(), path) {
		t.Errorf("Recent: %v", err)
	}
	if err := db.Close(); kind(err) != engine.Corrupt { // and the next start looks for it
		t.Errorf("Close: %v", err)
	}
	refused(t, dir, engine.Corrupt, "put back a copy")
}

// TestCutLog cuts the log while the program runs, as a failing disk does.
func TestCutLog(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	fill(t, db, 200, 2)
	log := filepath.Join(dir, fileName) + "-wal"
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, info.Size()/50); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		_, err = db.Messages.Recent(t.Context(), fmt.Sprintf("2%018d", i), 1000)
		if err != nil {
			break
		}
	}
	if kind(err) != engine.Corrupt {
		t.Errorf("Recent: %v", err)
	}
	if err := db.Close(); kind(err) != engine.Corrupt {
		t.Errorf("Close: %v", err)
	}
}

func TestDirectoryIsAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, engine.IO)
}

// TestOlderMemories checks that statements of version 28 stay. Only what people had the bot remember counts as their words.
func TestOlderMemories(t *testing.T) {
	dir := t.TempDir()
	pool, err := engine.Connect(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := migrations.ReadFile("migrations/sqlite/00028_baseline.sql")
	if err != nil {
		t.Fatal(err)
	}
	const row = `INSERT INTO memories (id, kind, scope, scope_id, guild_id, subject, text, folded, trace_id, by_id, said_at, learned_at, supersedes, superseded, pinned)
		VALUES (?, 'person', 'channel', 'c', 'g', 'ada', ?, ?, '', ?, 1, 1, 0, FALSE, FALSE)`
	for _, do := range []string{makeVersions, string(baseline), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (28, 1)`} {
		if _, err := pool.Exec(do); err != nil {
			t.Fatal(err)
		}
	}
	for i, by := range []string{"", "ada"} {
		if _, err := pool.Exec(row, i+1, fmt.Sprint("statement ", i), fmt.Sprint("statement ", i), by); err != nil {
			t.Fatal(err)
		}
	}
	pool.Close()
	db := openFile(t, dir)
	var authors string
	if err := db.Read().QueryRow(`SELECT group_concat(id || ':' || author_id || ':' || text, ', ' ORDER BY id) FROM memories`).Scan(&authors); err != nil || authors != "1::statement 0, 2:ada:statement 1" {
		t.Errorf("%s, %v", authors, err)
	}
}
