package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"familiar/internal/store/engine"
)

// notClosed makes a store look as it does after a crash.
func notClosed(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, lockName), []byte("12345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestGarbledPage checks that a start after an unclean end finds damage in the middle of the file.
func TestGarbledPage(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	fill(t, db, 4000, 2) // many, compared with the pages of empty tables
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	notClosed(t, dir)
	db = openFile(t, dir) // the file is intact
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	garble(t, dir)
	notClosed(t, dir)
	refused(t, dir, engine.Corrupt, "put back a copy")
	refused(t, dir, engine.Corrupt, "put back a copy") // a refused start is not a clean end
}

// TestLargeFile checks that a file that is too large for the start is looked through while it is in use. If that comes to no end, it is not
// taken for one that was closed.
func TestLargeFile(t *testing.T) {
	for name, c := range map[string]struct {
		garbled bool
		told    string // empty: it is closed before
	}{
		"damaged": {true, "put back a copy"}, "in order": {false, "is in order"}, "closed too soon": {false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := openFile(t, dir)
			fill(t, db, 4000, 2)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if c.garbled {
				garble(t, dir)
			}
			notClosed(t, dir)
			if err := os.Truncate(filepath.Join(dir, fileName), 3<<30); err != nil { // a hole behind the pages that the header counts
				t.Fatal(err)
			}
			db, err := Open(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			if c.told != "" {
				if told := <-db.Notices(); !strings.Contains(told, c.told) {
					t.Errorf("told %q", told)
				}
			}
			if err := db.Close(); (kind(err) == engine.Corrupt) != c.garbled {
				t.Errorf("Close: %v", err)
			}
			note, err := os.ReadFile(filepath.Join(dir, lockName))
			if closed := !strings.ContainsAny(string(note[1:]), "0123456789"); err != nil || closed && c.garbled || closed != (c.told == "is in order" || len(db.Notices()) > 0) {
				t.Errorf("noted as closed: %v, %v", closed, err)
			}
		})
	}
}

// TestFileGone checks that a file that was deleted, moved or replaced takes no more writes.
func TestFileGone(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fileName)
	write := func(want engine.Kind, words string) {
		t.Helper()
		err := db.Notes.Set(t.Context(), "k", "v")
		if err == nil && want == "" {
			return
		}
		if kind(err) != want || !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("write: %v; want %q", err, want)
		}
	}
	write("", "")
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	write(engine.Gone, "put it back")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(engine.Replaced, "restart the program")
	if err := os.Rename(path+".moved", path); err != nil {
		t.Fatal(err)
	}
	write("", "")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	write(engine.Gone, "deleted")
	if err := db.Close(); kind(err) != engine.Gone {
		t.Errorf("Close: %v", err)
	}
}

// TestShrink checks that deleted content leaves the file, and that its space is freed.
func TestShrink(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
	if err := db.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	var empty int
	if err := db.Read().QueryRow(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&empty); err != nil {
		t.Fatal(err)
	}
	fill(t, db, 2000, 2)
	if err := db.Messages.Save(t.Context(), Message{ID: "secret", Text: "nobody may find these words", At: noon}); err != nil {
		t.Fatal(err)
	}
	size := func() (bytes int) {
		t.Helper()
		if err := db.Read().QueryRow(`SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`).Scan(&bytes); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	before := size()
	if _, err := db.Exec(t.Context(), "delete", `DELETE FROM messages`); err != nil {
		t.Fatal(err)
	}
	if err := db.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); after > empty+(before-empty)/8 {
		t.Errorf("%d bytes of %d, and %d at first", after, before, empty)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil || strings.Contains(string(b), "nobody may find") {
		t.Errorf("the deleted words are in the file, %v", err)
	}
}

// BenchmarkCheck checks a file of a gigabyte, which takes minutes to make.
func BenchmarkCheck(b *testing.B) {
	if testing.Short() {
		b.Skip("takes minutes to fill")
	}
	dir := b.TempDir()
	db := open(b, dir)
	fill(b, db, 1_000_000, 1000)
	for i := range 700 {
		if _, err := db.Exec(b.Context(), "fill", fmt.Sprintf(`WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			INSERT INTO record_parts (body) SELECT randomblob(1000) FROM n -- %d`, i)); err != nil {
			b.Fatal(err)
		}
	}
	info, err := os.Stat(db.engine.Place())
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d MB", info.Size()>>20)
	for b.Loop() {
		if _, err := db.Inspect(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// garble overwrites a page in the middle of a store.
func garble(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, fileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := len(b) / 2 / 4096 * 4096
	copy(b[at:at+4096], strings.Repeat("garbled ", 512))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOneOwner checks that no second process opens the store although the lock file was deleted, or under a second name.
func TestOneOwner(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the lock file is locked here")
	}
	dir, other := t.TempDir(), t.TempDir()
	db := openFile(t, dir)
	defer db.Close()
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, InUse, "stop that process")
	if err := os.Link(filepath.Join(dir, fileName), filepath.Join(other, fileName)); err != nil {
		t.Fatal(err)
	}
	refused(t, other, InUse, "stop that process")
}

// TestEmptied checks that a database that has lost all its bytes is not a new one.
func TestEmptied(t *testing.T) {
	dir := t.TempDir()
	if err := openFile(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, fileName), 0); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, engine.Corrupt, "put back a copy")
	refused(t, dir, engine.Corrupt, "put back a copy") // also behind an owner that ended without closing it
}
