package engine

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

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
	} {
		if got := kindOf(err); got != want {
			t.Errorf("kindOf(%v) = %q, want %q", err, got, want)
		}
	}
}
