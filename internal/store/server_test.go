package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"familiar/internal/store/engine"
	"familiar/internal/test/bulk"
	"familiar/internal/test/postgres"
	"familiar/internal/test/wait"
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

// TestEnginesFindTheSame asks a file and a server 200 times. Their messages have gaps between their rows, so that the server's parts of all
// sizes occur. With FAMILIAR_BENCH_DIR it asks the million messages of the benchmarks.
func TestEnginesFindTheSame(t *testing.T) {
	postgres.Needed(t)
	var file, server *DB
	if os.Getenv(benchDir) != "" {
		file, server = crowded(t, 1_000_000, 100, false), crowded(t, 1_000_000, 100, true)
	} else {
		file, server = openFile(t, t.TempDir()), open(t, t.TempDir())
		sparse(t, file)
		sparse(t, server)
	}
	asked := questions()
	all := 0
	for i := range 200 {
		q := asked()
		if i%4 == 0 {
			q.Channels = q.Channels[i/4:][:1+i%7]
		}
		ours, err := server.Messages.Recall(t.Context(), q)
		theirs, bad := file.Messages.Recall(t.Context(), q)
		if err != nil || bad != nil || !slices.Equal(ids(ours.Messages), ids(theirs.Messages)) || !slices.Equal(ours.Weights, theirs.Weights) {
			t.Errorf("recall %v in %d channels: %d messages, not %d as in a file, %v, %v", q.Words, len(q.Channels), len(ours.Messages), len(theirs.Messages), err, bad)
		}
		s := Query{GuildID: q.GuildID, Channels: q.Channels, Words: q.Words[0][0], From: q.From, To: q.To, Limit: 100}
		switch i % 5 {
		case 1:
			s.Words += " " + q.Words[1][0]
		case 2:
			s.Begin, s.Words = true, strings.TrimSuffix(s.Words, "x")
		case 3:
			s.Authors = []string{fmt.Sprintf("4%018d", i)}
		}
		found, err := server.Messages.Search(t.Context(), s)
		same, bad := file.Messages.Search(t.Context(), s)
		if err != nil || bad != nil || !slices.Equal(ids(found), ids(same)) {
			t.Errorf("search %+v: %d messages, not %d as in a file, %v, %v", s, len(found), len(same), err, bad)
		}
		all += len(ours.Messages) + len(found)
	}
	if all < 200*50 {
		t.Errorf("only %d messages were found", all)
	}
}

// sparse saves and indexes messages with gaps between their rows.
func sparse(t *testing.T, db *DB) {
	t.Helper()
	db.indexing.end()
	err := db.Write(t.Context(), func(tx *sql.Tx) error {
		for _, m := range spoken(bulk.Of(3_000, 30_000), 100) {
			if _, err := db.stmt(tx, insertMessage).Exec(m.values()...); err != nil {
				return err
			}
		}
		for _, statement := range []string{`UPDATE messages SET rowid = -197 * rowid`, `UPDATE messages SET rowid = -rowid`} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return emptyIndex(tx)
	})
	if err == nil {
		err = db.Messages.indexDue(t.Context())
	}
	if err != nil {
		t.Fatal(err)
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
	err := db.readers.QueryRowContext(ctx, `SELECT pid FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND granted AND datname = current_database()`).Scan(&pid)
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
// A call that was canceled before anything was sent says so. Its connection is as good as before.
func TestCanceledBeforeItIsSent(t *testing.T) {
	db, _ := place(t, nil)
	c, err := db.readers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	err = c.Raw(func(of any) error {
		_, err := of.(driver.QueryerContext).QueryContext(canceled, `SELECT 1`, nil)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var one int
	if err := c.QueryRowContext(t.Context(), `SELECT 1`).Scan(&one); err != nil || one != 1 {
		t.Errorf("then %d, %v", one, err)
	}
}

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

// TestBehindPgBouncer keeps a store behind a pooler that gives each transaction another connection.
func TestBehindPgBouncer(t *testing.T) {
	db, address := place(t, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	address = pooled(t, address)
	db, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := Open(t.Context(), address); kind(err) != InUse {
		t.Errorf("a second owner: %v", err)
	}
	come(t, db, chat("1", "c", "ada", "the zanzibarian password", 1))
	if got := found(t, db, Query{Words: "zanzibarian"}); got != "1" {
		t.Errorf("found %q", got)
	}
	if _, err := Look(t.Context(), address+"?default_transaction_read_only=on"); kind(err) != engine.Unreadable {
		t.Errorf("an option that a pooler does not know: %v", err)
	}
}

// pooled starts PgBouncer before the database of an address, until the end of the test.
func pooled(t *testing.T, address string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed")
	}
	far, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	near := url.URL{Scheme: "postgres", User: far.User, Host: l.Addr().String(), Path: far.Path}
	l.Close()
	dir, err := os.MkdirTemp("", "familiar")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	config := filepath.Join(dir, "pgbouncer.ini")
	text := fmt.Sprintf("[databases]\n* = host=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %s\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n",
		cmp.Or(far.Hostname(), far.Query().Get("host")), near.Port())
	text = strings.Replace(text, "* = ", fmt.Sprintf("%s = user=%s dbname=%[1]s ", strings.TrimPrefix(far.Path, "/"), far.User.Username()), 1)
	if err := errors.Join(os.WriteFile(config, []byte(text), 0o644), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, config)
	if os.Geteuid() == 0 { // which it refuses
		cmd = exec.Command("runuser", "-u", "nobody", "--", program, config)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	if !wait.Until(func() bool {
		c, err := net.Dial("tcp", near.Host)
		if err == nil {
			c.Close()
		}
		return err == nil
	}) {
		t.Fatal("PgBouncer does not come")
	}
	return near.String()
}
