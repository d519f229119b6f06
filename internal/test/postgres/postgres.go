// Package postgres gives tests databases of a PostgreSQL server. FAMILIAR_TEST_POSTGRES is the address of one, on which a user may make
// databases, such as postgres://postgres@/?host=/tmp/socket. Without it stores are in directories, as usual.
package postgres

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Off keeps a test on files. It has virtual time, which does not wait for a real connection, or statements that only SQLite knows.
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

// Place returns where the store of a directory is. It is there, or in a database of its own until the end of the test.
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
		Run(tb, place, empty)
		d.Lock()
		defer d.Unlock()
		delete(d.of, dir)
		d.free = append(d.free, place)
	})
	return place
}

// New returns the address of a database without tables, which nothing else uses.
func New(tb testing.TB) string {
	tb.Helper()
	d := &databases
	d.Lock()
	defer d.Unlock()
	d.n++
	return create(tb, d.n-1)
}

// create makes a database and returns its address.
func create(tb testing.TB, n int) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), n)
	Run(tb, os.Getenv(address), `DROP DATABASE IF EXISTS `+name) // of an earlier process with the same number
	Run(tb, os.Getenv(address), `CREATE DATABASE `+name)
	return named(tb, name)
}

// named returns the address of a database.
func named(tb testing.TB, name string) string {
	tb.Helper()
	u, err := url.Parse(os.Getenv(address))
	if err != nil {
		tb.Fatalf("%s is not an address", address)
	}
	u.Path = "/" + name
	return u.String()
}

