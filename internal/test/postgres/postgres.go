// Package postgres gives tests databases of a PostgreSQL server. FAMILIAR_TEST_POSTGRES is the address of one, on which a user may make
// databases, such as postgres://postgres@/?host=/tmp/socket. Without it stores are in directories, as usual.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	address = "FAMILIAR_TEST_POSTGRES"
	limit   = time.Minute
)

// Used reports whether tests run on PostgreSQL.
func Used() bool { return os.Getenv(address) != "" }

// Needed skips a test that needs PostgreSQL where there is none.
func Needed(tb testing.TB) {
	tb.Helper()
	if !Used() {
		tb.Skip(address + " names no server, so this is not tested on PostgreSQL")
	}
}

// Off keeps a test on files: it has virtual time, which does not wait for a real connection, or statements that only SQLite knows.
func Off(tb testing.TB) {
	tb.Helper()
	tb.Setenv(address, "")
}

// databases are those of this process. Making one takes longer than most tests, so they are used again.
var databases struct {
	sync.Mutex
	n    int
	free []string          // places of empty ones
	of   map[string]string // places by the directory that each stands for
}

// Place returns where the store of a directory is: there, or in a database of its own until the end of the test.
func Place(tb testing.TB, dir string) string {
	tb.Helper()
	if !Used() {
		return dir
	}
	d := &databases
	d.Lock()
	defer d.Unlock()
	if place, known := d.of[dir]; known {
		return place
	}
	place := ""
	if n := len(d.free); n > 0 {
		place, d.free = d.free[n-1], d.free[:n-1]
	} else {
		place = create(tb, d.n)
		d.n++
	}
	if d.of == nil {
		d.of = map[string]string{}
	}
	d.of[dir] = place
	tb.Cleanup(func() {
		run(tb, place, empty)
		d.Lock()
		defer d.Unlock()
		delete(d.of, dir)
		d.free = append(d.free, place)
	})
	return place
}

// create makes a database and returns its address.
func create(tb testing.TB, n int) string {
	tb.Helper()
	server := os.Getenv(address)
	u, err := url.Parse(server)
	if err != nil {
		tb.Fatalf("%s is no address", address)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), n)
	u.Path = "/" + name
	run(tb, server, `DROP DATABASE IF EXISTS `+name) // of an earlier process with the same number
	run(tb, server, `CREATE DATABASE `+name)
	return u.String()
}

// empty makes a database as new as it was after the migrations.
const empty = `DO $$
DECLARE name text;
BEGIN
	PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
	IF to_regclass('goose_db_version') IS NULL THEN RETURN; END IF;
	SET LOCAL session_replication_role = replica;
	FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('goose_db_version', 'privacy_key') LOOP
		EXECUTE 'DELETE FROM ' || name;
	END LOOP;
	FOR name IN SELECT quote_ident(sequencename) FROM pg_sequences WHERE schemaname = 'public' LOOP
		EXECUTE 'ALTER SEQUENCE ' || name || ' RESTART';
	END LOOP;
	INSERT INTO message_words_progress VALUES (0, '');
	INSERT INTO trace_words_progress VALUES (0);
	INSERT INTO beside VALUES (0);
END $$`

// run runs a statement in a database.
func run(tb testing.TB, place, statement string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c, err := pgconn.Connect(ctx, place)
	if err == nil {
		err = errors.Join(c.Exec(ctx, statement).Close(), c.Close(ctx))
	}
	if err != nil {
		tb.Fatalf("%s: %v", statement, err)
	}
}
