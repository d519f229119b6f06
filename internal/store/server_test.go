package store

import (
	"database/sql"
	"net/url"
	"strings"
	"testing"
	"time"

	"familiar/internal/store/engine"
	"familiar/internal/test/postgres"
)

// TestServersAreRefused checks that a wrong address is told in words with the cure, and that no password is in them.
func TestServersAreRefused(t *testing.T) {
	for _, c := range []struct {
		place, words string
		want         engine.Kind
	}{
		{"postgres://ada:geheim@localhost:port/x", "postgres://user:password@host", engine.Unreadable},
		{"postgres://ada:geh eim%zz@localhost/x", "postgres://user:password@host", engine.Unreadable},
		{"postgres://ada:geheim@127.0.0.1:1/x", "check that PostgreSQL runs", engine.Away},
		{"postgres://ada:geheim@/x?host=/nowhere", "check that PostgreSQL runs", engine.Away},
	} {
		_, err := Open(t.Context(), c.place)
		if kind(err) != c.want || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "geh") {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

// place returns a database of the test with some options.
func place(t *testing.T, options map[string]string) (*DB, string) {
	t.Helper()
	postgres.Needed(t)
	dir := t.TempDir()
	db := open(t, dir)
	u, err := url.Parse(postgres.Place(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for name, value := range options {
		q.Set(name, value)
	}
	u.RawQuery = q.Encode()
	return db, u.String()
}

// TestServersThatAnswerAreRefused does the same with a server that answers.
func TestServersThatAnswerAreRefused(t *testing.T) {
	db, address := place(t, nil)
	ctx := t.Context()
	run := func(statement string) {
		t.Helper()
		if _, err := db.writes.pool.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	run(`DROP ROLE IF EXISTS familiar_nobody`)
	run(`CREATE ROLE familiar_nobody LOGIN`)
	defer run(`DROP ROLE familiar_nobody`)
	as := func(change func(*url.URL)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		change(u)
		return u.String()
	}
	for _, c := range []struct {
		place, words string
		want         engine.Kind
	}{
		{address, "another database", InUse},
		{as(func(u *url.URL) { u.Path = "/nowhere" }), "createdb", engine.NoDatabase},
		{as(func(u *url.URL) { u.User = url.UserPassword("nobody_at_all", "geheim") }), "pg_hba.conf", engine.Refused},
		{as(func(u *url.URL) { u.User = url.User("familiar_nobody") }), "GRANT CREATE", engine.Forbidden},
		{as(func(u *url.URL) {
			q := u.Query()
			q.Set("default_transaction_read_only", "on")
			u.RawQuery = q.Encode()
		}), "primary server", engine.Replica},
	} {
		_, err := Open(ctx, c.place)
		if kind(err) != c.want || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", c.want, err)
		}
	}
	if err := db.Notes.Set(ctx, "k", "v"); err != nil {
		t.Error(err)
	}
}

// TestServerIsShared writes beside the owner, which reads again what it has in memory.
func TestServerIsShared(t *testing.T) {
	db, address := place(t, nil)
	ctx := t.Context()
	beside, err := Beside(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if written, err := db.Refresh(ctx); written || err != nil {
		t.Errorf("nothing was written: %v, %v", written, err)
	}
	if err := beside.Notes.Set(ctx, "k", "v"); err != nil {
		t.Fatal(err)
	}
	if written, err := db.Refresh(ctx); !written || err != nil {
		t.Errorf("beside: %v, %v", written, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if v, err := next.Notes.Get(ctx, "k"); v != "v" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
}

// TestOwnerLosesItsConnection checks that nothing is written while another process may own the database, and that the owner takes it again.
func TestOwnerLosesItsConnection(t *testing.T) {
	db, address := place(t, nil)
	ctx := t.Context()
	var pid int
	err := db.readers.QueryRowContext(ctx, `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted`).Scan(&pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.writes.pool.ExecContext(ctx, `SELECT pg_terminate_backend(?)`, pid); err != nil {
		t.Fatal(err)
	}
	taker, err := Open(ctx, address)
	for deadline := time.Now().Add(time.Second / 2); kind(err) == InUse && time.Now().Before(deadline); {
		taker, err = Open(ctx, address) // the server may still be ending the process
	}
	if err != nil {
		t.Fatal(err)
	}
	<-db.Notices()
	if err := db.Notes.Set(ctx, "k", "old"); kind(err) != engine.Away {
		t.Errorf("a write of the former owner: %v", err)
	}
	if err := taker.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if err = db.Notes.Set(ctx, "k", "v"); err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// TestWithoutPreparedStatements runs as behind a pooler.
func TestWithoutPreparedStatements(t *testing.T) {
	db, address := place(t, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(address)
	q := u.Query()
	q.Set("prepare", "off")
	u.RawQuery = q.Encode()
	db, err := Open(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	come(t, db, chat("1", "c", "ada", "the zanzibarian password", 1))
	if got := found(t, db, Query{Words: "zanzibarian"}); got != "1" {
		t.Errorf("found %q", got)
	}
	var prepared int
	err = db.Write(t.Context(), func(tx *sql.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM pg_prepared_statements WHERE name <> ''`).Scan(&prepared)
	})
	if err != nil || prepared != 0 {
		t.Errorf("%d prepared statements, %v", prepared, err)
	}
}
