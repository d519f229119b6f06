package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspect looks through a whole and a damaged file, beside its owner and without one.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir)
	fill(t, db, 4000, 2)
	beside, err := Look(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := beside.Inspect(t.Context())
	if err != nil || found.Wrong != nil || found.Bytes < 100_000 || found.Schema == 0 {
		t.Errorf("%+v, %v", found, err)
	}
	if err := beside.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
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
	if beside, err = Look(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if found, err := beside.Inspect(t.Context()); err != nil || len(found.Wrong) == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
