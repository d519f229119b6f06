package store

import (
	"testing"
)

// TestInspect checks an intact and a damaged file, with and without a running owner.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	db := openFile(t, dir)
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
	garble(t, dir)
	if beside, err = Look(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	if found, err := beside.Inspect(t.Context()); err != nil || len(found.Wrong) == 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
