package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// refused opens dir, which must fail with an error of that kind whose text holds all of the words.
func refused(t *testing.T, dir string, want Kind, words ...string) *Error {
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

func TestInUseBySameProcess(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	if e := refused(t, dir, InUse, fmt.Sprint("process ", os.Getpid())); e.PID != os.Getpid() {
		t.Errorf("pid %d", e.PID)
	}
	if err := db.SetNote(t.Context(), "k", "v"); err != nil {
		t.Errorf("the owner after that: %v", err)
	}
	db.Close()
	open(t, dir)
}

func TestNewer(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	setVersion(t, db, 99)
	db.Close()
	e := refused(t, dir, Newer, "newer version", "schema 99")
	if want, err := newest(); err != nil || e.Have != 99 || e.Want != want {
		t.Errorf("have %d, want %d", e.Have, e.Want)
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
			open(t, dir).Close()
			path := filepath.Join(dir, fileName)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b = c.damage(b)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, Corrupt, "put back a copy")
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
				t.Errorf("the damaged file was changed: %v", err)
			}
		})
	}
}

// Damage that only shows when the page is read.
func TestCorruptLater(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
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
	db = open(t, dir)
	_, err = db.Recent(t.Context(), fmt.Sprintf("2%018d", 1), 1000)
	if kind(err) != Corrupt || !strings.Contains(err.Error(), path) {
		t.Errorf("Recent: %v", err)
	}
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

func TestDirectoryIsAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, IO)
}