// Kept returns a database that stays for later runs.
func Kept(tb testing.TB, name string) string {
	tb.Helper()
	place := named(tb, name)
	if c, err := pgconn.Connect(tb.Context(), place); err == nil {
		c.Close(tb.Context())
	} else {
		Run(tb, os.Getenv(address), `CREATE DATABASE `+name)
	}
	return place
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

// Run runs a statement in a database.
func Run(tb testing.TB, place, statement string) {
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

// Cluster is a server of its own on this machine, with passwords: everybody but the superuser postgres needs one.
type Cluster struct {
	testing.TB
	bin, dir, port string
}

// clusterRules are its pg_hba.conf.
const clusterRules = `host all,replication postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`

// NewCluster starts a server until the end of the test. It is an empty one, or a copy of another that follows it. It skips the test where
// PostgreSQL is not installed.
func NewCluster(tb testing.TB, of *Cluster) *Cluster {
	tb.Helper()
	Needed(tb)
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(bins) == 0 {
		tb.Skip("PostgreSQL is not installed here")
	}
	dir, err := os.MkdirTemp("", "familiar")
	if err != nil {
		tb.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	c := &Cluster{tb, bins[len(bins)-1], dir, port}
	tb.Cleanup(func() {
		_, _ = c.command("pg_ctl", "stop", "-m", "immediate").CombinedOutput() // it may have stopped
		os.RemoveAll(dir)
	})
	if os.Geteuid() == 0 { // as which PostgreSQL refuses to run
		if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
			tb.Fatalf("%v: %s", err, out)
		}
	}
	if of == nil {
		c.do("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
		if err := os.WriteFile(filepath.Join(dir, "pg_hba.conf"), []byte(clusterRules), 0o644); err != nil {
			tb.Fatal(err)
		}
	} else {
		c.do("pg_basebackup", "-h", "127.0.0.1", "-p", of.port, "-U", "postgres", "-R", "-c", "fast", "--no-sync")
	}
	c.Start()
	return c
}

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	args = append([]string{filepath.Join(c.bin, name), "-D", c.dir}, args...)
	if os.Geteuid() == 0 {
		args = append([]string{"runuser", "-u", "postgres", "--"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/"
	return cmd
}

// do runs one of PostgreSQL's programs. What it says goes to a file: a server that it starts keeps that open.
func (c *Cluster) do(name string, args ...string) {
	c.Helper()
	said, err := os.CreateTemp("", "familiar")
	if err != nil {
		c.Fatal(err)
	}
	defer os.Remove(said.Name())
	defer said.Close()
	cmd := c.command(name, args...)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name())
		c.Fatalf("%s: %v: %s", name, err, text)
	}
}

// Start starts it again after Stop.
func (c *Cluster) Start() {
	c.Helper()
	c.do("pg_ctl", "start", "-w", "-l", filepath.Join(c.dir, "log"), "-o", "-p "+c.port+" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off")
}

// Stop ends it as a crash does.
func (c *Cluster) Stop() {
	c.Helper()
	c.do("pg_ctl", "stop", "-m", "immediate")
}

// Promote makes a copy a server of its own.
func (c *Cluster) Promote() {
	c.Helper()
	c.do("pg_ctl", "promote", "-w")
}

// Address returns the address of its database postgres, for a user with a password.
func (c *Cluster) Address(user, password string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: "127.0.0.1:" + c.port, Path: "/postgres"}
	return u.String()
}

// Trips are the round trips to a server, each by its statements. A statement that is prepared by name is told by its text.
type Trips struct {
	mu   sync.Mutex
	all  []string   // guarded by mu
	open []net.Conn // guarded by mu

	said, instead string // what the server says, and what the client hears; empty: the same
}

// Take returns the round trips since the last call.
func (t *Trips) Take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.all
	t.all = nil
	return all
}

// Counted returns an address that leads to the database of a place, and the round trips to it. The lock of the owner is left out.
func Counted(tb testing.TB, place string) (through string, trips *Trips) {
	tb.Helper()
	trips = &Trips{}
	return trips.lead(tb, place), trips
}

// Changed returns an address that leads to the database of a place. Its server says one thing in place of another of the same length.
func Changed(tb testing.TB, place, said, instead string) (through string) {
	tb.Helper()
	return (&Trips{said: said, instead: instead}).lead(tb, place)
}

// lead returns an address that leads to the database of a place until the end of the test.
func (t *Trips) lead(tb testing.TB, place string) (through string) {
	tb.Helper()
	config, err := pgconn.ParseConfig(place)
	if err != nil {
		tb.Fatal(err)
	}
	network, far := pgconn.NetworkAddress(config.Host, config.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var relaying sync.WaitGroup
	relaying.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, far)
			if err != nil {
				tb.Error(err)
				near.Close()
				continue
			}
			t.mu.Lock()
			t.open = append(t.open, near, far)
			t.mu.Unlock()
			relaying.Go(func() {
				defer near.Close()
				t.answer(near, far)
			})
			relaying.Go(func() {
				defer far.Close()
				t.relay(far, near)
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		t.mu.Lock()
		for _, c := range t.open {
			c.Close()
		}
		t.mu.Unlock()
		relaying.Wait()
	})
	u := url.URL{Scheme: "postgres", User: url.User(config.User), Host: l.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return u.String()
}

// answer passes on what a server says.
func (t *Trips) answer(to io.Writer, from io.Reader) {
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if t.said != "" {
			copy(b, bytes.ReplaceAll(b[:n], []byte(t.said), []byte(t.instead)))
		}
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// relay passes on what a client says (https://www.postgresql.org/docs/current/protocol-message-formats.html), and counts when it waits for an
// answer: after Sync and Query.
func (t *Trips) relay(to io.Writer, from io.Reader) {
	in := bufio.NewReader(from)
	texts, said, guard := map[string]string{}, "", false
	for first := true; ; first = false {
		head := make([]byte, 5)
		if first { // the first message has no kind
			head = head[:4]
		}
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		if _, err := to.Write(append(head, body...)); err != nil {
			return
		}
		if first {
			continue
		}
		parts := strings.SplitN(string(body), "\x00", 3)
		switch head[0] {
		case 'P':
			texts[parts[0]] = parts[1]
			said += "prepare "
		case 'B':
			said += texts[parts[1]]
		case 'Q':
			said += parts[0]
		}
		guard = guard || strings.Contains(said, "pg_try_advisory_xact_lock")
		if head[0] == 'S' || head[0] == 'Q' {
			t.mu.Lock()
			if !guard {
				t.all = append(t.all, said)
			}
			t.mu.Unlock()
			said = ""
		}
	}
}
