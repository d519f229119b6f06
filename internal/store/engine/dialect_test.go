package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"familiar/internal/text"
)

// FuzzLexemes checks that every query of words is one that PostgreSQL can read.
func FuzzLexemes(f *testing.F) {
	words, err := newTokenizer(map[string][]string{"message_words": {"words", "tags"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { words.pool.Close() })
	for _, s := range []string{"", "running Häuser", "東京 タワー", "a OR b", "\x00\xff", "é̂", "ﬁ ß İ", "강아지"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := strings.Fields(text.IndexedWords(s))
		if len(all) == 0 {
			return
		}
		query, err := words.query("message_words", `tags : ("g1") AND words : ("`+strings.Join(all, `"* AND "`)+`" OR ("`+strings.Join(all, " ")+`"))`)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(query, "(") != strings.Count(query, ")") {
			t.Errorf("%q: %s", s, query)
		}
		place := os.Getenv("FAMILIAR_TEST_POSTGRES")
		if place == "" {
			return
		}
		e, err := newServer(place, &base{Schema: Schema{Phrases: strings.NewReplacer()}})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		pool := e.pool(beginRead, 1)
		defer pool.Close()
		if _, err := pool.Exec(`SELECT CAST(CAST(? AS TEXT) AS tsquery)`, query); err != nil {
			t.Errorf("%q: %s: %v", s, query, err)
		}
	})
}

func TestKindOf(t *testing.T) {
	for err, want := range map[error]Kind{
		&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOSPC}: Full,
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EDQUOT}: Full,
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}:  ReadOnly,
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}: ReadOnly,
		&fs.PathError{Op: "open", Path: "x", Err: syscall.EIO}:    IO,
		errors.New("other"): "",

		// PgBouncer has one code for all of these.
		pooler("password authentication failed"):                                      Refused,
		pooler("no such user: bob"):                                                   Refused,
		pooler(`role "bob" does not exist`):                                           Refused,
		pooler("no such database: nowhere"):                                           NoDatabase,
		pooler(`database "nowhere" does not exist`):                                   NoDatabase,
		pooler("unsupported startup parameter: search_path"):                          Unreadable,
		pooler("query_wait_timeout"):                                                  Away,
		pooler("server login has been failing, try again later (server_login_retry)"): Away,
		pooler("the database system is starting up"):                                  Away,

		fmt.Errorf("every host: %w", pgconn.ErrReadOnlyConnection): Replica,
		errors.Join(pgconn.ErrReadOnlyConnection, &net.OpError{}):  Away,
	} {
		if got := kindOf(err); got != want {
			t.Errorf("kindOf(%v) = %q, want %q", err, got, want)
		}
	}
}

func pooler(said string) error { return &pgconn.PgError{Code: "08P01", Message: said} }

// TestShownPlace checks that no part of a password is shown. An address that may have one behind the user is refused.
func TestShownPlace(t *testing.T) {
	const hidden = "postgres://…"
	for place, want := range map[string]string{
		"/var/lib/familiar":                                "/var/lib/familiar",
		"postgres://ada:geheim@db.example:5433/x":          "postgres://db.example:5433/x",
		"postgresql://ada@a:1,b:2/x?password=geheim":       "postgres://a:1,b:2/x",
		"postgres://ada@/x?host=/run/pg&password=geheim":   "postgres://run/pg/x",
		"postgres://ada:ge%40hei%2Fm@db.example/x":         "postgres://db.example/x",
		"postgres://ada:12?geheim@db.example/x":            "postgres://db.example/x",
		"postgres://ada:12#geheim@db.example/x":            "postgres://db.example/x",
		"postgres://db.example/x?user=ada@here&password=g": "postgres://db.example/x",
		"postgres://ada:ge@heim@db.example/x":              hidden,
		"postgres://ada:ge@hei/m@db.example/x":             hidden,
		"postgres://ada:12/geheim@db.example/x":            hidden,
		"postgres://ada:12/34?geheim@db.example/x":         hidden,
		"postgres://ada:ge%heim@db.example:y/x":            hidden,
	} {
		if got := ShownPlace(place); got != want {
			t.Errorf("%s is shown as %s, want %s", place, got, want)
		}
		if !IsServer(place) {
			continue
		}
		_, err := newServer(place, &base{Schema: Schema{Phrases: strings.NewReplacer()}})
		if refused := err != nil; refused != (want == hidden) {
			t.Errorf("%s: %v", place, err)
		}
	}
}
